#include "blankets/blanket_table.hpp"

#include <algorithm>
#include <bit>

#include "blankets/joint_table.hpp"

namespace mnlearn {
namespace {

std::unique_ptr<BlanketTable> merged(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    const auto packed = [&](std::int32_t v) { return std::has_single_bit(column_of(store, v).card); };
    const PackedStates states{store, z};
    if (std::all_of(z.begin(), z.end(), packed) && table_is_small(store, x, z))
        return std::make_unique<SparseBlanketTable>(store, z, column_of(store, x).card, whole_table(store, x, z));
    if (states.from(0) + states.width(x) < PackedStates::kBits)
        return std::make_unique<SparseBlanketTable>(store, z, x, sorted_states(store, x, z));
    return nullptr;
}

}  // namespace

std::unique_ptr<BlanketTable> table_of(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                                       std::span<const std::int32_t> z, bool varied) {
    const bool bits = varied && DenseBlanketTable::can_hold(store, x, ys, z);
    const std::shared_ptr<SortedRows> rows = store.take_sorted();
    std::unique_ptr<BlanketTable> table;
    if (rows && rows->x() == x && std::ranges::equal(rows->z(), z)) {
        if (bits)
            table = std::make_unique<DenseBlanketTable>(store, *rows);
        else
            table = std::make_unique<SparseBlanketTable>(store, *rows);
    }
    if (rows) keep_rows(store, rows);
    if (table) return table;
    if (bits) return std::make_unique<DenseBlanketTable>(store, x, z);
    return merged(store, x, z);
}

}  // namespace mnlearn
