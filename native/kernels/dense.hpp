// Kernels of log-linear conditionals whose features are any numbers, not only codes of states.
//
//   P(x = a | u) ∝ exp( Σ_i T[a, i] b0_i + Σ_l T[a, first + l] Σ_k B_kl f_k(u) )
//
// T has a column for each statistic of x: its contrasts (columns 0 to n_free - 1, whose weights b0 are free of the
// features), and the statistics that the features act on: one column with the score of each state, or the contrasts
// again (first = 0). Sums run in eight lanes: the same bits on every code path.
#pragma once

#include <cstddef>

namespace mnlearn {

struct DenseGroups {
    std::size_t n_groups;                 // a multiple of 8; groups of no rows fill it up
    std::size_t card, n_columns, n_free;  // states of x; columns of T; columns with weights b0
    std::size_t first, n_statistics;      // columns of T that the features act on
    std::size_t n_features;
    const double* features;  // [k * n_groups + u]
    const double* counts;    // [a * n_groups + u]
    const double* sizes;     // [u]
    const double* table;     // T: [a * n_columns + t]

    std::size_t n_parameters() const { return n_free + n_features * n_statistics; }
};
// The log likelihood; weights: b0, then B [k * n_statistics + l]. probabilities: [a * n_groups + u].
using DensePosterior = double (*)(const DenseGroups&, const double* weights, double* probabilities);
// Mean of the statistics in each group, and surplus Σ (T - mean) over its rows: [t * n_groups + u].
using DenseMoments = void (*)(const DenseGroups&, const double* probabilities, double* mean, double* surplus);
// Covariance [(s * n_columns + t) * n_groups + u] for s <= t.
using DenseCovariance = void (*)(const DenseGroups&, const double* probabilities, const double* mean,
                                 double* covariance);
using DenseGradient = void (*)(const DenseGroups&, const double* surplus, double* gradient);
// Upper triangle of the information, row-major; room: 3 * n_groups numbers.
using DenseInformation = void (*)(const DenseGroups&, const double* covariance, double* room, double* upper);
// One more feature block: sums[e * n_groups + u] = Σ features of the rows of u. cross[p * stride + e * n_statistics +
// l].
using DenseCross = void (*)(const DenseGroups&, const double* covariance, const double* sums, std::size_t width,
                            double* room, double* cross, std::size_t stride);

struct DenseKernels {
    DensePosterior posterior;
    DenseMoments moments;
    DenseCovariance covariance;
    DenseGradient gradient;
    DenseInformation information;
    DenseCross cross;
};

}  // namespace mnlearn
