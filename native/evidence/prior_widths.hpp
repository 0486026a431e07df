// Which blocks of weights would rather have a wide prior, the likelihood being quadratic.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/conditional.hpp"

namespace mnlearn {

// The Gaussian approximation of the posterior of some blocks of weights, under priors N(0, I).
struct BlockPosterior {
    std::vector<double> mean, covariance;  // [j], [j * size + k]
    std::vector<std::size_t> starts;       // of each block, and the end
};

// One block after the other, the largest weights first: N(0, I / precision) in place of N(0, I) where that adds more
// than the price to the evidence. The posterior of the others follows. Blocks of a mean square up to `small` stay.
std::vector<std::size_t> worth_widening(const ConditionalKernels& kernels, BlockPosterior posterior, double precision,
                                        double price, double small);

}  // namespace mnlearn
