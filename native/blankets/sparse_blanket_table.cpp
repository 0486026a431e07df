#include "blankets/blanket_table.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace mnlearn {
namespace {

// Ascending, by digits of 11 bits, the lowest first.
void sort_by_digits(std::vector<std::uint64_t>& keys, unsigned n_bits) {
    constexpr unsigned kDigit = 11;
    std::vector<std::uint64_t> sorted(keys.size());
    for (unsigned low = 0; low < n_bits; low += kDigit) {
        std::array<std::uint32_t, std::size_t{1} << kDigit> place{};
        const auto digit = [&](std::uint64_t key) { return key >> low & (place.size() - 1); };
        for (const std::uint64_t key : keys) ++place[digit(key)];
        std::exclusive_scan(place.begin(), place.end(), place.begin(), 0u);
        for (const std::uint64_t key : keys) sorted[place[digit(key)]++] = key;
        keys.swap(sorted);
    }
}

}  // namespace

SparseBlanketTable::SparseBlanketTable(const Store& store, std::span<const std::int32_t> z, std::uint32_t card_x,
                                       std::span<const std::int64_t> cells)
    : store_(store), card_x_(card_x), z_(z.begin(), z.end()) {
    for (std::size_t key = 0; key * card_x < cells.size(); ++key) {
        const auto set = cells.subspan(key * card_x, card_x);
        if (std::all_of(set.begin(), set.end(), [](std::int64_t size) { return size == 0; })) continue;
        keys_.push_back(key);
        for (const std::int64_t size : set) sizes_.push_back(static_cast<std::uint32_t>(size));
    }
}

SparseBlanketTable::SparseBlanketTable(const Store& store, std::span<const std::int32_t> z, std::int32_t x,
                                       std::span<const std::uint64_t> rows)
    : store_(store), card_x_(column_of(store, x).card), z_(z.begin(), z.end()) {
    const unsigned width = PackedStates{store, z}.width(x);
    const std::uint64_t states = (std::uint64_t{1} << width) - 1;
    for (const std::uint64_t row : rows) {
        if (keys_.empty() || keys_.back() != row >> width) {
            keys_.push_back(row >> width);
            sizes_.resize(sizes_.size() + card_x_, 0);
        }
        ++sizes_[sizes_.size() - card_x_ + (row & states)];
    }
}

SparseBlanketTable::SparseBlanketTable(const Store& store, const SortedRows& rows)
    : store_(store),
      card_x_(rows.card_x()),
      z_(rows.z().begin(), rows.z().end()),
      keys_(rows.keys().begin(), rows.keys().end()),
      sizes_(rows.sizes().begin(), rows.sizes().end()) {}

PairTables SparseBlanketTable::single_out(std::int32_t y) {
    const auto place = static_cast<std::size_t>(std::lower_bound(z_.begin(), z_.end(), y) - z_.begin());
    const PackedStates states{store_, z_};
    low_ = states.from(place + 1);
    width_ = states.width(y);
    others_.assign(z_.begin(), z_.end());
    others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(place));
    card_y_ = column_of(store_, y).card;
    left_.resize(keys_.size());
    left_sizes_.assign(sizes_.size(), 0);
    counts_.assign(sizes_.size() * (card_y_ - 1), 0);
    n_left_ = 0;
    for (std::size_t first = 0, last; first < keys_.size(); first = last) {
        const std::uint64_t prefix = before(first);
        for (last = first + 1; last < keys_.size() && before(last) == prefix; ++last) {
        }
        card_x_ == 2 && card_y_ == 2 ? merge_binary(first, last) : merge(first, last);
    }
    return {card_x_, card_y_ - 1, n_left_, left_sizes_.data(), counts_.data()};
}

void SparseBlanketTable::drop() {
    z_.swap(others_);
    keys_.swap(left_);
    keys_.resize(n_left_);
    sizes_.swap(left_sizes_);
    sizes_.resize(n_left_ * card_x_);
}

void SparseBlanketTable::merge(std::size_t first, std::size_t last) {
    const std::uint64_t prefix = before(first) << low_, none = ~std::uint64_t{0};
    next_.assign(card_y_ + 1, last);
    for (std::size_t k = last; k-- > first;) next_[state(k)] = k;
    for (std::size_t b = card_y_; b-- > 0;) next_[b] = std::min(next_[b], next_[b + 1]);
    ends_.assign(next_.begin() + 1, next_.end());
    while (true) {
        std::uint64_t least = none;
        for (std::size_t b = 0; b < card_y_; ++b)
            if (next_[b] < ends_[b]) least = std::min(least, after(next_[b]));
        if (least == none) return;
        left_[n_left_] = prefix | least;
        for (std::size_t b = 0; b < card_y_; ++b)
            if (next_[b] < ends_[b] && after(next_[b]) == least) add(next_[b]++, b);
        ++n_left_;
    }
}

void SparseBlanketTable::merge_binary(std::size_t first, std::size_t last) {
    const std::uint64_t prefix = before(first) << low_;
    std::size_t i = first, middle = first;
    while (middle < last && state(middle) == 0) ++middle;
    std::size_t j = middle, n = n_left_;
    while (i < middle || j < last) {
        const std::uint64_t zero = i < middle ? after(i) : ~std::uint64_t{0};
        const std::uint64_t one = j < last ? after(j) : ~std::uint64_t{0};
        const std::uint32_t has_zero = zero <= one, has_one = one <= zero;
        // Where one of them has come to its end, the other's place is read in its stead and counts for nothing.
        const std::uint32_t *zeros = sizes_.data() + 2 * (i < middle ? i : j),
                            *ones = sizes_.data() + 2 * (j < last ? j : i);
        left_[n] = prefix | std::min(zero, one);
        for (std::size_t a = 0; a < 2; ++a) {
            const std::uint32_t count = zeros[a] & (0u - has_zero);
            counts_[2 * n + a] = count;
            left_sizes_[2 * n + a] = count + (ones[a] & (0u - has_one));
        }
        i += has_zero;
        j += has_one;
        ++n;
    }
    n_left_ = n;
}

void SparseBlanketTable::add(std::size_t from, std::size_t b) {
    for (std::size_t a = 0; a < card_x_; ++a) {
        const std::uint32_t size = sizes_[from * card_x_ + a];
        left_sizes_[n_left_ * card_x_ + a] += size;
        if (b + 1 < card_y_) counts_[(n_left_ * card_x_ + a) * (card_y_ - 1) + b] = size;
    }
}

std::vector<std::uint64_t> sorted_states(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> variables(z.begin(), z.end());
    variables.push_back(x);
    const PackedStates states{store, variables};
    std::vector<std::uint64_t> keys(store.n_records(), 0);
    for (const std::int32_t v : variables)
        with_codes(column_of(store, v), [&, width = states.width(v)](auto code) {
            for (std::size_t row = 0; row < keys.size(); ++row) keys[row] = keys[row] << width | code(row);
        });
    sort_by_digits(keys, states.from(0));
    return keys;
}

}  // namespace mnlearn
