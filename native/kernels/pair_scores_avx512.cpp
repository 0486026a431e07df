// Scores of pairs, eight at a time.
#include "kernels/pair_scores_impl.hpp"

namespace mnlearn {

void score_pairs_avx512(const PairRow& row) { score_pairs<8>(row); }

}  // namespace mnlearn
