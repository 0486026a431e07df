// Tiles of the screen with AVX2: bits of each nibble by a table in a register, two row sets by one group at a time.
#pragma once

#include <cstring>

#include "kernels/planes_avx2.hpp"
#include "kernels/screen.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace screen {

template <int LANES, class F> MNLEARN_INLINE inline std::uint32_t passing(F values, float least) {
    const __m256 bound = _mm256_set1_ps(least);
    __m256 parts[LANES / 8];
    std::memcpy(parts, &values, sizeof parts);
    std::uint32_t found = 0;
    for (int k = 0; k < LANES / 8; ++k)
        found |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(parts[k], bound, _CMP_GE_OQ))) << (8 * k);
    return found;
}

inline void count_two(const std::uint64_t* const* sets, const std::uint64_t* group, std::size_t words,
                      std::uint32_t (*counts)[kScreenCounts]) {
    constexpr std::size_t kWordsPerByteSum = 31;  // eight bits each: 248 fit a byte
    const auto* states = reinterpret_cast<const __m256i*>(group);
    const __m256i zero = _mm256_setzero_si256();
    planes::Pair sums[2] = {{zero, zero}, {zero, zero}}, bytes[2] = {{zero, zero}, {zero, zero}};
    for (std::size_t w = 0; w < words;) {
        const std::size_t end = words - w < kWordsPerByteSum ? words : w + kWordsPerByteSum;
        for (; w < end; ++w) {
            const __m256i lo = _mm256_load_si256(states + 2 * w), hi = _mm256_load_si256(states + 2 * w + 1);
            for (int k = 0; k < 2; ++k) {
                const __m256i rows = _mm256_set1_epi64x(static_cast<long long>(sets[k][w * kLanes]));
                bytes[k].lo = _mm256_add_epi8(bytes[k].lo, planes::nibble_bits(_mm256_and_si256(lo, rows)));
                bytes[k].hi = _mm256_add_epi8(bytes[k].hi, planes::nibble_bits(_mm256_and_si256(hi, rows)));
            }
        }
        for (int k = 0; k < 2; ++k) {
            planes::widen(sums[k].lo, bytes[k].lo);
            planes::widen(sums[k].hi, bytes[k].hi);
        }
    }
    for (int k = 0; k < 2; ++k) planes::store(counts[k], sums[k]);
}

inline void count_tile(const std::uint64_t* const* sets, const std::uint64_t* group, std::size_t words,
                       std::uint32_t (*counts)[kScreenCounts]) {
    std::uint32_t half[2][kScreenCounts];
    for (std::size_t g = 0; g < 2; ++g)
        for (std::size_t k = 0; k < 4; k += 2) {
            count_two(sets + k, group + g * words * kLanes, words, half);
            for (std::size_t i = 0; i < 2; ++i) std::memcpy(counts[k + i] + 8 * g, half[i], 8 * sizeof(std::uint32_t));
        }
}

}  // namespace screen
}  // namespace
}  // namespace mnlearn
