#include "graph/strongest_partners.hpp"

#include <algorithm>
#include <limits>

#include "numbers/elementary.hpp"

namespace mnlearn {

StrongestPartners::StrongestPartners(std::size_t n_variables, std::size_t k)
    : k_(k),
      bars_(n_variables, -std::numeric_limits<double>::infinity()),
      partners_(n_variables),
      varies_(n_variables) {}

void StrongestPartners::add(std::int32_t x, std::span<const double> row) {
    const auto here = static_cast<std::size_t>(x);
    for (std::size_t k = 0; k < row.size(); ++k) {
        const double evidence = row[k];
        if (evidence == 0.0) continue;
        const std::size_t there = here + 1 + k;
        varies_[here] = varies_[there] = 1;
        if (evidence < 0.0) {
            ++n_against_;
            odds_against_ += elementary::exp(evidence);
        }
        const auto y = static_cast<std::int32_t>(there);
        if (evidence > bars_[here]) enter(x, y, evidence);
        if (evidence > bars_[there]) enter(y, x, evidence);
    }
}

void StrongestPartners::enter(std::int32_t x, std::int32_t y, double evidence) {
    std::vector<Partner>& mine = partners_[static_cast<std::size_t>(x)];
    mine.push_back({evidence, y});
    if (mine.size() >= 2 * k_) cut(x);
}

void StrongestPartners::cut(std::int32_t x) {
    std::vector<Partner>& mine = partners_[static_cast<std::size_t>(x)];
    if (mine.size() < k_) return;
    const auto last = mine.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(mine.begin(), last, mine.end(), [](const Partner& a, const Partner& b) {
        return a.evidence != b.evidence ? a.evidence > b.evidence : a.variable < b.variable;
    });
    bars_[static_cast<std::size_t>(x)] = last->evidence;
    mine.resize(k_);
}

std::vector<StrongestPartners::Pair> StrongestPartners::pairs() {
    const auto n = static_cast<std::int64_t>(n_variables());
    std::vector<Pair> found;
    for (std::int64_t x = 0; x < n; ++x) {
        cut(static_cast<std::int32_t>(x));
        for (const Partner& p : partners_[static_cast<std::size_t>(x)]) {
            const std::int64_t y = p.variable;
            found.push_back({std::min(x, y) * n + std::max(x, y), p.evidence});
        }
    }
    std::sort(found.begin(), found.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
    const auto same = [](const Pair& a, const Pair& b) { return a.key == b.key; };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
}

}  // namespace mnlearn
