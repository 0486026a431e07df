// All kernels for NEON, which every 64-bit ARM processor has.
#define MNLEARN_NEON 1  // the compiler's own macro is set for the portable kernels too
#include "kernels/binary_gibbs_impl.hpp"
#include "kernels/bitsets_impl.hpp"
#include "kernels/conditional_impl.hpp"
#include "kernels/dense_cells_impl.hpp"
#include "kernels/dense_impl.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/lanes_impl.hpp"
#include "kernels/logistic_impl.hpp"
#include "kernels/pair_scores_impl.hpp"
#include "kernels/planes_neon.hpp"
#include "kernels/screen_neon.hpp"
// The tiles must come first.
#include "kernels/screen_impl.hpp"
#include "kernels/set_sizes_neon.hpp"
#include "kernels/stable_partition_impl.hpp"
#include "kernels/vertical_impl.hpp"

namespace mnlearn {

const KernelTable kNeonKernels{
    .count_planes = planes::count_planes,
    .make_plane = planes::make_plane,
    .count_bits = planes::count_bits,
    .split_set = bitsets::split_set,
    .list_bits = bitsets::list_bits,
    .count_intersections = set_sizes::count_intersections,
    .count_vertical = vertical::count_vertical,
    .count_tree = set_sizes::count_tree,
    .count_lanes = lanes::count_lanes,
    .make_keys = lanes::make_keys,
    .score_binary = binary_scores::score_binary,
    .finish_odds = binary_scores::finish_odds,
    .score_column = binary_scores::score_column,
    .score_pairs = pair_scores::score_pairs,
    .update_binary = binary_gibbs::update_binary,
    .pack = stable_partition::pack,
    .stable_partition = stable_partition::stable_partition,
    .count_runs = stable_partition::count_runs,
    .pick_varied = stable_partition::pick_varied,
    .dense_cells = &dense_cells::kKernels,
    .conditional = &conditional::kKernels,
    .dense = &dense::kKernels,
    .logistic = &logistic::kKernels,
    .screen = &screen::kKernels,
    .probe_popcount = planes::probe_popcount,
    .probe_loads = vertical::probe_loads,
};

}  // namespace mnlearn
