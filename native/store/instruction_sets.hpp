// Which instruction set counts: decided once per store, by name or by what the processor has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/binary_gibbs.hpp"
#include "kernels/binary_scores.hpp"
#include "kernels/bitsets.hpp"
#include "kernels/dense_cells.hpp"
#include "kernels/intersections.hpp"
#include "kernels/lanes.hpp"
#include "kernels/pair_scores.hpp"
#include "kernels/planes.hpp"
#include "kernels/probes.hpp"
#include "kernels/row_keys.hpp"
#include "kernels/sort_rows.hpp"
#include "kernels/stable_partition.hpp"
#include "kernels/tree.hpp"
#include "kernels/vertical.hpp"
#include "scan/cost_constants.hpp"

namespace mnlearn {

struct InstructionSet {
    std::string_view name;
    CountPlanes count_planes;
    NumberPairs number_pairs;  // null where counting takes so long that what comes after hardly shows
    MakePlane make_plane;
    CountVertical count_vertical;
    CountBits count_bits;
    SplitSet split_set;
    ListBits list_bits;
    SortRows sort_rows;  // none where it would be slow; then all lists come from bits
    ScoreBinary score_binary;
    FinishOdds finish_odds;
    ScorePairs score_pairs;
    ProbePopcount probe_popcount;
    ProbeLoads probe_loads;
    CountTree count_tree;
    CountLanes count_lanes;
    MakeKeys make_keys;
    UpdateBinary update_binary;
    ScoreColumn score_column;
    Pack pack;  // these five: none where they would be slow; then nobody sorts rows
    StablePartition stable_partition;
    CountRuns count_runs;
    PickVaried pick_varied;
    const DenseCellKernels* dense_cells;
    CountIntersections count_intersections;
    CostConstants costs;  // of this path, for the cost model of scan/counting_method.cpp
};

// Best first; only what this processor and operating system can run.
const std::vector<InstructionSet>& available_instruction_sets();

// The level called `name`; the best one when `name` is empty. Throws std::invalid_argument otherwise.
const InstructionSet& choose_instruction_set(const std::string& name);

}  // namespace mnlearn
