// Partial correlations of columns with gaps: each y by the rows in which x, y and all of z have a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "correlation/partial_correlations.hpp"

namespace mnlearn {

// Columns of about unit variance; NaN where a value is missing.
struct GapColumns {
    std::size_t n_columns, n_records;
    const double* values;   // [column * n_records + row]
    const double* weights;  // of each row; null for 1
    const double* column(std::int32_t v) const { return values + static_cast<std::size_t>(v) * n_records; }
};

// The products of x and z are summed once for all y; rows that a y lacks are taken out again, or where these are most,
// the others are summed anew. One for each thread.
class TestwiseCorrelations {
public:
    explicit TestwiseCorrelations(const GapColumns& columns) : columns_(columns) {}

    // Of each y, as by PartialCorrelations. NaN also where a variable hardly varies in these rows, or there are none.
    // rows[k]: the weight of the rows of the k-th y. Good until the next call.
    std::span<double> operator()(std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z);
    std::span<const double> rows() const { return rows_; }

private:
    struct Sums {
        std::vector<double> first, products;  // Σ b_j and Σ b_j b_l, l <= j, of centred columns of x and z
        double weight = 0.0;
    };
    void start(std::int32_t x, std::span<const std::int32_t> z);
    void add(Sums& sums, std::span<const std::uint32_t> places, double sign) const;
    void split(const double* y);
    double correlate(const double* y);

    GapColumns columns_;
    std::size_t width_ = 0;              // x and z
    std::vector<std::uint32_t> common_;  // rows in which these have values
    std::vector<double> base_;           // [place * width + j]: their values there, centred
    std::vector<double> weight_;         // of these rows
    Sums all_, of_y_;
    std::vector<std::uint32_t> present_, absent_;  // places of common_ at which y has a value, or none
    std::vector<double> with_y_, matrix_;
    std::vector<double> found_, rows_;
};

}  // namespace mnlearn
