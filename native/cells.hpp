// The table of x and z together: every combination of states that occurs, and how often.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage.hpp"

namespace mnlearn {

// In lexicographic order of (z, x). Never more cells than stored rows, usually a handful: whatever is asked about
// the members of z is answered from here, without another look at the rows.
struct Cells {
    std::vector<std::int64_t> sizes;    // rows in each, repeats included
    std::vector<std::uint32_t> states;  // [v * count() + cell], v running over z and then x

    std::size_t count() const { return sizes.size(); }
    std::span<const std::uint32_t> states_of(std::size_t v) const { return {states.data() + v * count(), count()}; }
};

// z in ascending order.
Cells find_cells(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

}  // namespace mnlearn
