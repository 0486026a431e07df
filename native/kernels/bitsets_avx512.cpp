// Sets with AVX-512: 64 rows are listed at a time, by compressing the numbers 0 to 63 (VBMI2).
#include <immintrin.h>

#include "kernels/bitsets_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(64)));

// The numbers in one quarter of the bytes, counted from `base` on. gcc 12 warns of the unmasked forms.
template <int QUARTER> void write_sixteen(__m512i bytes, __m512i base, std::uint32_t* rows) {
    const __m128i few = _mm512_maskz_extracti32x4_epi32(0xf, bytes, QUARTER);
    const __m512i numbers = _mm512_maskz_cvtepu8_epi32(0xffff, few);
    _mm512_storeu_si512(rows + 16 * QUARTER, _mm512_add_epi32(numbers, base));
}

// 16 * SURE numbers a word are written whether there are so many rows or not: no branch that nobody could predict.
template <int SURE> std::uint32_t* list_words(const std::uint64_t* set, std::size_t words, std::uint32_t* rows) {
    alignas(64) std::uint8_t counting[64];
    for (std::size_t k = 0; k < 64; ++k) counting[k] = static_cast<std::uint8_t>(k);
    const __m512i all = _mm512_load_si512(counting), step = _mm512_set1_epi32(64);
    __m512i base = _mm512_setzero_si512();
    for (std::size_t w = 0; w < words; ++w) {
        const __m512i bytes = _mm512_maskz_compress_epi8(set[w], all);
        const int size = __builtin_popcountll(set[w]);
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

}  // namespace

void split_set_avx512(const SplitQuery& query) { split_set<Vector>(query); }

std::uint32_t* list_bits_avx512(const std::uint64_t* set, std::size_t words, std::int64_t size, std::uint32_t* rows) {
    const auto n = static_cast<std::size_t>(size);
    if (n <= 10 * words) return list_words<1>(set, words, rows);
    return n <= 24 * words ? list_words<2>(set, words, rows) : list_words<4>(set, words, rows);
}

}  // namespace mnlearn
