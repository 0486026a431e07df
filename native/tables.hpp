// Whole contingency tables, for those who want the counts themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage.hpp"

namespace mnlearn {

struct TablesOfScan {
    std::size_t n_strata = 0;
    std::unique_ptr<std::int64_t[]> configurations;       // [s * z.size() + k]: the state of z[k] in stratum s
    std::vector<std::unique_ptr<std::int64_t[]>> counts;  // per y: [(s * rx + a) * ry + b]
};

// Throws std::invalid_argument, before allocating, when all tables together would have more than max_cells.
TablesOfScan count_tables(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                          std::span<const std::int32_t> z, double max_cells);

}  // namespace mnlearn
