// Logistic regressions with few columns: some of them penalised by their absolute value, the others by their square.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/kernel_table.hpp"
#include "store/buffer_pool.hpp"

namespace mnlearn {

// The groups of LogisticGroups in memory of their own, with a column of ones for the intercept after the others.
class GroupedRows {
public:
    GroupedRows(std::size_t n_rows, std::size_t n_columns);  // of zeros

    std::size_t n_rows() const { return n_rows_; }
    double* column(std::size_t j) { return values_ + j * length_; }
    double* total() { return column(n_columns_); }
    double* ones() { return column(n_columns_ + 1); }
    LogisticGroups groups() const;

private:
    std::size_t n_rows_, n_columns_, length_;
    AlignedWords memory_;
    double* values_;
};

// Minimises  −log L(b) + Σ penalty_j |b_j| + ½ ridge Σ b_j²  over the columns and a free intercept; the second sum is
// over columns without a penalty, which it keeps finite. (On the others it would spread a weight over equal columns.)
//
// `coefficients` are the columns' and the intercept's, which comes last; they hold the start and then the optimum.
// Returns −log L there. Steps are proximal Newton: a quadratic model is minimised coordinate by coordinate, then a
// line search; its curvatures are kept for as long as the steps come on well. It ends when no derivative is farther
// from its optimum than `tolerance`.
double fit_logistic(const KernelTable& kernels, const GroupedRows& rows, std::span<const double> penalty, double ridge,
                    double tolerance, std::span<double> coefficients);

}  // namespace mnlearn
