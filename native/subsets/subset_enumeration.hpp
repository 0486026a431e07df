// Shared by searches over subsets: testing them, choosing them, and polling for cancellation.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "subsets/path_counts.hpp"
#include "subsets/subset_search.hpp"

namespace mnlearn {

// The support of independence of x and each y given z: along a path of sets where that serves, else by a scan.
class SubsetTester {
public:
    SubsetTester(const Store& store, const TestSpec& test);

    void restart(std::int32_t x);
    // Whether log p is known for the degrees of freedom that any question about a set of this size may have.
    bool answers(std::size_t size_z) const { return size_z + 2 <= most_variables_; }
    std::span<const double> operator()(std::span<const std::int32_t> ys, std::span<const std::int32_t> z);
    bool independent(double support) const { return !decision_->dependent(support); }

private:
    void scan(std::span<const std::int32_t> ys, std::span<const std::int32_t> z);

    const Store& store_;
    const TestSpec& test_;
    PathCounts counts_;
    std::size_t most_variables_;
    std::optional<TestDecision> decision_;
    std::vector<double> support_, scores_;
};

// Some of n things, one choice after the other in lexicographic order.
class Combination {
public:
    Combination(std::size_t n, std::size_t size);
    std::span<const std::size_t> places() const { return places_; }
    bool next();

private:
    std::size_t n_;
    std::vector<std::size_t> places_;
};

// Polls the cancel callback: at once, and then 20 times a second.
class CancelPoll {
public:
    explicit CancelPoll(const GoOn& go_on) : go_on_(go_on) {}
    bool keep_going(std::int32_t x);

private:
    using Clock = std::chrono::steady_clock;
    const GoOn& go_on_;
    Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace mnlearn
