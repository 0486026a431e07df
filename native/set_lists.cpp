// The rows of each set as lists, for counting by columns: from bits, from numbered strata, from keys.
#include <algorithm>
#include <numeric>

#include "set_counts.hpp"

namespace mnlearn {
namespace {

const Column& column(const Store& store, std::int32_t v) { return store.column(static_cast<std::size_t>(v)); }

std::uint32_t padded(std::int64_t size) {
    return (static_cast<std::uint32_t>(size) + kListStep - 1) / kListStep * kListStep;
}

// Where the list of each set begins, one after the other; room for what listing bits writes beyond the end.
void place_lists(const Store& store, SetLists& lists) {
    const std::size_t n_sets = lists.x.n_sets();
    lists.begin.resize(n_sets);
    lists.padded.resize(n_sets);
    std::uint32_t next = 0;
    for (std::size_t set = 0; set < n_sets; ++set) {
        lists.begin[set] = next;
        lists.padded[set] = set == lists.left_over ? 0 : padded(lists.x.sizes[set]);
        next += lists.padded[set];
    }
    lists.rows = {store.pool(), next + kListRoom};
}

// The empty row after the last one of a list, up to its padded size.
void pad_list(const Store& store, const SetLists& lists, std::size_t set) {
    std::uint32_t* begin = lists.rows.get() + lists.begin[set];
    std::fill(begin + lists.x.sizes[set], begin + lists.padded[set], static_cast<std::uint32_t>(store.n_records()));
}

// The largest set need not be counted where the counts of all sets are at hand: every row is in one of them.
std::size_t set_left_over(const SetSizes& x) {
    constexpr std::int64_t kWorth = 16;  // rows that are loaded while one set is subtracted
    const auto largest = std::max_element(x.sizes.begin(), x.sizes.end());
    if (x.n_sets() > kSetsInCache || *largest < kWorth * static_cast<std::int64_t>(x.n_sets())) return ~std::size_t{0};
    return static_cast<std::size_t>(largest - x.sizes.begin());
}

}  // namespace

SetLists lists_of_bitsets(const Store& store, const PlaneSets& ready) {
    SetLists lists{ready.x, {}, {}, {}, {}, set_left_over(ready.x)};
    place_lists(store, lists);
    const std::size_t words = store.planes().words;
    for (std::size_t set = 0; set < lists.x.n_sets(); ++set) {
        if (set == lists.left_over) continue;
        store.level().list_bits(ready.sets.get() + set * words, words, lists.x.sizes[set],
                                lists.rows.get() + lists.begin[set]);
        pad_list(store, lists, set);
    }
    return lists;
}

SetLists lists_of_strata(const Store& store, std::int32_t x, const Strata& strata) {
    SetLists lists{{column(store, x).card, strata.count, false, {}}, {}, {}, {}, {}};
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
    std::vector<std::uint32_t> next = lists.begin;
    for (std::size_t row = 0; row < n; ++row) lists.rows[next[set_of_row[row]]++] = static_cast<std::uint32_t>(row);
    for (std::size_t set = 0; set < n_sets; ++set) pad_list(store, lists, set);
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
    for (std::size_t set = 0; set < sets.n_sets(); ++set) pad_list(store, result.lists, set);
    sort_rows(keys, next, result.lists.rows.get());
    return result;
}

namespace {

// Which variables split bitsets and which sort the lists that come from them: the last ones, by a key of two bits.
struct Division {
    std::span<const std::int32_t> split;
    std::vector<KeyPlane> planes;
    int key_bits = 0;
    std::uint8_t key = 0;
    std::size_t stride = 1;  // from a stratum to the next, in lists; those of a stratum are the states of x

