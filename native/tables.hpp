// Whole contingency tables, for those who want the counts themselves.
#pragma once

#include <cstdint>
#include <span>

#include "storage.hpp"
#include "strata.hpp"

namespace mnlearn {

// counts[(s * rx + a) * ry + b], which the caller has set to zero.
void count_table(const Store& store, std::int32_t x, std::int32_t y, const Strata& strata, std::int64_t* counts);

// configurations[s * z.size() + k]: the state of z[k] in stratum s.
void list_configurations(const Store& store, std::span<const std::int32_t> z, const Strata& strata,
                         std::int64_t* configurations);

}  // namespace mnlearn
