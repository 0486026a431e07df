// The logarithm of the upper tail of chi-square, right where the probability itself underflows.
#pragma once

#include <cstddef>

namespace mnlearn {

inline constexpr double kMostDof = 40'000.0;

// out[k] = log Pr[chi²(dof[k]) > statistic[k]], with a relative error of 1e-12 or less. Returns whether all are
// there: NaN stands where an argument is none, and where the series would be long (fewer than one degree of freedom, or
// more than 40,000).
bool log_chi2_tails(const double* statistic, const double* dof, std::size_t n, double* out);

}  // namespace mnlearn
