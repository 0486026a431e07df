#include "set_counts.hpp"

#include <algorithm>
#include <numeric>

namespace mnlearn {
namespace {

const Column& column(const Store& store, std::int32_t v) { return store.column(static_cast<std::size_t>(v)); }

}  // namespace

SetSizes bitsets_of_states(const Store& store, std::int32_t x, std::uint64_t* sets, SetSizes room) {
    const Planes& planes = store.planes();
    SetSizes result{column(store, x).card, 1, true, std::move(room.sizes)};
    result.sizes.clear();
    result.sizes.reserve(result.card_x);
    std::int64_t left = store.n_rows();
    for (std::uint32_t a = 0; a + 1 < result.card_x; ++a) {
        const std::size_t plane = store.first_plane(x) + a;
        const std::uint64_t* source = planes.bits + (plane / kLanes) * planes.words * kLanes + plane % kLanes;
        for (std::size_t word = 0; word < planes.words; ++word) sets[a * planes.words + word] = source[word * kLanes];
        result.sizes.push_back(planes.totals[plane]);
        left -= planes.totals[plane];
    }
    result.sizes.push_back(left);
    return result;
}

SetSizes bitsets_of_strata(const Store& store, std::int32_t x, const Strata& strata, std::uint64_t* sets) {
    const std::size_t words = store.planes().words;
    SetSizes result{column(store, x).card, strata.count, false, {}};
    result.sizes.assign(strata.count * result.card_x, 0);
    with_codes(column(store, x), [&](auto code) {
        for (std::size_t row = 0; row < store.n_records(); ++row) {
            const std::size_t set = strata[row] * result.card_x + code(row);
            sets[set * words + row / 64] |= std::uint64_t{1} << (row % 64);
            ++result.sizes[set];
        }
    });
    return result;
}

namespace {

// Replaces each set by its parts, one per state of the variable: part `a` of set s lands at s * card + a. From the last
// set to the first, so that none is overwritten before its turn.
void split_sets(const Store& store, std::int32_t variable, std::size_t n_sets, std::uint64_t* sets) {
    const Planes& planes = store.planes();
    const std::size_t words = planes.words, card = column(store, variable).card;
    std::vector<std::uint64_t> states((card - 1) * words), rest(words);
    for (std::size_t a = 0; a + 1 < card; ++a) {
        const std::size_t plane = store.first_plane(variable) + a;
        const std::uint64_t* bits = planes.bits + (plane / kLanes) * words * kLanes + plane % kLanes;
        for (std::size_t w = 0; w < words; ++w) states[a * words + w] = bits[w * kLanes];
    }
    for (std::size_t s = n_sets; s-- > 0;) {
        std::copy_n(sets + s * words, words, rest.data());  // loses its parts one by one; what is left is the last
        for (std::size_t a = 0; a + 1 < card; ++a) {
            std::uint64_t* part = sets + (s * card + a) * words;
            std::uint64_t* outside = a + 2 < card ? rest.data() : part + words;
            store.level().split_set({rest.data(), states.data() + a * words, words, part, outside});
        }
    }
}

}  // namespace

PlaneSets sets_from_planes(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    const std::size_t words = store.planes().words, n = store.n_records(), card_x = column(store, x).card;
    std::size_t n_configurations = 1, largest = card_x;
    for (const std::int32_t variable : z) largest *= column(store, variable).card;
    PlaneSets result{{1, {}, {store.n_rows()}}, {}, {store.pool(), largest * words}, {}};
    for (std::size_t w = 0; w < words; ++w)
        result.sets[w] = n - w * 64 >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n - w * 64)) - 1;
    for (const std::int32_t variable : z) {
        split_sets(store, variable, n_configurations, result.sets.get());
        n_configurations *= column(store, variable).card;
    }
    Strata& strata = result.strata = {0, {}, {}};
    for (std::size_t s = 0; s < n_configurations; ++s) {  // those that do not occur are left out, the order is kept
        const std::uint64_t* set = result.sets.get() + s * words;
        const std::int64_t size = store.level().count_bits(set, words);
        if (size == 0) continue;
        if (strata.count < s) std::copy_n(set, words, result.sets.get() + strata.count * words);
        strata.sizes.push_back(size);
        result.numbers.push_back(static_cast<std::uint32_t>(s));
        ++strata.count;
    }
    split_sets(store, x, strata.count, result.sets.get());
    result.x = {static_cast<std::uint32_t>(card_x), strata.count, false, {}};
    for (std::size_t s = 0; s < result.x.n_sets(); ++s)
        result.x.sizes.push_back(store.level().count_bits(result.sets.get() + s * words, words));
    return result;
}

