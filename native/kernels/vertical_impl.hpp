// The vertical count, written once over a vector type and compiled once per instruction set.
//
// Bit p of 512 counters stands in "digit" p, a row of 512 bits. Adding rows is then binary addition column by column:
// a carry-save adder takes three bits of the same weight to one of that weight and one of twice the weight. A tree of
// 63 adders swallows 64 rows and leaves a single carry of weight 64 for the higher digits.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#ifdef __AVX512VBMI__
#include <immintrin.h>
#endif
#ifdef MNLEARN_NEON
#include <arm_neon.h>
#endif

#include <bit>
#include <cstring>

#include "kernels/scratch.hpp"
#include "kernels/vertical.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace vertical {

constexpr int kTreeDigits = 6;  // 64 rows a tree
constexpr int kEndDigits = 4;   // 16 rows, at the end of a list: they are padded to as many
static_assert(1 << kEndDigits == kListStep);
constexpr int kMaxDigits = 32;  // lists of fewer than 2^32 rows

// a + b + digit -> digit, and the carry; an instruction set may know a shorter way.
template <class V> struct Adder {
    static V add(V& digit, V a, V b) {
        const V carry = (a & b) | ((a ^ b) & digit);
        digit = a ^ b ^ digit;
        return carry;
    }
};

// Where four rows of a list begin, in bytes. Several numbers are loaded at once and taken apart by shifts: on some
// processors a load of each would take longer than those of the rows it points to.
struct Four {
    std::size_t begin[4];
};
inline Four next_four(const std::uint16_t* rows) {
    constexpr int kShift = 6;
    constexpr std::uint64_t kMask = std::uint64_t{0xffff} << kShift;
    std::uint64_t all;
    std::memcpy(&all, rows, 8);
    return {all << kShift & kMask, all >> (16 - kShift) & kMask, all >> (32 - kShift) & kMask,
            all >> (48 - kShift) & kMask};
}
inline Four next_four(const std::uint32_t* rows) {
    constexpr int kShift = 6;
    std::uint64_t two[2];
    std::memcpy(two, rows, 16);
    return {(two[0] & 0xffffffff) << kShift, two[0] >> 32 << kShift, (two[1] & 0xffffffff) << kShift,
            two[1] >> 32 << kShift};
}

