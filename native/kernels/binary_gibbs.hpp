// One binary variable drawn anew in many rows at once: a row is a bit, and random numbers come bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kMostWords = 8;       // 64 rows each: 512 rows are one register of AVX-512
inline constexpr std::size_t kMostAroundBits = 8;  // neighbours whose configurations each have a mask

// The rows are the bits of n_words words (1, 2, 4 or 8); variable y begins at states[y * n_words]. A row is set when
// its number reaches its threshold, both of 32 bits: thresholds[c] where the neighbours have the values of c, the first
// of them its highest bit; or lanes[row], where lanes are given. Numbers are drawn from the highest bit on, and only
// until every row is decided: some ten bits instead of 32.
struct BinaryUpdate {
    std::uint64_t* states;
    std::size_t n_words;
    std::size_t x;
    const std::int32_t* around;
    std::size_t n_around;
    const std::uint32_t* thresholds;
    const std::uint32_t* lanes;
    std::uint64_t* random;  // [4][n_words]: for each word a generator xoshiro256++ (Blackman & Vigna, 2019)
};

using UpdateBinary = void (*)(const BinaryUpdate&);

}  // namespace mnlearn
