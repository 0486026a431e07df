// Scoring the tables of many binary y in one stratum of a binary x, several y at a time.
//
// Every score of such a table is a sum over strata of a term that depends on two counts only, how many rows with y = 0
// there are where x = 0 and where x = 1. All but Pearson's are made from look-ups,
//
//   value = base + (cells − columns),  cells = (c[n00] + c[n01]) + (c[n10] + c[n11]),  columns = m[n_0] + m[n_1],
//
// and differ in what they do with the value. scan/scores.hpp says which tables; BinaryStratum does the same for one
// table, in the same order of operations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

enum class BinaryForm {
    count,    // first += n00
    plain,    // first += value
    tested,   // where neither state of y is missing: first += value, second += 1
    odds,     // first += max(value, 0); 1 + second is multiplied by 1 + exp(−|value|)
    pearson,  // where neither state of y is missing: first += X², second += 1
};

struct BinaryRow {
    BinaryForm form;
    const std::uint32_t *zero, *one;  // per y: rows with y = 0 among those with x = 0, with x = 1
    std::size_t n_ys;
    std::uint32_t n0, n1;         // rows with x = 0, with x = 1
    const double *cell, *column;  // the tables looked up, for counts up to n0 + n1
    double base;
    double *folded, *values;  // room: kMaxFolded numbers, and one a y
    double *first, *second;   // the running sums, one each a y; like `values` with room up to a multiple of eight
};

using ScoreBinary = void (*)(const BinaryRow&);
using FinishOdds = void (*)(double* first, double* second, std::size_t n_ys);  // first += log(1 + second); second = 0

// The tables of one binary y in all strata: X² and its degrees of freedom, summed in the order of the strata.
struct PearsonColumn {
    const std::uint32_t *counts, *sizes;  // [2 * stratum + state of x]: the rows with y = 0, all rows; below 2^26
    std::size_t n_strata;
    double statistic, dof;
};
using ScoreColumn = void (*)(PearsonColumn&);

// values[k] = base + (cells − columns), by loads: what every instruction set does best one at a time (a gather of eight
// takes three times as long here).
inline constexpr std::size_t kMaxFolded = 4096;
void look_up(const BinaryRow& row);

}  // namespace mnlearn
