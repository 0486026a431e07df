// The observed configurations of a conditioning set, numbered in lexicographic order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage.hpp"

namespace mnlearn {

struct Strata {
    std::size_t count = 0;              // observed configurations; at most the number of stored rows
    std::vector<std::uint32_t> of_row;  // per row its stratum; empty when there is only one
    std::vector<std::int64_t> sizes;    // rows per stratum, repeats included

    std::uint32_t operator[](std::size_t row) const { return of_row.empty() ? 0u : of_row[row]; }
};

// Never more than a few numbers a row, whatever the product of the cardinalities: after each few variables the
// keys are renumbered by rank among those observed. z in ascending order gives the lexicographic numbering.
Strata find_strata(const Store& store, std::span<const std::int32_t> z);

// Rows listed stratum by stratum: rows[begin[s] .. begin[s + 1]).
struct RowLists {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> begin;
};
RowLists list_rows(const Store& store, const Strata& strata);

}  // namespace mnlearn
