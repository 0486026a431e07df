#include "grow_shrink.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cells.hpp"
#include "few.hpp"
#include "sorted_rows.hpp"
#include "tails.hpp"
#include "with_scorer.hpp"

namespace mnlearn {
namespace {

// The support of independence of x and y given z, from the one table; NaN where the core has no short way to it.
class Judge {
public:
    Judge(const Store& store, const Decision& test, std::int32_t x) : store_(store), test_(test), x_(x) {}

    double operator()(std::int32_t y, std::span<const std::int32_t> z, const OneByOne& table) {
        double scores[2];
        const ScanFacts facts = facts_of(store_, z, table.n_strata);
        const bool binary = table.card_x == 2 && table.width == 1 && store_.n_records() < (std::size_t{1} << 26);
        with_scorer(test_.kernel, facts, store_.log_tables(), [&](const auto& scorer) {
            if (binary && test_.kernel.name == KernelName::chi2) {
                PearsonColumn column{table.counts, table.sizes, table.n_strata, 0.0, 0.0};
                store_.level().score_column(column);
                return scorer.finish({column.statistic, column.dof}, 2, 2, scores);
            }
            widen(table);
            score_few(scorer, Query{store_, x_, std::span(&y, 1), few_.strata, 1, scores}, few_);
        });
        if (test_.kernel.name == KernelName::bayes) return std::min(scores[0], 0.0);
        double log_p;
        log_chi2_tails(scores, scores + 1, 1, &log_p);
        return log_p;
    }
    bool dependent(double support) const { return !(support > test_.level); }

private:
    // As the scorers take it.
    void widen(const OneByOne& table) {
        const std::size_t n_sets = table.n_strata * table.card_x;
        few_.x = {table.card_x, table.n_strata, false, {table.sizes, table.sizes + n_sets}};
        few_.counts.assign(table.counts, table.counts + n_sets * table.width);
        few_.width = table.width;
        few_.column.assign(1, 0);
        few_.strata.count = table.n_strata;
        few_.strata.sizes.assign(table.n_strata, 0);
        for (std::size_t k = 0; k < n_sets; ++k) few_.strata.sizes[k / table.card_x] += table.sizes[k];
    }

    const Store& store_;
    const Decision& test_;
    std::int32_t x_;
    FewCounts few_;
};

std::vector<std::int32_t> missing(const SortedRows& rows, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> variables;
    std::set_difference(z.begin(), z.end(), rows.z().begin(), rows.z().end(), std::back_inserter(variables));
    return variables;
}

// The rows as the last question left them, if z can be reached from there; else sorted by x alone.
std::shared_ptr<SortedRows> rows_on_the_way(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    std::shared_ptr<SortedRows> rows = store.take_sorted();
    if (!rows) rows = std::make_shared<SortedRows>(store);
    if (rows->x() != x || !rows->leads_to(z)) rows->restart(x);
    return rows;
}

bool join_all(SortedRows& rows, std::span<const std::int32_t> z) {
    for (const std::int32_t v : missing(rows, z)) {
        if (!rows.can_join(v)) return false;
        rows.join(v);
    }
    return true;
}

void keep(const Store& store, std::shared_ptr<SortedRows> rows) {
    const std::size_t bytes = rows->bytes();
    if (bytes <= store.cache_bytes()) store.keep_sorted(std::move(rows), bytes);
}

// The table of x and z, occupied configurations only, from which one member after the other may go.
class Table {
public:
    // From all cells of (z, x), where the number of a configuration is its packed states.
    Table(const Store& store, std::span<const std::int32_t> z, std::uint32_t card_x,
          std::span<const std::int64_t> cells)
        : store_(store), card_x_(card_x), z_(z.begin(), z.end()) {
        for (std::size_t key = 0; key * card_x < cells.size(); ++key) {
            const auto set = cells.subspan(key * card_x, card_x);
            if (std::all_of(set.begin(), set.end(), [](std::int64_t size) { return size == 0; })) continue;
            keys_.push_back(key);
            for (const std::int64_t size : set) sizes_.push_back(static_cast<std::uint32_t>(size));
        }
    }
    // From the packed states of (z, x) of every row, in order.
    Table(const Store& store, std::span<const std::int32_t> z, std::int32_t x, std::span<const std::uint64_t> rows)
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
    Table(const Store& store, const SortedRows& rows)
        : store_(store),
          card_x_(rows.card_x()),
          z_(rows.z().begin(), rows.z().end()),
          keys_(rows.keys().begin(), rows.keys().end()),
          sizes_(rows.sizes().begin(), rows.sizes().end()) {}