template <class V> struct Counter {
    static constexpr std::size_t kBytes = sizeof(V);
    static constexpr std::size_t kSlices = kRowWords * 8 / kBytes;        // vectors in a row of bits
    static constexpr int kInRegisters = kBytes == 64 ? 10 : kTreeDigits;  // digits; there are registers for so many

    const unsigned char* bits;  // of this slice of the columns
    V digits[kMaxDigits];
    int n_digits;

    V load(std::size_t begin) const {
        V v;
        std::memcpy(&v, bits + begin, kBytes);
        return v;
    }
    static V add(V& digit, V a, V b) { return Adder<V>::add(digit, a, b); }
    static V push(V& digit, V carry) {
        const V next = digit & carry;
        digit ^= carry;
        return next;
    }
    // Adds 2^L rows to the digits below L; returns the carry of weight 2^L.
    template <int L, class Row> MNLEARN_INLINE V add_rows(const Row* rows, V* low) const {
        if constexpr (L == 2) {
            const Four four = next_four(rows);
            const V first = add(low[0], load(four.begin[0]), load(four.begin[1]));
            const V second = add(low[0], load(four.begin[2]), load(four.begin[3]));
            return add(low[1], first, second);
        } else {
            const V first = add_rows<L - 1>(rows, low);
            const V second = add_rows<L - 1>(rows + (1 << (L - 1)), low);
            return add(low[L - 1], first, second);
        }
    }
    // Adds 2^L rows and lets the carry run up to the last digit.
    template <int L, class Row> MNLEARN_INLINE void take(const Row*& rows, std::size_t& left, V* low) {
        V carry = add_rows<L>(rows, low);
        for (int p = L; p < kInRegisters; ++p) carry = push(low[p], carry);  // no branch, and `low` stays in registers
        for (int p = kInRegisters; p < n_digits; ++p) carry = push(digits[p], carry);
        rows += 1 << L;
        left -= std::size_t{1} << L;
    }
    template <class Row> void fetch(const Row* rows) const {
        for (int k = 0; k < 64; ++k) prefetch(bits + static_cast<std::size_t>(rows[k]) * (kRowWords * 8));
    }
    template <class Row> void count(const Row* rows, std::size_t n_rows, bool ahead) {
        n_digits = std::bit_width(n_rows);
        V low[kInRegisters] = {};
        for (int p = kInRegisters; p < n_digits; ++p) digits[p] = V{};
        while (n_rows >= 64) {
            if (ahead && n_rows >= 128) fetch(rows + 64);
            take<kTreeDigits>(rows, n_rows, low);
        }
        while (n_rows > 0) take<kEndDigits>(rows, n_rows, low);
        for (int p = 0; p < kInRegisters; ++p) digits[p] = low[p];
    }
    // From digits to numbers, 32 columns at a time: each digit's word is compared with the bit of each column.
    void write(std::uint32_t* counts) const {
        using Numbers = Vec<std::uint32_t, sizeof(V) / 4>;
        constexpr int kWide = static_cast<int>(sizeof(V) / 4), kParts = 32 / kWide;
        Numbers column_bit[kParts];
        for (int j = 0; j < 32; ++j) column_bit[j / kWide][j % kWide] = std::uint32_t{1} << j;
        for (std::size_t chunk = 0; chunk < kBytes / 4; ++chunk) {
            Numbers numbers[kParts] = {};
            for (int p = 0; p < n_digits; ++p) {
                std::uint32_t word;
                std::memcpy(&word, reinterpret_cast<const unsigned char*>(&digits[p]) + 4 * chunk, 4);
                const std::uint32_t weight = std::uint32_t{1} << p;
                for (int part = 0; part < kParts; ++part)
                    numbers[part] |= reinterpret_cast<Numbers>((column_bit[part] & word) == column_bit[part]) & weight;
            }
            std::memcpy(counts + 32 * chunk, numbers, sizeof numbers);
        }
    }
};

// Several rows a turn: with one, its speed would depend on where the loop happens to lie.
template <class V> std::uint64_t load_rows(const std::uint64_t* rows, std::size_t n_rows) {
    constexpr std::size_t kParts = kRowWords * 8 / sizeof(V), kTogether = 8;
    V seen[kTogether] = {};
    const std::size_t n_vectors = n_rows * kParts;
    const auto look_at = [&](std::size_t k, std::size_t place) {
        V v;
        std::memcpy(&v, rows + k * sizeof(V) / 8, sizeof(V));
        seen[place] |= v;
    };
    std::size_t k = 0;
    for (; k + kTogether <= n_vectors; k += kTogether)
        for (std::size_t place = 0; place < kTogether; ++place) look_at(k + place, place);
    for (; k < n_vectors; ++k) look_at(k, 0);
    std::uint64_t result = 0;
    for (const V& part : seen) {
        std::uint64_t first;
        std::memcpy(&first, &part, 8);
        result |= first;
    }
    return result;
}

// The set that is left over, from the rows of all sets. Several columns at a time, through all sets.
template <class V> void find_rest(const VerticalQuery& q) {
    using Numbers = Vec<std::uint32_t, sizeof(V) / 4>;
    constexpr std::size_t kWide = sizeof(V) / 4;
    for (std::size_t column = 0; column < kBlockColumns; column += kWide) {
        Numbers left{}, counted;
        if (column < q.n_totals)  // columns that stand for no plane are empty
            std::memcpy(&left, q.totals + column,
                        column + kWide <= q.n_totals ? sizeof left : 4 * (q.n_totals - column));
        for (std::size_t set = 0; set < q.n_sets; ++set) {
            if (set == q.left_over) continue;
            std::memcpy(&counted, q.counts + set * q.stride + column, sizeof counted);
            left -= counted;
        }
        std::memcpy(q.counts + q.left_over * q.stride + column, &left, sizeof left);
    }
}

