// Row lists: where the list of each set begins, and how it ends.
#pragma once

#include <algorithm>
#include <type_traits>

#include "scan/count_bitsets.hpp"

namespace mnlearn {

inline std::uint32_t padded(std::int64_t size) {
    return (static_cast<std::uint32_t>(size) + kListStep - 1) / kListStep * kListStep;
}

inline constexpr std::size_t kMostShortRows = 65535;  // so many, and the empty row, have numbers of two bytes

// The numbers of the rows, of two bytes or of four.
template <class Row> auto& buffer_of(SetLists& lists) {
    if constexpr (std::is_same_v<Row, std::uint16_t>)
        return lists.short_rows;
    else
        return lists.rows;
}

// Where the list of each set begins, one after the other; room for what listing bits writes beyond the end.
template <class Row> void place_lists(const Store& store, SetLists& lists) {
    const std::size_t n_sets = lists.x.n_sets();
    lists.begin.resize(n_sets);
    lists.padded.resize(n_sets);
    std::uint32_t next = 0;
    for (std::size_t set = 0; set < n_sets; ++set) {
        lists.begin[set] = next;
        lists.padded[set] = set == lists.left_over ? 0 : padded(lists.x.sizes[set]);
        next += lists.padded[set];
    }
    buffer_of<Row>(lists) = {store.pool(), next + kListRoom};
}

// The empty row after the last one of a list, up to its padded size.
template <class Row> void pad_list(const Store& store, SetLists& lists, std::size_t set) {
    Row* begin = buffer_of<Row>(lists).get() + lists.begin[set];
    std::fill(begin + lists.x.sizes[set], begin + lists.padded[set], static_cast<Row>(store.n_records()));
}

// The largest set need not be counted where the counts of all sets are at hand: every row is in one of them.
inline std::size_t set_left_over(const SetSizes& x) {
    constexpr std::int64_t kWorth = 16;  // rows that are loaded while one set is subtracted
    const auto largest = std::max_element(x.sizes.begin(), x.sizes.end());
    if (x.n_sets() > kSetsInCache || *largest < kWorth * static_cast<std::int64_t>(x.n_sets())) return ~std::size_t{0};
    return static_cast<std::size_t>(largest - x.sizes.begin());
}

}  // namespace mnlearn
