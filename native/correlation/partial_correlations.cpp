#include "correlation/partial_correlations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "numbers/elementary.hpp"
#include "scan/chi_square_tail.hpp"

namespace mnlearn {
namespace {

constexpr double kClear = 1e-6;               // a smaller share of a variance is not known to ten digits
constexpr double kLargest = 1.0 - 0x1.0p-53;  // its Fisher z is still finite
constexpr int kTogether = 8;                  // y in the lanes of a few vectors
constexpr double kUnclear = std::numeric_limits<double>::quiet_NaN();

double correlation_of(double shared, double left_x, double left_y) {
    return std::clamp(shared / std::sqrt(left_y * left_x), -kLargest, kLargest);
}

}  // namespace

// Members that are constant are left out, and those of which the others leave this share of their variance or less.
// Whether all others are in.
bool PartialCorrelations::factor(std::span<const std::int32_t> z, double least) {
    order_.clear();
    for (const std::int32_t v : z)
        if (correlation_.varies(v)) order_.push_back(v);
    const std::size_t stride = order_.size();
    factor_.resize(stride * stride);
    remaining_.assign(stride, 1.0);
    for (size_ = 0; size_ < stride; ++size_) {
        const std::size_t j = size_;
        double* row = factor_.data() + j * stride;
        const auto begin = remaining_.begin() + static_cast<std::ptrdiff_t>(j);
        const auto pivot = static_cast<std::size_t>(std::max_element(begin, remaining_.end()) - remaining_.begin());
        if (!(remaining_[pivot] > least)) return false;
        if (pivot != j) {
            std::swap(order_[j], order_[pivot]);
            std::swap(remaining_[j], remaining_[pivot]);
            std::swap_ranges(row, row + j, factor_.data() + pivot * stride);
        }
        row[j] = 1.0 / std::sqrt(remaining_[j]);
        for (std::size_t i = j + 1; i < stride; ++i) {
            double* other = factor_.data() + i * stride;
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
    const std::size_t stride = order_.size();
    for (std::size_t i = 0; i < size_; ++i) {
        const double* row = factor_.data() + i * stride;
        double sum[width];
        for (int k = 0; k < width; ++k) sum[k] = correlation_(order_[i], ys[k]);
        for (std::size_t t = 0; t < i; ++t)
            for (int k = 0; k < width; ++k) sum[k] -= row[t] * out[t * width + static_cast<std::size_t>(k)];
        for (int k = 0; k < width; ++k) out[i * width + static_cast<std::size_t>(k)] = sum[k] * row[i];
    }
}

// The share of the variance of x that z leaves.
double PartialCorrelations::solve_x(std::int32_t x) {
    of_x_.resize(size_);
    solve<1>(&x, of_x_.data());
    double left = correlation_(x, x);
    for (const double of_x : of_x_) left -= of_x * of_x;
    return left;
}

// The covariance of x and each y given z, and the share of the variance of y that z leaves.
template <int width>
void PartialCorrelations::residuals(std::int32_t x, const std::int32_t* ys, double* shared, double* left) {
    solve<width>(ys, block_.data());
    for (int k = 0; k < width; ++k) shared[k] = correlation_(x, ys[k]), left[k] = correlation_(ys[k], ys[k]);
    for (std::size_t i = 0; i < size_; ++i)
        for (int k = 0; k < width; ++k) {
            const double of_y = block_[i * width + static_cast<std::size_t>(k)];
            shared[k] -= of_x_[i] * of_y;
            left[k] -= of_y * of_y;
        }
}

// work.operator()<width>(first) for as many y from the first on.
template <class Work> void PartialCorrelations::in_blocks(std::span<const std::int32_t> ys, const Work& work) {
    std::size_t k = 0;
    for (; k + kTogether <= ys.size(); k += kTogether) work.template operator()<kTogether>(k);
    for (; k < ys.size(); ++k) work.template operator()<1>(k);
}

std::span<double> PartialCorrelations::operator()(std::int32_t x, std::span<const std::int32_t> ys,
                                                  std::span<const std::int32_t> z) {
    found_.assign(ys.size(), 0.0);
    if (!correlation_.varies(x)) return found_;
    const double left_x = factor(z, kClear) ? solve_x(x) : 0.0;
    if (!(left_x > kClear)) {
        for (std::size_t k = 0; k < ys.size(); ++k)
            if (correlation_.varies(ys[k])) found_[k] = kUnclear;
        return found_;
    }
    block_.resize(size_ * kTogether);
    in_blocks(ys, [&]<int width>(std::size_t first) {
        double shared[width], left[width];
        residuals<width>(x, ys.data() + first, shared, left);
        for (std::size_t k = 0; k < width; ++k) {
            if (left[k] > kClear)
                found_[first + k] = correlation_of(shared[k], left_x, left[k]);
            else
                found_[first + k] = correlation_.varies(ys[first + k]) ? kUnclear : 0.0;
        }
    });
    return found_;
}

std::span<const double> PartialCorrelations::shares(std::int32_t x, std::span<const std::int32_t> ys,
                                                    std::span<const std::int32_t> z, double explained) {
    factor(z, explained);
    const double left_x = solve_x(x);
    found_.assign(ys.size() + 1, left_x);
    if (!(left_x > explained)) return found_;
    block_.resize(size_ * kTogether);
    in_blocks(ys, [&]<int width>(std::size_t first) {
        double shared[width], left[width];
        residuals<width>(x, ys.data() + first, shared, left);
        for (std::size_t k = 0; k < width; ++k) {
            if (!(left[k] > explained)) continue;
            const double r = correlation_of(shared[k], left_x, left[k]);
            found_[first + k] = left_x * (1.0 - r) * (1.0 + r);
        }
    });
    return found_;
}

// The inverse of the factor, the precision of each member, and the coefficients of x. For a set z let W be its block of
// the correlation matrix R, P = W⁻¹, and B = P R[z, ·] the coefficients of every variable on it. Without the member m:
//
//     cov(a, b | z − m) = cov(a, b | z) + B[m, a] B[m, b] / P[m, m].
void PartialCorrelations::invert() {
    inverse_.assign(size_ * size_, 0.0);
    precision_.assign(size_, 0.0);
    weight_x_.assign(size_, 0.0);
    const std::size_t stride = order_.size();
    for (std::size_t i = 0; i < size_; ++i) {
        const double* row = factor_.data() + i * stride;
        double* inverse = inverse_.data() + i * size_;
        for (std::size_t t = 0; t < i; ++t)
            for (std::size_t j = 0; j <= t; ++j) inverse[j] -= row[t] * inverse_[t * size_ + j];
        for (std::size_t j = 0; j < i; ++j) inverse[j] *= row[i];
        inverse[i] = row[i];
        for (std::size_t j = 0; j <= i; ++j) {
            precision_[j] += inverse[j] * inverse[j];
            weight_x_[j] += inverse[j] * of_x_[i];
        }
    }
    for (std::size_t j = 0; j < size_; ++j) weight_x_[j] /= std::sqrt(precision_[j]);
}

void PartialCorrelations::order_members(std::span<const std::int32_t> z) {
    places_.resize(size_);
    for (std::size_t j = 0; j < size_; ++j)
        places_[j] = static_cast<std::size_t>(std::ranges::lower_bound(z, order_[j]) - z.begin());
}

// −P[m, x] / √(P[m, m] P[x, x]) of the block of x and z, whose factor is that of z with x at its end.
std::span<const double> PartialCorrelations::members(std::int32_t x, std::span<const std::int32_t> z) {
    found_.clear();
    const double left_x = factor(z, kClear) && size_ == z.size() ? solve_x(x) : 0.0;
    if (!(left_x > kClear)) return found_;
    invert();
    order_members(z);
    for (std::size_t j = 0; j < size_; ++j)
        if (!(precision_[j] * (1.0 + weight_x_[j] * weight_x_[j] / left_x) * kClear < 1.0)) return found_;
    found_.resize(size_);
    for (std::size_t j = 0; j < size_; ++j) {
        const double without = left_x + weight_x_[j] * weight_x_[j];  // of the variance of x, without m
        found_[places_[j]] = std::clamp(weight_x_[j] / std::sqrt(without), -kLargest, kLargest);
    }
    return found_;
}

template <int width>
void PartialCorrelations::exchange(std::int32_t x, const std::int32_t* ys, std::size_t column, double explained) {
    double shared[width], left[width];
    residuals<width>(x, ys, shared, left);
    const std::size_t row = found_.size() / size_;
    for (std::size_t j = 0; j < size_; ++j) {
        double weight[width] = {};
        for (std::size_t i = j; i < size_; ++i)
            for (std::size_t k = 0; k < width; ++k) weight[k] += inverse_[i * size_ + j] * block_[i * width + k];
        double* out = found_.data() + places_[j] * row;
        const double without = out[0], root = std::sqrt(precision_[j]);
        for (std::size_t k = 0; k < width; ++k) {
            weight[k] /= root;
            const double left_y = left[k] + weight[k] * weight[k];
            const double covariance = shared[k] + weight[k] * weight_x_[j];
            out[1 + column + k] = without - (left_y > explained ? covariance * covariance / left_y : 0.0);
        }
    }
}

// With y in the place of m: var(x | z − m + y) = var(x | z − m) − cov(x, y | z − m)² / var(y | z − m).
std::span<const double> PartialCorrelations::exchanged(std::int32_t x, std::span<const std::int32_t> ys,
                                                       std::span<const std::int32_t> z, double explained) {
    found_.clear();
    if (z.empty() || !correlation_.varies(x) || !factor(z, explained) || size_ != z.size()) return found_;
    const double left_x = solve_x(x);
    invert();
    if (std::ranges::any_of(precision_, [](double value) { return !(value * kClear < 1.0); })) return found_;
    order_members(z);
    found_.resize(size_ * (ys.size() + 1));
    for (std::size_t j = 0; j < size_; ++j) found_[places_[j] * (ys.size() + 1)] = left_x + weight_x_[j] * weight_x_[j];
    block_.resize(size_ * kTogether);
    in_blocks(ys, [&]<int width>(std::size_t first) { exchange<width>(x, ys.data() + first, first, explained); });
    return found_;
}

// What z leaves of each y, in units of its own size; zeros if that is next to nothing.
void PartialCorrelations::standardize(std::int32_t x, std::span<const std::int32_t> ys, double explained) {
    const double left_x = solve_x(x), unit_x = left_x > explained ? 1.0 / std::sqrt(left_x) : 0.0;
    asked_.assign(ys.begin(), ys.end());
    coordinates_.resize(ys.size() * size_);
    scale_.assign(ys.size(), 0.0);
    with_x_.assign(ys.size(), 0.0);
    block_.resize(size_ * kTogether);
    in_blocks(ys, [&]<int width>(std::size_t first) {
        double shared[width], left[width];
        residuals<width>(x, ys.data() + first, shared, left);
        for (std::size_t k = 0; k < width; ++k) {
            if (!(left[k] > explained)) continue;
            scale_[first + k] = 1.0 / std::sqrt(left[k]);
            with_x_[first + k] = std::clamp(shared[k] * unit_x * scale_[first + k], -kLargest, kLargest);
            for (std::size_t i = 0; i < size_; ++i) coordinates_[(first + k) * size_ + i] = block_[i * width + k];
        }
    });
}

// (a² + b² − 2 a b r) / (1 − r²) for the correlations a and b with x, and r with each other, given z.
double PartialCorrelations::explained_by(std::size_t first, std::size_t second, double explained) const {
    const double scale = scale_[first] * scale_[second];
    double shared = correlation_(asked_[first], asked_[second]);
    for (std::size_t i = 0; i < size_; ++i)
        shared -= coordinates_[first * size_ + i] * coordinates_[second * size_ + i];
    const double r = scale > 0.0 ? std::clamp(shared * scale, -kLargest, kLargest) : 0.0;
    const double a = with_x_[first], b = with_x_[second], left = (1.0 - r) * (1.0 + r);
    return left > explained ? (a * a + b * b - 2.0 * a * b * r) / left : 0.0;
}

PartialCorrelations::Pair PartialCorrelations::best_pair(std::int32_t x, std::span<const std::int32_t> ys,
                                                         std::span<const std::int32_t> z, double explained,
                                                         double rounding) {
    factor(z, explained);
    standardize(x, ys, explained);
    double most = 0.0;
    found_.clear();
    for (std::size_t j = 0; j < ys.size(); ++j)
        for (std::size_t k = j + 1; k < ys.size(); ++k) {
            found_.push_back(explained_by(j, k, explained));
            most = std::max(most, found_.back());
        }
    double strongest = -1.0;
    const auto for_ties = [&](const auto& work) {
        std::size_t place = 0;
        for (std::size_t j = 0; j < ys.size(); ++j)
            for (std::size_t k = j + 1; k < ys.size(); ++k, ++place)
                if (found_[place] >= most - rounding)
                    work(Pair{j, k, found_[place]}, with_x_[j] * with_x_[j] + with_x_[k] * with_x_[k]);
    };
    for_ties([&](const Pair&, double alone) { strongest = std::max(strongest, alone); });
    Pair best{ys.size(), ys.size(), 0.0};
    for_ties([&](const Pair& pair, double alone) {
        if (best.first == ys.size() && alone >= strongest - rounding) best = pair;
    });
    return best;
}

void fisher_tails(std::span<const double> r, double dof, double* statistic, double* log_p) {
    const double root = std::sqrt(dof), one = 1.0;
    for (std::size_t k = 0; k < r.size(); ++k) {
        statistic[k] = dof > 0.0 ? elementary::atanh(r[k]) * root : 0.0;
        const double square = statistic[k] * statistic[k];
        log_chi2_tails(&square, &one, 1, log_p + k);
    }
}

}  // namespace mnlearn
