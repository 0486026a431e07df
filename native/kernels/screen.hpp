// Filtering pairs by a lower bound of Pearson's X², straight from the counts: what passes is scored elsewhere.
//
// The planes of eight neighbouring variables are interleaved word by word, as in kernels/planes.hpp; a variable of
// three states has two planes, and the groups of its first state come before those of its second:
// planes[((group * n_planes + plane) * words + word) * 8 + lane]. Planes are those of the rarest states, so that no
// difference of large numbers loses the digits of single precision.
//
// With d = n_pq − r_p c_q / N for the states that have planes, what the other states contribute follows from sums of d.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/planes.hpp"

namespace mnlearn {

inline constexpr std::size_t kScreenPlanes = 2;   // of a variable, at most
inline constexpr std::size_t kScreenCounts = 16;  // of a state of x: those of two groups of planes

// What the filter knows of the variables of one class, one number each.
struct ScreenColumns {
    const std::uint64_t* planes;
    const float* means[kScreenPlanes];        // c_q / N
    const float* weights[kScreenPlanes + 1];  // 1 / c_q of all three states; of two states 1 / c_0 + 1 / c_1
};

// The variables x from first_x on, a multiple of four, against columns of 16 (of three states: 8) variables y.
// A pair passes if X² (for two states of x: over its weight) is at least slopes[x] min(bars[x], lows[column]) −
// offsets[x]. The arrays of x begin at first_x, and may be read up to the next multiple of four.
struct ScreenStrip {
    std::size_t words;
    const std::uint64_t* planes;           // of the class of x
    const float* counts[kScreenPlanes];    // r_p
    const float* weights[3];               // N / r_p of three states
    const float *bars, *slopes, *offsets;  // of each x
    std::size_t first_x, n_xs;
    ScreenColumns y;
    const float* lows;  // of each column
    std::size_t first_column, n_columns;
    bool triangle;  // x and y are of one class: only y after x are wanted
    float* least;   // room for a number of each x, up to a multiple of four
    // Pairs of three by three states that pass are looked at again: a bound of G² must be at least kept · bar − slack.
    bool again;
    float kept, slack;
};

struct ScreenSurvivor {
    std::uint32_t x, y;  // places in their classes
    std::uint32_t counts[kScreenPlanes][kScreenPlanes];
};

// Writes what passes, in any order and with pairs y <= x near the diagonal among it; returns how many there are. Room
// for all pairs is needed. By the planes of x and of y.
using ScreenPairs = std::size_t (*)(const ScreenStrip&, ScreenSurvivor*);
// Counts the same pairs without looking at them, for comparison.
using ProbePairs = std::uint32_t (*)(const ScreenStrip&);

struct ScreenKernels {
    ScreenPairs pairs[kScreenPlanes][kScreenPlanes];
    ProbePairs probe[kScreenPlanes][kScreenPlanes];
};

}  // namespace mnlearn
