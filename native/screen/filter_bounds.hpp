// Least X² of a pair that can have a statistic of a given size: what the filter of pairs compares with.
//
// With u = (o − e) / e of a cell, a cell with u < 0 contributes at most e u² (1 + |u|/3 + 2u²/3) to G², and at most
// e u² + e; one with u >= 0 at most e u². The squared adjusted residual of a cell of row share r and column share c,
// e u² / ((1 − r)(1 − c)), is at most X², so |u| <= m = sqrt(X² (1 − r)(1 − c) / e). So G² <= X² (1 + m/3 + 2m²/3) + R,
// with the largest m and R = 0, or with some cells apart and their expected counts added up to R. And G² <= 2 X².
#pragma once

#include <cstddef>
#include <span>

namespace mnlearn {

// X² >= slope · G² − offset for every G² up to the one that the bound was made for.
struct StatisticBound {
    double slope = 1.0, offset = 0.0;
};

// Rows with a state: of one variable, or between bounds for each of many variables.
struct SizeRange {
    double low, high;
};

// States of x and of y, the rarest first; the bound holds up to this statistic.
StatisticBound likelihood_bound(std::span<const double> x, std::span<const SizeRange> y, double n_rows, double g2);

}  // namespace mnlearn