// Write: how the digits of a counter become numbers.
template <class V, class Write> void count_lists(const VerticalQuery& q, Write write) {
    for (std::size_t set = 0; set < q.n_sets; ++set) {
        if (set == q.left_over) continue;
        const std::size_t first = q.begin[set], n_rows = q.padded[set];
        for (std::size_t slice = 0; slice < Counter<V>::kSlices; ++slice) {
            Counter<V> counter;
            counter.bits = reinterpret_cast<const unsigned char*>(q.bits) + slice * Counter<V>::kBytes;
            if (q.short_rows)
                counter.count(q.short_rows + first, n_rows, q.ahead);
            else
                counter.count(q.rows + first, n_rows, q.ahead);
            write(counter, q.counts + set * q.stride + slice * Counter<V>::kBytes * 8);
        }
    }
    if (q.left_over < q.n_sets) find_rest<V>(q);
}

#ifdef __AVX512VBMI__

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

#elif defined(MNLEARN_NEON)

// Three steps instead of five: the carry is a where a = b, else what the digit was.
template <> struct Adder<Vector> {
    static Vector add(Vector& digit, Vector a, Vector b) {
        const Vector differ = a ^ b, before = digit;
        digit = differ ^ before;
        return reinterpret_cast<Vector>(vbslq_u64(reinterpret_cast<uint64x2_t>(differ),
                                                  reinterpret_cast<uint64x2_t>(before),
                                                  reinterpret_cast<uint64x2_t>(a)));
    }
};

// From digits to numbers of four bytes, 16 columns and eight digits at a time. Each digit's two bytes are repeated and
// compared with the bit of each column: the even bytes are the first eight columns, the odd ones the other eight.
void write(const Counter<Vector>& counter, std::uint32_t* counts) {
    const uint8x16_t bit =
        vreinterpretq_u8_u16(uint16x8_t{0x0101, 0x0202, 0x0404, 0x0808, 0x1010, 0x2020, 0x4040, 0x8080});
    for (std::size_t place = 0; place < sizeof(Vector); place += 2, counts += 16) {
        uint32x4_t numbers[4] = {vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0)};
        for (int first = 0; first < counter.n_digits; first += 8) {
            uint8x16_t bytes = vdupq_n_u8(0);
            for (int p = first + 8 < counter.n_digits ? first + 8 : counter.n_digits; p-- > first;) {
                std::uint16_t columns;
                std::memcpy(&columns, reinterpret_cast<const unsigned char*>(&counter.digits[p]) + place, 2);
                const uint8x16_t set = vtstq_u8(vreinterpretq_u8_u16(vdupq_n_u16(columns)), bit);
                bytes = vsubq_u8(vaddq_u8(bytes, bytes), set);  // twice the higher digits, and one where this is set
            }
            const uint16x8_t both = vreinterpretq_u16_u8(bytes);
            const uint16x8_t eights[2] = {vandq_u16(both, vdupq_n_u16(0xff)), vshrq_n_u16(both, 8)};
            const int32x4_t weight = vdupq_n_s32(first);
            for (int h = 0; h < 2; ++h) {
                numbers[2 * h] = vorrq_u32(numbers[2 * h], vshlq_u32(vmovl_u16(vget_low_u16(eights[h])), weight));
                numbers[2 * h + 1] = vorrq_u32(numbers[2 * h + 1], vshlq_u32(vmovl_high_u16(eights[h]), weight));
            }
        }
        for (int k = 0; k < 4; ++k) vst1q_u32(counts + 4 * k, numbers[k]);
    }
}

#else

inline void write(const Counter<Vector>& counter, std::uint32_t* counts) { counter.write(counts); }

#endif

inline void count_vertical(const VerticalQuery& query) { count_lists<Vector>(query, write); }

inline std::uint64_t probe_loads(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace vertical
}  // namespace
}  // namespace mnlearn
