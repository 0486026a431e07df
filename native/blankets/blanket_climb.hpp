// The best blanket of each variable by a local score: additions, each followed by deletions  [MPL17, Algorithm 1].
#pragma once

#include "blankets/local_score.hpp"

namespace mnlearn {

struct ClimbOptions {
    std::size_t limit;                       // most members of a blanket
    double rounding;                         // a difference of scores up to this is a tie
    std::span<const std::int64_t> required;  // x n + y of members that stay, ascending
};

// Where the climb of a variable stands. A tie stops it: which of several moves is best the core does not know.
enum class ClimbState : std::int8_t { done, tied_joining, tied_leaving };

// Blankets of some variables, in the order in which their members joined.
struct Climbs {
    OwnLists blankets;
    std::vector<double> scores;
    std::vector<std::int8_t> states;   // ClimbState
    std::vector<std::int32_t> rounds;  // additions tried
    std::int64_t scored = 0;           // local scores computed
};

// From a blanket and its score for each x, among partners[x]; `leaving[k]`: deletions come first. Each variable is
// climbed independently of all others, so any number of threads gives the same bits.
Climbs climb_blankets(const LocalScore& score, std::span<const std::int32_t> xs, const Lists& blankets,
                      std::span<const double> scores, std::span<const std::int8_t> leaving, const Lists& partners,
                      const ClimbOptions& options, int n_threads);

}  // namespace mnlearn
