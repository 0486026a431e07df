// The filter of pairs, written once and compiled once per instruction set, which brings `count_tile` and `passing`.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#include <cstring>

#include "kernels/screen.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace screen {

constexpr std::size_t kSets = 4;  // row sets of a tile: four x of one plane each, or two of two

template <int LANES> struct Vectors;  // gcc converts no vectors whose width is a parameter
template <> struct Vectors<8> {
    using F = Vec<float, 8>;
    using I = Vec<std::int32_t, 8>;
};
template <> struct Vectors<16> {
    using F = Vec<float, 16>;
    using I = Vec<std::int32_t, 16>;
};

template <int LANES> struct Floats {
    using F = typename Vectors<LANES>::F;
    using I = typename Vectors<LANES>::I;

    MNLEARN_INLINE static F load(const float* from) {
        F v;
        std::memcpy(&v, from, sizeof v);
        return v;
    }
    MNLEARN_INLINE static F numbers(const std::uint32_t* counts) {
        I v;
        std::memcpy(&v, counts, sizeof v);
        return converted<F>(v);
    }
};

// The quadratic form of one row of d: its states with planes, and the one whose d is minus their sum.
template <int SY, class F> MNLEARN_INLINE inline F form(const F* d, const F* weights) {
    if constexpr (SY == 1) return (d[0] * d[0]) * weights[0];
    const F sum = d[0] + d[1];
    return ((d[0] * d[0]) * weights[0] + (d[1] * d[1]) * weights[1]) + (sum * sum) * weights[2];
}

// X² of one x with the y of a column; for two states of x, over its weight.
template <int SX, int SY> struct Column {
    static constexpr int kLanesY = SY == 1 ? 16 : 8;
    static constexpr int kWeights = SY == 1 ? 1 : 3;
    using V = Floats<kLanesY>;
    typename V::F means[SY], weights[kWeights];

    Column(const ScreenColumns& y, std::size_t first) {
        for (int q = 0; q < SY; ++q) means[q] = V::load(y.means[q] + first);
        for (int q = 0; q < kWeights; ++q) weights[q] = V::load(y.weights[q] + first);
    }
    MNLEARN_INLINE typename V::F statistic(const ScreenStrip& s, std::size_t x,
                                           const std::uint32_t (*counts)[kScreenCounts]) const {
        typename V::F d[SX][SY];
        for (int p = 0; p < SX; ++p)
            for (int q = 0; q < SY; ++q) d[p][q] = V::numbers(counts[p] + q * kLanesY) - means[q] * s.counts[p][x];
        if constexpr (SX == 1) return form<SY>(d[0], weights);
        typename V::F sums[SY];
        for (int q = 0; q < SY; ++q) sums[q] = d[0][q] + d[SX - 1][q];
        return (form<SY>(d[0], weights) * s.weights[0][x] + form<SY>(d[SX - 1], weights) * s.weights[1][x]) +
               form<SY>(sums, weights) * s.weights[2][x];
    }
};

// Three by three: G² <= Σ d²/e (1 − u/3 + 2u²/3) with u = d / e, cell by cell (screen/filter_bounds.hpp).
inline Floats<8>::F likelihood_bound(const ScreenStrip& s, std::size_t x, const std::uint32_t (*counts)[kScreenCounts],
                                     const Column<2, 2>& ys) {
    using V = Floats<8>;
    V::F d[3][3], sum = V::F{};
    for (int p = 0; p < 2; ++p) {
        for (int q = 0; q < 2; ++q) d[p][q] = V::numbers(counts[p] + q * 8) - ys.means[q] * s.counts[p][x];
        d[p][2] = -(d[p][0] + d[p][1]);
    }
    for (int q = 0; q < 3; ++q) d[2][q] = -(d[0][q] + d[1][q]);
    for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q) {
            const V::F u = (d[p][q] * s.weights[p][x]) * ys.weights[q];
            sum += (d[p][q] * u) * (1.0f + u * (u * (2.0f / 3.0f) - 1.0f / 3.0f));
        }
    return sum;
}

// The planes of the x of a tile, from the s-th row set on.
template <int SX>
MNLEARN_INLINE inline void find_sets(const ScreenStrip& s, std::size_t set, const std::uint64_t** sets) {
    for (std::size_t k = 0; k < kSets; ++k) {
        const std::size_t x = s.first_x + (set + k) / SX, plane = (set + k) % SX;
        sets[k] = s.planes + ((x / kLanes * SX + plane) * s.words) * kLanes + x % kLanes;
    }
}

