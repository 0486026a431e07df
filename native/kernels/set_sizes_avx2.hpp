// The sizes of sets, of their parts and of their intersections with AVX2: bits of each nibble by a table in a register.
#pragma once

#include <immintrin.h>

#include "kernels/bitsets_impl.hpp"
#include "kernels/tree_impl.hpp"

namespace mnlearn {
namespace {
namespace set_sizes {

using tree::Tree;

struct TreeBits {
    // Bits of each byte.
    static __m256i bytes(__m256i v) {
        const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3,
                                               1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i low = _mm256_set1_epi8(15);
        return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
                               _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low)));
    }
    static std::uint32_t lanes(__m256i sum) {
        const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        return static_cast<std::uint32_t>(_mm_cvtsi128_si64(pair) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(pair, pair)));
    }
    // Bits of set & other, 256 at a time. A block has 32 of these, so a byte may hold 8 x 32 = 256: widened at half.
    template <class Word> static std::uint32_t add_up(std::size_t words, const Word& word) {
        __m256i total = _mm256_setzero_si256();
        for (std::size_t w = 0; w < words;) {
            const std::size_t end = smaller(words, w + kTreeWords / 2);
            __m256i sum = _mm256_setzero_si256();
            for (; w < end; w += 4) sum = _mm256_add_epi8(sum, bytes(word(w)));
            total = _mm256_add_epi64(total, _mm256_sad_epu8(sum, _mm256_setzero_si256()));
        }
        return lanes(total);
    }
    static __m256i load(const std::uint64_t* p) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(p)); }
    static std::uint32_t size(const std::uint64_t* set, std::size_t words) {
        return add_up(words, [&](std::size_t w) { return load(set + w); });
    }
    static void common(const std::uint64_t* set, const std::uint64_t* others, std::size_t n, std::size_t words,
                       std::uint32_t* counts) {
        for (std::size_t k = 0; k < n; ++k, others += kTreeWords)
            counts[k] +=
                add_up(words, [&](std::size_t w) { return _mm256_and_si256(load(set + w), load(others + w)); });
    }
};

void count_tree(const TreeQuery& query) { Tree<TreeBits>(query).run(); }

struct SetBits {
    static __m256i load(const std::uint64_t* p) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(p)); }
    static std::uint32_t common(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c,
                                std::size_t words) {
        constexpr std::size_t kWordsPerByteSum = 4 * 31;  // a byte of the running count gains at most 8 a step
        const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3,
                                               1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
        __m256i total = zero;
        for (std::size_t w = 0; w < words;) {
            const std::size_t end = words - w < kWordsPerByteSum ? words : w + kWordsPerByteSum;
            __m256i sum = zero;
            for (; w < end; w += 4) {
                const __m256i rows = _mm256_and_si256(_mm256_and_si256(load(a + w), load(b + w)), load(c + w));
                sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table, _mm256_and_si256(rows, low)));
                sum =
                    _mm256_add_epi8(sum, _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(rows, 4), low)));
            }
            total = _mm256_add_epi64(total, _mm256_sad_epu8(sum, zero));
        }
        const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
        return static_cast<std::uint32_t>(_mm_cvtsi128_si64(pair) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(pair, pair)));
    }
};

void count_intersections(const IntersectionQuery& query) { bitsets::count_each<SetBits>(query); }

}  // namespace set_sizes
}  // namespace
}  // namespace mnlearn
