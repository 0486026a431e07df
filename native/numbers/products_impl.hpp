// Products of a tile, compiled once for each instruction set: everything here is in an anonymous namespace.
#pragma once

#include <cstring>

#include "kernels/elementary.hpp"
#include "numbers/products.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kPart = 512, kSums = 8;  // kPart numbers of some rows stay in the cache

MNLEARN_INLINE inline const double* row_of(const Rows& rows, std::size_t k) { return rows.values + k * rows.length; }

// HIGH rows of a with WIDE rows of b, from `begin` to `end`, at most kPart further. Eight sums side by side, in vectors
// of LANES.
template <int LANES, int HIGH, int WIDE>
MNLEARN_INLINE inline void add_part(const double* const* a, const double* const* b, std::size_t begin, std::size_t end,
                                    double* const* out) {
    using D = typename Lanes<LANES>::Doubles;
    constexpr int kVectors = static_cast<int>(kSums) / LANES;
    D sums[HIGH][WIDE][kVectors] = {};
    std::size_t k = begin;
    for (; k + kSums <= end; k += kSums)
        for (int v = 0; v < kVectors; ++v) {
            D right[WIDE];
            for (int j = 0; j < WIDE; ++j) std::memcpy(&right[j], b[j] + k + v * LANES, sizeof(D));
            for (int i = 0; i < HIGH; ++i) {
                D left;
                std::memcpy(&left, a[i] + k + v * LANES, sizeof(D));
                for (int j = 0; j < WIDE; ++j) sums[i][j][v] += left * right[j];
            }
        }
    for (int i = 0; i < HIGH; ++i)
        for (int j = 0; j < WIDE; ++j) {
            const auto at = [&](int lane) { return sums[i][j][lane / LANES][lane % LANES]; };
            double sum = ((at(0) + at(4)) + (at(2) + at(6))) + ((at(1) + at(5)) + (at(3) + at(7)));
            for (std::size_t rest = k; rest < end; ++rest) sum += a[i][rest] * b[j][rest];
            out[i][j] += sum;
        }
}

template <int LANES, int HIGH, int WIDE>
void tile_products(const Rows& a, const Rows& b, const Tile& tile, double* out) {
    const auto add = [&]<int high, int wide>(std::size_t i, std::size_t j, std::size_t begin, std::size_t end) {
        const double *left[high], *right[wide];
        double* to[high];
        for (int k = 0; k < high; ++k) {
            left[k] = row_of(a, i + static_cast<std::size_t>(k));
            to[k] = out + (i + static_cast<std::size_t>(k)) * b.n + j;
        }
        for (int k = 0; k < wide; ++k) right[k] = row_of(b, j + static_cast<std::size_t>(k));
        add_part<LANES, high, wide>(left, right, begin, end, to);
    };
    for (std::size_t i = tile.first_a; i < tile.last_a; ++i)
        for (std::size_t j = tile.first_b; j < tile.last_b; ++j) out[i * b.n + j] = 0.0;
    for (std::size_t begin = 0; begin < a.length; begin += kPart) {
        const std::size_t end = begin + kPart < a.length ? begin + kPart : a.length;
        std::size_t i = tile.first_a;
        for (; i + HIGH <= tile.last_a; i += HIGH) {
            std::size_t j = tile.first_b;
            for (; j + WIDE <= tile.last_b; j += WIDE) add.template operator()<HIGH, WIDE>(i, j, begin, end);
            for (; j < tile.last_b; ++j) add.template operator()<HIGH, 1>(i, j, begin, end);
        }
        for (; i < tile.last_a; ++i)
            for (std::size_t j = tile.first_b; j < tile.last_b; ++j) add.template operator()<1, 1>(i, j, begin, end);
    }
}

}  // namespace
}  // namespace mnlearn