// How many x of the strip the y of a column need, up to a whole tile: with a triangle, those before the last of them.
template <int SX, int SY> std::size_t needed(const ScreenStrip& s, std::size_t column) {
    constexpr std::size_t kTogether = kSets / SX;
    std::size_t n = s.n_xs;
    if (s.triangle) {
        const std::size_t end = (column + 1) * Column<SX, SY>::kLanesY;
        n = end <= s.first_x ? 0 : end - s.first_x < n ? end - s.first_x : n;
    }
    return (n + kTogether - 1) / kTogether * kTogether;
}

// Tile by tile: finish(tile, first x, column).
template <int SX, int SY, class Before, class Finish>
MNLEARN_INLINE inline void for_tiles(const ScreenStrip& s, Before before, Finish finish) {
    alignas(64) std::uint32_t counts[kSets][kScreenCounts];
    for (std::size_t k = 0; k < s.n_columns; ++k) {
        const std::size_t column = s.first_column + k, n_xs = needed<SX, SY>(s, column);
        const std::uint64_t* group = s.y.planes + 2 * column * s.words * kLanes;
        before(column, k, n_xs);
        for (std::size_t x = 0; x < n_xs; x += kSets / SX) {
            const std::uint64_t* sets[kSets];
            find_sets<SX>(s, x * SX, sets);
            count_tile(sets, group, s.words, counts);
            finish(counts, x, column);
        }
    }
}

template <int SX, int SY> std::size_t pairs(const ScreenStrip& strip, ScreenSurvivor* found) {
    const ScreenStrip s = strip;  // a copy: survivors that are written cannot change it
    constexpr int kLanesY = Column<SX, SY>::kLanesY;
    std::size_t n_found = 0;
    const auto bound = [&](std::size_t, std::size_t k, std::size_t n_xs) {
        const float low = s.lows[k];
        for (std::size_t x = 0; x < n_xs; ++x)
            s.least[x] = s.slopes[x] * (s.bars[x] < low ? s.bars[x] : low) - s.offsets[x];
    };
    for_tiles<SX, SY>(s, bound, [&](const std::uint32_t (*counts)[kScreenCounts], std::size_t x, std::size_t column) {
        const Column<SX, SY> ys(s.y, column * kLanesY);
        for (std::size_t i = 0; i < kSets / SX; ++i) {
            const auto* mine = counts + i * SX;
            std::uint32_t left = passing<kLanesY>(ys.statistic(s, x + i, mine), s.least[x + i]);
            if constexpr (SX == 2 && SY == 2)
                if (left && s.again) {
                    const float bar = s.bars[x + i] < s.lows[column - s.first_column] ? s.bars[x + i]
                                                                                      : s.lows[column - s.first_column];
                    left &= passing<8>(likelihood_bound(s, x + i, mine, ys), s.kept * bar - s.slack);
                }
            for (; left; left &= left - 1) {
                const auto lane = std::size_t{lowest_one(left)};
                ScreenSurvivor& one = found[n_found++];
                one.x = static_cast<std::uint32_t>(s.first_x + x + i);
                one.y = static_cast<std::uint32_t>(column * kLanesY + lane);
                for (int p = 0; p < SX; ++p)
                    for (int q = 0; q < SY; ++q)
                        one.counts[p][q] = mine[p][static_cast<std::size_t>(q * kLanesY) + lane];
            }
        }
    });
    return n_found;
}

template <int SX, int SY> std::uint32_t probe(const ScreenStrip& strip) {
    const ScreenStrip s = strip;
    std::uint32_t sum = 0;
    for_tiles<SX, SY>(
        s, [](std::size_t, std::size_t, std::size_t) {},
        [&](const std::uint32_t (*counts)[kScreenCounts], std::size_t, std::size_t) {
            for (std::size_t k = 0; k < kSets; ++k) sum ^= counts[k][0] ^ counts[k][8];
        });
    return sum;
}

constexpr ScreenKernels kKernels = {{{pairs<1, 1>, pairs<1, 2>}, {pairs<2, 1>, pairs<2, 2>}},
                                    {{probe<1, 1>, probe<1, 2>}, {probe<2, 1>, probe<2, 2>}}};

}  // namespace screen
}  // namespace
}  // namespace mnlearn
