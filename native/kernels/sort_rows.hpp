// Sets of rows as bits, each sorted further by a key of up to five bits a row: many small lists from few large sets.
//
// Looking through the bits of a set costs the same however few rows it has. So only the first variables of a question
// split bitsets; the last ones sort the lists that come out of them, and those are dense.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vertical.hpp"

namespace mnlearn {

inline constexpr int kSortBits = 5;             // of a key at most
inline constexpr std::size_t kSortWords = 128;  // at a time, 64 rows each: 13 bits of an entry name one of them
inline constexpr std::size_t kSortSpill = 64;   // numbers after the end of a list that may be overwritten

// Where a list begins among the rows, and how many it has.
struct ListPlace {
    std::uint32_t start, size;
};

// Lists of row numbers, counted from the first of these words on, in ascending order, and padded with kListStep numbers
// of `empty`. On the way there an entry is 16 bits: the row, then up to three bits of its key.
struct SortQuery {
    const std::uint64_t* sets;  // sets[set * stride + word]
    std::size_t n_sets, stride, words;
    const std::uint64_t* planes[kSortBits];  // the rows in planes[bit] have that bit of the key clear
    int key_bits;
    std::uint16_t empty;
    std::uint16_t* scratch;  // kSortScratch of them
    std::uint16_t* rows;     // sort_room() of them
    ListPlace* lists;        // [set << key_bits | key]
};
inline constexpr std::size_t kSortScratch = 8 * (64 * kSortWords + kSortSpill);
inline std::size_t sort_room(std::size_t n_sets, std::size_t n_rows, int key_bits) {
    return 4 * n_rows + (n_sets << key_bits) * kSortSpill;  // the last step parts in four at most
}

using SortRows = void (*)(const SortQuery&);

}  // namespace mnlearn
