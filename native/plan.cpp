// The cost model: which way of counting is cheapest for a scan.
#include <algorithm>
#include <limits>

#include "scan.hpp"

namespace mnlearn {
namespace {

// Set-up per row, in nanoseconds: rows into bitsets, rows into padded lists; and a row of one table counted alone.
constexpr double kBitsetRow = 1.5, kListRow = 4.0, kAloneRow = 1.5;

// The bitsets of all sets may take half a byte a value: within the memory the library promises.
bool bitsets_fit(const Query& q) {
    return static_cast<double>(q.strata.count) * q.card_x() <= 4.0 * static_cast<double>(q.store.n_variables());
}

double cost_by_planes(const Query& q, const PlaneColumns& columns) {
    const double sets = static_cast<double>(q.strata.count) * q.card_x(),
                 words = static_cast<double>(q.store.planes().words);
    const double set_up =
        q.strata.count == 1 ? 0.0 : kBitsetRow * static_cast<double>(q.store.n_records()) + 0.5 * sets * words;
    return set_up + sets * words * static_cast<double>(columns.groups.size()) * q.store.level().plane_group_word;
}

double cost_by_columns(const Query& q, std::size_t n_blocks) {
    const double rows = static_cast<double>(q.store.n_records()),
                 sets = static_cast<double>(q.strata.count) * q.card_x();
    return kListRow * rows +
           static_cast<double>(n_blocks) * (rows * q.store.level().vertical_row + sets * q.store.level().vertical_set);
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
    const auto earlier = [&](std::size_t i, std::size_t j) {
        return q.store.first_plane(q.ys[i]) < q.store.first_plane(q.ys[j]);
    };
    if (!std::is_sorted(plan.together.begin(), plan.together.end(), earlier))
        std::stable_sort(plan.together.begin(), plan.together.end(), earlier);
    std::vector<std::int32_t> ys;
    for (const std::size_t j : plan.together) ys.push_back(q.ys[j]);
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const double planes = bitsets_fit(q) ? cost_by_planes(q, plane_columns(q.store, ys)) : kNever;
    const double columns = q.store.row_bits_fit() ? cost_by_columns(q, split_blocks(q.store, ys).size()) : kNever;
    const double alone = kAloneRow * static_cast<double>(q.store.n_records()) * static_cast<double>(ys.size());
    plan.by_columns = columns < planes;
    plan.cost_together = std::min(planes, columns);
    if (alone < plan.cost_together) {
        plan.alone.insert(plan.alone.end(), plan.together.begin(), plan.together.end());
        plan.together.clear();
    }
    return plan;
}

}  // namespace mnlearn
