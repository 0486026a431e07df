// Tiles of the screen in plain C++.
#pragma once

#include "kernels/planes_portable.hpp"
#include "kernels/screen.hpp"

namespace mnlearn {
namespace {
namespace screen {

template <int LANES, class F> inline std::uint32_t passing(const F& values, float least) {
    std::uint32_t found = 0;
    for (int k = 0; k < LANES; ++k) found |= static_cast<std::uint32_t>(values[k] >= least) << k;
    return found;
}

inline void count_tile(const std::uint64_t* const* sets, const std::uint64_t* group, std::size_t words,
                       std::uint32_t (*counts)[kScreenCounts]) {
    for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t g = 0; g < 2; ++g) {
            const std::uint64_t* states = group + g * words * kLanes;
            std::uint64_t sums[kLanes] = {};
            for (std::size_t w = 0; w < words; ++w)
                for (std::size_t lane = 0; lane < kLanes; ++lane)
                    sums[lane] += planes::popcount(states[w * kLanes + lane] & sets[k][w * kLanes]);
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                counts[k][8 * g + lane] = static_cast<std::uint32_t>(sums[lane]);
        }
}

}  // namespace screen
}  // namespace
}  // namespace mnlearn
