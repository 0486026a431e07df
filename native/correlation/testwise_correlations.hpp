// Partial correlations of columns with gaps: each y by the rows in which x, y and all of z have a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "correlation/partial_correlations.hpp"

namespace mnlearn {

// Columns centred and of unit variance over their own values; 0 where a value is missing.
struct GapColumns {
    std::size_t n_columns, n_records;
    const double* values;         // [column * n_records + row]
    const double* weights;        // of each row; null for 1
    const std::int64_t* first;    // of each column, where its missing rows begin; then their number in all
    const std::int64_t* missing;  // rows, ascending for each column
    const double* column(std::int32_t v) const { return values + static_cast<std::size_t>(v) * n_records; }
    std::span<const std::int64_t> gaps(std::int32_t v) const {
        return {missing + first[v], static_cast<std::size_t>(first[v + 1] - first[v])};
    }
};

// The products of x and z are summed once for all y; rows that a y lacks are taken out again, or where few rows are
// left, these are summed anew. One for each thread.
class TestwiseCorrelations {
public:
    explicit TestwiseCorrelations(const GapColumns& columns) : columns_(columns) {}

    // Of each y, as by PartialCorrelations. NaN also where a variable hardly varies in these rows, or there are none.
    // rows(): the weight of the rows of each y. Good until the next call.
    std::span<double> operator()(std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z);
    std::span<const double> rows() const { return rows_; }

private:
    struct Sums {
        std::vector<double> first, products;  // Σ b_j and Σ b_j b_l, l <= j, of the columns of x and z
        double weight = 0.0;
    };
    void start(std::int32_t x, std::span<const std::int32_t> z);
    void add(Sums& sums, std::size_t place, double sign) const;
    void sum_base(std::int32_t y);
    void multiply(std::int32_t y);
    double correlate();
    const double* base(std::size_t j) const { return base_.data() + j * common_.size(); }

    GapColumns columns_;
    std::size_t width_ = 0;              // x and z
    std::vector<std::uint8_t> present_;  // of each row: whether these have values
    std::vector<std::uint32_t> common_;  // those rows
    std::vector<std::uint32_t> place_;   // of each row among them
    std::vector<double> base_, weight_;  // [j * rows + place]: their values, centred; and the weights
    std::vector<double> y_, weighted_;   // a y in these rows, 0 where it is missing
    std::vector<std::uint32_t> absent_;  // places at which it is
    Sums all_, of_y_;
    std::vector<double> with_y_, matrix_;
    double sum_y_ = 0.0, square_y_ = 0.0;
    std::vector<double> found_, rows_;
};

}  // namespace mnlearn
