// Kernels of conditionals with dense features, compiled once for each instruction set: plain loops over eight lanes.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#include "kernels/conditional_impl.hpp"
#include "kernels/dense.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace dense {

using conditional::all;
using conditional::D;
using conditional::dot_rows;
using conditional::load;
using conditional::store;
using conditional::sum_of;

constexpr std::size_t kMostStatistics = 256;  // no more parameters than that are fitted

double posterior(const DenseGroups& g, const double* weights, double* probabilities) {
    const std::size_t n = g.n_groups, d = g.n_statistics;
    double offset[kMostStatistics + 1];
    for (std::size_t a = 0; a < g.card; ++a) {
        offset[a] = 0.0;
        for (std::size_t i = 0; i < g.n_free; ++i) offset[a] += g.table[a * g.n_columns + i] * weights[i];
    }
    const double* slopes = weights + g.n_free;
    D height = {}, linear[kMostStatistics];
    for (std::size_t u = 0; u < n; u += 8) {
        for (std::size_t l = 0; l < d; ++l) {
            D sum = {};
            for (std::size_t k = 0; k < g.n_features; ++k) sum += load(g.features + k * n + u) * slopes[k * d + l];
            linear[l] = sum;
        }
        D most = all(-1e300);
        for (std::size_t a = 0; a < g.card; ++a) {
            D field = all(offset[a]);
            for (std::size_t l = 0; l < d; ++l) field += linear[l] * g.table[a * g.n_columns + g.first + l];
            store(probabilities + a * n + u, field);
            most = field > most ? field : most;
        }
        D sum = {};
        for (std::size_t a = 0; a < g.card; ++a) {
            const D below = most - load(probabilities + a * n + u), e = exp_of_minus<8>(below);
            height -= load(g.counts + a * n + u) * below;
            sum += e;
            store(probabilities + a * n + u, e);
        }
        const D scale = 1.0 / sum;
        for (std::size_t a = 0; a < g.card; ++a)
            store(probabilities + a * n + u, load(probabilities + a * n + u) * scale);
        height -= load(g.sizes + u) * log_of_one_plus<8>(sum - 1.0);
    }
    return sum_of(height);
}

void moments(const DenseGroups& g, const double* probabilities, double* mean, double* surplus) {
    const std::size_t n = g.n_groups, q = g.n_columns;
    for (std::size_t u = 0; u < n; u += 8) {
        for (std::size_t t = 0; t < q; ++t) {
            D sum = {}, seen = {};
            for (std::size_t a = 0; a < g.card; ++a) {
                sum += load(probabilities + a * n + u) * g.table[a * q + t];
                seen += load(g.counts + a * n + u) * g.table[a * q + t];
            }
            store(mean + t * n + u, sum);
            store(surplus + t * n + u, seen - load(g.sizes + u) * sum);
        }
    }
}

void covariance(const DenseGroups& g, const double* probabilities, const double* mean, double* out) {
    const std::size_t n = g.n_groups, q = g.n_columns, card = g.card;
    D p[kMostStatistics + 1];
    for (std::size_t u = 0; u < n; u += 8) {
        for (std::size_t a = 0; a < card; ++a) p[a] = load(probabilities + a * n + u);
        for (std::size_t s = 0; s < q; ++s) {
            const D below = load(mean + s * n + u);
            for (std::size_t t = s; t < q; ++t) {
                D sum = {};
                for (std::size_t a = 0; a < card; ++a) sum += p[a] * (g.table[a * q + s] * g.table[a * q + t]);
                store(out + (s * q + t) * n + u, sum - below * load(mean + t * n + u));
            }
        }
    }
}

MNLEARN_INLINE inline void multiply(const double* a, const double* b, std::size_t n, double* out) {
    for (std::size_t u = 0; u < n; u += 8) store(out + u, load(a + u) * load(b + u));
}
MNLEARN_INLINE inline double total(const double* a, std::size_t n) {
    D sum = {};
    for (std::size_t u = 0; u < n; u += 8) sum += load(a + u);
    return sum_of(sum);
}
// Σ a b_k for rows b_0, b_1, ...
inline void dots(const double* a, const double* b, std::size_t n, std::size_t rows, double* out) {
    std::size_t k = 0;
    for (; k + 4 <= rows; k += 4) dot_rows<4>(a, b + k * n, n, n, out + k);
    for (; k < rows; ++k) dot_rows<1>(a, b + k * n, n, n, out + k);
}

