// A path of l1-penalised logistic regressions on many binary columns, restricted to those that may matter.
//
// At a penalty λ the solution is known by its gradient: |x_jᵀ(y − p)| ≤ λ for a column left out. The solver is given
// the columns that were in at the penalty before and those whose gradient exceeds the new one; columns that it should
// have been given, seen by their gradient, are added until there are none. (At 512 variables one step in a hundred adds
// some; the strong rule of Tibshirani and others, 2012, misses none of them, but its larger fits take longer.) The few
// columns have few distinct rows, which are all the solver sees.
//
// Of most columns the gradient is not computed again: with values of ±½ it cannot have moved by more than half of
// what the residuals moved, Σ_i |Δr_i| / 2, since it was last computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evidence/logistic.hpp"

namespace mnlearn {

// Bit i of a column is its value in row i: −½ or ½. Rows have weights, such as how often they occur.
struct BinaryColumns {
    std::size_t n_rows, n_columns;
    const std::uint64_t* planes;  // [column, word]; bits beyond the last row are 0
    const double* weights;        // by row

    std::size_t n_words() const { return (n_rows + 63) / 64; }
    const std::uint64_t* plane(std::size_t j) const { return planes + j * n_words(); }
    bool at(std::size_t j, std::size_t row) const { return plane(j)[row / 64] >> (row % 64) & 1; }
};

// Groups of rows that agree in some columns: by row its group, and the first row of each group.
struct RowGroups {
    std::vector<std::uint32_t> group, first;
};

class LogisticPath {
public:
    // `target`: the rows with the answer 1. Barred columns never enter; free ones are not penalised.
    LogisticPath(const KernelTable& kernels, const BinaryColumns& columns, const std::uint64_t* target,
                 std::span<const std::uint8_t> barred, std::span<const std::uint8_t> free, double ridge);

    // The smallest penalty at which no penalised column is in.
    double first_penalty();

    // Moves on to a smaller penalty; returns how many fits it took.
    std::size_t step(double penalty);

    // Columns whose coefficient is not 0, ascending.
    std::vector<std::uint32_t> active() const;

    // −log L at its minimum over these columns, without a penalty.
    double refit(std::span<const std::uint32_t> chosen);

private:
    void fit(double penalty);
    void see_residuals(const GroupedRows& rows, std::span<const double> coefficients);
    void find_gradients(std::span<const std::uint8_t> left_out, double bound);
    void group_rows();
    GroupedRows grouped(const RowGroups& groups, std::span<const std::uint32_t> chosen) const;

    const KernelTable& kernels_;
    BinaryColumns columns_;
    std::vector<std::uint8_t> barred_, free_;
    double ridge_;
    std::vector<double> ones_;          // weight of the rows with the answer 1, by row
    std::vector<double> coefficients_;  // the intercept last
    AlignedWords memory_;
    double* residual_;                                   // y − p, weighted, by row
    double sum_ = 0;                                     // of the residuals
    double moved_ = 0;                                   // Σ |Δr| / 2, along the whole path
    std::vector<double> gradient_, seen_;                // |x_jᵀ r| when last computed, and moved_ then
    std::vector<std::uint32_t> looked_at_, grouped_by_;  // ascending
    RowGroups groups_;
};

}  // namespace mnlearn
