// Counting by splitting: the rows are divided variable by variable, 64 at a time, and the parts are counted.
//
// Depth first, over a block of rows small enough that a whole path of sets stays in the first cache: whatever the
// number of sets, none is ever written out. For few sets and few states to count in them; kernels/planes.hpp is for
// many states.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kTreeWords = 128;  // of a block: 8,192 rows, 1 KB a set

struct TreeLevel {
    std::uint32_t plane;  // the first of its variable
    std::uint32_t card;
};

struct TreeQuery {
    const std::uint64_t* planes;  // interleaved: see kernels/planes.hpp
    std::size_t words;            // per plane
    std::size_t n_rows;
    const TreeLevel* levels;  // the variables that divide the rows, the slowest first
    std::size_t n_levels;
    const std::uint32_t* states;  // planes to be counted in every part
    std::size_t n_states;
    std::uint32_t* sizes;   // [part]: its rows; parts numbered as a mixed-radix number, zero before the call
    std::uint32_t* counts;  // [part * n_states + k]: those of its rows with state k; likewise
};

using CountTree = void (*)(const TreeQuery&);

}  // namespace mnlearn
