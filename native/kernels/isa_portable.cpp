// All kernels in plain C++, for every processor; the others must return the same bits.
#include "kernels/binary_gibbs_impl.hpp"
#include "kernels/bitsets_impl.hpp"
#include "kernels/conditional_impl.hpp"
#include "kernels/dense_impl.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/lanes_impl.hpp"
#include "kernels/logistic_impl.hpp"
#include "kernels/pair_scores_impl.hpp"
#include "kernels/planes_portable.hpp"
#include "kernels/screen_portable.hpp"
// The tiles must come first.
#include "kernels/screen_impl.hpp"
#include "kernels/set_sizes_portable.hpp"
#include "kernels/vertical_impl.hpp"

namespace mnlearn {

const KernelTable kPortableKernels{
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
    .conditional = &conditional::kKernels,
    .dense = &dense::kKernels,
    .logistic = &logistic::kKernels,
    .screen = &screen::kKernels,
    .probe_popcount = planes::probe_popcount,
    .probe_loads = vertical::probe_loads,
};

}  // namespace mnlearn
