// Scores of pairs, two at a time.
#include "kernels/pair_scores_impl.hpp"

namespace mnlearn {

void score_pairs_portable(const PairRow& row) { score_pairs<2>(row); }

}  // namespace mnlearn
