#include "scan/count_bitsets.hpp"

#include <algorithm>
#include <numeric>

#include "scan/candidates.hpp"

namespace mnlearn {

SetSizes bitsets_of_states(const Store& store, std::int32_t x, std::uint64_t* sets, SetSizes room) {
    const Planes& planes = store.planes();
    SetSizes result{column_of(store, x).card, 1, true, std::move(room.sizes)};
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
    SetSizes result{column_of(store, x).card, strata.count, false, {}};
    result.sizes.assign(strata.count * result.card_x, 0);
    with_codes(column_of(store, x), [&](auto code) {
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
class SetSplitter {
public:
    explicit SetSplitter(const Store& store)
        : store_(store), words_(store.planes().words), states_(store.pool(), kMaxPlaneCard * words_) {}

    void split(std::int32_t variable, std::size_t n_sets, std::uint64_t* sets) const {
        const std::size_t card = column_of(store_, variable).card;
        std::uint64_t* rest = states_.get() + (kMaxPlaneCard - 1) * words_;
        for (std::size_t a = 0; a + 1 < card; ++a) load_plane(store_.first_plane(variable) + a, a);
        for (std::size_t s = n_sets; s-- > 0;) {
            const std::uint64_t* whole = sets + s * words_;  // loses its parts one by one; what is left is the last
            if (card > 2) whole = std::copy_n(whole, words_, rest) - words_;
            for (std::size_t a = 0; a + 1 < card; ++a) {
                std::uint64_t* part = sets + (s * card + a) * words_;
                std::uint64_t* outside = a + 2 < card ? rest : part + words_;
                store_.level().split_set({whole, states_.get() + a * words_, words_, part, outside});
            }
        }
    }

private:
    void load_plane(std::size_t plane, std::size_t place) const {
        const std::uint64_t* bits = store_.planes().bits + (plane / kLanes) * words_ * kLanes + plane % kLanes;
        for (std::size_t w = 0; w < words_; ++w) states_[place * words_ + w] = bits[w * kLanes];
    }

    const Store& store_;
    std::size_t words_;
    Buffer<std::uint64_t> states_;  // of the variable at hand; then the rest of a set
};

// All rows, split by each of these variables in turn; room for card times more sets is there.
std::size_t split_all(const SetSplitter& splitter, const Store& store, std::span<const std::int32_t> variables,
                      std::uint64_t* sets) {
    const std::size_t words = store.planes().words, n = store.n_records();
    std::size_t n_sets = 1;
    for (std::size_t w = 0; w < words; ++w)
        sets[w] = n - w * 64 >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n - w * 64)) - 1;
    for (const std::int32_t variable : variables) {
        splitter.split(variable, n_sets, sets);
        n_sets *= column_of(store, variable).card;
    }
    return n_sets;
}

}  // namespace

Buffer<std::uint64_t> sets_of_all(const Store& store, std::span<const std::int32_t> variables) {
    std::size_t n_sets = 1;
    for (const std::int32_t variable : variables) n_sets *= column_of(store, variable).card;
    Buffer<std::uint64_t> sets(store.pool(), n_sets * store.planes().words);
    split_all(SetSplitter(store), store, variables, sets.get());
    return sets;
}

PlaneSets sets_from_planes(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    const std::size_t words = store.planes().words, card_x = column_of(store, x).card;
    std::size_t largest = card_x;
    for (const std::int32_t variable : z) largest *= column_of(store, variable).card;
    PlaneSets result{{0, {}, {}}, {}, {store.pool(), largest * words}, {}};
    const SetSplitter splitter(store);
    const std::size_t n_configurations = split_all(splitter, store, z, result.sets.get());
    Strata& strata = result.strata;
    for (std::size_t s = 0; s < n_configurations; ++s) {  // those that do not occur are left out, the order is kept
        const std::uint64_t* set = result.sets.get() + s * words;
        const std::int64_t size = store.level().count_bits(set, words);
        if (size == 0) continue;
        if (strata.count < s) std::copy_n(set, words, result.sets.get() + strata.count * words);
        strata.sizes.push_back(size);
        result.numbers.push_back(static_cast<std::uint32_t>(s));
        ++strata.count;
    }
    splitter.split(x, strata.count, result.sets.get());
    result.x = {static_cast<std::uint32_t>(card_x), strata.count, false, {}};
    for (std::size_t s = 0; s < result.x.n_sets(); ++s)
        result.x.sizes.push_back(store.level().count_bits(result.sets.get() + s * words, words));
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
    const std::size_t last = store.first_plane(ys.back()) + column_of(store, ys.back()).card - 2;
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
        const std::size_t first = store.first_plane(ys[k]), last = first + column_of(store, ys[k]).card - 2;
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

GatheredPlanes gather_planes(const Store& store, std::span<const std::int32_t> ys) {
    const Planes& planes = store.planes();
    const std::size_t words = planes.words, n_groups = (ys.size() + kLanes - 1) / kLanes;
    GatheredPlanes result{{store.pool(), n_groups * words * kLanes}, {}, {}};
    result.groups.resize(n_groups);
    std::iota(result.groups.begin(), result.groups.end(), 0u);
    result.totals.assign(n_groups * kLanes, 0);
    for (std::size_t k = 0; k < n_groups * kLanes; ++k) {
        std::uint64_t* to = result.bits.get() + k / kLanes * words * kLanes + k % kLanes;
        if (k >= ys.size()) {
            for (std::size_t w = 0; w < words; ++w) to[w * kLanes] = 0;
            continue;
        }
        const std::size_t plane = store.first_plane(ys[k]);
        const std::uint64_t* from = planes.bits + plane / kLanes * words * kLanes + plane % kLanes;
        for (std::size_t w = 0; w < words; ++w) to[w * kLanes] = from[w * kLanes];
        result.totals[k] = planes.totals[plane];
    }
    return result;
}

std::vector<std::uint32_t> count_gathered(const Store& store, const std::uint64_t* sets, std::size_t n_sets,
                                          const GatheredPlanes& planes) {
    std::vector<std::uint32_t> counts(n_sets * planes.totals.size());
    store.level().count_planes({sets, n_sets, store.planes().words, planes.bits.get(), planes.groups.data(),
                                planes.groups.size(), counts.data()});
    return counts;
}

void count_by_columns(const Store& store, const SetLists& lists, std::size_t first, std::size_t last, std::size_t block,
                      std::uint32_t* counts) {
    constexpr std::size_t kNear = std::size_t{1} << 19;  // words: four megabytes; below it nothing is gained
    const RowBits& rows = store.row_bits();
    const std::vector<std::uint32_t>& totals = store.planes().totals;
    const std::size_t before = block * kBlockColumns;
    store.level().count_vertical({rows.bits.get() + block * rows.block_words, lists.short_rows.get(), lists.rows.get(),
                                  lists.begin.data() + first, lists.padded.data() + first, last - first, counts,
                                  kBlockColumns, rows.block_words > kNear, lists.left_over - first,
                                  totals.data() + before, std::min(kBlockColumns, totals.size() - before)});
}

}  // namespace mnlearn