    // The states of a variable as bits of the key, from bit `shift` on.
    void sort_by(const Store& store, std::int32_t v, int shift) {
        const Planes& planes_of_all = store.planes();
        const std::size_t words = planes_of_all.words;
        const std::uint32_t last = column(store, v).card - 1;
        key = static_cast<std::uint8_t>(key | last << shift);
        for (std::uint32_t a = 0; a < last; ++a) {
            const std::size_t plane = store.first_plane(v) + a;
            planes.push_back({planes_of_all.bits + (plane / kLanes) * words * kLanes + plane % kLanes, kLanes,
                              static_cast<std::uint8_t>((last ^ a) << shift)});
        }
        key_bits += last > 1 ? 2 : 1;
        split = split.first(split.size() - 1);
    }
};

Division divide(const Store& store, std::span<const std::int32_t> z_and_x) {
    constexpr std::size_t kFewSets = 4;  // so few are looked through sooner than lists are sorted
    const std::int32_t x = z_and_x.back(), before = z_and_x[z_and_x.size() - 2];
    const std::uint32_t card = column(store, x).card;
    std::size_t n_sets = 1;
    for (const std::int32_t v : z_and_x) n_sets *= column(store, v).card;
    Division by{z_and_x, {}, 0, 0, card};
    if (card < 2 || card > 4 || n_sets < kFewSets * card) return by;
    by.sort_by(store, x, 0);
    by.stride = std::size_t{1} << by.key_bits;
    if (card == 2 && column(store, before).card == 2 && n_sets >= 4 * kFewSets) by.sort_by(store, before, 1);
    return by;
}

// The lists of all blocks of rows that are sorted at a time (kernels/sort_rows.hpp).
struct BlockLists {
    static constexpr std::size_t kRows = 64 * kSortWords;  // of a block
    Room<std::uint16_t> rows;                              // counted from the first of their block on
    std::vector<std::size_t> begin;                        // of each block
    std::vector<std::uint32_t> starts, sizes;              // [block * n_lists + list]
    std::size_t n_lists = 0;
};
BlockLists lists_of_blocks(const Store& store, const Division& by) {
    const std::size_t words = store.planes().words, n = store.n_records();
    const Room<std::uint64_t> sets = sets_of_all(store, by.split);
    std::size_t n_sets = 1;
    for (const std::int32_t v : by.split) n_sets *= column(store, v).card;
    BlockLists result{{}, {0}, {}, {}, n_sets << by.key_bits};
    for (std::size_t row = 0; row < n; row += BlockLists::kRows)
        result.begin.push_back(result.begin.back() +
                               sort_room(n_sets, std::min(BlockLists::kRows, n - row), by.key_bits));
    const std::size_t n_blocks = result.begin.size() - 1;
    result.rows = {store.pool(), result.begin.back()};
    result.starts.resize(n_blocks * result.n_lists);
    result.sizes.resize(n_blocks * result.n_lists);
    std::vector<KeyPlane> planes = by.planes;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        const std::size_t word = b * kSortWords, list = b * result.n_lists;
        store.level().sort_rows({sets.get() + word, n_sets, words, std::min(kSortWords, words - word), planes.data(),
                                 planes.size(), by.key_bits, by.key, static_cast<std::uint16_t>(n),
                                 result.rows.get() + result.begin[b], result.starts.data() + list,
                                 result.sizes.data() + list});
        for (KeyPlane& plane : planes) plane.bits += kSortWords * plane.step;
    }
    return result;
}

// Configurations of z that do not occur are left out, the order is kept: `which` says which list each set is.
SortedLists sized_lists(const BlockLists& blocks, const Division& by, std::uint32_t card_x,
                        std::vector<std::size_t>& which) {
    SortedLists result{{0, {}, {}}, {{card_x, 0, false, {}}, {}, {}, {}, {}}};
    std::vector<std::int64_t>& sizes = result.lists.x.sizes;
    sizes.reserve(blocks.n_lists);
    which.reserve(blocks.n_lists);
    for (std::size_t first = 0; first < blocks.n_lists; first += by.stride) {
        std::int64_t all = 0;
        for (std::size_t a = first; a < first + card_x; ++a) {
            std::int64_t size = 0;
            for (std::size_t k = a; k < blocks.sizes.size(); k += blocks.n_lists) size += blocks.sizes[k];
            sizes.push_back(size);
            which.push_back(a);
            all += size;
        }
        if (all) result.strata.sizes.push_back(all);
        if (!all) sizes.resize(sizes.size() - card_x), which.resize(sizes.size());
    }
    result.strata.count = result.lists.x.n_strata = result.strata.sizes.size();
    result.lists.left_over = set_left_over(result.lists.x);
    return result;
}

// A single block is as it should be; several are strung together, each from its own first row on.
void take_block(BlockLists& blocks, const std::vector<std::size_t>& which, SetLists& lists) {
    lists.short_rows = std::move(blocks.rows);
    for (const std::size_t list : which) {
        lists.begin.push_back(blocks.starts[list]);
        lists.padded.push_back(padded(blocks.sizes[list]));
    }
}
void string_together(const Store& store, const BlockLists& blocks, const std::vector<std::size_t>& which,
                     SetLists& lists) {
    place_lists(store, lists);
    for (std::size_t set = 0; set < which.size(); ++set) {
        if (set == lists.left_over) continue;
        std::uint32_t* to = lists.rows.get() + lists.begin[set];
        for (std::size_t b = 0, list = which[set]; b + 1 < blocks.begin.size(); ++b, list += blocks.n_lists) {
            const std::uint16_t* from = blocks.rows.get() + blocks.begin[b] + blocks.starts[list];
            const auto first = static_cast<std::uint32_t>(b * BlockLists::kRows);
            to =
                std::transform(from, from + blocks.sizes[list], to, [first](std::uint16_t row) { return first + row; });
        }
        pad_list(store, lists, set);
    }
}

}  // namespace

SortedLists lists_from_planes(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    if (!store.level().sort_rows) {
        PlaneSets ready = sets_from_planes(store, x, z);
        SetLists lists = lists_of_bitsets(store, ready);
        return {std::move(ready.strata), std::move(lists)};
    }
    std::vector<std::int32_t> z_and_x(z.begin(), z.end());
    z_and_x.push_back(x);
    const Division by = divide(store, z_and_x);
    BlockLists blocks = lists_of_blocks(store, by);
    std::vector<std::size_t> which;
    SortedLists result = sized_lists(blocks, by, column(store, x).card, which);
    if (store.n_records() <= BlockLists::kRows)
        take_block(blocks, which, result.lists);
    else
        string_together(store, blocks, which, result.lists);
    return result;
}

}  // namespace mnlearn
