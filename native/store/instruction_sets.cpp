#include "store/instruction_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>

#include "portability.hpp"

namespace mnlearn {
namespace {

#ifdef MNLEARN_X86

struct Features {
    bool avx2, avx512;  // with all extensions that the kernels of that name use
};

// The bits of cpuid, and of the registers that the operating system saves, as Intel's manual numbers them.
Features features() {
    const auto all = [](std::uint32_t bits, std::initializer_list<int> places) {
        return std::ranges::all_of(places, [bits](int place) { return (bits >> place & 1) != 0; });
    };
    constexpr int kPopcnt = 23, kOsxsave = 27, kAvx = 28;
    const Registers basic = cpuid(1, 0);
    if (cpuid(0, 0).a < 7 || !all(basic.c, {kPopcnt, kOsxsave, kAvx})) return {};
    constexpr int kAvx2 = 5, kBmi2 = 8, kAvx512f = 16, kAvx512bw = 30, kAvx512vl = 31;  // in b
    constexpr int kVbmi = 1, kVbmi2 = 6, kGfni = 8, kVpopcntdq = 14;                    // in c
    const Registers more = cpuid(7, 0);
    const std::uint32_t saved = saved_registers();
    const bool ymm = all(saved, {1, 2}), zmm = ymm && all(saved, {5, 6, 7});
    const bool avx2 = ymm && all(more.b, {kAvx2, kBmi2});
    return {avx2, avx2 && zmm && all(more.b, {kAvx512f, kAvx512bw, kAvx512vl}) &&
                      all(more.c, {kVbmi, kVbmi2, kGfni, kVpopcntdq})};
}

#endif

std::vector<InstructionSet> detect() {
    std::vector<InstructionSet> found;
#ifdef MNLEARN_X86
    const Features has = features();
    if (has.avx512) found.emplace_back("avx512", kAvx512Kernels, kAvx512Constants, 0.0656);
    if (has.avx2) {
        // Vectors of 512 bits, halved by the compiler for AVX2, were slower than the portable version.
        KernelTable kernels = kAvx2Kernels;
        kernels.update_binary = kPortableKernels.update_binary;
        found.emplace_back("avx2", kernels, kAvx2Constants, 0.278);
    }
#endif
#ifdef MNLEARN_ARM64
    found.emplace_back("neon", kNeonKernels, kNeonConstants, 0.43);  // every processor of 64 bits has it
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
