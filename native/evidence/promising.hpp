// The variables of all that promise most for x given z: a quick ranking by chi-square in the strata of z.
//
// Two statistics stand for the two models of evidence.hpp. d_s is how far the table of stratum s is from independence,
// v_s the variance of d_s if x and y are independent there; both come from two counts.
//
//   pairwise    D = sum d_s, V = sum v_s:   D^2 / (2V + 1) - ln(2V + 1) / 2     one step from no dependence
//   full table  sum d_s^2 / (2 v_s) less a price for each stratum
//
// The larger of the two is the promise of y. It only ranks candidates; they are weighed later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evidence/evidence.hpp"
#include "store/store.hpp"

namespace mnlearn {

inline constexpr std::size_t kMostGiven = 6;  // members of z: their strata are counted as sets of rows

// Whether all variables are binary, and rows are counted once each: else there is no quick ranking.
bool has_promising(const Store& store);

// For scan k of the batch, which has no ys: the k variables that promise most, ascending, if they promise more than
// `above`. Of equal ones the first.
std::vector<std::vector<std::int32_t>> most_promising(const Store& store, const EvidenceBatch& batch, std::size_t k,
                                                      float above, int n_threads);

}  // namespace mnlearn
