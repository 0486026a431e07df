// Values on their way into codes and bit-planes: what reading and packing do for every cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mnlearn {

using CodeTable = std::span<const std::uint8_t, 256>;

// Codes through a table, in place.
void recode(std::span<std::uint8_t> codes, CodeTable table);

// Sets, for the states first to first + n - 1, the bits of the rows that have them: state first + k in lane `lane` + k
// of the eight words that stand for 64 rows. Adds to `totals` how many rows each has.
void add_planes(std::span<const std::uint8_t> codes, std::uint8_t first, std::size_t n, std::uint64_t* words,
                std::size_t lane, std::int64_t* totals);

}  // namespace mnlearn
