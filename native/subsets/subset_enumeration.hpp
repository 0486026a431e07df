// What searches over sets have in common: asking about them, choosing them, and hearing whoever waits.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "subsets/path_counts.hpp"
#include "subsets/subset_search.hpp"

namespace mnlearn {

// The support of independence of x and each y given z: along a path of sets where that serves, else by a scan.
class Asker {
public:
    Asker(const Store& store, const Decision& test);

    void restart(std::int32_t x);
    // Whether log p is known for the degrees of freedom that any question about a set of this size may have.
    bool answers(std::size_t size_z) const { return size_z + 2 <= most_variables_; }
    std::span<const double> operator()(std::span<const std::int32_t> ys, std::span<const std::int32_t> z);
    bool independent(double support) const { return !judge_->dependent(support); }

private:
    void scan(std::span<const std::int32_t> ys, std::span<const std::int32_t> z);

    const Store& store_;
    const Decision& test_;
    PathCounts counts_;
    std::size_t most_variables_;
    std::optional<Judge> judge_;
    std::vector<double> support_, scores_;
};

// Some of n things, one choice after the other in lexicographic order.
class Choice {
public:
    Choice(std::size_t n, std::size_t size);
    std::span<const std::size_t> places() const { return places_; }
    bool next();

private:
    std::size_t n_;
    std::vector<std::size_t> places_;
};

// Asks whether to go on: at once, and then no more often than a reader of the answers could tell.
class Patience {
public:
    explicit Patience(const GoOn& go_on) : go_on_(go_on) {}
    bool lasts(std::int32_t x);

private:
    using Clock = std::chrono::steady_clock;
    const GoOn& go_on_;
    Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace mnlearn
