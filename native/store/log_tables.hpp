// Logarithms of counts, looked up: log-gamma of a count plus a prior, and c log c.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "portability.hpp"

namespace mnlearn {

// Counts up to here are looked up (one megabyte a table); larger ones, rare by nature, are computed.
inline constexpr std::int64_t kTableSize = std::int64_t{1} << 17;

// A table without its bound: for counts known to lie below it. Scores ask once per stratum and then look up freely.
struct Unchecked {
    const double* table;
    MNLEARN_INLINE double operator()(std::int64_t count) const { return table[count]; }
};

// count -> log Γ(prior + count) − log Γ(prior); 0 for an empty cell, so empty cells need not be visited.
class RisingLogGamma {
public:
    RisingLogGamma(double prior, std::int64_t n_rows);
    RisingLogGamma(const RisingLogGamma&) = delete;  // table_ points into values_
    double operator()(std::int64_t count) const { return count < size_ ? table_[count] : compute(count); }
    bool covers(std::int64_t count) const { return count < size_; }
    Unchecked unchecked() const { return {table_}; }
    double remainder(std::int64_t count) const;  // less count log(count) − count: what is left grows like log(count)
    auto remainders() const {
        return [this](std::int64_t count) { return remainder(count); };
    }

private:
    double compute(std::int64_t count) const;

    double prior_, base_;
    std::vector<double> values_;
    const double* table_;
    std::int64_t size_;
};

// count -> count · log(count), 0 for 0.
class CountLogCount {
public:
    explicit CountLogCount(std::int64_t n_rows);
    CountLogCount(const CountLogCount&) = delete;
    double operator()(std::int64_t count) const { return count < size_ ? table_[count] : compute(count); }
    bool covers(std::int64_t count) const { return count < size_; }
    Unchecked unchecked() const { return {table_}; }

private:
    static double compute(std::int64_t count);

    std::vector<double> values_;
    const double* table_;
    std::int64_t size_;
};

// The tables of one data set, made on first use and cached. Equivalent-sample-size priors ask for many
// different ones: past kMaxKept the collection starts anew (a table in use stays alive).
class LogTables {
public:
    explicit LogTables(std::int64_t n_rows) : n_rows_(n_rows) {}
    std::shared_ptr<const RisingLogGamma> rising_log_gamma(double prior);
    std::shared_ptr<const CountLogCount> count_log_count();
    std::size_t bytes() const;

private:
    static constexpr std::size_t kMaxKept = 32;
    std::int64_t n_rows_;
    mutable std::mutex guard_;
    std::map<double, std::shared_ptr<const RisingLogGamma>> rising_;
    std::shared_ptr<const CountLogCount> count_log_count_;
};

}  // namespace mnlearn
