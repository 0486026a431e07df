// All pairs in pieces: runs of x whose row sets are counted together, against blocks of y whose planes stand together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scan/count_bitsets.hpp"

namespace mnlearn {

// Most y of a block, and most row sets of a run: each plane is loaded once for all sets of a run. With few rows that
// hardly matters, and the counts of 16 sets stay in the near caches.
inline constexpr std::size_t kYsTogether = 1024;
inline constexpr std::size_t kMostSetsTogether = 32;
inline std::size_t sets_together(const Store& store) { return store.planes().words <= 128 ? 16 : kMostSetsTogether; }

// Where the pairs of x begin among those of [first_x, ...), such that the pair {x, y} stands at [y].
double* pair_row(std::size_t n, std::size_t first_x, std::size_t x, double* out);

// Runs of variables in [first, last) with planes, of so many row sets each or fewer.
std::vector<std::vector<std::int32_t>> plane_runs(const Store& store, std::size_t first, std::size_t last);

// Some variables with planes, as y of every x before them.
struct PairBlock {
    std::vector<std::int32_t> ys;
    PlaneColumns columns;
    std::vector<std::uint32_t> totals;       // per column: its rows in all
    std::vector<std::size_t> binary, other;  // places in ys
    std::vector<std::uint32_t> zeros;        // per binary one: its rows with y = 0
    std::vector<double> margin;              // per binary one: what its score looks up for its totals
    bool neighbours = true;                  // the binary ones stand side by side, as variables and as columns

    PairBlock(const Store& store, std::span<const std::int32_t> some);

    std::size_t after(std::int32_t x) const;           // the first place whose y comes after x
    std::size_t binary_from(std::size_t place) const;  // the first of the binary ones at this place or after it
    std::size_t from_group(std::size_t group) const;   // the first place whose columns begin in this group or later
};

// Those of all variables from `first` on that have planes.
std::vector<PairBlock> pair_blocks(const Store& store, std::size_t first);

}  // namespace mnlearn
