// Sets of rows as bits, each sorted further by the codes of one or two variables: many small lists from few large sets.
//
// Looking through the bits of a set costs the same however few rows it has. So only the first variables of a question
// split bitsets; the last ones sort the lists that come out of them, and those are dense.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kSortWords = 256;  // at a time, 64 rows each: an entry names one of them in eight bits
inline constexpr std::size_t kSortSpill = 64;   // numbers after the end of a list that may be overwritten

// A plane that tells about keys: the rows in it have those bits of the key changed.
struct KeyPlane {
    const std::uint64_t* bits;  // bits[word * step]
    std::size_t step;
    std::uint8_t change;
};

// Lists of row numbers, counted from the first of these words on and padded with four numbers of `empty`. On the way
// there an entry is 16 bits: the word of the row, then a key of two bits, then the row within its word.
struct SortQuery {
    const std::uint64_t* sets;  // sets[set * stride + word]
    std::size_t n_sets, stride, words;
    const KeyPlane* planes;  // by which to sort
    std::size_t n_planes;
    int key_bits;      // 0 to 2
    std::uint8_t key;  // of rows that are in none of these planes
    std::uint16_t empty;
    std::uint16_t* rows;            // sort_room() of them; where the lists are is for starts to say
    std::uint32_t *starts, *sizes;  // [set << key_bits | key]
};
inline std::size_t sort_room(std::size_t n_sets, std::size_t n_rows, int key_bits) {
    return (n_rows + n_sets * kSortSpill) << key_bits;
}

using SortRows = void (*)(const SortQuery&);

void sort_rows_avx512(const SortQuery& query);

}  // namespace mnlearn
