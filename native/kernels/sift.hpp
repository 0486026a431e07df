// Rows in a new order: first those where a bit is 0, then those where it is 1, either kind in the order it had.
//
// Sifted by one variable after the other, the rows of each configuration stand together, and counting the rows of a set
// in each configuration is a look at the two ends of a run of bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

struct SiftQuery {
    const std::uint64_t* by;  // the bit of each row; zeros after the last row
    std::size_t n_rows, n_zeros;
    const std::uint64_t* from;  // the rows to be put in order, as a set
    std::uint64_t* to;          // as many words, and one more that is overwritten too
};

struct RunQuery {
    const std::uint64_t* set;
    std::size_t words;
    const std::uint32_t* ends;  // places in the order of the rows, ascending
    std::size_t n_ends;
    std::uint32_t* below;  // per end: the members of the set before it
    std::uint32_t* room;   // words + 1 numbers
};

using Sift = void (*)(const SiftQuery&);
using CountRuns = void (*)(const RunQuery&);

void sift_bmi2(const SiftQuery& query);
void count_runs_bmi2(const RunQuery& query);

}  // namespace mnlearn
