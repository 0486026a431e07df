#include "scan/partial_correlations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "scan/chi_square_tail.hpp"

namespace mnlearn {
namespace {

constexpr double kClear = 1e-6;               // a smaller share of a variance is not known to ten digits
constexpr double kLargest = 1.0 - 0x1.0p-53;  // its Fisher z is still finite
constexpr int kTogether = 8;                  // y in the lanes of a few vectors
constexpr double kUnclear = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// Whether every member that varies keeps a clear share of its variance given those before it.
bool PartialCorrelations::factor(std::span<const std::int32_t> z) {
    order_.clear();
    for (const std::int32_t v : z)
        if (correlation_.varies(v)) order_.push_back(v);
    const std::size_t size = order_.size();
    factor_.resize(size * size);
    remaining_.assign(size, 1.0);
    for (std::size_t j = 0; j < size; ++j) {
        double* row = factor_.data() + j * size;
        const auto begin = remaining_.begin() + static_cast<std::ptrdiff_t>(j);
        const auto pivot = static_cast<std::size_t>(std::max_element(begin, remaining_.end()) - remaining_.begin());
        if (!(remaining_[pivot] > kClear)) return false;
        if (pivot != j) {
            std::swap(order_[j], order_[pivot]);
            std::swap(remaining_[j], remaining_[pivot]);
            std::swap_ranges(row, row + j, factor_.data() + pivot * size);
        }
        row[j] = 1.0 / std::sqrt(remaining_[j]);
        for (std::size_t i = j + 1; i < size; ++i) {
            double* other = factor_.data() + i * size;
            double shared = correlation_(order_[j], order_[i]);
            for (std::size_t t = 0; t < j; ++t) shared -= other[t] * row[t];
            other[j] = shared * row[j];
            remaining_[i] -= other[j] * other[j];
        }
    }
    return true;
}

// Some variables in the coordinates of the factor.
template <int width> void PartialCorrelations::solve(const std::int32_t* ys, double* out) {
    const std::size_t size = order_.size();
    for (std::size_t i = 0; i < size; ++i) {
        const double* row = factor_.data() + i * size;
        double sum[width];
        for (int k = 0; k < width; ++k) sum[k] = correlation_(order_[i], ys[k]);
        for (std::size_t t = 0; t < i; ++t)
            for (int k = 0; k < width; ++k) sum[k] -= row[t] * out[t * width + static_cast<std::size_t>(k)];
        for (int k = 0; k < width; ++k) out[i * width + static_cast<std::size_t>(k)] = sum[k] * row[i];
    }
}

template <int width>
void PartialCorrelations::correlate(std::int32_t x, const std::int32_t* ys, double left_x, double* out) {
    solve<width>(ys, block_.data());
    double shared[width], left[width];
    for (int k = 0; k < width; ++k) shared[k] = correlation_(x, ys[k]), left[k] = correlation_(ys[k], ys[k]);
    for (std::size_t i = 0; i < order_.size(); ++i)
        for (int k = 0; k < width; ++k) {
            const double of_y = block_[i * width + static_cast<std::size_t>(k)];
            shared[k] -= of_x_[i] * of_y;
            left[k] -= of_y * of_y;
        }
    for (int k = 0; k < width; ++k) {
        if (left[k] > kClear)
            out[k] = std::clamp(shared[k] / std::sqrt(left[k] * left_x), -kLargest, kLargest);
        else
            out[k] = correlation_.varies(ys[k]) ? kUnclear : 0.0;
    }
}

std::span<double> PartialCorrelations::operator()(std::int32_t x, std::span<const std::int32_t> ys,
                                                  std::span<const std::int32_t> z) {
    found_.assign(ys.size(), 0.0);
    if (!correlation_.varies(x)) return found_;
    double left_x = 1.0;
    bool clear = factor(z);
    if (clear) {
        of_x_.resize(order_.size());
        solve<1>(&x, of_x_.data());
        for (const double of_x : of_x_) left_x -= of_x * of_x;
        clear = left_x > kClear;
    }
    if (!clear) {
        for (std::size_t k = 0; k < ys.size(); ++k)
            if (correlation_.varies(ys[k])) found_[k] = kUnclear;
        return found_;
    }
    block_.resize(order_.size() * kTogether);
    std::size_t k = 0;
    for (; k + kTogether <= ys.size(); k += kTogether) correlate<kTogether>(x, ys.data() + k, left_x, &found_[k]);
    for (; k < ys.size(); ++k) correlate<1>(x, ys.data() + k, left_x, &found_[k]);
    return found_;
}

void fisher_tails(std::span<const double> r, double dof, double* statistic, double* log_p) {
    const double root = std::sqrt(dof), one = 1.0;
    for (std::size_t k = 0; k < r.size(); ++k) {
        statistic[k] = dof > 0.0 ? std::atanh(r[k]) * root : 0.0;
        const double square = statistic[k] * statistic[k];
        log_chi2_tails(&square, &one, 1, log_p + k);
    }
}

}  // namespace mnlearn
