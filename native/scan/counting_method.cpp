// The cost model: which way of counting is cheapest for a scan.
#include <algorithm>
#include <limits>
#include <numeric>

#include "scan/cost_model.hpp"
#include "scan/small_scan.hpp"

namespace mnlearn {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The bitsets of all sets may take half a byte a value: within the memory the library promises.
bool bitsets_fit(const Store& store, double n_sets) { return n_sets <= 4.0 * static_cast<double>(store.n_variables()); }

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

// Those that could be counted together: one by one all the same.
void take_apart(Plan& plan) {
    for (std::size_t k = 0; k < plan.ys.size(); ++k) plan.alone.push_back(plan.place(k));
    plan.ys = {};
}

}  // namespace

Plan make_plan(const Query& q, const Candidates& ys) {
    Plan plan;
    bring_together(q, ys, plan);
    const bool some = plan.ys.size() > 0 && plan.ys.size() < q.ys.size();
    const ScanSize work(q.store, q.x, some ? Candidates(q.store, plan.ys) : ys, q.strata);
    const CostConstants& costs = q.store.level().costs;
    const CountingMethod forced = q.store.forced();
    const auto cost_by = [&](CountingMethod method, bool possible) {
        const bool allowed = forced == CountingMethod::any || forced == method;
        return possible && allowed && q.store.n_records() > 0 && !plan.ys.empty() ? cost_of(method, work, costs)
                                                                                  : kNever;
    };
    const double alone = cost_of(CountingMethod::alone, work, costs);
    const double planes = cost_by(CountingMethod::planes, bitsets_fit(q.store, work.occupied));
    const double columns = cost_by(CountingMethod::columns, q.store.row_bits_fit());
    const double together = std::min(planes, columns);
    plan.by_columns = columns < planes;
    const bool prefers_alone = (forced == CountingMethod::any || forced == CountingMethod::alone) && alone < together;
    if (together == kNever || prefers_alone)
        take_apart(plan);
    else
        plan.cost_together = together;
    plan.cost_alone = alone * static_cast<double>(plan.alone.size()) / work.ys;
    return plan;
}

Plan plan_together(const Query& q, const Candidates& ys, CountingMethod method) {
    Plan plan;
    bring_together(q, ys, plan);
    if (q.n_threads > 1)
        plan.cost_together = cost_of_counting(method, ScanSize(q.store, q.x, ys, q.strata), q.store.level().costs);
    return plan;
}

namespace {

bool have_planes(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z) {
    const auto has = [&](std::int32_t v) { return store.has_planes(static_cast<std::size_t>(v)); };
    return ys.have_planes && has(x) && std::all_of(z.begin(), z.end(), has);
}

}  // namespace

MethodCosts costs_of_methods(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z,
                             const CostConstants& costs) {
    MethodCosts result;
    const ScanSize work(store, x, ys, z);
    const auto allow = [&](CountingMethod method, bool possible, double before) {
        if (possible) result[method] = before + cost_of(method, work, costs);
    };
    const bool bitsets = have_planes(store, x, ys, z), lists = bitsets && store.row_bits_fit();
    if (!z.empty()) {
        allow(CountingMethod::split_planes, bitsets && bitsets_fit(store, work.sets), 0.0);
        allow(CountingMethod::split_columns, lists && bitsets_fit(store, work.sets), 0.0);
        allow(CountingMethod::sorted_columns, lists && work.sets <= most_key_sets(store), 0.0);
        allow(CountingMethod::keys, fit_whole_lanes(store, x, ys, work.sets), 0.0);
    }
    const double numbering = cost_of_numbering(work, costs);
    allow(CountingMethod::planes, bitsets && bitsets_fit(store, work.occupied), numbering);
    allow(CountingMethod::columns, lists, numbering);
    allow(CountingMethod::alone, true, numbering);
    return result;
}

CountingMethod choose_method(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z,
                             bool needs_sets) {
    if (z.empty() || store.n_records() == 0) return CountingMethod::any;  // the planes of x serve as they are
    MethodCosts costs = costs_of_methods(store, x, ys, z, store.level().costs);
    if (needs_sets) costs[CountingMethod::keys] = kNever;
    if (store.forced() == CountingMethod::any) return costs.least();
    return costs[store.forced()] < kNever ? store.forced() : CountingMethod::any;
}

bool distinct_rows_pay(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z) {
    if (store.forced() == CountingMethod::distinct) return &store.distinct() != &store;
    if (z.empty() || store.forced() != CountingMethod::any) return false;
    const Store& fewer = store.distinct();
    if (&fewer == &store) return false;
    const CostConstants& costs = store.level().costs;
    const ScanSize work(fewer, x, ys, z);
    const MethodCosts others = costs_of_methods(store, x, ys, z, costs);
    return cost_of_numbering(work, costs) + cost_of(CountingMethod::alone, work, costs) < others[others.least()];
}

namespace {

constexpr std::int32_t kGroup = kLanes;  // planes that stand side by side

}  // namespace

Candidates::Candidates(const Store& store, std::span<const std::int32_t> asked)
    : ys(asked), n_states(asked.size()), n_groups(1) {
    std::int32_t signs = ys.empty() ? 0 : ys[0], steps = 0, others = 1;
    for (std::size_t k = 1; k < ys.size(); ++k) {
        signs |= ys[k];
        steps |= ys[k] - ys[k - 1];
        others += ((ys[k] ^ ys[k - 1]) & -kGroup) != 0;  // another group of so many
    }
    n_groups = static_cast<std::size_t>(others);
    if (store.plain() && signs >= 0)  // the plane of a variable has its number, and no y is constant
        in_order = steps >= 0;
    else
        look_at_each(store);
}

void Candidates::look_at_each(const Store& store) {
    std::uint32_t last = 0;
    n_states = n_groups = 0;
    for (const std::int32_t y : ys) {
        const std::uint32_t plane = y == kConstant ? kNoPlane : store.first_plane(y);
        const std::uint32_t card = y == kConstant ? 1 : store.column(static_cast<std::size_t>(y)).card;
        have_planes = have_planes && plane != kNoPlane;
        are_binary = are_binary && card == 2;
        n_states += card - 1;
        if (plane == kNoPlane) continue;
        in_order = in_order && plane >= last;
        n_groups += (n_groups == 0 || plane / kGroup != last / kGroup) + (plane % kGroup + card - 2) / kGroup;
        last = plane;
    }
}

}  // namespace mnlearn
