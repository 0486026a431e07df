// Counting by columns: 512 candidates side by side, one addition of bits per row, whatever the number of strata.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kBlockColumns = 512;             // planes in one row of bits
inline constexpr std::size_t kRowWords = kBlockColumns / 64;  // its size in 64-bit words: one cache line
inline constexpr std::size_t kListStep = 4;  // row lists are padded to a multiple of this with the empty row

struct VerticalQuery {
    const std::uint64_t* bits;  // bits[row * kRowWords + word] of one block of columns; the row after the last is empty
    const std::uint32_t* rows;  // row lists, one after the other, each padded with the empty row
    const std::uint32_t* begin;  // n_sets + 1 places in `rows`
    std::size_t n_sets;
    std::uint32_t* counts;  // counts[set * stride + column]
    std::size_t stride;
    bool ahead;  // whether to fetch rows before their turn: where the bits are too many for the near caches
};

using CountVertical = void (*)(const VerticalQuery&);

void count_vertical_portable(const VerticalQuery& query);
void count_vertical_avx2(const VerticalQuery& query);
void count_vertical_avx512(const VerticalQuery& query);

}  // namespace mnlearn
