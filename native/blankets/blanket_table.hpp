// Every member of a blanket given the others, from one table that is counted once.
#pragma once

#include <memory>

#include "blankets/sorted_rows.hpp"

namespace mnlearn {

// The table of x and z, occupied configurations only, from which one member after the other may go.
class BlanketTable {
public:
    virtual ~BlanketTable() = default;
    // The tables of x and this member in every configuration of the others; good until the next call.
    virtual PairTables single_out(std::int32_t y) = 0;
    virtual std::span<const std::int32_t> others() const = 0;
    // The member singled out last leaves.
    virtual void drop() = 0;
};

// From the sorted rows if they have come so far; else counted. `varied`: strata in which x or y does not vary need only
// be counted. None where the states of a row do not fit one number.
std::unique_ptr<BlanketTable> table_of(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                                       std::span<const std::int32_t> z, bool varied);

}  // namespace mnlearn
