#include "strata.hpp"

#include <algorithm>

namespace mnlearn {
namespace {

// keys[row] = keys[row] * card + code: one more digit of a mixed-radix number.
template <class Key> void append_digit(std::vector<Key>& keys, const Column& column) {
    const std::size_t n = keys.size();
    const auto card = static_cast<Key>(column.card);
    Key* key = keys.data();
    if (column.narrow)
        for (std::size_t row = 0; row < n; ++row) key[row] = key[row] * card + column.narrow[row];
    else
        for (std::size_t row = 0; row < n; ++row) key[row] = key[row] * card + column.wide[row];
}

// Replace each key by its rank among the distinct keys; returns how many there are.
std::size_t rank_by_table(std::vector<std::uint32_t>& keys, std::size_t key_space) {
    std::vector<std::uint32_t> rank(key_space, 0);
    for (const std::uint32_t key : keys) rank[key] = 1;
    std::uint32_t next = 0;
    for (std::uint32_t& entry : rank) entry = entry ? next++ : 0;
    if (next < key_space)
        for (std::uint32_t& key : keys) key = rank[key];
    return next;
}

// One more digit where the table would be too large: 65,535 states times as many strata as rows.
std::size_t rank_by_sorting(std::vector<std::uint32_t>& keys, const Column& column) {
    std::vector<std::uint64_t> wide(keys.begin(), keys.end());
    append_digit(wide, column);
    std::vector<std::uint64_t> distinct(wide);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t row = 0; row < keys.size(); ++row)
        keys[row] = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), wide[row]) -
                                               distinct.begin());
    return distinct.size();
}

}  // namespace

Strata find_strata(const Store& store, std::span<const std::int32_t> z) {
    const std::size_t n = store.n_records();
    if (n == 0) return {};
    if (z.empty()) return {1, {}, {store.n_rows()}};
    // A table of ranks is worth it while it is not much larger than the data it ranks.
    const std::uint64_t table_limit = std::max<std::uint64_t>(2 * n, 1u << 16);
    std::vector<std::uint32_t> keys(n, 0);
    std::uint64_t key_space = 1;
    bool ranked = true;  // every key below key_space occurs
    for (const std::int32_t variable : z) {
        const Column& column = store.column(static_cast<std::size_t>(variable));
        if (!ranked && key_space * column.card > table_limit) {
            key_space = rank_by_table(keys, key_space);
            ranked = true;
        }
        if (key_space * column.card > table_limit)
            key_space = rank_by_sorting(keys, column);
        else {
            append_digit(keys, column);
            key_space *= column.card;
            ranked = false;
        }
    }
    if (!ranked) key_space = rank_by_table(keys, key_space);
    Strata strata{static_cast<std::size_t>(key_space), {}, std::vector<std::int64_t>(key_space, 0)};
    for (std::size_t row = 0; row < n; ++row) strata.sizes[keys[row]] += store.repeats() ? store.repeats()[row] : 1;
    if (strata.count > 1) strata.of_row = std::move(keys);
    return strata;
}

RowLists list_rows(const Store& store, const Strata& strata) {
    const std::size_t n = store.n_records();
    RowLists lists{std::vector<std::uint32_t>(n), std::vector<std::uint32_t>(strata.count + 1, 0)};
    for (std::size_t row = 0; row < n; ++row) ++lists.begin[strata[row] + 1];
    for (std::size_t s = 0; s < strata.count; ++s) lists.begin[s + 1] += lists.begin[s];
    std::vector<std::uint32_t> next(lists.begin.begin(), lists.begin.end() - 1);
    for (std::size_t row = 0; row < n; ++row) lists.rows[next[strata[row]]++] = static_cast<std::uint32_t>(row);
    return lists;
}

}  // namespace mnlearn
