// Kernels of logistic regressions, compiled once for each instruction set: plain loops over eight lanes.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <cstring>

#include "kernels/elementary.hpp"
#include "kernels/logistic.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace logistic {

using D = Lanes<8>::Doubles;
using B = Lanes<8>::Bits;

MNLEARN_INLINE inline D load(const double* from) {
    D lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}
MNLEARN_INLINE inline void store(double* to, D lanes) { std::memcpy(to, &lanes, sizeof lanes); }
MNLEARN_INLINE inline double sum_of(D v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

double loss(const LogisticGroups& g, const double* b, double* residual, double* weight) {
    D sum = {};
    const D zero = {}, one = zero + 1.0;
    for (std::size_t u = 0; u < g.n_groups; u += 8) {
        D margin = {};
        for (std::size_t j = 0; j < g.n_columns; ++j) margin += load(g.columns + j * g.n_groups + u) * b[j];
        const D total = load(g.total + u), ones = load(g.ones + u);
        const D size = margin < zero ? -margin : margin, small = exp_of_minus<8>(size);
        const D p = (margin < zero ? small : one) / (one + small);
        sum += total * ((margin < zero ? zero : margin) + log_of_one_plus<8>(small)) - ones * margin;
        store(residual + u, total * p - ones);
        store(weight + u, total * p * (one - p));
    }
    return sum_of(sum);
}

// Adds the numbers whose bit of a byte is set.
MNLEARN_INLINE inline void add_where(std::uint64_t byte, D values, D& sum) {
#ifdef __AVX512F__
    const auto those = reinterpret_cast<__m512d>(sum);
    sum = reinterpret_cast<D>(
        _mm512_mask_add_pd(those, static_cast<__mmask8>(byte), those, reinterpret_cast<__m512d>(values)));
#else
    constexpr B kBit = {1, 2, 4, 8, 16, 32, 64, 128};
    sum += std::bit_cast<D>(std::bit_cast<B>(values) & std::bit_cast<B>(((B{} + byte) & kBit) == kBit));
#endif
}

// Several planes at a time: their sums need not wait for each other, and the numbers are loaded once.
template <int PLANES>
MNLEARN_INLINE inline void sum_planes(const std::uint64_t* const* planes, std::size_t n_words, const double* values,
                                      double* out) {
    D sums[PLANES] = {};
    for (std::size_t w = 0; w < n_words; ++w) {
        for (int k = 0; k < 8; ++k) {
            const D those = load(values + 64 * w + 8 * static_cast<std::size_t>(k));
            for (int j = 0; j < PLANES; ++j) add_where((planes[j][w] >> (8 * k)) & 0xff, those, sums[j]);
        }
    }
    for (int j = 0; j < PLANES; ++j) out[j] = sum_of(sums[j]);
}

void sums_of_bits(const std::uint64_t* const* planes, std::size_t n_planes, std::size_t n_words, const double* values,
                  double* sums) {
    std::size_t j = 0;
    for (; j + 8 <= n_planes; j += 8) sum_planes<8>(planes + j, n_words, values, sums + j);
    for (; j + 2 <= n_planes; j += 2) sum_planes<2>(planes + j, n_words, values, sums + j);
    if (j < n_planes) sum_planes<1>(planes + j, n_words, values, sums + j);
}

void append_bits(const std::uint64_t* plane, std::size_t n_words, std::uint32_t* keys) {
    for (std::size_t w = 0; w < n_words; ++w, keys += 64) {
        const std::uint32_t low = static_cast<std::uint32_t>(plane[w]),
                            high = static_cast<std::uint32_t>(plane[w] >> 32);
        for (std::uint32_t k = 0; k < 32; ++k) keys[k] = 2 * keys[k] + ((low >> k) & 1);
        for (std::uint32_t k = 0; k < 32; ++k) keys[32 + k] = 2 * keys[32 + k] + ((high >> k) & 1);
    }
}

constexpr LogisticKernels kKernels{.loss = loss, .sums_of_bits = sums_of_bits, .append_bits = append_bits};

}  // namespace logistic
}  // namespace
}  // namespace mnlearn
