#include "blankets/leave_one_out.hpp"

#include <algorithm>
#include <numeric>

namespace mnlearn {
namespace {

// Replaces keys by their ranks among those that occur; returns how many there are. Keys below `space`.
std::size_t rank(std::span<const std::uint64_t> keys, std::uint64_t space, std::vector<std::uint32_t>& ranks) {
    ranks.resize(keys.size());
    if (space <= 4 * keys.size() + 1024) {
        std::vector<std::uint32_t> table(space, 0);
        for (const std::uint64_t key : keys) table[key] = 1;
        std::uint32_t next = 0;
        for (std::uint32_t& entry : table) entry = entry ? next++ : 0;
        for (std::size_t c = 0; c < keys.size(); ++c) ranks[c] = table[keys[c]];
        return next;
    }
    std::vector<std::uint64_t> distinct(keys.begin(), keys.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t c = 0; c < keys.size(); ++c)
        ranks[c] =
            static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), keys[c]) - distinct.begin());
    return distinct.size();
}

// A stable counting sort: `from` in the order of keys[from[i]].
void sort_by(std::span<const std::uint32_t> keys, std::size_t n_keys, std::span<const std::uint32_t> from,
             std::vector<std::uint32_t>& places, std::vector<std::uint32_t>& to) {
    places.assign(n_keys + 1, 0);
    for (const std::uint32_t key : keys) ++places[key + 1];
    for (std::size_t k = 0; k < n_keys; ++k) places[k + 1] += places[k];
    to.resize(from.size());
    for (const std::uint32_t c : from) to[places[keys[c]]++] = c;
}

}  // namespace

LeaveOneOut::LeaveOneOut(const JointTable& cells, std::size_t n_members)
    : cells_(cells),
      n_members_(n_members),
      member_(n_members),
      differs_(cells.count(), 0),
      prefix_(cells.count(), 0),
      suffix_(cells.count(), 0),
      order_(cells.count()) {
    for (std::size_t c = 1; c < cells.count(); ++c) {
        std::size_t v = 0;
        while (v < n_members && cells.states_of(v)[c] == cells.states_of(v)[c - 1]) ++v;
        differs_[c] = static_cast<std::uint32_t>(v);
    }
}

void LeaveOneOut::next() {
    if (--member_ + 1 < n_members_) extend_suffix();
    number_prefixes();
    sort_cells();
    find_groups();
}

// The member that was left out last belongs to the suffix of this one.
void LeaveOneOut::extend_suffix() {
    const auto states = cells_.states_of(member_ + 1);
    const std::uint64_t card = states.empty() ? 0 : std::uint64_t{1} + *std::max_element(states.begin(), states.end());
    std::vector<std::uint64_t> keys(cells_.count());
    for (std::size_t c = 0; c < keys.size(); ++c) keys[c] = std::uint64_t{states[c]} * n_suffixes_ + suffix_[c];
    n_suffixes_ = rank(keys, card * n_suffixes_, suffix_);
}

void LeaveOneOut::number_prefixes() {
    std::uint32_t number = 0;
    for (std::size_t c = 1; c < prefix_.size(); ++c) prefix_[c] = number += differs_[c] < member_;
    n_prefixes_ = number + 1;
}

void LeaveOneOut::sort_cells() {
    std::iota(order_.begin(), order_.end(), 0u);
    if (n_suffixes_ > 1) {
        sort_by(suffix_, n_suffixes_, order_, places_, scratch_);
        order_.swap(scratch_);
    }
    if (n_suffixes_ > 1 && n_prefixes_ > 1) {
        sort_by(prefix_, n_prefixes_, order_, places_, scratch_);
        order_.swap(scratch_);
    }
}

void LeaveOneOut::find_groups() {
    begin_.clear();
    sizes_.clear();
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::uint32_t c = order_[i];
        if (i == 0 || prefix_[c] != prefix_[order_[i - 1]] || suffix_[c] != suffix_[order_[i - 1]]) {
            begin_.push_back(static_cast<std::uint32_t>(i));
            sizes_.push_back(0);
        }
        sizes_.back() += cells_.sizes[c];
    }
    begin_.push_back(static_cast<std::uint32_t>(order_.size()));
}

}  // namespace mnlearn
