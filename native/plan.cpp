// The cost model: which way of counting is cheapest for a scan.
#include <algorithm>
#include <limits>
#include <numeric>

#include "scan.hpp"

namespace mnlearn {
namespace {

// Nanoseconds on one machine, from single measurements of each part; only their ratios matter, and benchmarks/plan.py
// shows what the choices made with them cost. Per row: into bitsets, into lists, from bitsets into lists, one table
// counted alone, numbering the strata, and that for each variable of z.
constexpr double kBitsetRow = 7.0, kListRow = 3.5, kListBit = 0.2, kAloneRow = 1.25, kStrataRow = 2.0,
                 kStrataDigit = 0.2;

constexpr double kNever = std::numeric_limits<double>::infinity();

// The cost of a way, unless another one is forced.
double unless_forced(const Store& store, Way way, double cost) {
    return store.forced() == Way::any || store.forced() == way ? cost : kNever;
}

// The bitsets of all sets may take half a byte a value: within the memory the library promises.
bool bitsets_fit(const Store& store, double n_sets) { return n_sets <= 4.0 * static_cast<double>(store.n_variables()); }

double cost_by_planes(const Query& q, const PlaneColumns& columns) {
    const double sets = static_cast<double>(q.strata.count) * q.card_x(),
                 words = static_cast<double>(q.store.planes().words);
    const double set_up =
        q.strata.count == 1 ? 0.0 : kBitsetRow * static_cast<double>(q.store.n_records()) + 0.5 * sets * words;
    return set_up + sets * words * static_cast<double>(columns.groups.size()) * q.store.level().plane_group_word;
}

// With the lists at hand.
double cost_by_columns(const Query& q, std::size_t n_blocks) {
    const double rows = static_cast<double>(q.store.n_records()),
                 sets = static_cast<double>(q.strata.count) * q.card_x();
    return static_cast<double>(n_blocks) * (rows * q.store.level().vertical_row + sets * q.store.level().vertical_set);
}

// Positions in ys, in the order of their planes.
void order_by_planes(const Query& q, std::vector<std::size_t>& positions) {
    const auto earlier = [&](std::size_t i, std::size_t j) {
        return q.store.first_plane(q.ys[i]) < q.store.first_plane(q.ys[j]);
    };
    if (!std::is_sorted(positions.begin(), positions.end(), earlier))
        std::stable_sort(positions.begin(), positions.end(), earlier);
}

}  // namespace

Plan make_plan(const Query& q) {
    Plan plan;
    const bool x_has_planes = q.store.has_planes(static_cast<std::size_t>(q.x)) && q.store.n_records() > 0;
    for (std::size_t j = 0; j < q.ys.size(); ++j) {
        const bool possible =
            x_has_planes && q.ys[j] != kConstant && q.store.has_planes(static_cast<std::size_t>(q.ys[j]));
        (possible ? plan.together : plan.alone).push_back(j);
    }
    if (plan.together.empty()) return plan;
    order_by_planes(q, plan.together);
    std::vector<std::int32_t> ys;
    for (const std::size_t j : plan.together) ys.push_back(q.ys[j]);
    const double sets = static_cast<double>(q.strata.count) * q.card_x();
    const double rows = static_cast<double>(q.store.n_records());
    double planes = bitsets_fit(q.store, sets) ? cost_by_planes(q, plane_columns(q.store, ys)) : kNever;
    double columns =
        q.store.row_bits_fit() ? kListRow * rows + cost_by_columns(q, split_blocks(q.store, ys).size()) : kNever;
    planes = unless_forced(q.store, Way::planes, planes);
    columns = unless_forced(q.store, Way::columns, columns);
    const double alone = unless_forced(q.store, Way::alone, kAloneRow * rows * static_cast<double>(ys.size()));
    plan.by_columns = columns < planes;
    plan.cost_together = std::min(planes, columns);
    if (alone < plan.cost_together || plan.cost_together == kNever) {
        plan.alone.insert(plan.alone.end(), plan.together.begin(), plan.together.end());
        plan.together.clear();
    }
    return plan;
}

double cost_of(const Query& q) {
    const Plan plan = make_plan(q);
    const double alone = static_cast<double>(plan.alone.size()) * static_cast<double>(q.store.n_records());
    return kAloneRow * alone + (plan.together.empty() ? 0.0 : plan.cost_together);
}

Plan plan_on_sets(const Query& q) {
    Plan plan;
    plan.together.resize(q.ys.size());
    std::iota(plan.together.begin(), plan.together.end(), std::size_t{0});
    order_by_planes(q, plan.together);
    std::vector<std::int32_t> ys;
    for (const std::size_t j : plan.together) ys.push_back(q.ys[j]);
    const double sets = static_cast<double>(q.strata.count) * q.card_x(),
                 words = static_cast<double>(q.store.planes().words), rows = static_cast<double>(q.store.n_records());
    const double planes =
        sets * words * static_cast<double>(plane_columns(q.store, ys).groups.size()) * q.store.level().plane_group_word;
    const double columns = kListBit * rows + q.store.level().list_word * sets * words +
                           cost_by_columns(q, split_blocks(q.store, ys).size());
    plan.by_columns = q.store.row_bits_fit() && unless_forced(q.store, Way::split_columns, columns) <
                                                    unless_forced(q.store, Way::split_planes, planes);
    plan.cost_together = plan.by_columns ? columns : planes;
    return plan;
}

bool planes_suffice(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                    std::span<const std::int32_t> z) {
    if (z.empty() || store.n_records() == 0) return false;  // without strata the planes of x serve as they are
    const auto has = [&](std::int32_t v) { return v != kConstant && store.has_planes(static_cast<std::size_t>(v)); };
    if (!has(x) || !std::all_of(z.begin(), z.end(), has) || !std::all_of(ys.begin(), ys.end(), has)) return false;
    double sets = column_of(store, x).card;
    for (const std::int32_t v : z) sets *= column_of(store, v).card;
    if (!bitsets_fit(store, sets)) return false;
    if (store.forced() != Way::any) return store.forced() == Way::split_planes || store.forced() == Way::split_columns;
    // Nanoseconds a row, either way; about one group of planes for each y.
    const Level& level = store.level();
    const double n_ys = static_cast<double>(ys.size()), states = static_cast<double>(store.planes().n_planes);
    const double groups = std::min(n_ys, states / kLanes + 1.0), blocks = std::min(n_ys, states / kBlockColumns + 1.0);
    const double words = sets / 64.0, set_a_row = sets / static_cast<double>(store.n_records());
    const double planes = words * groups * level.plane_group_word;
    const double columns = store.row_bits_fit() ? blocks * (level.vertical_row + set_a_row * level.vertical_set) : 1e9;
    const double on_sets =
        2.0 * words * level.split_word + std::min(planes, kListBit + words * level.list_word + columns);
    const double numbered = kStrataRow + kStrataDigit * static_cast<double>(z.size()) +
                            std::min({kAloneRow * n_ys, kListRow + columns, kBitsetRow + planes});
    return on_sets < numbered;
}

}  // namespace mnlearn
