// The cost model: which way of counting is cheapest for a scan.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "scan.hpp"

namespace mnlearn {
namespace {

// Nanoseconds on one machine, from single measurements of each part; only their ratios matter, and benchmarks/plan.py
// shows what the choices made with them cost. Per row: into bitsets, into lists, from bitsets into lists, one table
// counted alone, numbering the strata, and that for each variable of z.
constexpr double kBitsetRow = 7.0, kListRow = 3.5, kListBit = 0.1, kAloneRow = 1.25, kStrataRow = 2.0, kDigit = 0.1;
constexpr double kSortRow = 1.1, kSortSet = 8.0;  // the same for rows sorted by keys
constexpr double kSortBit = 0.1;                  // and for lists from planes, a bit of their keys

constexpr double kNever = std::numeric_limits<double>::infinity();

// The cost of a way, unless another one is forced.
double unless_forced(const Store& store, Way way, double cost) {
    return store.forced() == Way::any || store.forced() == way ? cost : kNever;
}

// The bitsets of all sets may take half a byte a value: within the memory the library promises.
bool bitsets_fit(const Store& store, double n_sets) { return n_sets <= 4.0 * static_cast<double>(store.n_variables()); }

double cost_by_planes(const Query& q, std::size_t n_groups) {
    const double sets = static_cast<double>(q.strata.count) * q.card_x(),
                 words = static_cast<double>(q.store.planes().words);
    return sets * words * static_cast<double>(n_groups) * q.store.level().plane_group_word;
}

// A row of a block of columns: dearer where all of them do not fit the second cache.
double column_row(const Store& store) {
    constexpr std::size_t kSecondCache = std::size_t{1} << 20;
    const std::size_t blocks = (store.planes().n_planes + kBlockColumns - 1) / kBlockColumns;
    return store.level().vertical_row * (store.n_records() * kRowWords * 8 * blocks > kSecondCache ? 2.5 : 1.0);
}

// With the lists at hand.
double cost_by_columns(const Query& q, std::size_t n_blocks) {
    const double rows = static_cast<double>(q.store.n_records()),
                 sets = static_cast<double>(q.strata.count) * q.card_x();
    return static_cast<double>(n_blocks) * (rows * column_row(q.store) + sets * q.store.level().vertical_set);
}

// Those of the candidates that can be counted together: all, none, or some.
void bring_together(const Query& q, const Candidates& ys, Plan& plan) {
    const auto has_planes = [&](std::int32_t v) {
        return v != kConstant && q.store.has_planes(static_cast<std::size_t>(v));
    };
    plan.binary = q.card_x() == 2 && ys.are_binary;
    plan.ys = q.ys;
    if (has_planes(q.x) && ys.have_planes && ys.in_order) return;
    for (std::size_t j = 0; j < q.ys.size(); ++j)
        (has_planes(q.x) && has_planes(q.ys[j]) ? plan.places : plan.alone).push_back(j);
    const auto earlier = [&](std::size_t i, std::size_t j) {
        return q.store.first_plane(q.ys[i]) < q.store.first_plane(q.ys[j]);
    };
    if (!ys.in_order) std::stable_sort(plan.places.begin(), plan.places.end(), earlier);
    for (const std::size_t j : plan.places) plan.sorted.push_back(q.ys[j]);
    plan.ys = plan.sorted;
}

double cost_alone(const Query& q, std::size_t n_ys) {
    return kAloneRow * static_cast<double>(q.store.n_records()) * static_cast<double>(n_ys);
}

}  // namespace

Plan make_plan(const Query& q, const Candidates& ys) {
    Plan plan;
    if (q.store.n_records() == 0)
        for (std::size_t j = 0; j < q.ys.size(); ++j) plan.alone.push_back(j);
    else
        bring_together(q, ys, plan);
    plan.cost_alone = cost_alone(q, plan.alone.size());
    if (plan.ys.empty()) return plan;
    const double sets = static_cast<double>(q.strata.count) * q.card_x();
    const double rows = static_cast<double>(q.store.n_records()), words = static_cast<double>(q.store.planes().words);
    const double to_bitsets = q.strata.count == 1 ? 0.0 : kBitsetRow * rows + 0.5 * sets * words;
    double planes =
        bitsets_fit(q.store, sets) ? to_bitsets + cost_by_planes(q, plane_groups(q.store, plan.ys)) : kNever;
    double columns =
        q.store.row_bits_fit() ? kListRow * rows + cost_by_columns(q, split_blocks(q.store, plan.ys).size()) : kNever;
    planes = unless_forced(q.store, Way::planes, planes);
    columns = unless_forced(q.store, Way::columns, columns);
    const double alone = unless_forced(q.store, Way::alone, cost_alone(q, plan.ys.size()));
    plan.by_columns = columns < planes;
    plan.cost_together = std::min(planes, columns);
    if (alone < plan.cost_together || plan.cost_together == kNever) {
        for (std::size_t k = 0; k < plan.ys.size(); ++k) plan.alone.push_back(plan.place(k));
        plan.cost_alone = cost_alone(q, plan.alone.size());
        plan.cost_together = 0.0;
        plan.ys = {};
    }
    return plan;
}

Plan plan_on_sets(const Query& q, const Candidates& ys) {
    Plan plan;
    bring_together(q, ys, plan);
    plan.cost_together = cost_by_planes(q, plane_groups(q.store, plan.ys));
    return plan;
}

Plan plan_on_lists(const Query& q, const Candidates& ys) {
    Plan plan;
    bring_together(q, ys, plan);
    plan.by_columns = true;
    plan.cost_together = cost_by_columns(q, split_blocks(q.store, plan.ys).size());
    return plan;
}

namespace {

bool have_planes(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z) {
    const auto has = [&](std::int32_t v) { return store.has_planes(static_cast<std::size_t>(v)); };
    return ys.have_planes && has(x) && std::all_of(z.begin(), z.end(), has);
}

// Lists from planes, a row: by the bits of each set, or by keys and the bits of the sets that keys have no room for.
double list_row(const Store& store, double sets) {
    const Level& level = store.level();
    if (!level.sort_rows) return kListBit + sets / 64.0 * (2.0 * level.split_word + level.list_word);
    constexpr double kKeys = 1 << kSortBits;
    const double bits = std::log2(std::min(sets, kKeys)), more = std::max(0.0, sets / kKeys - 1.0);
    return bits * kSortBit + more / 64.0 * level.list_word;
}

}  // namespace

SourceCosts costs_of_sources(const Store& store, std::int32_t x, const Candidates& ys,
                             std::span<const std::int32_t> z) {
    const Level& level = store.level();
    double sets = column_of(store, x).card;
    for (const std::int32_t v : z) sets *= column_of(store, v).card;
    // About one block for each state.
    const double rows = static_cast<double>(store.n_records()), n_ys = static_cast<double>(ys.ys.size()),
                 states = static_cast<double>(ys.n_states), all = static_cast<double>(store.planes().n_planes);
    const double groups = std::min(static_cast<double>(ys.n_groups), all / kLanes + 1.0),
                 blocks = std::min(states, all / kBlockColumns + 1.0);
    const double words = sets / 64.0, set_a_row = sets / rows;
    const double planes = words * groups * level.plane_group_word, digits = kDigit * static_cast<double>(z.size());
    const double columns =
        store.row_bits_fit() ? blocks * (column_row(store) + set_a_row * level.vertical_set) : kNever;
    SourceCosts costs;
    if (bitsets_fit(store, sets)) {
        costs.planes = rows * (2.0 * words * level.split_word + planes);
        costs.lists = rows * (list_row(store, sets) + columns);
    }
    if (sets <= most_key_sets(store)) costs.keys = rows * (kSortRow + digits + kSortSet * set_a_row + columns);
    costs.numbers =
        rows * (kStrataRow + digits + std::min({kAloneRow * n_ys, kListRow + columns, kBitsetRow + planes}));
    return costs;
}

namespace {

// Lists made anew, parted by one variable more, joined by one less; `sets` as there are with the variable. Here, among
// things that take about as long, what a list costs whatever its size counts as well.
double cost_of_fresh(const Store& store, Source source, std::size_t size_z, double sets) {
    constexpr double kPlanes = 650.0, kPlaneList = 20.0, kKeys = 400.0, kKeyList = 3.0;
    constexpr double kSorted = 0.82, kStringRow = 0.13;  // blocks of rows sorted one by one are strung together
    const double rows = static_cast<double>(store.n_records()), digits = kDigit * static_cast<double>(size_z);
    if (source == Source::lists) {
        const bool sorted = store.level().sort_rows, strung = sorted && store.n_records() > 64 * kSortWords;
        const double together = kPlanes + rows * list_row(store, sets) + kPlaneList * sets;
        return (sorted ? kSorted : 1.0) * together + (strung ? kStringRow * rows : 0.0);
    }
    return kKeys + rows * (kSortRow + digits) + (kSortSet + kKeyList) * sets;
}
constexpr double kPackRow = 0.06, kNarrowRow = 0.2;  // of lists that are kept: copied, from four bytes to two
constexpr double kRefineStep = 450.0, kRefineList = 15.0, kJoinRow = 0.1;
double cost_of_parting(const Store& store, double sets) {
    return kRefineStep + store.level().refine_row * static_cast<double>(store.n_records()) + kRefineList * sets;
}
double cost_of_joining(const Store& store, double sets) {
    return kRefineStep + kJoinRow * static_cast<double>(store.n_records()) + kRefineList * sets;
}
constexpr double kKeptWorth = 0.8;  // kept lists are further away than what new ones are made from

double sets_of(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    double sets = column_of(store, x).card;
    for (const std::int32_t v : z) sets *= column_of(store, v).card;
    return sets;
}

}  // namespace

bool refining_pays(const Store& store, std::int32_t x, std::span<const std::int32_t> z, Source source,
                   std::span<const std::int32_t> leave, std::span<const std::int32_t> join) {
    const double sets = sets_of(store, x, z);
    double refined = static_cast<double>(join.size()) * cost_of_parting(store, sets);
    for (const std::int32_t v : leave) refined += cost_of_joining(store, sets * column_of(store, v).card);
    const double packing = (store.level().sort_rows ? kPackRow : kNarrowRow) * static_cast<double>(store.n_records());
    return refined < kKeptWorth * (cost_of_fresh(store, source, z.size(), sets) + packing);  // to be kept in their turn
}

bool keeping_pays(const Store& store, std::int32_t x, std::span<const std::int32_t> z, Source source) {
    const double sets = 2.0 * sets_of(store, x, z);
    return cost_of_parting(store, sets) < kKeptWorth * cost_of_fresh(store, source, z.size() + 1, sets);
}

Source source_of_sets(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z) {
    if (z.empty() || store.n_records() == 0) return Source::numbers;  // the planes of x serve as they are
    if (!have_planes(store, x, ys, z)) return Source::numbers;
    const SourceCosts costs = costs_of_sources(store, x, ys, z);
    const Way forced = store.forced();
    if (forced == Way::sorted_columns) return costs.keys < kNever ? Source::keys : Source::numbers;
    if (forced == Way::split_columns) return costs.lists < kNever ? Source::lists : Source::numbers;
    if (forced == Way::split_planes) return costs.planes < kNever ? Source::planes : Source::numbers;
    if (forced != Way::any) return Source::numbers;
    if (costs.planes == costs.least()) return Source::planes;
    if (costs.lists == costs.least()) return Source::lists;
    return costs.keys < costs.numbers ? Source::keys : Source::numbers;
}

// All other ways look at each row for a nanosecond at least, or at each word of planes and sets.
bool distinct_rows_pay(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z) {
    if (store.forced() == Way::distinct) return &store.distinct() != &store;
    if (z.empty() || store.forced() != Way::any) return false;
    const Store& fewer = store.distinct();
    if (&fewer == &store) return false;
    const double n_ys = static_cast<double>(ys.ys.size()), states = static_cast<double>(ys.n_states);
    double others = static_cast<double>(store.n_records()), sets = column_of(store, x).card;
    for (const std::int32_t v : z) sets *= column_of(store, v).card;
    const auto has = [&](std::int32_t v) { return store.has_planes(static_cast<std::size_t>(v)); };
    if (ys.have_planes && has(x) && std::all_of(z.begin(), z.end(), has)) {
        const double words = others / 64.0, groups = states / kLanes + 1.0;  // planes need not be built for this
        const Level& level = store.level();
        others = std::min(others, words * sets * std::min(states * level.tree_word, groups * level.plane_group_word));
    }
    const double a_row = kStrataRow + kDigit * static_cast<double>(z.size()) + kAloneRow * n_ys;
    return static_cast<double>(fewer.n_records()) * a_row < others;
}

}  // namespace mnlearn
