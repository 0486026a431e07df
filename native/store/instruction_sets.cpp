#include "store/instruction_sets.hpp"

#include <stdexcept>

namespace mnlearn {
namespace {

std::vector<InstructionSet> detect() {
    std::vector<InstructionSet> found;
#ifdef MNLEARN_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2"))
        found.emplace_back("avx512", kAvx512Kernels, kAvx512Constants, 0.0656);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")) {
        // Vectors of 512 bits, halved by the compiler for AVX2, were slower than the portable version.
        KernelTable kernels = kAvx2Kernels;
        kernels.update_binary = kPortableKernels.update_binary;
        found.emplace_back("avx2", kernels, kAvx2Constants, 0.278);
    }
#endif
    found.emplace_back("portable", kPortableKernels, kPortableConstants, 1.11);
    return found;
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