namespace {

// Where the list of each set begins, each padded; room for what listing bits writes beyond the end.
void place_lists(const Store& store, SetLists& lists) {
    const std::size_t n_sets = lists.x.n_sets();
    lists.begin.assign(n_sets + 1, 0);
    for (std::size_t set = 0; set < n_sets; ++set) {
        const auto padded = (static_cast<std::size_t>(lists.x.sizes[set]) + kListStep - 1) / kListStep * kListStep;
        lists.begin[set + 1] = lists.begin[set] + static_cast<std::uint32_t>(padded);
    }
    lists.rows = {store.pool(), lists.begin.back() + kListRoom};
    for (std::size_t set = 0; set < n_sets; ++set)
        for (std::size_t k = 1; k < kListStep && lists.begin[set + 1] - k + 1 > lists.begin[set]; ++k)
            lists.rows[lists.begin[set + 1] - k] = static_cast<std::uint32_t>(store.n_records());
}

}  // namespace

SetLists lists_of_bitsets(const Store& store, const PlaneSets& ready) {
    SetLists lists{ready.x, {}, {}};
    place_lists(store, lists);
    const std::size_t words = store.planes().words;
    for (std::size_t set = 0; set < lists.x.n_sets(); ++set) {
        std::uint32_t* end = store.level().list_bits(ready.sets.get() + set * words, words, lists.x.sizes[set],
                                                     lists.rows.get() + lists.begin[set]);
        std::fill(end, lists.rows.get() + lists.begin[set + 1], static_cast<std::uint32_t>(store.n_records()));
    }
    return lists;
}

SetLists lists_of_strata(const Store& store, std::int32_t x, const Strata& strata) {
    SetLists lists{{column(store, x).card, strata.count, false, {}}, {}, {}};
    const std::size_t n = store.n_records(), n_sets = lists.x.n_sets();
    std::vector<std::uint32_t> set_of_row(n);
    with_codes(column(store, x), [&](auto code) {
        const std::uint32_t card = lists.x.card_x;
        for (std::size_t row = 0; row < n; ++row) set_of_row[row] = strata[row] * card + code(row);
    });
    // Two tables in turn: neighbouring rows of one set need not wait for each other.
    std::vector<std::uint32_t> sizes(2 * n_sets, 0);
    for (std::size_t row = 0; row < n; ++row) ++sizes[(row % 2) * n_sets + set_of_row[row]];
    for (std::size_t set = 0; set < n_sets; ++set)
        lists.x.sizes.push_back(static_cast<std::int64_t>(sizes[set]) + sizes[n_sets + set]);
    place_lists(store, lists);
    std::vector<std::uint32_t> next(lists.begin.begin(), lists.begin.end() - 1);
    for (std::size_t row = 0; row < n; ++row) lists.rows[next[set_of_row[row]]++] = static_cast<std::uint32_t>(row);
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
        digits.push_back({column(store, v).narrow, column(store, v).wide, column(store, v).card});
        n_keys *= digits.back().card;
    };
    for (const std::int32_t v : z) append(v);
    append(x);
    const Room<std::uint16_t> memory(store.pool(), store.n_records());
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
    place_lists(store, result.lists);
    for (std::size_t set = 0; set < sets.n_sets(); ++set) {
        std::uint32_t* sizes = next.data() + (first_keys[set / card] + set % card) * kQuarters;
        std::exclusive_scan(sizes, sizes + kQuarters, sizes, result.lists.begin[set]);
    }
    sort_rows(keys, next, result.lists.rows.get());
    return result;
}

