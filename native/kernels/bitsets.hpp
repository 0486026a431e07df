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

void split_set_portable(const SplitQuery& query);
void split_set_avx2(const SplitQuery& query);
void split_set_avx512(const SplitQuery& query);
std::uint32_t* list_bits_portable(const std::uint64_t* set, std::size_t words, std::int64_t size, std::uint32_t* rows);
std::uint32_t* list_bits_avx2(const std::uint64_t* set, std::size_t words, std::int64_t size, std::uint32_t* rows);
std::uint32_t* list_bits_avx512(const std::uint64_t* set, std::size_t words, std::int64_t size, std::uint32_t* rows);

}  // namespace mnlearn
