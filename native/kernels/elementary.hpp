// exp and log1p, written once for one number and for several side by side, without fused operations: the same steps in
// the same order, so the same bits on every code path. The C library's own differ between machines, and cost ten times
// as much as the look-ups around them.
//
// Everything is always inlined: the instruction sets must not share a function.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "portability.hpp"

namespace mnlearn {

template <int LANES> struct Lanes {
    using Doubles = Vec<double, LANES>;
    using Bits = Vec<std::uint64_t, LANES>;
};
template <> struct Lanes<1> {
    using Doubles = double;
    using Bits = std::uint64_t;
};

inline constexpr double kLogTwoHigh = 0x1.62e42fefa2p-1, kLogTwoLow = 0x1.9ef35793c7673p-41;  // high: 40 bits

// Σ c[FIRST + k] v^k over COUNT terms, the upper part apart from the lower (Estrin's scheme): the steps wait for each
// other four times, not twelve. powers[i] = v^(2^i).
template <std::size_t FIRST, std::size_t COUNT, class D, std::size_t N>
MNLEARN_INLINE inline D part_of_polynomial(const double (&c)[N], const D (&powers)[4]) {
    if constexpr (COUNT == 1) {
        return D{} + c[FIRST];
    } else {
        constexpr int kLevel = std::bit_width(COUNT - 1) - 1;
        constexpr std::size_t kLow = std::size_t{1} << kLevel;
        return part_of_polynomial<FIRST, kLow>(c, powers) +
               part_of_polynomial<FIRST + kLow, COUNT - kLow>(c, powers) * powers[kLevel];
    }
}
template <class D, std::size_t N> MNLEARN_INLINE inline D polynomial(const double (&c)[N], D v) {
    const D square = v * v, fourth = square * square, powers[4] = {v, square, fourth, fourth * fourth};
    return part_of_polynomial<0, N>(c, powers);
}

// 2^(−j/16), j = 0 to 15.
alignas(64) inline constexpr double kRoots[16] = {
    0x1.0000000000000p+0, 0x1.ea4afa2a490dap-1, 0x1.d5818dcfba487p-1, 0x1.c199bdd85529cp-1,
    0x1.ae89f995ad3adp-1, 0x1.9c49182a3f090p-1, 0x1.8ace5422aa0dbp-1, 0x1.7a11473eb0187p-1,
    0x1.6a09e667f3bcdp-1, 0x1.5ab07dd485429p-1, 0x1.4bfdad5362a27p-1, 0x1.3dea64c123422p-1,
    0x1.306fe0a31b715p-1, 0x1.2387a6e756238p-1, 0x1.172b83c7d517bp-1, 0x1.0b5586cf9890fp-1};

#ifdef __AVX512F__
// Of the sixteen numbers of low and high, those at the low four bits of each lane.
MNLEARN_INLINE inline Lanes<8>::Doubles entries_at(Lanes<8>::Doubles low, Lanes<8>::Doubles high, Lanes<8>::Bits bits) {
    return reinterpret_cast<Lanes<8>::Doubles>(_mm512_permutex2var_pd(
        reinterpret_cast<__m512d>(low), reinterpret_cast<__m512i>(bits), reinterpret_cast<__m512d>(high)));
}
#endif

// kRoots at the low four bits of each lane; two registers of AVX-512 hold them all.
template <int LANES> MNLEARN_INLINE inline typename Lanes<LANES>::Doubles roots_at(typename Lanes<LANES>::Bits bits) {
    if constexpr (LANES == 1) {
        return kRoots[bits & 15];
#ifdef __AVX512F__
    } else if constexpr (LANES == 8) {
        typename Lanes<8>::Doubles low, high;
        std::memcpy(&low, kRoots, sizeof low);
        std::memcpy(&high, kRoots + 8, sizeof high);
        return entries_at(low, high, bits);
#endif
    } else {
        typename Lanes<LANES>::Doubles found;
        for (int k = 0; k < LANES; ++k) found[k] = kRoots[bits[k] & 15];
        return found;
    }
}

// exp(−a) for a >= 0, to one unit in the last place; 0 from a = 708, where doubles end.
//
// a = m log(2) / 16 − r: 2^(−m/16) comes from kRoots and the exponent, exp(r) − 1 for |r| <= log(2) / 32 from its
// series, whose seventh term is spread over the others (Chebyshev): below 1e-17.
template <int LANES>
MNLEARN_INLINE inline typename Lanes<LANES>::Doubles exp_of_minus(typename Lanes<LANES>::Doubles a) {
    using D = typename Lanes<LANES>::Doubles;
    using B = typename Lanes<LANES>::Bits;
    constexpr double kHigh = 0x1.62e42fefa0000p-5, kLow = 0x1.cf79abc9e3b3ap-44;  // log(2) / 16; high: 39 bits
    const D largest = D{} + 708.0, zero = D{};
    const D rounder = D{} + 0x1.8p52;  // adding it leaves a whole number in the low bits
    const D kept = a < largest ? a : largest;
    const D shifted = kept * 0x1.71547652b82fep+4 + rounder;
    const D m = shifted - rounder;
    const D r = (m * kHigh - kept) + m * kLow, square = r * r;
    const D upper = (r * 0x1.11126eebfffa7p-7 + 0x1.5555555555555p-5) + square * 0x1.6c16c16c16c17p-10;
    const D series = (r * 0x1.555555540527cp-3 + 0.5) + square * upper;
    const D above_one = r * 0x1.000000000000ap+0 + square * series;
    const B bits = std::bit_cast<B>(shifted);
    const D root = roots_at<LANES>(bits);
    const B scaled = std::bit_cast<B>(root + root * above_one) - ((bits & ~std::uint64_t{15}) << 48);
    return a < largest ? std::bit_cast<D>(scaled) : zero;
}

// log(1 + s) for 0 <= s < 2^1000, to about two units in the last place, however small s is.
template <int LANES>
MNLEARN_INLINE inline typename Lanes<LANES>::Doubles log_of_one_plus(typename Lanes<LANES>::Doubles s) {
    using D = typename Lanes<LANES>::Doubles;
    using B = typename Lanes<LANES>::Bits;
    // log m = 2 atanh(q), q = f / (2 + f), f = m − 1: the series of atanh, less its first term, doubled.
    constexpr double kAtanh[] = {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19};
    constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
    const D one = D{} + 1.0, sum = one + s;
    const D lost = s < one ? s - (sum - one) : one - (sum - s);  // what rounding took from 1 + s
    const B twos = (std::bit_cast<B>(sum) - kRootHalf) >> 52;
    const D mantissa = std::bit_cast<D>(std::bit_cast<B>(sum) - (twos << 52));  // sqrt(1/2) to sqrt(2)
    const D exponent = std::bit_cast<D>(twos + std::bit_cast<std::uint64_t>(0x1p52)) - 0x1p52;
    const D f = mantissa - one, q = f / (f + 2.0), z = q * q;
    const D log_mantissa = f - q * (f - z * polynomial(kAtanh, z));  // 2 q = f − q f keeps the digits of f
    return (log_mantissa + (lost / sum + exponent * kLogTwoLow)) + exponent * kLogTwoHigh;
}

}  // namespace mnlearn
