#include "scan/small_scan.hpp"

#include <algorithm>
#include <numeric>

#include "scan/cost_model.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kMaxLaneStates = 64;

// A lane for each state of each y but its last, the states of one y in the same pass; then one for all rows. `first`:
// where each of these begins.
std::vector<Lane> lanes_of(const Store& store, std::span<const std::int32_t> ys, std::vector<std::size_t>& first) {
    constexpr Lane kUnused{nullptr, 0, false};
    std::vector<Lane> lanes;
    for (const std::int32_t y : ys) {
        const std::size_t needed = column_of(store, y).card - 1;
        while (lanes.size() % kCountLanes + needed > kCountLanes) lanes.push_back(kUnused);
        first.push_back(lanes.size());
        for (std::size_t b = 0; b < needed; ++b)
            lanes.push_back({column_of(store, y).narrow, static_cast<std::uint8_t>(b), false});
    }
    first.push_back(lanes.size());
    lanes.push_back({nullptr, 0, true});
    while (lanes.size() % kCountLanes) lanes.push_back(kUnused);
    return lanes;
}

// Strata without rows are left out; the order is kept.
void drop_empty(SmallCounts& few, std::span<const std::uint32_t> sizes) {
    const std::size_t rx = few.x.card_x, cells = rx * few.width;
    std::size_t kept = 0;
    few.x.sizes.reserve(sizes.size());
    few.strata.sizes.reserve(sizes.size() / rx);
    for (std::size_t s = 0; s * rx < sizes.size(); ++s) {
        const std::int64_t size = std::accumulate(sizes.data() + s * rx, sizes.data() + (s + 1) * rx, std::int64_t{0});
        if (size == 0) continue;
        few.strata.sizes.push_back(size);
        for (std::size_t a = 0; a < rx; ++a) few.x.sizes.push_back(sizes[s * rx + a]);
        if (kept < s) std::copy_n(few.counts.data() + s * cells, cells, few.counts.data() + kept * cells);
        ++kept;
    }
    few.strata.count = few.x.n_strata = kept;
}

// Everything but what belongs to the strata; the set of each row is given.
SmallCounts run_lanes(const Store& store, std::span<const std::int32_t> ys, std::span<const std::uint32_t> sets,
                      std::size_t n_sets, std::vector<std::uint32_t>& sizes) {
    SmallCounts few;
    const std::vector<Lane> lanes = lanes_of(store, ys, few.column);
    const std::size_t n_passes = lanes.size() / kCountLanes;
    few.width = n_passes * kCountLanes;
    few.counts.resize(n_sets * few.width);
    std::vector<std::uint32_t> counts(n_passes > 1 ? n_sets * kCountLanes : 0);
    for (std::size_t pass = 0; pass < n_passes; ++pass) {
        std::uint32_t* to = n_passes > 1 ? counts.data() : few.counts.data();
        std::fill_n(to, n_sets * kCountLanes, 0u);
        LaneQuery query{sets.data(), sets.size(), n_sets, {}, to};
        std::copy_n(lanes.data() + pass * kCountLanes, kCountLanes, query.lanes);
        store.level().count_lanes(query);
        for (std::size_t set = 0; set < counts.size() / kCountLanes; ++set)
            std::copy_n(to + set * kCountLanes, kCountLanes, few.counts.data() + set * few.width + pass * kCountLanes);
    }
    const std::size_t all = few.column.back();
    few.column.pop_back();
    sizes.resize(n_sets);
    for (std::size_t set = 0; set < n_sets; ++set) sizes[set] = few.counts[set * few.width + all];
    return few;
}

constexpr std::size_t kNarrowKeys = std::size_t{1} << 16;

// One y after the other, its state as the last digit of each row's key.
SmallCounts count_tables_of(const Store& store, std::span<const std::int32_t> ys, std::span<const std::uint16_t> sets,
                            std::size_t n_sets, std::vector<std::uint32_t>& sizes) {
    SmallCounts few;
    for (const std::int32_t y : ys) {
        few.column.push_back(few.width);
        few.width += column_of(store, y).card - 1;
    }
    few.counts.resize(n_sets * few.width);
    sizes.resize(n_sets);
    for (std::size_t j = 0; j < ys.size(); ++j) {
        const Column& y = column_of(store, ys[j]);
        const Digit digit{y.narrow, y.wide, y.card};
        std::vector<std::uint16_t> keys(sets.begin(), sets.end());
        store.level().make_keys({&digit, 1, keys.size(), keys.data()});
        const std::vector<std::uint32_t> table = histogram(keys, n_sets * y.card);
        for (std::size_t set = 0; set < n_sets; ++set) {
            const std::uint32_t* cells = table.data() + set * y.card;
            sizes[set] = std::accumulate(cells, cells + y.card, 0u);
            std::copy_n(cells, y.card - 1, few.counts.data() + set * few.width + few.column[j]);
        }
    }
    return few;
}

}  // namespace

bool fit_lanes(const Store& store, std::int32_t x, const Candidates& ys, double n_sets) {
    if (store.n_records() == 0 || column_of(store, x).card > kMaxPlaneCard || !ys.have_planes) return false;
    return ys.n_states < kMaxLaneStates && n_sets <= std::max(4096.0, 4.0 * static_cast<double>(store.n_records()));
}

bool fit_whole_lanes(const Store& store, std::int32_t x, const Candidates& ys, double n_sets) {
    return fit_lanes(store, x, ys, n_sets) && n_sets <= std::min<double>(store.n_records(), kNarrowKeys);
}

SmallCounts count_in_whole_lanes(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                                 std::span<const std::int32_t> z) {
    std::vector<Digit> digits;
    std::size_t n_sets = 1;
    const auto append = [&](std::int32_t v) {
        digits.push_back({column_of(store, v).narrow, column_of(store, v).wide, column_of(store, v).card});
        n_sets *= digits.back().card;
    };
    for (const std::int32_t v : z) append(v);
    append(x);
    std::vector<std::uint16_t> keys(store.n_records(), 0);
    store.level().make_keys({digits.data(), digits.size(), keys.size(), keys.data()});
    std::vector<std::uint32_t> sizes;
    SmallCounts few;
    const auto fits = [&](std::int32_t y) { return n_sets * column_of(store, y).card <= kNarrowKeys; };
    if (static_cast<double>(ys.size()) <= kTablesAtMost && std::all_of(ys.begin(), ys.end(), fits))
        few = count_tables_of(store, ys, keys, n_sets, sizes);
    else
        few = run_lanes(store, ys, std::vector<std::uint32_t>(keys.begin(), keys.end()), n_sets, sizes);
    few.x.card_x = column_of(store, x).card;
    drop_empty(few, sizes);
    return few;
}

}  // namespace mnlearn
