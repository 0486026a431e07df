// The sizes of sets, of their parts and of their intersections with AVX-512 VPOPCNTDQ, four at a time.
#pragma once

#include <immintrin.h>

#include "kernels/bitsets.hpp"
#include "kernels/tree_impl.hpp"

namespace mnlearn {
namespace {
namespace set_sizes {

using tree::Tree;

inline __m256i halves(__m512i v) {  // gcc 12 warns of the plain cast
    return _mm256_add_epi64(_mm512_maskz_extracti64x4_epi64(0xf, v, 0), _mm512_maskz_extracti64x4_epi64(0xf, v, 1));
}

// The totals of four, side by side.
inline __m128i four_totals(const __m512i* sums) {
    const __m256i a = halves(sums[0]), b = halves(sums[1]), c = halves(sums[2]), d = halves(sums[3]);
    const __m256i ab = _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    const __m256i cd = _mm256_add_epi64(_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    const __m256i total =
        _mm256_add_epi64(_mm256_permute2x128_si256(ab, cd, 0x20), _mm256_permute2x128_si256(ab, cd, 0x31));
    return _mm256_maskz_cvtepi64_epi32(0xf, total);
}

struct TreeBits {
    static std::uint32_t size(const std::uint64_t* set, std::size_t words) {
        __m512i sum = _mm512_setzero_si512();
        for (std::size_t w = 0; w < words; w += 8)
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_load_si512(set + w)));
        const __m256i half = halves(sum);
        const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
        return static_cast<std::uint32_t>(_mm_cvtsi128_si64(pair) + _mm_extract_epi64(pair, 1));
    }
    template <int N>
    static void tile(const std::uint64_t* set, const std::uint64_t* others, std::size_t words, std::uint32_t* counts) {
        __m512i sums[4] = {};
        for (std::size_t w = 0; w < words; w += 8) {
            const __m512i rows = _mm512_load_si512(set + w);
            for (int k = 0; k < N; ++k) {
                const __m512i both =
                    _mm512_and_si512(rows, _mm512_load_si512(others + static_cast<std::size_t>(k) * kTreeWords + w));
                sums[k] = _mm512_add_epi64(sums[k], _mm512_popcnt_epi64(both));
            }
        }
        alignas(16) std::uint32_t totals[4];
        _mm_store_si128(reinterpret_cast<__m128i*>(totals), four_totals(sums));
        for (int k = 0; k < N; ++k) counts[k] += totals[k];
    }
    static void common(const std::uint64_t* set, const std::uint64_t* others, std::size_t n, std::size_t words,
                       std::uint32_t* counts) {
        for (; n >= 4; n -= 4, others += 4 * kTreeWords, counts += 4) tile<4>(set, others, words, counts);
        if (n == 3) tile<3>(set, others, words, counts);
        if (n == 2) tile<2>(set, others, words, counts);
        if (n == 1) tile<1>(set, others, words, counts);
    }
};

void count_tree(const TreeQuery& query) { Tree<TreeBits>(query).run(); }

template <int N>
void intersect_tile(const std::uint64_t* set, const IntersectionQuery& q, const std::uint64_t* const* others,
                    std::uint32_t* counts) {
    __m512i sums[4] = {};
    for (std::size_t w = 0; w < q.words; w += 8) {
        const __m512i rows = _mm512_and_si512(_mm512_load_si512(set + w), _mm512_load_si512(q.second + w));
        for (int k = 0; k < N; ++k)
            sums[k] = _mm512_add_epi64(sums[k],
                                       _mm512_popcnt_epi64(_mm512_and_si512(rows, _mm512_load_si512(others[k] + w))));
    }
    alignas(16) std::uint32_t totals[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(totals), four_totals(sums));
    for (int k = 0; k < N; ++k) counts[k] = totals[k];
}

void count_intersections(const IntersectionQuery& q) {
    for (std::size_t s = 0; s < q.n_sets; ++s) {
        const std::uint64_t* set = q.sets + s * q.words;
        std::uint32_t* counts = q.counts + s * q.n_others;
        std::size_t k = 0;
        for (; k + 4 <= q.n_others; k += 4) intersect_tile<4>(set, q, q.others + k, counts + k);
        if (q.n_others - k == 3) intersect_tile<3>(set, q, q.others + k, counts + k);
        if (q.n_others - k == 2) intersect_tile<2>(set, q, q.others + k, counts + k);
        if (q.n_others - k == 1) intersect_tile<1>(set, q, q.others + k, counts + k);
    }
}

}  // namespace set_sizes
}  // namespace
}  // namespace mnlearn
