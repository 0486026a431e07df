// Shared by searches over subsets: choosing them, and polling for cancellation.
#pragma once

#include <chrono>
#include <vector>

#include "subsets/subset_search.hpp"

namespace mnlearn {

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
