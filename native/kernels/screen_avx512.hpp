// Tiles of the screen with AVX-512: four row sets by two groups of planes live in registers.
#pragma once

#include "kernels/planes_avx512.hpp"
#include "kernels/screen.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace screen {

template <int LANES, class F> MNLEARN_INLINE inline std::uint32_t passing(F values, float least) {
    if constexpr (LANES == 16)
        return _mm512_cmp_ps_mask(values, _mm512_set1_ps(least), _CMP_GE_OQ);
    else
        return _mm256_cmp_ps_mask(values, _mm256_set1_ps(least), _CMP_GE_OQ);
}

MNLEARN_INLINE inline void count_tile(const std::uint64_t* const* sets, const std::uint64_t* group, std::size_t words,
                                      std::uint32_t (*counts)[kScreenCounts]) {
    const __m512i low_halves = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i* first = reinterpret_cast<const __m512i*>(group);
    const __m512i* const two[2] = {first, first + words};
    const auto store = [&](const auto& sums) {
        for (int k = 0; k < 4; ++k)
            _mm512_store_si512(counts[k], _mm512_permutex2var_epi32(sums.lanes[k][0], low_halves, sums.lanes[k][1]));
    };
    const planes::Tile tile{words, group, 0, words};
    if (words >= planes::kManyWords) {
        planes::AddedSums<4, 2, kLanes> sums;
        sums.count(tile, sets, two);
        store(sums);
    } else {
        planes::Sums<4, 2, kLanes> sums;
        sums.count(tile, sets, two);
        store(sums);
    }
}

}  // namespace screen
}  // namespace
}  // namespace mnlearn
