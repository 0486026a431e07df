// The vertical count on vectors of 64 bytes.
#include <immintrin.h>

#include "kernels/vertical_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(64)));

template <> struct Adder<Vector> {
    template <int TABLE> static Vector any(Vector a, Vector b, Vector c) {
        return reinterpret_cast<Vector>(_mm512_ternarylogic_epi64(
            reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b), reinterpret_cast<__m512i>(c), TABLE));
    }
    // The sum takes the place of the digit; the carry is a where a = b, else what the digit was: not the sum. In this
    // order each step overwrites what is needed no more, and no register is copied.
    static Vector add(Vector& digit, Vector a, Vector b) {
        digit = any<0x96>(digit, a, b);
        return any<0xd4>(a, b, digit);
    }
};

// Pairs of one, two or four bytes from both, quarter by quarter. gcc 12 warns of the unmasked forms.
template <int HIGH> __m512i pairs8(__m512i a, __m512i b) {
    return HIGH ? _mm512_maskz_unpackhi_epi8(~0ull, a, b) : _mm512_maskz_unpacklo_epi8(~0ull, a, b);
}
template <int HIGH> __m512i pairs16(__m512i a, __m512i b) {
    return HIGH ? _mm512_maskz_unpackhi_epi16(~0u, a, b) : _mm512_maskz_unpacklo_epi16(~0u, a, b);
}
template <int HIGH> __m512i pairs32(__m512i a, __m512i b) {
    return HIGH ? _mm512_maskz_unpackhi_epi32(0xffff, a, b) : _mm512_maskz_unpacklo_epi32(0xffff, a, b);
}

// Eight digits of all columns as a byte a column: quarter q of numbers[i] has columns 128 q + 16 i to + 15. First the
// bytes of all eight digits for the same eight columns are brought together, the highest digit first; then each such
// square of bits is turned.
template <int HALF> void turn_half(const __m512i* digits, __m512i* numbers) {
    __m512i twos[4], low[2], high[2];
    for (int p = 0; p < 4; ++p) twos[p] = pairs8<HALF>(digits[7 - 2 * p], digits[6 - 2 * p]);
    for (int h = 0; h < 2; ++h) {
        low[h] = pairs16<0>(twos[2 * h], twos[2 * h + 1]);
        high[h] = pairs16<1>(twos[2 * h], twos[2 * h + 1]);
    }
    const __m512i together[4] = {pairs32<0>(low[0], low[1]), pairs32<1>(low[0], low[1]), pairs32<0>(high[0], high[1]),
                                 pairs32<1>(high[0], high[1])};
    const __m512i unit = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ull));
    for (int i = 0; i < 4; ++i) numbers[4 * HALF + i] = _mm512_gf2p8affine_epi64_epi8(unit, together[i], 0);
}
inline void turn(const Counter<Vector>& counter, int first, __m512i* numbers) {
    __m512i digits[8];
    for (int p = 0; p < 8; ++p)
        digits[p] = first + p < counter.n_digits ? reinterpret_cast<__m512i>(counter.digits[first + p])
                                                 : _mm512_setzero_si512();
    turn_half<0>(digits, numbers);
    turn_half<1>(digits, numbers);
}

// From digits to numbers of four bytes, eight digits after the other: a list of fewer than 256 rows needs one byte.
void write(const Counter<Vector>& counter, std::uint32_t* counts) {
    alignas(64) std::uint8_t places[64];
    for (std::size_t k = 0; k < 64; ++k) places[k] = static_cast<std::uint8_t>(k / 4);
    const __m512i first_quarter = _mm512_load_si512(places), step = _mm512_set1_epi8(16);
    __m512i numbers[8], more[8];
    turn(counter, 0, numbers);
    if (counter.n_digits > 8) turn(counter, 8, more);
    __m512i from = first_quarter;
    for (int q = 0; q < 4; ++q, from = _mm512_add_epi8(from, step))
        for (int i = 0; i < 8; ++i) {
            __m512i wide = _mm512_maskz_permutexvar_epi8(0x1111111111111111ull, from, numbers[i]);
            if (counter.n_digits > 8) wide = _mm512_mask_permutexvar_epi8(wide, 0x2222222222222222ull, from, more[i]);
            _mm512_storeu_si512(counts + 128 * q + 16 * i, wide);
        }
    for (int first = 16; first < counter.n_digits; first += 8) {
        turn(counter, first, more);
        from = first_quarter;
        for (int q = 0; q < 4; ++q, from = _mm512_add_epi8(from, step))
            for (int i = 0; i < 8; ++i) {
                std::uint32_t* to = counts + 128 * q + 16 * i;
                const __mmask64 place = 0x1111111111111111ull << (first / 8);
                _mm512_storeu_si512(to, _mm512_mask_permutexvar_epi8(_mm512_loadu_si512(to), place, from, more[i]));
            }
    }
}

}  // namespace

void count_vertical_avx512(const VerticalQuery& query) { count_vertical<Vector>(query, write); }

std::uint64_t probe_loads_avx512(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace mnlearn
