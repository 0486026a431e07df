#include "members.hpp"

#include <algorithm>
#include <numeric>

#include "scan.hpp"
#include "with_scorer.hpp"

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

Leaving::Leaving(const Cells& cells, std::size_t n_members)
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

void Leaving::next() {
    if (--member_ + 1 < n_members_) extend_suffix();
    number_prefixes();
    sort_cells();
    find_groups();
}

// The member that was left out last belongs to the suffix of this one.
void Leaving::extend_suffix() {
    const auto states = cells_.states_of(member_ + 1);
    const std::uint64_t card = states.empty() ? 0 : std::uint64_t{1} + *std::max_element(states.begin(), states.end());
    std::vector<std::uint64_t> keys(cells_.count());
    for (std::size_t c = 0; c < keys.size(); ++c) keys[c] = std::uint64_t{states[c]} * n_suffixes_ + suffix_[c];
    n_suffixes_ = rank(keys, card * n_suffixes_, suffix_);
}

void Leaving::number_prefixes() {
    std::uint32_t number = 0;
    for (std::size_t c = 1; c < prefix_.size(); ++c) prefix_[c] = number += differs_[c] < member_;
    n_prefixes_ = number + 1;
}

void Leaving::sort_cells() {
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

void Leaving::find_groups() {
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

namespace {

// The tables of x and y, one a group, into the scorer; y is the member that was left out, or the constant stand-in.
template <class Scorer>
void score_groups(const Scorer& scorer, const Cells& cells, const Leaving& leaving, std::uint32_t rx, std::uint32_t ry,
                  double* out, std::size_t stride) {
    constexpr std::size_t kDense = std::size_t{1} << 18;
    const std::size_t n_variables = cells.count() ? cells.states.size() / cells.count() : 1;
    const auto xs = cells.states_of(n_variables - 1), ys = cells.states_of(leaving.member());
    const auto prepared = scorer.prepare(rx, ry, leaving.sizes());
    typename Scorer::Sum sum;
    std::vector<std::int64_t> counts, margins(rx + ry);
    SparseStratum sparse(rx, ry);
    for (std::size_t g = 0; g < leaving.n_groups(); ++g) {
        const auto group = leaving.group(g);
        const auto place = [&](std::uint32_t c) { return ry == 1 ? 0u : ys[c]; };
        if (static_cast<std::size_t>(rx) * ry <= std::min(kDense, 64 + 4 * group.size())) {
            counts.assign(static_cast<std::size_t>(rx) * ry, 0);
            for (const std::uint32_t c : group) counts[std::size_t{xs[c]} * ry + place(c)] += cells.sizes[c];
            visit_dense({counts.data(), margins.data(), margins.data() + rx, rx, ry},
                        [&](const auto& table) { scorer.add(sum, prepared, g, table); });
        } else {
            sparse.clear();
            for (const std::uint32_t c : group) sparse.add(xs[c], place(c), cells.sizes[c]);
            sparse.sum_margins();
            scorer.add(sum, prepared, g, sparse);
        }
    }
    write(scorer, sum, rx, ry, out, stride);
}

void leave_each_out(const Store& store, const KernelSpec& kernel, const Question& q, bool score_member) {
    const std::uint32_t rx = column_of(store, q.x).card;
    const Cells cells = find_cells(store, q.x, q.z);
    Leaving leaving(cells, q.z.size());
    std::vector<std::int32_t> others(q.z.begin(), q.z.end());
    for (std::size_t left = q.z.size(); left-- > 0;) {
        others.assign(q.z.begin(), q.z.end());
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
        leaving.next();
        const std::uint32_t ry = score_member ? column_of(store, q.z[left]).card : 1;
        with_scorer(kernel, facts_of(store, others, leaving.n_groups()), store.log_tables(), [&](const auto& scorer) {
            score_groups(scorer, cells, leaving, rx, ry, q.out + left, q.z.size());
        });
    }
}

}  // namespace

void members(const Store& store, const KernelSpec& kernel, const Question& question) {
    leave_each_out(store, kernel, question, true);
}

void without(const Store& store, const KernelSpec& kernel, const Question& question) {
    leave_each_out(store, kernel, question, false);
}

}  // namespace mnlearn
