// The table of x and z together: every combination of states, and how often it occurs. Whatever is asked about the
// members of z is answered from here, without another look at the rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/store.hpp"

namespace mnlearn {

// Whether the whole table, empty cells included, is no larger than the data.
bool table_is_small(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

// All of it, in lexicographic order of (z, x).
std::vector<std::int64_t> whole_table(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

// Only the cells that occur, in the same order: never more than there are rows.
struct JointTable {
    std::vector<std::int64_t> sizes;    // rows in each, repeats included
    std::vector<std::uint32_t> states;  // [v * count() + cell], v running over z and then x

    std::size_t count() const { return sizes.size(); }
    std::span<const std::uint32_t> states_of(std::size_t v) const { return {states.data() + v * count(), count()}; }
};
JointTable find_cells(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

// The same by whichever way is the cheaper.
JointTable occupied_cells(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

}  // namespace mnlearn
