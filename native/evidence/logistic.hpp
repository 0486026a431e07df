// Logistic regressions with few columns: some of them penalised by their absolute value, the others by their square.
#pragma once

#include <cstddef>
#include <span>

namespace mnlearn {

// Rows that agree in all columns are one row here: how often it occurs, and how often with the answer 1.
struct GroupedRows {
    std::size_t n_rows, n_columns;
    const double* design;  // [row, column]
    const double* total;   // by row
    const double* ones;
};

// Minimises  −log L(b) + Σ penalty_j |b_j| + ½ ridge Σ b_j²  over the columns and a free intercept; the second sum is
// over columns without a penalty, which it keeps finite. (On the others it would spread a weight over equal columns.)
//
// `coefficients` are the columns' and the intercept's, which comes last; they hold the start and then the optimum.
// Returns −log L there. Steps are proximal Newton: a quadratic model is minimised coordinate by coordinate, then a
// line search; its curvatures are kept for as long as the steps come on well. It ends when no derivative is farther
// from its optimum than `tolerance`.
double fit_logistic(const GroupedRows& rows, std::span<const double> penalty, double ridge, double tolerance,
                    std::span<double> coefficients);

}  // namespace mnlearn
