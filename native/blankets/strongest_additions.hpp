// The variables that improve a blanket most, among all or among some.
#pragma once

#include "blankets/local_score.hpp"

namespace mnlearn {

// For each x the partners that raise its score most, ascending, and the score with each.
struct StrongestAdditions {
    OwnLists partners;
    std::vector<double> scores;
};

// The k best of the variables outside of x and its blanket, or of ys[j] for the j-th x: by score, then by index. Only
// those whose score exceeds now[j]. The result depends on the data alone, not on blocks, threads or code paths.
StrongestAdditions strongest_additions(const LocalScore& score, std::span<const std::int32_t> xs, const Lists& blankets,
                                       std::span<const double> now, const Lists* ys, std::size_t k, int n_threads);

}  // namespace mnlearn
