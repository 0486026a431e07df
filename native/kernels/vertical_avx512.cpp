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

// From digits to numbers, a byte of every 64 at a time.
void write(const Counter<Vector>& counter, std::uint32_t* counts) {
    for (std::size_t word = 0; word < kRowWords; ++word) {
        alignas(64) std::uint8_t bytes[4][64];
        int n_bytes = 0;
        for (; n_bytes == 0 || 8 * n_bytes < counter.n_digits; ++n_bytes)
            _mm512_store_si512(bytes[n_bytes], byte_of_digits(counter, 8 * n_bytes, word));
        for (std::size_t column = 0; column < 64; column += 16) {
            __m512i numbers = _mm512_setzero_si512();
            for (int k = 0; k < n_bytes; ++k) {
                const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes[k] + column));
                const __m512i wide = _mm512_maskz_cvtepu8_epi32(0xffff, part);  // gcc 12 warns of the unmasked form
                numbers = _mm512_or_si512(numbers, _mm512_maskz_slli_epi32(0xffff, wide, static_cast<unsigned>(8 * k)));
            }
            _mm512_storeu_si512(counts + 64 * word + column, numbers);
        }
    }
}

}  // namespace

void count_vertical_avx512(const VerticalQuery& query) { count_vertical<Vector>(query, write); }

std::uint64_t probe_loads_avx512(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace mnlearn
