// Likelihoods of regressions of variables of any kind (mixed/regression.hpp), in the ordered reading: what tests of
// conditional independence and criteria with a penalty are made from.
//
//   tests        x ⟂ y | z from both ends, for each y: the mean of T(x, y) and T(y, x),
//                T(x, y) = 2 m / N (l(x | z + y) - l(x | z)),  m = N - 1 - w_z - (w_x + w_y + 1) / 2
//   additions    l(x | z + y) for each y
//   local        l(x | z)
//
// N: the rows in which x, y and z are observed; w: features of a variable on these rows, and degrees of freedom are
// w_x w_y from either end. m / N is Bartlett's factor of Wilks' lambda, exact to second order between numbers. Models
// have a ridge that keeps separated states finite. Where x and y are nominal and z is empty, T is closed. Where the
// model of one end cannot be fitted, or takes much longer than that of the other, the other end decides, and where
// neither can be fitted, T = 0. Nor can anything depend on a
// number of which z leaves less than a share of 1e-10.
#pragma once

#include "evidence/evidence.hpp"
#include "mixed/regression.hpp"

namespace mnlearn {

enum class LikelihoodQuestion { tests, additions, local };
LikelihoodQuestion parse_likelihood(const std::string& name);

// Four rows with a column for each y, of `local` for each scan: the statistic or the log likelihood, which is relative
// to no neighbours where x is numeric and NaN without a fit; degrees of freedom, or parameters beyond those of no
// neighbours; rows; models that could not be fitted.
void run_likelihoods(const MixedData& data, const EvidenceBatch& batch, LikelihoodQuestion question, int n_threads,
                     double* out);

}  // namespace mnlearn
