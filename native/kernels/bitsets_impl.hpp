// Bitsets, written once over a vector type and compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#ifdef __AVX512VBMI2__
#include <immintrin.h>
#endif

#include <cstring>

#include "kernels/bitsets.hpp"
#include "kernels/scratch.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace bitsets {

template <class V> inline void split_words(const SplitQuery& q, std::size_t w, std::size_t bytes) {
    V whole{}, state{};
    std::memcpy(&whole, q.whole + w, bytes);
    std::memcpy(&state, q.state + w, bytes);
    const V inside = whole & state, outside = whole & ~state;
    std::memcpy(q.inside + w, &inside, bytes);
    std::memcpy(q.outside + w, &outside, bytes);
}

template <class V> inline void split_by(const SplitQuery& q) {
    constexpr std::size_t kTogether = sizeof(V) / 8;
    std::size_t w = 0;
    for (; w + kTogether <= q.words; w += kTogether) split_words<V>(q, w, sizeof(V));
    if (w < q.words) split_words<V>(q, w, 8 * (q.words - w));
}

// Four at a time: how many bits a word has is hard to foretell, that it has no more than four, or eight, is not.
inline std::uint32_t* list_by_fours(const std::uint64_t* set, std::size_t words, std::uint32_t* rows) {
    for (std::size_t w = 0; w < words; ++w) {
        std::uint64_t left = set[w];
        const int size = count_ones(left);
        for (int done = 0; done < size; done += 4)
            for (int k = 0; k < 4; ++k) {
                rows[done + k] = static_cast<std::uint32_t>(64 * w) + lowest_one(left | std::uint64_t{1} << 63);
                left &= left - 1;
            }
        rows += size;
    }
    return rows;
}

inline void split_set(const SplitQuery& query) { split_by<Vector>(query); }

// Bits::common(a, b, c, words): the bits that three sets share.
template <class Bits> void count_each(const IntersectionQuery& q) {
    for (std::size_t s = 0; s < q.n_sets; ++s)
        for (std::size_t k = 0; k < q.n_others; ++k)
            q.counts[s * q.n_others + k] = Bits::common(q.sets + s * q.words, q.second, q.others[k], q.words);
}

#ifdef __AVX512VBMI2__

// 64 rows are listed at a time, by compressing the numbers 0 to 63 (VBMI2).

// The numbers in one quarter of the bytes, counted from `base` on. gcc 12 warns of the unmasked forms.
template <int QUARTER> void write_sixteen(__m512i bytes, __m512i base, std::uint32_t* rows) {
    const __m128i few = _mm512_maskz_extracti32x4_epi32(0xf, bytes, QUARTER);
    const __m512i numbers = _mm512_maskz_cvtepu8_epi32(0xffff, few);
    _mm512_storeu_si512(rows + 16 * QUARTER, _mm512_add_epi32(numbers, base));
}

// 16 * SURE numbers a word are written whether there are so many rows or not: no unpredictable branch.
template <int SURE> std::uint32_t* list_words(const std::uint64_t* set, std::size_t words, std::uint32_t* rows) {
    alignas(64) std::uint8_t counting[64];
    for (std::size_t k = 0; k < 64; ++k) counting[k] = static_cast<std::uint8_t>(k);
    const __m512i all = _mm512_load_si512(counting), step = _mm512_set1_epi32(64);
    __m512i base = _mm512_setzero_si512();
    for (std::size_t w = 0; w < words; ++w) {
        const __m512i bytes = _mm512_maskz_compress_epi8(set[w], all);
        const int size = count_ones(set[w]);
        write_sixteen<0>(bytes, base, rows);
        if (SURE > 1 || size > 16) write_sixteen<1>(bytes, base, rows);
        if (SURE > 2 || size > 32) {
            write_sixteen<2>(bytes, base, rows);
            write_sixteen<3>(bytes, base, rows);
        }
        rows += size;
        base = _mm512_add_epi32(base, step);
    }
    return rows;
}

std::uint32_t* list_bits(const std::uint64_t* set, std::size_t words, std::int64_t size, std::uint32_t* rows) {
    const auto n = static_cast<std::size_t>(size);
    if (n <= 10 * words) return list_words<1>(set, words, rows);
    return n <= 24 * words ? list_words<2>(set, words, rows) : list_words<4>(set, words, rows);
}

#else

inline std::uint32_t* list_bits(const std::uint64_t* set, std::size_t words, std::int64_t, std::uint32_t* rows) {
    return list_by_fours(set, words, rows);
}

#endif

}  // namespace bitsets
}  // namespace
}  // namespace mnlearn
