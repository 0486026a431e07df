#include "correlation/testwise_correlations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mnlearn {
namespace {

constexpr double kHardlyVaries = 1e-10;  // a variance, of columns with unit variance
constexpr double kUnclear = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// The rows of x and z, centred by their means there.
void TestwiseCorrelations::start(std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<const double*> columns{columns_.column(x)};
    for (const std::int32_t v : z) columns.push_back(columns_.column(v));
    width_ = columns.size();
    common_.clear();
    base_.clear();
    weight_.clear();
    for (std::size_t row = 0; row < columns_.n_records; ++row) {
        double sum = 0.0;  // NaN if one of them is
        for (const double* column : columns) sum += column[row];
        if (std::isnan(sum)) continue;
        common_.push_back(static_cast<std::uint32_t>(row));
        for (const double* column : columns) base_.push_back(column[row]);
        weight_.push_back(columns_.weights ? columns_.weights[row] : 1.0);
    }
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    for (std::size_t j = 0; j < width_; ++j) {
        double mean = 0.0;
        for (std::size_t i = 0; i < common_.size(); ++i) mean += weight_[i] * base_[i * width_ + j];
        mean /= total;
        for (std::size_t i = 0; i < common_.size(); ++i) base_[i * width_ + j] -= mean;
    }
    present_.resize(common_.size());
    std::iota(present_.begin(), present_.end(), 0u);
    all_ = {};
    all_.first.assign(width_, 0.0);
    all_.products.assign(width_ * (width_ + 1) / 2, 0.0);
    add(all_, present_, 1.0);
}

void TestwiseCorrelations::add(Sums& sums, std::span<const std::uint32_t> places, double sign) const {
    for (const std::uint32_t i : places) {
        const double* row = base_.data() + i * width_;
        const double weight = sign * weight_[i];
        sums.weight += weight;
        double* product = sums.products.data();
        for (std::size_t j = 0; j < width_; ++j) {
            const double scaled = weight * row[j];
            sums.first[j] += scaled;
            for (std::size_t l = 0; l <= j; ++l) *product++ += scaled * row[l];
        }
    }
}

// The sums of x and z over the rows that y has.
void TestwiseCorrelations::split(const double* y) {
    present_.clear();
    absent_.clear();
    for (std::uint32_t i = 0; i < common_.size(); ++i) (std::isnan(y[common_[i]]) ? absent_ : present_).push_back(i);
    if (absent_.size() <= present_.size()) {
        of_y_ = all_;
        add(of_y_, absent_, -1.0);
    } else {
        of_y_.weight = 0.0;
        of_y_.first.assign(width_, 0.0);
        of_y_.products.assign(all_.products.size(), 0.0);
        add(of_y_, present_, 1.0);
    }
}

// Of x and y given z, over the rows that `split` found.
double TestwiseCorrelations::correlate(const double* y) {
    const std::size_t n = width_ + 1;
    if (present_.size() < 2) return kUnclear;
    double mean = 0.0, variance = 0.0;
    for (const std::uint32_t i : present_) mean += weight_[i] * y[common_[i]];
    mean /= of_y_.weight;
    with_y_.assign(n, 0.0);
    for (const std::uint32_t i : present_) {
        const double centred = y[common_[i]] - mean, scaled = weight_[i] * centred;
        for (std::size_t j = 0; j < width_; ++j) with_y_[j] += scaled * base_[i * width_ + j];
        with_y_[width_] += scaled;
        variance += scaled * centred;
    }
    matrix_.assign(n * n, 0.0);
    const double *product = of_y_.products.data(), *first = of_y_.first.data(), weight = of_y_.weight;
    for (std::size_t j = 0; j < width_; ++j) {
        for (std::size_t l = 0; l <= j; ++l) matrix_[j * n + l] = *product++ - first[j] * first[l] / weight;
        matrix_[width_ * n + j] = with_y_[j] - with_y_[width_] * first[j] / weight;
    }
    matrix_[n * n - 1] = variance - with_y_[width_] * with_y_[width_] / weight;
    for (std::size_t j = 0; j < n; ++j)
        if (!(matrix_[j * n + j] > kHardlyVaries * weight)) return kUnclear;
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < j; ++l) {
            const double r = matrix_[j * n + l] / std::sqrt(matrix_[j * n + j] * matrix_[l * n + l]);
            matrix_[j * n + l] = matrix_[l * n + j] = std::clamp(r, -1.0, 1.0);
        }
    for (std::size_t j = 0; j < n; ++j) matrix_[j * n + j] = 1.0;
    std::vector<std::int32_t> given(width_ - 1);
    std::iota(given.begin(), given.end(), 1);
    const auto last = static_cast<std::int32_t>(width_);
    return PartialCorrelations({n, matrix_.data()})(0, std::span(&last, 1), given)[0];
}

std::span<double> TestwiseCorrelations::operator()(std::int32_t x, std::span<const std::int32_t> ys,
                                                   std::span<const std::int32_t> z) {
    start(x, z);
    found_.resize(ys.size());
    rows_.resize(ys.size());
    for (std::size_t k = 0; k < ys.size(); ++k) {
        const double* y = columns_.column(ys[k]);
        split(y);
        rows_[k] = 0.0;
        for (const std::uint32_t i : present_) rows_[k] += weight_[i];
        found_[k] = correlate(y);
    }
    return found_;
}

}  // namespace mnlearn
