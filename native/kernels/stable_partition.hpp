// Rows in a new order: first those where a bit is 0, then those where it is 1, either kind in the order it had.
//
// After a partition by one variable after another, the rows of each configuration stand together, and counting the rows
// of a set in each configuration is a look at the two ends of a run. Eight sets are partitioned together: a row is a
// byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kSiftLanes = 8;
inline constexpr std::size_t kSiftSpare = 64;  // bytes after the last row that may be written, and are zero

// Up to eight sets of rows, made into one byte a row: bit k is whether the row is in the k-th set.
struct PackQuery {
    const std::uint64_t* sets[kSiftLanes];  // where the first word of each stands
    std::size_t n_sets, n_rows;
    std::size_t stride;  // from one word of a set to its next
    std::uint8_t* to;    // with the spare bytes
};

struct PartitionQuery {
    const std::uint64_t* by;  // the bit of each row
    std::size_t n_rows, n_zeros;
    const std::uint8_t* from;
    std::uint8_t* to;  // both with the spare bytes
};

// One of the eight sets, and how many of its rows come before each of many places.
struct RunQuery {
    const std::uint8_t* rows;
    std::size_t lane, n_rows;
    const std::uint32_t* ends;  // places in the order of the rows, ascending
    std::size_t n_ends;
    std::uint32_t* below;  // per end: the members of the set before it
    std::uint64_t* set;    // the set as bits; words of 64 rows, and one more that is zero
    std::uint32_t* room;   // as many numbers
};

// The tables of a binary x and a binary y from such runs, two a stratum, for x = 0 and x = 1: of the strata in which x
// varies and y too. A stratum's rows in both runs are one pair of numbers.
struct VariedRunQuery {
    const std::uint32_t* below;  // of the first state of y: before the runs of each stratum, and at the end
    const std::uint32_t* order;  // the strata
    const std::uint32_t* sizes;  // of the runs, pairs in that order
    std::size_t n_strata;
    std::uint32_t *counts,
        *varied_sizes;  // pairs of the varied ones, in that order; room for as many as there are, and eight
};

using Pack = void (*)(const PackQuery&);
using StablePartition = void (*)(const PartitionQuery&);
using CountRuns = void (*)(const RunQuery&);
using PickVaried = std::size_t (*)(const VariedRunQuery&);  // how many

}  // namespace mnlearn
