// The vertical count on vectors of 64 bytes.
#include <immintrin.h>

#include "kernels/vertical_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(64)));

// Digits [first, first + 8) of 64 columns as bytes: 64 bits of a digit are a mask over 64 bytes.
inline __m512i byte_of_digits(const Counter<Vector>& counter, int first, std::size_t word) {
    __m512i bytes = _mm512_setzero_si512();
    const int n = counter.n_digits - first < 8 ? counter.n_digits - first : 8;
    for (int p = 0; p < n; ++p)
        bytes = _mm512_mask_add_epi8(bytes, counter.digits[first + p][word], bytes,
                                     _mm512_set1_epi8(static_cast<char>(1 << p)));
    return bytes;
}

// 16 numbers out of a quarter of the bytes. gcc 12 warns of the unmasked forms.
template <int QUARTER> __m512i sixteen(__m512i bytes) {
    return _mm512_maskz_cvtepu8_epi32(0xffff, _mm512_maskz_extracti32x4_epi32(0xf, bytes, QUARTER));
}

template <int QUARTER> void add_byte(__m512i bytes, int place, std::uint32_t* counts) {
    const __m512i more = _mm512_maskz_slli_epi32(0xffff, sixteen<QUARTER>(bytes), static_cast<unsigned>(8 * place));
    std::uint32_t* to = counts + 16 * QUARTER;
    _mm512_storeu_si512(to, _mm512_or_si512(_mm512_loadu_si512(to), more));
}

// From digits to numbers, a byte of every 64 at a time; most lists have fewer than 256 rows, and one byte does.
void write(const Counter<Vector>& counter, std::uint32_t* counts) {
    for (std::size_t word = 0; word < kRowWords; ++word, counts += 64) {
        const __m512i lowest = byte_of_digits(counter, 0, word);
        _mm512_storeu_si512(counts, sixteen<0>(lowest));
        _mm512_storeu_si512(counts + 16, sixteen<1>(lowest));
        _mm512_storeu_si512(counts + 32, sixteen<2>(lowest));
        _mm512_storeu_si512(counts + 48, sixteen<3>(lowest));
        for (int k = 1; 8 * k < counter.n_digits; ++k) {
            const __m512i bytes = byte_of_digits(counter, 8 * k, word);
            add_byte<0>(bytes, k, counts);
            add_byte<1>(bytes, k, counts);
            add_byte<2>(bytes, k, counts);
            add_byte<3>(bytes, k, counts);
        }
    }
}

}  // namespace

void count_vertical_avx512(const VerticalQuery& query) { count_vertical<Vector>(query, write); }

std::uint64_t probe_loads_avx512(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace mnlearn
