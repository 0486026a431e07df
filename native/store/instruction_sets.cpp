#include "store/instruction_sets.hpp"

#include <stdexcept>

namespace mnlearn {
namespace {

std::vector<InstructionSet> detect() {
    std::vector<InstructionSet> levels;
#ifdef MNLEARN_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2"))
        levels.push_back({"avx512",
                          count_planes_avx512,
                          number_pairs_avx512,
                          make_plane_avx512,
                          count_vertical_avx512,
                          count_bits_avx512,
                          split_set_avx512,
                          list_bits_avx512,
                          sort_rows_avx512,
                          score_binary_avx512,
                          finish_odds_avx512,
                          score_pairs_avx512,
                          probe_popcount_avx512,
                          probe_loads_avx512,
                          count_tree_avx512,
                          count_lanes_avx512,
                          make_keys_avx512,
                          update_binary_avx512,
                          score_column_avx512,
                          pack_avx512,
                          stable_partition_avx512,
                          count_runs_avx512,
                          pick_varied_avx512,
                          &kDenseCellsAvx512,
                          count_intersections_avx512,
                          kAvx512Constants});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        levels.push_back({"avx2",
                          count_planes_avx2,
                          nullptr,
                          make_plane_avx2,
                          count_vertical_avx2,
                          count_bits_avx2,
                          split_set_avx2,
                          list_bits_avx2,
                          nullptr,
                          score_binary_avx2,
                          finish_odds_avx2,
                          score_pairs_avx2,
                          probe_popcount_avx2,
                          probe_loads_avx2,
                          count_tree_avx2,
                          count_lanes_avx2,
                          make_keys_avx2,
                          update_binary_portable,
                          score_column_avx2,
                          pack_avx2,
                          stable_partition_avx2,
                          count_runs_avx2,
                          pick_varied_avx2,
                          &kDenseCellsAvx2,
                          count_intersections_avx2,
                          kAvx2Constants});
#endif
    levels.push_back({"portable",
                      count_planes_portable,
                      nullptr,
                      make_plane_portable,
                      count_vertical_portable,
                      count_bits_portable,
                      split_set_portable,
                      list_bits_portable,
                      nullptr,
                      score_binary_portable,
                      finish_odds_portable,
                      score_pairs_portable,
                      probe_popcount_portable,
                      probe_loads_portable,
                      count_tree_portable,
                      count_lanes_portable,
                      make_keys_portable,
                      update_binary_portable,
                      score_column_portable,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr,
                      count_intersections_portable,
                      kPortableConstants});
    return levels;
}

}  // namespace

const std::vector<InstructionSet>& available_instruction_sets() {
    static const std::vector<InstructionSet> levels = detect();
    return levels;
}

const InstructionSet& choose_instruction_set(const std::string& name) {
    std::string known;
    for (const InstructionSet& level : available_instruction_sets()) {
        if (name.empty() || name == level.name) return level;
        known += known.empty() ? "" : ", ";
        known += level.name;
    }
    throw std::invalid_argument("MNLEARN_CORE must name a code path this processor can run; got '" + name +
                                "'. Use one of: " + known + ", or unset it to take the fastest.");
}

}  // namespace mnlearn
