#include "correlation/testwise_correlations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mnlearn {
namespace {

constexpr double kHardlyVaries = 1e-4;  // share of the squares that sums start from; of a smaller one digits are lost
constexpr std::size_t kFewLeft = 8;     // if fewer than one row in so many is left, these are summed anew
constexpr double kUndecided = std::numeric_limits<double>::quiet_NaN();

// In eight lanes, in the same order on any processor.
double dot_in_lanes(const double* a, const double* b, std::size_t n) {
    double lanes[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) lanes[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) lanes[i % 8] += a[i] * b[i];
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace

// The rows of x and z, centred by their means there.
void TestwiseCorrelations::start(std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> variables{x};
    variables.insert(variables.end(), z.begin(), z.end());
    width_ = variables.size();
    present_.assign(columns_.n_records, 1);
    for (const std::int32_t v : variables)
        for (const std::int64_t row : columns_.gaps(v)) present_[static_cast<std::size_t>(row)] = 0;
    common_.clear();
    place_.resize(columns_.n_records);
    for (std::size_t row = 0; row < columns_.n_records; ++row) {
        place_[row] = static_cast<std::uint32_t>(common_.size());
        if (present_[row]) common_.push_back(static_cast<std::uint32_t>(row));
    }
    const std::size_t n = common_.size();
    weight_.assign(n, 1.0);
    if (columns_.weights)
        for (std::size_t i = 0; i < n; ++i) weight_[i] = columns_.weights[common_[i]];
    all_.weight = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    all_.first.assign(width_, 0.0);
    all_.products.clear();
    base_.resize(width_ * n);
    weighted_.resize(n);
    for (std::size_t j = 0; j < width_; ++j) {
        double* const values = base_.data() + j * n;
        const double* const column = columns_.column(variables[j]);
        for (std::size_t i = 0; i < n; ++i) values[i] = column[common_[i]];
        const double mean = dot_in_lanes(values, weight_.data(), n) / all_.weight;
        for (std::size_t i = 0; i < n; ++i) values[i] -= mean;
        for (std::size_t i = 0; i < n; ++i) weighted_[i] = weight_[i] * values[i];
        all_.first[j] = dot_in_lanes(values, weight_.data(), n);
        for (std::size_t l = 0; l <= j; ++l) all_.products.push_back(dot_in_lanes(weighted_.data(), base(l), n));
    }
}

void TestwiseCorrelations::add(Sums& sums, std::size_t place, double sign) const {
    const double weight = sign * weight_[place];
    sums.weight += weight;
    double* product = sums.products.data();
    for (std::size_t j = 0; j < width_; ++j) {
        const double scaled = weight * base(j)[place];
        sums.first[j] += scaled;
        for (std::size_t l = 0; l <= j; ++l) *product++ += scaled * base(l)[place];
    }
}

// The sums of x and z over the rows that y has.
void TestwiseCorrelations::sum_base(std::int32_t y) {
    absent_.clear();
    for (const std::int64_t row : columns_.gaps(y))
        if (present_[static_cast<std::size_t>(row)]) absent_.push_back(place_[static_cast<std::size_t>(row)]);
    of_y_ = all_;
    if ((common_.size() - absent_.size()) * kFewLeft >= common_.size()) {
        for (const std::uint32_t place : absent_) add(of_y_, place, -1.0);
        return;
    }
    of_y_.weight = 0.0;
    std::fill(of_y_.first.begin(), of_y_.first.end(), 0.0);
    std::fill(of_y_.products.begin(), of_y_.products.end(), 0.0);
    auto next = absent_.begin();
    for (std::uint32_t place = 0; place < common_.size(); ++place) {
        if (next != absent_.end() && *next == place)
            ++next;
        else
            add(of_y_, place, 1.0);
    }
}

// The sums of y, and its products with x and z: where it is missing, it adds 0.
void TestwiseCorrelations::multiply(std::int32_t y) {
    const std::size_t n = common_.size();
    const double* const column = columns_.column(y);
    y_.resize(n);
    for (std::size_t i = 0; i < n; ++i) y_[i] = column[common_[i]];
    for (std::size_t i = 0; i < n; ++i) weighted_[i] = weight_[i] * y_[i];
    sum_y_ = dot_in_lanes(y_.data(), weight_.data(), n);
    square_y_ = dot_in_lanes(y_.data(), weighted_.data(), n);
    with_y_.resize(width_);
    for (std::size_t j = 0; j < width_; ++j) with_y_[j] = dot_in_lanes(base(j), weighted_.data(), n);
}

// Of x and y given z, from these sums.
double TestwiseCorrelations::correlate() {
    const std::size_t n = width_ + 1;
    const double *product = of_y_.products.data(), *first = of_y_.first.data(), weight = of_y_.weight;
    matrix_.assign(n * n, 0.0);
    bool clear = true;
    for (std::size_t j = 0; j < width_; ++j) {
        for (std::size_t l = 0; l <= j; ++l) matrix_[j * n + l] = *product++ - first[j] * first[l] / weight;
        matrix_[width_ * n + j] = with_y_[j] - sum_y_ * first[j] / weight;
        clear = clear && matrix_[j * n + j] > kHardlyVaries * product[-1];
    }
    matrix_[n * n - 1] = square_y_ - sum_y_ * sum_y_ / weight;
    for (std::size_t j = 0; j < n; ++j)  // a column that is all but constant here is left to more digits
        clear = clear && matrix_[j * n + j] > kHardlyVaries * kHardlyVaries * weight;
    if (!clear || !(matrix_[n * n - 1] > kHardlyVaries * square_y_)) return kUndecided;
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
    found_.assign(ys.size(), kUndecided);
    rows_.assign(ys.size(), 0.0);
    for (std::size_t k = 0; k < ys.size(); ++k) {
        sum_base(ys[k]);
        if (common_.size() == absent_.size()) continue;
        rows_[k] = of_y_.weight;
        multiply(ys[k]);
        found_[k] = correlate();
    }
    return found_;
}

}  // namespace mnlearn