    // The tables of x and this member in every configuration of the others; good until the next call.
    OneByOne single_out(std::int32_t y) {
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
    std::span<const std::int32_t> others() const { return others_; }

    // The member singled out last leaves.
    void drop() {
        z_.swap(others_);
        keys_.swap(left_);
        keys_.resize(n_left_);
        sizes_.swap(left_sizes_);
        sizes_.resize(n_left_ * card_x_);
    }

private:
    std::uint64_t before(std::size_t k) const { return keys_[k] >> low_ >> width_; }
    std::uint64_t after(std::size_t k) const { return keys_[k] & ((std::uint64_t{1} << low_) - 1); }
    std::size_t state(std::size_t k) const { return keys_[k] >> low_ & ((std::uint64_t{1} << width_) - 1); }

    // Configurations [first, last) agree before the member, and stand in the order of its states, then of what comes
    // after it: those that agree after it too become one.
    void merge(std::size_t first, std::size_t last) {
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
    // The same for two states of either, without a branch that depends on the data.
    void merge_binary(std::size_t first, std::size_t last) {
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
    void add(std::size_t from, std::size_t b) {
        for (std::size_t a = 0; a < card_x_; ++a) {
            const std::uint32_t size = sizes_[from * card_x_ + a];
            left_sizes_[n_left_ * card_x_ + a] += size;
            if (b + 1 < card_y_) counts_[(n_left_ * card_x_ + a) * (card_y_ - 1) + b] = size;
        }
    }

    const Store& store_;
    std::uint32_t card_x_, card_y_ = 1;
    std::vector<std::int32_t> z_, others_;
    std::vector<std::uint64_t> keys_, left_;
    std::vector<std::uint32_t> sizes_, left_sizes_, counts_;
    std::size_t n_left_ = 0;
    unsigned low_ = 0, width_ = 0;
    std::vector<std::size_t> next_, ends_;
};

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

// The packed states of (z, x) of every row, in order.
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

// From the sorted rows if they have come so far; else counted, in a table of all cells if that is small.
std::optional<Table> table_of(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    const std::shared_ptr<SortedRows> rows = store.take_sorted();
    const bool there = rows && rows->x() == x && std::ranges::equal(rows->z(), z);
    std::optional<Table> table;
    if (there) table.emplace(store, *rows);
    if (rows) keep(store, rows);
    if (there) return table;
    const auto packed = [&](std::int32_t v) { return std::has_single_bit(column_of(store, v).card); };
    const PackedStates states{store, z};
    if (std::all_of(z.begin(), z.end(), packed) && table_is_small(store, x, z))
        table.emplace(store, z, column_of(store, x).card, whole_table(store, x, z));
    else if (states.from(0) + states.width(x) < PackedStates::kBits)
        table.emplace(store, z, x, sorted_states(store, x, z));
    return table;
}

}  // namespace

Decision make_decision(const std::string& kernel, std::vector<double> settings, double level) {
    Decision test{parse_kernel(kernel, std::move(settings)), level};
    const KernelName name = test.kernel.name;
    if (name != KernelName::chi2 && name != KernelName::g2 && name != KernelName::bayes)
        throw std::invalid_argument("kernel must be that of a test, chi2, g2 or bayes; got '" + kernel +
                                    "'. Ask for its scores by reduce.");
    return test;
}

std::size_t grow(const Store& store, const Decision& test, std::int32_t x, std::span<const std::int32_t> ys,
                 std::span<const std::int32_t> z, const Until& until, double* out) {
    if (!can_sort(store, x, ys) || !can_sort(store, x, z)) return 0;
    const std::shared_ptr<SortedRows> rows = rows_on_the_way(store, x, z);
    if (!join_all(*rows, z)) return 0;
    Judge judge(store, test, x);
    std::size_t decided = 0, in_a_row = 0;
    while (decided < ys.size() && in_a_row < until.in_a_row) {
        const std::int32_t y = ys[decided];
        const double support = judge(y, rows->z(), rows->count(y));
        if (std::isnan(support)) break;
        out[decided++] = support;
        ++in_a_row;
        if (!judge.dependent(support)) {
            if (!until.first) rows->forget(y);
            continue;
        }
        if (until.first || !rows->can_join(y)) break;
        rows->join(y);
        in_a_row = 0;
    }
    keep(store, rows);
    return decided;
}

std::size_t shrink(const Store& store, const Decision& test, std::int32_t x, std::span<const std::int32_t> ys,
                   std::span<const std::int32_t> z, double* out) {
    if (!can_sort(store, x, z)) return 0;
    std::optional<Table> found = table_of(store, x, z);
    if (!found) return 0;
    Table& table = *found;
    Judge judge(store, test, x);
    std::size_t decided = 0;
    for (const std::int32_t y : ys) {
        const OneByOne tables = table.single_out(y);
        const double support = judge(y, table.others(), tables);
        if (std::isnan(support)) break;
        out[decided++] = support;
        if (!judge.dependent(support)) table.drop();
    }
    return decided;
}

}  // namespace mnlearn
