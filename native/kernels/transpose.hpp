// From codes to bits and from planes to rows, 64 at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "portability.hpp"

namespace mnlearn {

// Which of 64 codes below 16 are `state`: bit k for codes[k]. Eight bytes at a time: a byte that differs carries into
// its highest bit when 127 is added, and one multiplication brings the eight bits together.
inline std::uint64_t rows_with(const std::uint8_t* codes, std::uint8_t state) {
    constexpr std::uint64_t kEach = 0x0101010101010101, kGather = 0x0102040810204080;
    std::uint64_t rows = 0;
    for (int k = 0; k < 64; k += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, codes + k, 8);
        if constexpr (std::endian::native == std::endian::big) eight = swap_bytes(eight);
        const std::uint64_t differs = ((eight ^ (kEach * state)) + kEach * 127) >> 7 & kEach;
        rows |= ((differs ^ kEach) * kGather >> 56) << k;
    }
    return rows;
}

// Bit j of word k changes places with bit k of word j: halves, then quarters, ... are swapped across the diagonal.
inline void transpose_bits(std::uint64_t words[64]) {
    std::uint64_t mask = 0x00000000ffffffff;
    for (unsigned step = 32; step > 0; step /= 2, mask ^= mask << step)
        for (unsigned first = 0; first < 64; first += 2 * step)
            for (unsigned k = first; k < first + step; ++k) {
                const std::uint64_t swapped = (words[k] >> step ^ words[k + step]) & mask;
                words[k] ^= swapped << step;
                words[k + step] ^= swapped;
            }
}

}  // namespace mnlearn
