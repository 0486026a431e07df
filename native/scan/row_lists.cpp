// The rows of each set as lists, for counting by columns: from bitsets, from numbered strata, from keys.
#include <algorithm>
#include <numeric>
#include <utility>

#include "scan/candidates.hpp"
#include "scan/row_lists.hpp"

namespace mnlearn {

SetLists lists_of_bitsets(const Store& store, const PlaneSets& ready) {
    SetLists lists{ready.x, {}, {}, {}, {}};
    lists.left_over = set_left_over(ready.x);
    place_lists<std::uint32_t>(store, lists);
    const std::size_t words = store.planes().words;
    for (std::size_t set = 0; set < lists.x.n_sets(); ++set) {
        if (set == lists.left_over) continue;
        store.level().list_bits(ready.sets.get() + set * words, words, lists.x.sizes[set],
                                lists.rows.get() + lists.begin[set]);
        pad_list<std::uint32_t>(store, lists, set);
    }
    return lists;
}

SetLists lists_of_strata(const Store& store, std::int32_t x, const Strata& strata) {
    SetLists lists{{column_of(store, x).card, strata.count, false, {}}, {}, {}, {}, {}};
    const std::size_t n = store.n_records(), n_sets = lists.x.n_sets();
    std::vector<std::uint32_t> set_of_row(n);
    with_codes(column_of(store, x), [&](auto code) {
        const std::uint32_t card = lists.x.card_x;
        for (std::size_t row = 0; row < n; ++row) set_of_row[row] = strata[row] * card + code(row);
    });
    // Two tables in turn: neighbouring rows of one set need not wait for each other.
    std::vector<std::uint32_t> sizes(2 * n_sets, 0);
    for (std::size_t row = 0; row < n; ++row) ++sizes[(row % 2) * n_sets + set_of_row[row]];
    for (std::size_t set = 0; set < n_sets; ++set)
        lists.x.sizes.push_back(static_cast<std::int64_t>(sizes[set]) + sizes[n_sets + set]);
    place_lists<std::uint32_t>(store, lists);
    std::vector<std::uint32_t> next = lists.begin;
    for (std::size_t row = 0; row < n; ++row) lists.rows[next[set_of_row[row]]++] = static_cast<std::uint32_t>(row);
    for (std::size_t set = 0; set < n_sets; ++set) pad_list<std::uint32_t>(store, lists, set);
    return lists;
}

double most_key_sets(const Store& store) {
    return std::min(65536.0, std::max(4096.0, static_cast<double>(store.n_records())));
}

namespace {

constexpr std::size_t kQuarters = 4;  // of the rows, side by side: rows of one set need not wait for each other

// sizes[set * kQuarters + quarter]: how many rows of a quarter have that key.
std::vector<std::uint32_t> count_keys(std::span<const std::uint16_t> keys, std::size_t n_sets) {
    std::vector<std::uint32_t> sizes(n_sets * kQuarters, 0);
    const std::size_t quarter = keys.size() / kQuarters;
    for (std::size_t k = 0; k < quarter; ++k)
        for (std::size_t q = 0; q < kQuarters; ++q) ++sizes[keys[q * quarter + k] * kQuarters + q];
    for (std::size_t row = kQuarters * quarter; row < keys.size(); ++row)
        ++sizes[keys[row] * kQuarters + kQuarters - 1];
    return sizes;
}

// next[set * kQuarters + quarter]: where the rows of that quarter go; moves on.
void sort_rows(std::span<const std::uint16_t> keys, std::vector<std::uint32_t>& next, std::uint32_t* rows) {
    const std::size_t quarter = keys.size() / kQuarters;
    for (std::size_t k = 0; k < quarter; ++k)
        for (std::size_t q = 0; q < kQuarters; ++q)
            rows[next[keys[q * quarter + k] * kQuarters + q]++] = static_cast<std::uint32_t>(q * quarter + k);
    for (std::size_t row = kQuarters * quarter; row < keys.size(); ++row)
        rows[next[keys[row] * kQuarters + kQuarters - 1]++] = static_cast<std::uint32_t>(row);
}

}  // namespace

SortedLists lists_from_keys(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<Digit> digits;
    std::size_t n_keys = 1;
    const auto append = [&](std::int32_t v) {
        digits.push_back({column_of(store, v).narrow, column_of(store, v).wide, column_of(store, v).card});
        n_keys *= digits.back().card;
    };
    for (const std::int32_t v : z) append(v);
    append(x);
    const Buffer<std::uint16_t> memory(store.pool(), store.n_records());
    const std::span<std::uint16_t> keys(memory.get(), store.n_records());
    std::fill(keys.begin(), keys.end(), std::uint16_t{0});
    store.level().make_keys({digits.data(), digits.size(), keys.size(), keys.data()});
    std::vector<std::uint32_t> next = count_keys(keys, n_keys);
    const std::size_t card = digits.back().card;
    SortedLists result;
    SetSizes& sets = result.lists.x = {static_cast<std::uint32_t>(card), 0, false, {}};
    std::vector<std::size_t> first_keys;  // of the strata that occur
    for (std::size_t key = 0; key < n_keys; key += card) {
        const std::uint32_t* sizes = next.data() + key * kQuarters;
        const std::int64_t size = std::accumulate(sizes, sizes + card * kQuarters, std::int64_t{0});
        if (size == 0) continue;
        first_keys.push_back(key);
        result.strata.sizes.push_back(size);
        for (std::size_t a = 0; a < card; ++a, sizes += kQuarters)
            sets.sizes.push_back(std::accumulate(sizes, sizes + kQuarters, std::int64_t{0}));
    }
    result.strata.count = sets.n_strata = first_keys.size();
    place_lists<std::uint32_t>(store, result.lists);
    for (std::size_t set = 0; set < sets.n_sets(); ++set) {
        std::uint32_t* sizes = next.data() + (first_keys[set / card] + set % card) * kQuarters;
        std::exclusive_scan(sizes, sizes + kQuarters, sizes, result.lists.begin[set]);
    }
    for (std::size_t set = 0; set < sets.n_sets(); ++set) pad_list<std::uint32_t>(store, result.lists, set);
    sort_rows(keys, next, result.lists.rows.get());
    return result;
}

}  // namespace mnlearn
