#include "set_counts.hpp"

#include <algorithm>

namespace mnlearn {
namespace {

const Column& column(const Store& store, std::int32_t v) { return store.column(static_cast<std::size_t>(v)); }

}  // namespace

SetSizes bitsets_of_states(const Store& store, std::int32_t x, std::uint64_t* sets) {
    const Planes& planes = store.planes();
    SetSizes result{column(store, x).card, 1, true, {}};
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
    PlaneSets result{{1, {}, {store.n_rows()}}, {}, unset_words(largest * words), {}};
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
    lists.rows = std::make_unique_for_overwrite<std::uint32_t[]>(lists.begin.back() + kListRoom);
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

std::vector<std::pair<std::size_t, std::size_t>> split_blocks(const Store& store, std::span<const std::int32_t> ys) {
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    std::size_t begin = 0;
    for (std::size_t k = 1; k <= ys.size(); ++k) {
        if (k < ys.size() && store.first_plane(ys[k]) / kBlockColumns == store.first_plane(ys[begin]) / kBlockColumns)
            continue;
        blocks.emplace_back(begin, k);
        begin = k;
    }
    return blocks;
}

PlaneColumns plane_columns(const Store& store, std::span<const std::int32_t> ys) {
    PlaneColumns result;
    for (const std::int32_t y : ys) {
        const std::size_t first = store.first_plane(y), n = column(store, y).card - 1;
        for (std::size_t group = first / kLanes; group <= (first + n - 1) / kLanes; ++group)
            if (result.groups.empty() || result.groups.back() < group)
                result.groups.push_back(static_cast<std::uint32_t>(group));
        // The planes of one variable are neighbours, and so are their groups: the place of the first is enough.
        const std::size_t place = result.groups.size() - 1 - (result.groups.back() - first / kLanes);
        result.column.push_back(place * kLanes + first % kLanes);
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
                      std::vector<std::uint32_t>& counts) {
    counts.resize((last - first) * kBlockColumns);
    const RowBits& rows = store.row_bits();
    store.level().count_vertical({rows.bits.get() + block * rows.block_words, lists.rows.get(),
                                  lists.begin.data() + first, last - first, counts.data(), kBlockColumns});
}

}  // namespace mnlearn
