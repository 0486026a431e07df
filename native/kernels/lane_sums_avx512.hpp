// The lanes of vectors of 64-bit sums added up. Only for files compiled with AVX-512.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#include <immintrin.h>

namespace mnlearn {
namespace {

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

}  // namespace
}  // namespace mnlearn
