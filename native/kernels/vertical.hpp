// Counting by columns: 512 candidates side by side, one addition of bits per row, whatever the number of strata.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kBlockColumns = 512;             // planes in one row of bits
inline constexpr std::size_t kRowWords = kBlockColumns / 64;  // its size in 64-bit words: one cache line
inline constexpr std::size_t kListStep = 16;  // row lists are padded to a multiple of this with the empty row: a few
                                              // rows more cost less than branches about how many are left

struct VerticalQuery {
    const std::uint64_t* bits;  // bits[row * kRowWords + word] of one block of columns; the row after the last is empty
    const std::uint16_t* short_rows;      // row lists, one after the other, each padded with the empty row: numbers of
    const std::uint32_t* rows;            // two bytes where they suffice, else of four; the other is null
    const std::uint32_t *begin, *padded;  // where the list of each set begins, and its size with the padding
    std::size_t n_sets;
    std::uint32_t* counts;  // counts[set * stride + column]
    std::size_t stride;
    bool ahead;  // whether to fetch rows before their turn: where the bits are too many for the near caches
    std::size_t left_over = ~std::size_t{0};  // a set that is not counted: it has what is left of the totals
    const std::uint32_t* totals = nullptr;    // of all sets; one a column, for the first n_totals
    std::size_t n_totals = 0;
};

using CountVertical = void (*)(const VerticalQuery&);

// A probe of the processor: loads n_rows rows of 512 bits, one after the other.
using ProbeLoads = std::uint64_t (*)(const std::uint64_t* rows, std::size_t n_rows);

}  // namespace mnlearn
