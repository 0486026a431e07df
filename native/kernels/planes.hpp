// Counting by bit-planes: how many rows of a row set carry a state, for eight states side by side.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

// The planes of eight states interleaved word by word: planes[(group * words + word) * 8 + lane]. The lanes are
// then counted without a single horizontal sum, which would cost more than the counting itself at 1,000 rows.
inline constexpr std::size_t kLanes = 8;

struct PlaneQuery {
    const std::uint64_t* sets;  // n_sets bitsets of `words` words: the rows of one (stratum, state of x) each
    std::size_t n_sets;
    std::size_t words;
    const std::uint64_t* planes;  // interleaved planes of the candidates
    const std::uint32_t* groups;  // which groups of eight planes to count
    std::size_t n_groups;
    std::uint32_t* counts;  // counts[set * 8 * n_groups + 8 * position in groups + lane]
    // Per set, if not null: where numbers made from its counts will be written, in the same order. That memory is
    // fetched while counting; waiting for it afterwards took a third as long as counting 1,000 rows.
    double* const* soon = nullptr;
    std::size_t also_soon = 0;  // and so many numbers behind each
};

using CountPlanes = void (*)(const PlaneQuery&);

// Neighbouring binary variables x, each with every variable after it; all variables are binary, and their planes have
// their numbers. How many rows have both states 0 goes as a number to rows[i][y], for x = first_x + i, and for no y but
// those.
struct PairNumbers {
    const std::uint64_t* planes;
    std::size_t words;
    std::size_t first_x, n_xs, n_variables;
    double* const* rows;
};
using NumberPairs = void (*)(const PairNumbers&);

// Which rows have a state: bit k of out[word * kLanes] for codes[64 * word + k], below 16. Returns how many.
struct NewPlane {
    const std::uint8_t* codes;
    std::size_t n_words;
    std::uint8_t state;
    std::uint64_t* out;
};
using MakePlane = std::int64_t (*)(const NewPlane&);

using CountBits = std::int64_t (*)(const std::uint64_t* set, std::size_t words);  // the size of one bitset

// A probe of the processor: ANDs, counts and adds 16 * 512 bits a round, all in registers.
using ProbePopcount = std::uint64_t (*)(std::size_t rounds);

}  // namespace mnlearn
