// Row lists parted by the states of one variable more: each list becomes one for each state, its rows in their order.
//
// Where the rows of a list lie close together, the bits of many of them are found in a register: a window of 1,024 rows
// of the plane around them. No row's state is looked up by itself, which would take longer than sorting all rows anew.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kRefineSpill = 64;   // numbers after a list that may be read or overwritten
inline constexpr std::size_t kRefineWindow = 16;  // words of a plane that are read from one of its rows on

template <class Row> struct RefineQuery {
    const Row* rows;             // the lists of the first n_rows rows
    const std::uint32_t* begin;  // of each list
    const std::int64_t* sizes;
    std::size_t n_lists, n_rows;
    const std::uint8_t* codes;  // of the variable, by row
    const std::uint64_t*
        planes;  // the same as bits: states 0 to card - 2, `stride` words apart, kRefineWindow to spare
    std::size_t stride;
    std::uint32_t card;
    Row empty;                     // what the parts are padded with, to a multiple of kListStep
    Row* scratch;                  // card - 1 times the longest list and kRefineSpill
    Row* out;                      // the parts, one after the other
    std::uint32_t *starts, *ends;  // [list * card + state]: where each of them begins and ends, without the padding
};

using RefineShort = void (*)(const RefineQuery<std::uint16_t>&);
using RefineLong = void (*)(const RefineQuery<std::uint32_t>&);

void refine_short_portable(const RefineQuery<std::uint16_t>& query);
void refine_long_portable(const RefineQuery<std::uint32_t>& query);
void refine_short_avx512(const RefineQuery<std::uint16_t>& query);
void refine_long_avx512(const RefineQuery<std::uint32_t>& query);

}  // namespace mnlearn
