// The kernels of one instruction set. Each isa_*.cpp compiles all kernels for its set and fills one table.
#pragma once

#include "kernels/binary_gibbs.hpp"
#include "kernels/binary_scores.hpp"
#include "kernels/bitsets.hpp"
#include "kernels/conditional.hpp"
#include "kernels/dense.hpp"
#include "kernels/dense_cells.hpp"
#include "kernels/lanes.hpp"
#include "kernels/logistic.hpp"
#include "kernels/pair_scores.hpp"
#include "kernels/planes.hpp"
#include "kernels/screen.hpp"
#include "kernels/sort_rows.hpp"
#include "kernels/stable_partition.hpp"
#include "kernels/tree.hpp"
#include "kernels/vertical.hpp"

namespace mnlearn {

// Null where an instruction set has no fast version; callers then take another path.
struct KernelTable {
    CountPlanes count_planes = nullptr;
    NumberPairs number_pairs = nullptr;
    MakePlane make_plane = nullptr;
    CountBits count_bits = nullptr;
    SplitSet split_set = nullptr;
    ListBits list_bits = nullptr;
    SortRows sort_rows = nullptr;
    CountIntersections count_intersections = nullptr;
    CountVertical count_vertical = nullptr;
    CountTree count_tree = nullptr;
    CountLanes count_lanes = nullptr;
    MakeKeys make_keys = nullptr;
    ScoreBinary score_binary = nullptr;
    FinishOdds finish_odds = nullptr;
    ScoreColumn score_column = nullptr;
    ScorePairs score_pairs = nullptr;
    UpdateBinary update_binary = nullptr;
    Pack pack = nullptr;
    StablePartition stable_partition = nullptr;
    CountRuns count_runs = nullptr;
    PickVaried pick_varied = nullptr;
    const DenseCellKernels* dense_cells = nullptr;
    const ConditionalKernels* conditional = nullptr;
    const DenseKernels* dense = nullptr;
    const LogisticKernels* logistic = nullptr;
    const ScreenKernels* screen = nullptr;
    ProbePopcount probe_popcount = nullptr;
    ProbeLoads probe_loads = nullptr;
};

extern const KernelTable kPortableKernels, kAvx2Kernels, kAvx512Kernels, kNeonKernels;

}  // namespace mnlearn
