// Counting many y together: the rows of each (stratum, state of x) are a set, and every candidate's states are counted
// in it.
//
// Two kernels fill the same counts[set][column]: bit-planes (sets as bitsets; kernels/planes.hpp) and vertical
// counters (sets as row lists; kernels/vertical.hpp). What follows, tables from counts, is shared.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "portability.hpp"
#include "scan/stratum_table.hpp"
#include "store/store.hpp"
#include "store/strata.hpp"

namespace mnlearn {

// The sets of one x: set s * card_x + a holds the rows of stratum s with x = a. Without strata the last state's set is
// left out when its counts can be had from the totals.
struct SetSizes {
    std::uint32_t card_x = 1;
    std::size_t n_strata = 1;
    bool last_derived = false;
    std::vector<std::int64_t> sizes;  // [stratum * card_x + state]
    std::size_t n_sets() const { return last_derived ? card_x - 1 : n_strata * card_x; }
};

// As bitsets, planes().words each, into zeroed memory. `room`: sizes no longer needed, whose memory is reused.
SetSizes bitsets_of_states(const Store& store, std::int32_t x, std::uint64_t* sets, SetSizes room = {});
SetSizes bitsets_of_strata(const Store& store, std::int32_t x, const Strata& strata, std::uint64_t* sets);

// Both the strata of z and the sets of x, made from planes alone: no look at any single row. For few configurations of
// variables that all have planes: 64 rows at a time, where numbering the strata takes them one by one.
struct PlaneSets {
    Strata strata;  // count and sizes only
    SetSizes x;
    Buffer<std::uint64_t> sets;
    std::vector<std::uint32_t> numbers;  // of each stratum: its place among all configurations of z
};
PlaneSets sets_from_planes(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

// A bitset for each configuration of these variables, whether it occurs or not; the last variable is the fastest.
Buffer<std::uint64_t> sets_of_all(const Store& store, std::span<const std::int32_t> variables);

// As row lists, each padded for the vertical kernel. The set that is left over has no list.
struct SetLists {
    SetSizes x;
    Buffer<std::uint32_t> rows;                // one of the two is empty
    Buffer<std::uint16_t> short_rows;          // lists from planes, where two bytes suffice
    std::vector<std::uint32_t> begin, padded;  // of each list: where it begins, its size with the padding
    std::size_t left_over = ~std::size_t{0};   // a set that is not counted: it has the rows that no other set has
};
SetLists lists_of_bitsets(const Store& store, const PlaneSets& ready);
SetLists lists_of_strata(const Store& store, std::int32_t x, const Strata& strata);

// Both the strata of z and the lists of x, by one counting sort of the rows by their states of z and x; for up to so
// many sets, whether they occur or not.
struct SortedLists {
    Strata strata;  // count and sizes only
    SetLists lists;
};
double most_key_sets(const Store& store);
SortedLists lists_from_keys(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

// The same from planes: the first variables split bitsets, the last ones sort the lists of those
// (kernels/sort_rows.hpp), where the processor does that fast; else all of them split bitsets.
SortedLists lists_from_planes(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

// Candidates in ascending order of their planes, cut where a new block of 512 planes begins: [begin, end) each.
std::vector<std::pair<std::size_t, std::size_t>> split_blocks(const Store& store, std::span<const std::int32_t> ys);

// The groups of eight planes that these candidates need (or a few more between them), and where each one's first plane
// stands among the counts.
struct PlaneColumns {
    std::vector<std::uint32_t> groups;
    std::vector<std::size_t> column;
    std::size_t width() const { return groups.size() * kLanes; }
};
PlaneColumns plane_columns(const Store& store, std::span<const std::int32_t> ys);
std::vector<std::uint32_t> column_totals(const Store& store, const PlaneColumns& columns);  // rows of each plane

void count_by_planes(const Store& store, const std::uint64_t* sets, std::size_t n_sets, const PlaneColumns& columns,
                     std::vector<std::uint32_t>& counts);

// Binary candidates with planes far apart: copied into groups of eight, they are counted eight at a time, and each is
// read from memory once, not once for every set.
inline constexpr std::size_t kMostGathered = 512;
inline bool far_apart(std::size_t n_ys, std::size_t n_groups) {
    return n_ys <= kMostGathered && n_groups > 2 * ((n_ys + kLanes - 1) / kLanes);
}
struct GatheredPlanes {
    Buffer<std::uint64_t> bits;                 // interleaved as those of the store
    std::vector<std::uint32_t> groups, totals;  // 0, 1, ...; rows of each plane
};
GatheredPlanes gather_planes(const Store& store, std::span<const std::int32_t> ys);
std::vector<std::uint32_t> count_gathered(const Store& store, const std::uint64_t* sets, std::size_t n_sets,
                                          const GatheredPlanes& planes);

// Sets [first, last) in the block of 512 planes with this number; counts[(set - first) * 512 + column].
inline constexpr std::size_t kSetsInCache = 16;  // 512 counts each: 32 KB; no fewer than x may have states
void count_by_columns(const Store& store, const SetLists& lists, std::size_t first, std::size_t last, std::size_t block,
                      std::uint32_t* counts);
std::size_t plane_groups(const Store& store, std::span<const std::int32_t> ys);  // how many plane_columns needs

// One y among the counts.
struct CountedY {
    const std::uint32_t* counts;  // of its first plane in the first set of the stratum at hand
    std::size_t stride;           // between sets
    const std::uint32_t* totals;  // rows of its planes in all; only for a derived last set
    std::uint32_t card;
};

// The table of two binary variables from two counts: rows with y = 0 where x = 0 and where x = 1.
inline BinaryStratum binary_table(const std::int64_t* sizes, std::int64_t c00, std::int64_t c10) {
    return {c00, sizes[0] - c00, c10, sizes[1] - c10};
}

// Fills cells[a * ry + b] of stratum s.
inline void fill_table(const SetSizes& x, std::size_t s, const CountedY& y, std::int64_t* cells) {
    const std::uint32_t rx = x.card_x, ry = y.card;
    for (std::uint32_t a = 0; a < rx; ++a) {
        const bool derived = x.last_derived && a + 1 == rx;
        std::int64_t left = x.sizes[s * rx + a];
        for (std::uint32_t b = 0; b + 1 < ry; ++b) {
            std::int64_t count = derived ? y.totals[b] : y.counts[a * y.stride + b];
            if (derived)
                for (std::uint32_t other = 0; other < a; ++other) count -= cells[other * ry + b];
            cells[a * ry + b] = count;
            left -= count;
        }
        cells[a * ry + ry - 1] = left;
    }
}

// Strata [first, last) of one y into its running sum; y.counts stands at stratum `first`.
template <class Scorer>
MNLEARN_NOINLINE void add_general(const Scorer& scorer, const typename Scorer::Prepared& prepared, const SetSizes& x,
                                  std::size_t first, std::size_t last, CountedY y, typename Scorer::Sum& sum) {
    std::int64_t cells[kMaxPlaneCard * kMaxPlaneCard], nx[kMaxPlaneCard], ny[kMaxPlaneCard];
    for (std::size_t s = first; s < last; ++s, y.counts += x.card_x * y.stride) {
        fill_table(x, s, y, cells);
        visit_dense({cells, nx, ny, x.card_x, y.card}, [&](const auto& table) { scorer.add(sum, prepared, s, table); });
    }
}

// The same for two binary variables, in registers.
template <class Scorer>
MNLEARN_INLINE inline void add_binary(const Scorer& scorer, const typename Scorer::Prepared& prepared,
                                      const SetSizes& x, std::size_t first, std::size_t last, const CountedY& y,
                                      typename Scorer::Sum& sum) {
    const std::int64_t* sizes = x.sizes.data() + 2 * first;
    const std::uint32_t *zero = y.counts, *one = y.counts + y.stride;
    if (x.last_derived)
        return scorer.add(sum, prepared, 0, binary_table(sizes, *zero, static_cast<std::int64_t>(*y.totals) - *zero));
    for (std::size_t s = first; s < last; ++s, sizes += 2, zero += 2 * y.stride, one += 2 * y.stride)
        scorer.add(sum, prepared, s, binary_table(sizes, *zero, *one));
}

template <class Scorer>
MNLEARN_INLINE inline void add_strata(const Scorer& scorer, const typename Scorer::Prepared& prepared,
                                      const SetSizes& x, std::size_t first, std::size_t last, const CountedY& y,
                                      typename Scorer::Sum& sum) {
    if (x.card_x == 2 && y.card == 2)
        add_binary(scorer, prepared, x, first, last, y, sum);
    else
        add_general(scorer, prepared, x, first, last, y, sum);
}

}  // namespace mnlearn
