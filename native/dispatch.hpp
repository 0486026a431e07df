// Which instruction set counts: decided once per store, by name or by what the processor has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/binary_scores.hpp"
#include "kernels/bit_cells.hpp"
#include "kernels/bits.hpp"
#include "kernels/ceilings.hpp"
#include "kernels/common.hpp"
#include "kernels/keys.hpp"
#include "kernels/lanes.hpp"
#include "kernels/pair_scores.hpp"
#include "kernels/planes.hpp"
#include "kernels/refine.hpp"
#include "kernels/sets.hpp"
#include "kernels/sift.hpp"
#include "kernels/sort_rows.hpp"
#include "kernels/tree.hpp"
#include "kernels/vertical.hpp"

namespace mnlearn {

struct Level {
    std::string_view name;
    CountPlanes count_planes;
    NumberPairs number_pairs;  // null where counting takes so long that what comes after hardly shows
    MakePlane make_plane;
    CountVertical count_vertical;
    CountBits count_bits;
    SplitSet split_set;
    ListBits list_bits;
    SortRows sort_rows;  // none where it would be slow; then all lists come from bits
    RefineShort refine_short;
    RefineLong refine_long;
    ScoreBinary score_binary;
    FinishOdds finish_odds;
    ScorePairs score_pairs;
    ProbePopcount probe_popcount;
    ProbeLoads probe_loads;
    CountTree count_tree;
    CountLanes count_lanes;
    MakeKeys make_keys;
    UpdateBits update_bits;
    ScoreColumn score_column;
    Pack pack;  // these five: none where they would be slow; then nobody sorts rows
    Sift sift;
    CountRuns count_runs;
    PickVaried pick_varied;
    const BitCellKernels* bit_cells;
    CountCommon count_common;
    // The cost model of plan.cpp, in nanoseconds of one core, measured kernel by kernel: a group of eight planes
    // against 64 rows of one set; a row of 512 columns; turning the digits of 512 counters into numbers. A word of a
    // set counted in the tree; split off from a larger set; looked through for rows (where lists are sorted, a word of
    // a set that is sorted into 32, split off as well). A row of a list that is parted.
    double plane_group_word, vertical_row, vertical_set, tree_word, split_word, list_word, refine_row;
};

// Best first; only what this processor and operating system can run.
const std::vector<Level>& available_levels();

// The level called `name`; the best one when `name` is empty. Throws std::invalid_argument otherwise.
const Level& choose_level(const std::string& name);

}  // namespace mnlearn
