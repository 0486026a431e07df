#include "few.hpp"

#include <algorithm>
#include <numeric>

namespace mnlearn {
namespace {

// Rough nanoseconds. Splitting: bringing one word of a plane into line. Lanes: a row of eight states, and one set.
constexpr double kLoadWord = 0.8, kLaneRow = 1.0, kLaneSet = 6.0;
// A set that is split off, and a question that is answered, whatever their size.
constexpr double kTreeSet = 12.0;
constexpr std::size_t kMaxParts = 4096;
constexpr std::size_t kMaxLaneStates = 64;

const Column& column(const Store& store, std::int32_t v) { return store.column(static_cast<std::size_t>(v)); }

// A lane for each state of each y but its last, the states of one y in the same pass; then one for all rows. `first`:
// where each of these begins.
std::vector<Lane> lanes_of(const Query& q, std::vector<std::size_t>& first) {
    constexpr Lane kUnused{nullptr, 0, false};
    std::vector<Lane> lanes;
    for (const std::int32_t y : q.ys) {
        const std::size_t needed = column(q.store, y).card - 1;
        while (lanes.size() % kCountLanes + needed > kCountLanes) lanes.push_back(kUnused);
        first.push_back(lanes.size());
        for (std::size_t b = 0; b < needed; ++b)
            lanes.push_back({column(q.store, y).narrow, static_cast<std::uint8_t>(b), false});
    }
    first.push_back(lanes.size());
    lanes.push_back({nullptr, 0, true});
    while (lanes.size() % kCountLanes) lanes.push_back(kUnused);
    return lanes;
}

// Strata without rows are left out; the order is kept.
void drop_empty(FewCounts& few, std::span<const std::uint32_t> sizes) {
    const std::size_t rx = few.x.card_x, cells = rx * few.width;
    std::size_t kept = 0;
    for (std::size_t s = 0; s * rx < sizes.size(); ++s) {
        const std::int64_t size = std::accumulate(sizes.data() + s * rx, sizes.data() + (s + 1) * rx, std::int64_t{0});
        if (size == 0) continue;
        few.strata.sizes.push_back(size);
        few.x.sizes.insert(few.x.sizes.end(), sizes.data() + s * rx, sizes.data() + (s + 1) * rx);
        if (kept < s) std::copy_n(few.counts.data() + s * cells, cells, few.counts.data() + kept * cells);
        ++kept;
    }
    few.strata.count = few.x.n_strata = kept;
}

}  // namespace

bool splitting_pays(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                    std::span<const std::int32_t> z) {
    if (z.empty() || store.n_records() == 0) return false;  // without strata the planes of x serve as they are
    const auto has = [&](std::int32_t v) { return v != kConstant && store.has_planes(static_cast<std::size_t>(v)); };
    if (!has(x) || !std::all_of(z.begin(), z.end(), has) || !std::all_of(ys.begin(), ys.end(), has)) return false;
    std::size_t parts = column(store, x).card, n_states = 0, n_levels = parts - 1;
    for (const std::int32_t v : z) {
        parts *= column(store, v).card;
        n_levels += column(store, v).card - 1;
        if (parts > kMaxParts) return false;
    }
    if (store.forced() != Way::any) return store.forced() == Way::tree;
    for (const std::int32_t y : ys) n_states += column(store, y).card - 1;
    const double words = static_cast<double>(store.planes().words), states = static_cast<double>(n_states);
    const double splitting =
        static_cast<double>(parts) * (kTreeSet + words * (2.0 + states) * store.level().tree_word) +
        words * kLoadWord * (states + static_cast<double>(n_levels));
    const double planes = static_cast<double>(store.planes().n_planes);
    // Against counting by interleaved planes, and against numbering the rows and counting in lanes.
    const double groups = std::min(states, planes / kLanes + 1.0);
    const double interleaved = static_cast<double>(parts) * words * (1.0 + groups * store.level().plane_group_word);
    const double by_rows = static_cast<double>(store.n_records()) * (2.0 + kLaneRow * (states / kCountLanes + 1.0));
    const double by_columns = static_cast<double>(store.n_records()) *
                              (6.0 + std::min(states, planes / kBlockColumns + 1.0) * store.level().vertical_row);
    return splitting < std::min({interleaved, by_rows, by_columns});
}

FewCounts count_by_splitting(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                             std::span<const std::int32_t> z) {
    const Planes& planes = store.planes();
    FewCounts few;
    few.x.card_x = column(store, x).card;
    std::vector<TreeLevel> levels;
    std::size_t parts = few.x.card_x;
    for (const std::int32_t v : z) {
        levels.push_back({store.first_plane(v), column(store, v).card});
        parts *= levels.back().card;
    }
    levels.push_back({store.first_plane(x), few.x.card_x});
    std::vector<std::uint32_t> states, sizes(parts, 0);
    for (const std::int32_t y : ys) {
        few.column.push_back(states.size());
        for (std::uint32_t b = 0; b + 1 < column(store, y).card; ++b) states.push_back(store.first_plane(y) + b);
    }
    few.width = states.size();
    few.counts.assign(parts * few.width, 0);
    store.level().count_tree({planes.bits.get(), planes.words, store.n_records(), levels.data(), levels.size(),
                              states.data(), states.size(), sizes.data(), few.counts.data()});
    drop_empty(few, sizes);
    return few;
}

bool lanes_pay(const Query& q, double nanoseconds) {
    const std::size_t n = q.store.n_records();
    if (n == 0 || q.store.repeats() || q.card_x() > kMaxPlaneCard) return false;
    std::size_t n_states = 1;  // and all rows
    for (const std::int32_t y : q.ys) {
        if (y == kConstant || column(q.store, y).card > kMaxPlaneCard || column(q.store, y).card < 2) return false;
        n_states += column(q.store, y).card - 1;
    }
    const double passes = static_cast<double>((n_states + kCountLanes - 1) / kCountLanes);
    const double sets = static_cast<double>(q.strata.count) * q.card_x();
    if (n_states > kMaxLaneStates || sets > std::max(4096.0, 4.0 * static_cast<double>(n))) return false;
    if (q.store.forced() != Way::any) return q.store.forced() == Way::lanes;
    return passes * (kLaneRow * static_cast<double>(n) + kLaneSet * sets) + static_cast<double>(n) < nanoseconds;
}

FewCounts count_in_lanes(const Query& q) {
    const std::size_t n = q.store.n_records(), rx = q.card_x(), n_sets = q.strata.count * rx;
    FewCounts few;
    std::vector<std::uint32_t> sets(n);
    with_codes(column(q.store, q.x), [&](auto code) {
        const auto card = static_cast<std::uint32_t>(rx);
        for (std::size_t row = 0; row < n; ++row) sets[row] = q.strata[row] * card + code(row);
    });
    const std::vector<Lane> lanes = lanes_of(q, few.column);
    const std::size_t n_passes = lanes.size() / kCountLanes;
    few.width = kCountLanes;
    few.counts.assign(n_passes * n_sets * kCountLanes, 0);
    for (std::size_t pass = 0; pass < n_passes; ++pass) {
        LaneQuery query{sets.data(), n, n_sets, {}, few.counts.data() + pass * n_sets * kCountLanes};
        std::copy_n(lanes.data() + pass * kCountLanes, kCountLanes, query.lanes);
        q.store.level().count_lanes(query);
    }
    few.x = {q.card_x(), q.strata.count, false, {}};
    const auto place = [&](std::size_t state) {  // of the first set's count
        return state / kCountLanes * n_sets * kCountLanes + state % kCountLanes;
    };
    for (std::size_t set = 0; set < n_sets; ++set)
        few.x.sizes.push_back(few.counts[place(few.column.back()) + set * kCountLanes]);
    few.column.pop_back();
    for (std::size_t& first : few.column) first = place(first);
    return few;
}

}  // namespace mnlearn
