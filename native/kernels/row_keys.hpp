// The states of several variables as one mixed-radix number a row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

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

void make_keys_portable(const KeyQuery& query);
void make_keys_avx2(const KeyQuery& query);
void make_keys_avx512(const KeyQuery& query);

}  // namespace mnlearn
