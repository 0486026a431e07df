#include "log_tables.hpp"

#include <algorithm>

namespace mnlearn {

double log_gamma(double x) {
    constexpr double kStirling = 1e5;  // from here three terms of Stirling's series are exact to the last bit
    if (x >= kStirling) {
        const double half_log_two_pi = 0.91893853320467274178;
        return (x - 0.5) * std::log(x) - x + half_log_two_pi + 1.0 / (12.0 * x);
    }
#if defined(__GLIBC__) || defined(__APPLE__)
    int sign = 0;
    return ::lgamma_r(x, &sign);
#else
    return std::lgamma(x);
#endif
}

RisingLogGamma::RisingLogGamma(double prior, std::int64_t n_rows) : prior_(prior), base_(log_gamma(prior)), values_(static_cast<std::size_t>(std::min(n_rows + 1, kTableSize))) {
    for (std::size_t count = 1; count < values_.size(); ++count) values_[count] = log_gamma(prior + static_cast<double>(count)) - base_;
}

CountLogCount::CountLogCount(std::int64_t n_rows) : values_(static_cast<std::size_t>(std::min(n_rows + 1, kTableSize))) {
    for (std::size_t count = 1; count < values_.size(); ++count) values_[count] = static_cast<double>(count) * std::log(static_cast<double>(count));
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

}  // namespace mnlearn
