// Scores of pairs, four at a time.
#include "kernels/pair_scores_impl.hpp"

namespace mnlearn {

void score_pairs_avx2(const PairRow& row) { score_pairs<4>(row); }

}  // namespace mnlearn
