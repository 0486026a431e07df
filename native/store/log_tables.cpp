#include "store/log_tables.hpp"

#include <algorithm>

#include "numbers/elementary.hpp"

namespace mnlearn {

namespace {

std::size_t table_size(std::int64_t n_rows) { return static_cast<std::size_t>(std::min(n_rows + 1, kTableSize)); }

}  // namespace

RisingLogGamma::RisingLogGamma(double prior, std::int64_t n_rows)
    : prior_(prior),
      base_(elementary::log_gamma(prior)),
      values_(table_size(n_rows)),
      table_(values_.data()),
      size_(static_cast<std::int64_t>(values_.size())) {
    for (std::int64_t count = 1; count < size_; ++count) values_[static_cast<std::size_t>(count)] = compute(count);
}

double RisingLogGamma::compute(std::int64_t count) const {
    return elementary::log_gamma(prior_ + static_cast<double>(count)) - base_;
}

double RisingLogGamma::remainder(std::int64_t count) const {
    constexpr double kStirling = 1e5, half_log_two_pi = 0.91893853320467274178;
    const double n = static_cast<double>(count), x = prior_ + n;
    if (count == 0) return 0.0;
    if (n < kStirling) return ((*this)(count)-n * elementary::log(n)) + n;
    // Stirling's series of log Γ(x), with n log x − n log n = n log(1 + prior / n).
    return ((prior_ - 0.5) * elementary::log(x) + n * elementary::log1p(prior_ / n)) +
           ((half_log_two_pi - prior_) + (1.0 / (12.0 * x) - base_));
}

CountLogCount::CountLogCount(std::int64_t n_rows)
    : values_(table_size(n_rows)), table_(values_.data()), size_(static_cast<std::int64_t>(values_.size())) {
    for (std::int64_t count = 1; count < size_; ++count) values_[static_cast<std::size_t>(count)] = compute(count);
}

double CountLogCount::compute(std::int64_t count) {
    return static_cast<double>(count) * elementary::log(static_cast<double>(count));
}

std::shared_ptr<const RisingLogGamma> LogTables::rising_log_gamma(double prior) {
    const std::lock_guard lock(guard_);
    if (rising_.size() >= kMaxKept && !rising_.contains(prior)) rising_.clear();
    auto& table = rising_[prior];
    if (!table) table = std::make_shared<const RisingLogGamma>(prior, n_rows_);
    return table;
}

std::shared_ptr<const CountLogCount> LogTables::count_log_count() {
    const std::lock_guard lock(guard_);
    if (!count_log_count_) count_log_count_ = std::make_shared<const CountLogCount>(n_rows_);
    return count_log_count_;
}

std::size_t LogTables::bytes() const {
    const std::lock_guard lock(guard_);
    return (rising_.size() + (count_log_count_ ? 1 : 0)) * table_size(n_rows_) * sizeof(double);
}

}  // namespace mnlearn
