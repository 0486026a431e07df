#include "grow_shrink.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "blanket_table.hpp"
#include "sorted_rows.hpp"

namespace mnlearn {
namespace {

std::vector<std::int32_t> missing(const SortedRows& rows, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> variables;
    std::set_difference(z.begin(), z.end(), rows.z().begin(), rows.z().end(), std::back_inserter(variables));
    return variables;
}

bool join_all(SortedRows& rows, std::span<const std::int32_t> z) {
    const std::vector<std::int32_t> variables = missing(rows, z);
    rows.expect(variables);
    for (const std::int32_t v : variables) {
        if (!rows.can_join(v)) return false;
        rows.join(v);
    }
    return true;
}

}  // namespace

std::size_t grow(const Store& store, const Decision& test, std::int32_t x, std::span<const std::int32_t> ys,
                 std::span<const std::int32_t> z, const Until& until, double* out) {
    if (!can_sort(store, x, ys) || !can_sort(store, x, z)) return 0;
    const std::shared_ptr<SortedRows> rows = rows_towards(store, x, z);
    if (!join_all(*rows, z)) return 0;
    rows->expect(ys);
    Judge judge(store, test, x);
    std::size_t decided = 0, in_a_row = 0;
    while (decided < ys.size() && in_a_row < until.in_a_row) {
        const std::int32_t y = ys[decided];
        const double support = judge(y, rows->z(), rows->count(y));
        if (std::isnan(support)) break;
        out[decided++] = support;
        ++in_a_row;
        if (!judge.dependent(support)) {
            if (!until.first) rows->forget(y);
            continue;
        }
        if (until.first || !rows->can_join(y)) break;
        rows->join(y);
        in_a_row = 0;
    }
    keep_rows(store, rows);
    return decided;
}

std::size_t shrink(const Store& store, const Decision& test, std::int32_t x, std::span<const std::int32_t> ys,
                   std::span<const std::int32_t> z, double* out) {
    if (!can_sort(store, x, z)) return 0;
    std::optional<BlanketTable> found = table_of(store, x, z);
    if (!found) return 0;
    BlanketTable& table = *found;
    Judge judge(store, test, x);
    std::size_t decided = 0;
    for (const std::int32_t y : ys) {
        const OneByOne tables = table.single_out(y);
        const double support = judge(y, table.others(), tables);
        if (std::isnan(support)) break;
        out[decided++] = support;
        if (!judge.dependent(support)) table.drop();
    }
    return decided;
}

}  // namespace mnlearn
