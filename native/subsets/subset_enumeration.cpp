#include "subsets/subset_enumeration.hpp"

#include <numeric>

namespace mnlearn {

Combination::Combination(std::size_t n, std::size_t size) : n_(n), places_(size) {
    std::iota(places_.begin(), places_.end(), std::size_t{0});
}

bool Combination::next() {
    for (std::size_t k = places_.size(); k-- > 0;) {
        if (places_[k] == n_ - places_.size() + k) continue;
        std::iota(places_.begin() + static_cast<std::ptrdiff_t>(k), places_.end(), places_[k] + 1);
        return true;
    }
    return false;
}

bool CancelPoll::keep_going(std::int32_t x) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return true;
    next_ = now + std::chrono::milliseconds(50);
    return go_on_(x);
}

}  // namespace mnlearn
