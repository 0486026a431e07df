// Data with few distinct rows: those rows, and how often each occurs.
//
// Eight binary variables have 256 distinct rows at most, however many rows there are. Row by row with repeats, a table
// then takes microseconds where even bit-planes of a million rows take many times that; see docs/engine.md for when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "store/store.hpp"

namespace mnlearn {

struct DistinctRows {
    std::vector<std::uint32_t> first;  // where each occurs first, in ascending order
    std::vector<std::int64_t> repeats;
};

// Nothing when there are more than `most`: then as many rows have been looked at as it took to see that.
std::optional<DistinctRows> distinct_rows(std::span<const Column> columns, std::size_t n_records, std::size_t most,
                                          const InstructionSet& level);

// Those rows as a store of their own.
class DistinctStore {
public:
    DistinctStore(const Store& whole, DistinctRows rows);
    const Store& store() const { return *store_; }
    std::size_t bytes() const;

private:
    DistinctRows rows_;
    std::vector<std::vector<std::uint8_t>> narrow_;
    std::vector<std::vector<std::uint16_t>> wide_;
    std::unique_ptr<Store> store_;
};

}  // namespace mnlearn
