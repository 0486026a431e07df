// Tiles of the screen with NEON: four row sets by one group of planes at a time.
#pragma once

#include <cstring>

#include "kernels/planes_neon.hpp"
#include "kernels/screen.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace screen {

// A bit for each of LANES numbers.
template <int LANES, class F> MNLEARN_INLINE inline std::uint32_t passing(const F& values, float least) {
    const float32x4_t bound = vdupq_n_f32(least);
    float32x4_t parts[LANES / 4];
    std::memcpy(parts, &values, sizeof parts);
    std::uint32_t found = 0;
    for (int k = 0; k < LANES / 4; k += 2) {
        const uint16x8_t eight = vuzp1q_u16(vreinterpretq_u16_u32(vcgeq_f32(parts[k], bound)),
                                            vreinterpretq_u16_u32(vcgeq_f32(parts[k + 1], bound)));
        const uint8x8_t place = vcreate_u8(0x8040201008040201);
        found |= std::uint32_t{vaddv_u8(vand_u8(vmovn_u16(eight), place))} << (4 * k);
    }
    return found;
}

MNLEARN_INLINE inline void count_tile(const std::uint64_t* const* sets, const std::uint64_t* group, std::size_t words,
                                      std::uint32_t (*counts)[kScreenCounts]) {
    for (std::size_t g = 0; g < 2; ++g) {
        planes::Tile<4, kLanes> tile;
        tile.count(sets, group + g * words * kLanes, words);
        for (int k = 0; k < 4; ++k) tile.store(k, counts[k] + 8 * g);
    }
}

}  // namespace screen
}  // namespace
}  // namespace mnlearn
