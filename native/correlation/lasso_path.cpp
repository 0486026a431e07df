#include "correlation/lasso_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "correlation/partial_correlations.hpp"
#include "numbers/elementary.hpp"

namespace mnlearn {
namespace {

constexpr double kDegenerate = 1e-14;    // a smaller residual share of a variable is rounding: it never comes in
constexpr double kRounding = 0x1.0p-23;  // penalties that are no further apart are equal
constexpr double kTies = 1e-9;           // criteria that are no further apart, and weights that count as 0
constexpr double kRelativeTies = 1e-12;

bool exceeds(double value, double than) {
    return value > than + std::max(kTies, kRelativeTies * std::max(std::abs(value), std::abs(than)));
}

}  // namespace

LassoPath::LassoPath(std::size_t n, const double* gram, const double* shared, std::span<const std::int32_t> allowed)
    : n_(n), gram_(gram), covariance_(shared, shared + n), open_(n, 0), slope_(n) {
    for (const std::int32_t v : allowed) {
        const auto j = static_cast<std::size_t>(v);
        open_[j] = 1;
        if (std::abs(covariance_[j]) > penalty_) penalty_ = std::abs(covariance_[j]), next_in_ = v;
    }
}

// The last active one into the factor; false if the others explain it.
bool LassoPath::append_row(std::size_t place) {
    const double* row = gram_ + static_cast<std::size_t>(active_[place]) * n_;
    if (factor_.size() <= place) factor_.emplace_back();
    std::vector<double>& own = factor_[place];
    own.resize(place + 1);
    double left = row[active_[place]];
    for (std::size_t i = 0; i < place; ++i) {
        double sum = row[active_[i]];
        for (std::size_t t = 0; t < i; ++t) sum -= factor_[i][t] * own[t];
        own[i] = sum / factor_[i][i];
        left -= own[i] * own[i];
    }
    own[place] = std::sqrt(std::max(left, 0.0));
    return left > kDegenerate;
}

bool LassoPath::enter(std::int32_t v) {
    open_[static_cast<std::size_t>(v)] = 0;
    active_.push_back(v);
    if (!append_row(active_.size() - 1)) {
        active_.pop_back();
        return false;
    }
    weights_.push_back(0.0);
    signs_.push_back(covariance_[static_cast<std::size_t>(v)] < 0.0 ? -1.0 : 1.0);
    return true;
}

void LassoPath::leave(std::size_t place) {
    const auto at = static_cast<std::ptrdiff_t>(place);
    last_out_ = active_[place];
    open_[static_cast<std::size_t>(last_out_)] = 1;
    covariance_[static_cast<std::size_t>(last_out_)] = signs_[place] * penalty_;
    active_.erase(active_.begin() + at);
    weights_.erase(weights_.begin() + at);
    signs_.erase(signs_.begin() + at);
    for (std::size_t i = place; i < active_.size(); ++i) append_row(i);
}

// Of the weights, as λ falls: G⁻¹ sign; and of all covariances.
void LassoPath::find_direction() {
    const std::size_t size = active_.size();
    direction_ = signs_;
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t t = 0; t < i; ++t) direction_[i] -= factor_[i][t] * direction_[t];
        direction_[i] /= factor_[i][i];
    }
    for (std::size_t i = size; i-- > 0;) {
        for (std::size_t t = i + 1; t < size; ++t) direction_[i] -= factor_[t][i] * direction_[t];
        direction_[i] /= factor_[i][i];
    }
    std::fill(slope_.begin(), slope_.end(), 0.0);
    for (std::size_t i = 0; i < size; ++i) {
        const double* row = gram_ + static_cast<std::size_t>(active_[i]) * n_;
        for (std::size_t j = 0; j < n_; ++j) slope_[j] += direction_[i] * row[j];
    }
}

void LassoPath::move(double step) {
    for (std::size_t i = 0; i < active_.size(); ++i) weights_[i] += step * direction_[i];
    for (std::size_t j = 0; j < n_; ++j) covariance_[j] -= step * slope_[j];
    penalty_ -= step;
}

double LassoPath::weight(std::size_t place) const { return std::abs(weights_[place]) > kTies ? weights_[place] : 0.0; }

bool LassoPath::next(double smallest) {
    if (!(penalty_ > smallest + kRounding)) return false;
    const bool entered = next_in_ >= 0 && enter(next_in_);
    if (active_.empty() && !entered) return false;
    find_direction();
    double step = penalty_ - smallest;
    std::size_t leaving = active_.size();
    next_in_ = -1;
    for (std::size_t j = 0; j < n_; ++j) {
        if (!open_[j]) continue;
        const bool was_in = static_cast<std::int32_t>(j) == last_out_;  // it leaves the side on which it was
        for (const double sign : {1.0, -1.0}) {
            const double covariance = sign * covariance_[j], closing = 1.0 - sign * slope_[j];
            if (!(closing > 0.0) || (was_in && covariance > 0.0)) continue;
            const double reach = std::max((penalty_ - covariance) / closing, 0.0);
            if (reach < step) step = reach, next_in_ = static_cast<std::int32_t>(j);
        }
    }
    for (std::size_t i = 0; i < active_.size(); ++i)
        if (weights_[i] * direction_[i] < 0.0 && -weights_[i] / direction_[i] < step)
            step = -weights_[i] / direction_[i], leaving = i;
    move(step);
    last_out_ = -1;
    if (leaving < active_.size()) {
        next_in_ = -1;
        leave(leaving);
    }
    return true;
}

LassoChoice best_on_path(std::size_t n, const double* correlation, std::int32_t x,
                         std::span<const std::int32_t> allowed, const LassoCriterion& criterion) {
    LassoPath path(n, correlation, correlation + static_cast<std::size_t>(x) * n, allowed);
    PartialCorrelations shares({n, correlation});
    LassoChoice best;
    std::vector<std::vector<std::int32_t>> tried = {{}};
    double least = 0.0;
    std::size_t waited = 0;
    while (waited < criterion.patience && path.next(criterion.explained)) {
        std::vector<std::int32_t> members;
        for (std::size_t i = 0; i < path.active().size(); ++i)
            if (path.weight(i) != 0.0) members.push_back(path.active()[i]);
        if (members.size() > criterion.most) break;
        std::ranges::sort(members);
        if (std::ranges::find(tried, members) != tried.end()) continue;
        tried.push_back(members);
        const double share = std::max(shares.shares(x, {}, members, criterion.explained)[0], criterion.explained);
        const double value =
            criterion.n_rows * elementary::log(share) + static_cast<double>(members.size()) * criterion.price;
        if (exceeds(least, value))
            best.members = members, least = value, waited = 0;
        else
            ++waited;
    }
    best.n_sets = static_cast<std::int64_t>(tried.size());
    return best;
}

}  // namespace mnlearn