std::vector<std::pair<std::size_t, std::size_t>> split_blocks(const Store& store, std::span<const std::int32_t> ys) {
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    for (std::size_t begin = 0; begin < ys.size();) {
        const std::size_t block = store.first_plane(ys[begin]) / kBlockColumns;
        const auto in_block = [&](std::int32_t y) { return store.first_plane(y) / kBlockColumns == block; };
        const auto end = std::partition_point(ys.begin() + static_cast<std::ptrdiff_t>(begin), ys.end(), in_block);
        blocks.emplace_back(begin, end - ys.begin());
        begin = blocks.back().second;
    }
    return blocks;
}

namespace {

// How many groups of eight planes there are from the first of these candidates to the last.
std::size_t groups_within(const Store& store, std::span<const std::int32_t> ys) {
    const std::size_t last = store.first_plane(ys.back()) + column(store, ys.back()).card - 2;
    return last / kLanes + 1 - store.first_plane(ys.front()) / kLanes;
}
// Whether hardly one of them could be left out.
bool all_needed(std::size_t n_groups, std::span<const std::int32_t> ys) { return 2 * ys.size() >= n_groups * kLanes; }

}  // namespace

std::size_t plane_groups(const Store& store, std::span<const std::int32_t> ys) {
    if (ys.empty()) return 0;
    const std::size_t within = groups_within(store, ys);
    return all_needed(within, ys) ? within : plane_columns(store, ys).groups.size();
}

PlaneColumns plane_columns(const Store& store, std::span<const std::int32_t> ys) {
    PlaneColumns result;
    if (ys.empty()) return result;
    result.column.resize(ys.size());
    if (const std::size_t within = groups_within(store, ys); all_needed(within, ys)) {
        const std::uint32_t first = store.first_plane(ys.front()) / kLanes;
        result.groups.resize(within);
        std::iota(result.groups.begin(), result.groups.end(), first);
        for (std::size_t k = 0; k < ys.size(); ++k) result.column[k] = store.first_plane(ys[k]) - first * kLanes;
        return result;
    }
    for (std::size_t k = 0; k < ys.size(); ++k) {
        const std::size_t first = store.first_plane(ys[k]), last = first + column(store, ys[k]).card - 2;
        for (std::size_t group = first / kLanes; group <= last / kLanes; ++group)
            if (result.groups.empty() || result.groups.back() < group)
                result.groups.push_back(static_cast<std::uint32_t>(group));
        // The planes of one variable are neighbours, and so are their groups: the place of the first is enough.
        const std::size_t place = result.groups.size() - 1 - (result.groups.back() - first / kLanes);
        result.column[k] = place * kLanes + first % kLanes;
    }
    return result;
}

std::vector<std::uint32_t> column_totals(const Store& store, const PlaneColumns& columns) {
    const auto& known = store.planes().totals;
    std::vector<std::uint32_t> totals(columns.width(), 0);  // the last group may have fewer than eight planes
    for (std::size_t c = 0; c < totals.size(); ++c) {
        const std::size_t plane = columns.groups[c / kLanes] * kLanes + c % kLanes;
        if (plane < known.size()) totals[c] = known[plane];
    }
    return totals;
}

void count_by_planes(const Store& store, const std::uint64_t* sets, std::size_t n_sets, const PlaneColumns& columns,
                     std::vector<std::uint32_t>& counts) {
    counts.resize(n_sets * columns.width());
    store.level().count_planes({sets, n_sets, store.planes().words, store.planes().bits, columns.groups.data(),
                                columns.groups.size(), counts.data()});
}

void count_by_columns(const Store& store, const SetLists& lists, std::size_t first, std::size_t last, std::size_t block,
                      std::uint32_t* counts) {
    constexpr std::size_t kNear = std::size_t{1} << 19;  // words: four megabytes; below it nothing is gained
    const RowBits& rows = store.row_bits();
    store.level().count_vertical({rows.bits.get() + block * rows.block_words, lists.rows.get(),
                                  lists.begin.data() + first, last - first, counts, kBlockColumns,
                                  rows.block_words > kNear});
}

}  // namespace mnlearn
