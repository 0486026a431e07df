#include "screen/partner_lists.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mnlearn {

PartnerLists::PartnerLists(std::size_t n_variables, std::size_t k, float floor, std::size_t most)
    : n_(n_variables),
      k_(k),
      most_(most),
      floor_(floor),
      partners_(n_variables),
      bars_(std::make_unique<std::atomic<float>[]>(n_variables)),
      stripes_(std::make_unique<std::mutex[]>(kStripes)) {
    for (std::size_t x = 0; x < n_; ++x) bars_[x].store(floor, std::memory_order_relaxed);
}

void PartnerLists::enter(std::int32_t x, std::int32_t y, float value) {
    const auto here = static_cast<std::size_t>(x);
    const std::lock_guard lock(stripes_[here % kStripes]);
    std::vector<Partner>& mine = partners_[here];
    if (mine.size() == mine.capacity()) {
        const std::size_t more = std::max<std::size_t>(8, 2 * mine.size());
        mine.reserve(k_ ? std::min(2 * k_, more) : more);
    }
    mine.push_back({value, y});
    if (k_) {
        if (mine.size() == 2 * k_) cut(here);
    } else if (++n_entries_ > most_) {
        throw std::invalid_argument("threshold must leave at most " + std::to_string(most_ / 2) +
                                    " pairs; more are above it. Raise it, or keep the k strongest of each variable.");
    }
}

void PartnerLists::cut(std::size_t x) {
    std::vector<Partner>& mine = partners_[x];
    if (!k_ || mine.size() < k_) return;
    const auto last = mine.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(mine.begin(), last, mine.end(), stronger);
    bars_[x].store(last->value, std::memory_order_relaxed);
    mine.resize(k_);
}

std::vector<std::vector<PartnerLists::Partner>> PartnerLists::one_sided() const {
    std::vector<std::vector<Partner>> others(n_);
    for (std::size_t x = 0; x < n_; ++x)
        for (const Partner& p : partners_[x]) {
            const auto& theirs = partners_[static_cast<std::size_t>(p.variable)];
            const Partner here{p.value, static_cast<std::int32_t>(x)};
            if (!std::binary_search(theirs.begin(), theirs.end(), here, earlier))
                others[static_cast<std::size_t>(p.variable)].push_back(here);
        }
    return others;
}

PartnerLists::Lists PartnerLists::lists() {
    for (std::size_t x = 0; x < n_; ++x) {
        cut(x);
        std::sort(partners_[x].begin(), partners_[x].end(), earlier);
    }
    const auto others = one_sided();
    Lists found;
    found.starts.push_back(0);
    for (std::size_t x = 0; x < n_; ++x)
        found.starts.push_back(found.starts.back() + static_cast<std::int64_t>(partners_[x].size() + others[x].size()));
    const auto total = static_cast<std::size_t>(found.starts.back());
    found.partners.reserve(total);
    found.values.reserve(total);
    std::vector<Partner> row;
    for (std::size_t x = 0; x < n_; ++x) {
        row.clear();
        std::merge(partners_[x].begin(), partners_[x].end(), others[x].begin(), others[x].end(),
                   std::back_inserter(row), earlier);
        for (const Partner& p : row) {
            found.partners.push_back(p.variable);
            found.values.push_back(p.value);
        }
    }
    return found;
}

}  // namespace mnlearn
