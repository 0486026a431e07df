// Counting in lanes: row by row, but eight states side by side.
//
// A row's eight indicators are eight 16-bit numbers; they are added to the eight counters of its set in one step. For a
// few states in many sets: the sets need no lists and no bitsets, only a number for each row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kCountLanes = 8;

struct Lane {
    const std::uint8_t* codes;  // null: a lane that is not used
    std::uint8_t state;
    bool all;  // counts every row, whatever its code
};

struct LaneQuery {
    const std::uint32_t* sets;  // per row
    std::size_t n_rows;
    std::size_t n_sets;
    Lane lanes[kCountLanes];
    std::uint32_t* counts;  // [set * 8 + lane], zero before the call
};

using CountLanes = void (*)(const LaneQuery&);

// The states of several variables as one mixed-radix number a row.
struct Digit {
    const std::uint8_t* narrow;  // codes of one byte or two, exactly one of the two
    const std::uint16_t* wide;
    std::uint32_t card;
};

struct KeyQuery {
    const Digit* digits;  // the slowest first; with the keys so far their product is at most 2^16
    std::size_t n_digits;
    std::size_t n_rows;
    std::uint16_t* keys;  // key -> (key * card + code) for each digit in turn
};

using MakeKeys = void (*)(const KeyQuery&);

}  // namespace mnlearn