// Σ a_j b_k of one or two rows a_j with rows b_0, b_1, ...: out[j * kMostStatistics + k].
inline void two_rows(const double* a, std::size_t n_a, const double* b, std::size_t n, std::size_t rows, double* out) {
    if (n_a == 1) return dots(a, b, n, rows, out);
    std::size_t k = 0;
    for (; k + 4 <= rows; k += 4) {
        D sums[8] = {};
        for (std::size_t u = 0; u < n; u += 8) {
            const D first = load(a + u), second = load(a + n + u);
            for (std::size_t h = 0; h < 4; ++h) {
                const D mine = load(b + (k + h) * n + u);
                sums[h] += first * mine;
                sums[4 + h] += second * mine;
            }
        }
        for (std::size_t h = 0; h < 4; ++h) {
            out[k + h] = sum_of(sums[h]);
            out[kMostStatistics + k + h] = sum_of(sums[4 + h]);
        }
    }
    dots(a, b + k * n, n, rows - k, out + k);
    dots(a + n, b + k * n, n, rows - k, out + kMostStatistics + k);
}

void gradient(const DenseGroups& g, const double* surplus, double* out) {
    const std::size_t n = g.n_groups, d = g.n_statistics;
    for (std::size_t i = 0; i < g.n_free; ++i) out[i] = total(surplus + i * n, n);
    double found[kMostStatistics];
    for (std::size_t l = 0; l < d; ++l) {
        dots(surplus + (g.first + l) * n, g.features, n, g.n_features, found);
        for (std::size_t k = 0; k < g.n_features; ++k) out[g.n_free + k * d + l] = found[k];
    }
}

MNLEARN_INLINE inline const double* pair_of(const DenseGroups& g, const double* covariance, std::size_t s,
                                            std::size_t t) {
    return covariance + (s < t ? s * g.n_columns + t : t * g.n_columns + s) * g.n_groups;
}

void information(const DenseGroups& g, const double* covariance, double* room, double* upper) {
    const std::size_t n = g.n_groups, d = g.n_statistics, w = g.n_free, size = g.n_parameters();
    double *weight = room, *weighted = room + n, found[2 * kMostStatistics];
    for (std::size_t i = 0; i < w; ++i) {
        for (std::size_t j = i; j < w; ++j) {
            multiply(pair_of(g, covariance, i, j), g.sizes, n, weight);
            upper[i * size + j] = total(weight, n);
        }
        for (std::size_t l = 0; l < d; ++l) {
            multiply(pair_of(g, covariance, i, g.first + l), g.sizes, n, weight);
            dots(weight, g.features, n, g.n_features, found);
            for (std::size_t k = 0; k < g.n_features; ++k) upper[i * size + w + k * d + l] = found[k];
        }
    }
    for (std::size_t l = 0; l < d; ++l) {
        for (std::size_t m = l; m < d; ++m) {
            multiply(pair_of(g, covariance, g.first + l, g.first + m), g.sizes, n, weight);
            for (std::size_t k = 0; k < g.n_features; k += 2) {  // two rows at a time: fewer loads
                const std::size_t rows = g.n_features - k < 2 ? 1 : 2;
                for (std::size_t j = 0; j < rows; ++j) multiply(weight, g.features + (k + j) * n, n, weighted + j * n);
                two_rows(weighted, rows, g.features + k * n, n, g.n_features - k, found);
                for (std::size_t j = 0; j < rows; ++j)
                    for (std::size_t h = k + j; h < g.n_features; ++h) {  // symmetric in l and m, and in k and h
                        const double sum = found[j * kMostStatistics + h - k];
                        upper[(w + (k + j) * d + l) * size + w + h * d + m] = sum;
                        if (h > k + j) upper[(w + (k + j) * d + m) * size + w + h * d + l] = sum;
                    }
            }
        }
    }
}

void cross(const DenseGroups& g, const double* covariance, const double* sums, std::size_t width, double* room,
           double* out, std::size_t stride) {
    const std::size_t n = g.n_groups, d = g.n_statistics, w = g.n_free;
    double found[kMostStatistics];
    for (std::size_t e = 0; e < width; ++e) {
        const double* mine = sums + e * n;
        for (std::size_t l = 0; l < d; ++l) {
            const std::size_t column = e * d + l;
            for (std::size_t i = 0; i < w; ++i)
                dot_rows<1>(pair_of(g, covariance, i, g.first + l), mine, n, n, out + i * stride + column);
            for (std::size_t m = 0; m < d; ++m) {
                multiply(pair_of(g, covariance, g.first + l, g.first + m), mine, n, room);
                dots(room, g.features, n, g.n_features, found);
                for (std::size_t k = 0; k < g.n_features; ++k) out[(w + k * d + m) * stride + column] = found[k];
            }
        }
    }
}

constexpr DenseKernels kKernels{.posterior = posterior,
                                .moments = moments,
                                .covariance = covariance,
                                .gradient = gradient,
                                .information = information,
                                .cross = cross};

}  // namespace dense
}  // namespace
}  // namespace mnlearn
