// Sets of rows as bits: split by the states of a variable, sorted into lists of row numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

// inside = whole AND state, outside = whole AND NOT state, word by word; either may be `whole` itself.
struct SplitQuery {
    const std::uint64_t *whole, *state;
    std::size_t words;
    std::uint64_t *inside, *outside;
};
using SplitSet = void (*)(const SplitQuery&);

// Writes the numbers of the rows in a set, in ascending order, and returns the end of them; up to kListRoom numbers
// after it are overwritten too.
inline constexpr std::size_t kListRoom = 64;
using ListBits = std::uint32_t* (*)(const std::uint64_t* set, std::size_t words, std::int64_t size,
                                    std::uint32_t* rows);

// Rows that sets have in common: each of several sets, a second set, and each of several others.
// Sets have `words` words, a multiple of eight, at multiples of 64 bytes; what follows the last row is zero.
struct IntersectionQuery {
    const std::uint64_t* sets;  // one after the other
    std::size_t n_sets, words;
    const std::uint64_t* second;
    const std::uint64_t* const* others;
    std::size_t n_others;
    std::uint32_t* counts;  // [set * n_others + k]: the rows in this set, in the second, and in others[k]
};

using CountIntersections = void (*)(const IntersectionQuery&);

}  // namespace mnlearn
