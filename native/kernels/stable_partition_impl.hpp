// The stable partition of rows by a bit, compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#ifdef MNLEARN_NEON
#include "kernels/neon.hpp"
#else
#include <immintrin.h>
#endif

#include <cstring>

#include "kernels/stable_partition.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace stable_partition {

inline unsigned count_of(std::uint64_t word) { return static_cast<unsigned>(count_ones(word)); }
inline std::uint64_t bits_below(unsigned bit) { return (std::uint64_t{1} << bit) - 1; }

// Rows::make(word, lane): 64 bytes, bit `lane` of each as the word says.
template <class Rows> MNLEARN_INLINE inline void pack_by(const PackQuery& q) {
    static constexpr std::uint64_t kNone = 0;
    const std::uint64_t* sets[kSiftLanes];
    std::size_t strides[kSiftLanes];
    for (std::size_t k = 0; k < kSiftLanes; ++k) {
        sets[k] = k < q.n_sets ? q.sets[k] : &kNone;
        strides[k] = k < q.n_sets ? q.stride : 0;
    }
    for (std::size_t row = 0; row < q.n_rows; row += 64) {
        Rows rows;
        for (std::size_t k = 0; k < kSiftLanes; ++k) {
            rows.add(*sets[k], k);
            sets[k] += strides[k];
        }
        rows.store(q.to + row);
    }
    for (std::size_t k = (q.n_rows + 63) / 64 * 64; k < q.n_rows + kSiftSpare; ++k) q.to[k] = 0;
}

// lane(rows): the bits of 64 rows.
template <class Lane> MNLEARN_INLINE inline void count_runs_by(const RunQuery& q, Lane lane) {
    std::uint32_t total = 0;
    const std::size_t words = (q.n_rows + 63) / 64;
    for (std::size_t w = 0; w < words; ++w) {
        q.room[w] = total;
        q.set[w] = lane(q.rows + 64 * w);
        total += count_of(q.set[w]);
    }
    q.room[words] = total;
    q.set[words] = 0;
    for (std::size_t k = 0; k < q.n_ends; ++k) {
        const std::size_t word = q.ends[k] / 64;
        q.below[k] = q.room[word] + count_of(q.set[word] & bits_below(q.ends[k] % 64));
    }
}

// The two counts of a stratum in one number. What is below ascends, so neither difference runs over into the other.
MNLEARN_INLINE inline std::uint64_t pair_of(const std::uint32_t* below, std::size_t stratum) {
    std::uint64_t begins, ends;
    std::memcpy(&begins, below + 2 * stratum, sizeof begins);
    std::memcpy(&ends, below + 2 * stratum + 1, sizeof ends);
    return ends - begins;
}

#ifdef __AVX512VBMI2__

// 64 rows at a time: the processor moves the bytes that a mask selects to the front in one step.
struct Rows {
    __m512i bytes = _mm512_setzero_si512();

    MNLEARN_INLINE void add(std::uint64_t word, std::size_t lane) {
        bytes = _mm512_mask_add_epi8(bytes, word, bytes, _mm512_set1_epi8(static_cast<char>(1u << lane)));
    }
    MNLEARN_INLINE void store(std::uint8_t* to) const { _mm512_storeu_si512(to, bytes); }
};

constexpr std::uint64_t first_bits(std::size_t n) { return n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0}; }

void pack(const PackQuery& query) { pack_by<Rows>(query); }

void stable_partition(const PartitionQuery& q) {
    std::uint8_t *zeros = q.to, *ones = q.to + q.n_zeros;
    std::uint8_t* const end = ones;
    for (std::size_t row = 0; row < q.n_rows; row += 64) {
        const std::uint64_t valid = first_bits(q.n_rows - row), one = q.by[row / 64] & valid, zero = ~one & valid;
        const __m512i rows = _mm512_loadu_si512(q.from + row);
        const __m512i first = _mm512_maskz_compress_epi8(zero, rows);
        const unsigned n_zeros = count_of(zero);
        // The zeros must not run over the ones; the ones run into the spare bytes only.
        if (end - zeros >= 64)
            _mm512_storeu_si512(zeros, first);
        else
            _mm512_mask_storeu_epi8(zeros, first_bits(n_zeros), first);
        _mm512_storeu_si512(ones, _mm512_maskz_compress_epi8(one, rows));
        zeros += n_zeros;
        ones += count_of(one);
    }
}

void count_runs(const RunQuery& query) {
    const __m512i bit = _mm512_set1_epi8(static_cast<char>(1u << query.lane));
    count_runs_by(query, [bit](const std::uint8_t* rows) {
        return static_cast<std::uint64_t>(_mm512_test_epi8_mask(_mm512_loadu_si512(rows), bit));
    });
}

// First all pairs of counts, one by one (gathering is slow on many processors), then eight strata at a time those that
// are varied.
std::size_t pick_varied(const VariedRunQuery& q) {
    constexpr std::size_t kTogether = 512;
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    const auto both = [low](__m512i pair) {  // the sum of its two numbers
        return _mm512_add_epi64(_mm512_and_epi64(pair, low), _mm512_maskz_srli_epi64(0xff, pair, 32));
    };
    std::uint64_t pairs[kTogether];
    std::size_t n = 0;
    for (std::size_t begin = 0; begin < q.n_strata; begin += kTogether) {
        const std::size_t here = q.n_strata - begin < kTogether ? q.n_strata - begin : kTogether;
        for (std::size_t k = 0; k < here; ++k) pairs[k] = pair_of(q.below, q.order[begin + k]);
        for (std::size_t k = 0; k < here; k += 8) {
            const auto valid = static_cast<__mmask8>(first_bits(here - k));
            const __m512i counts = _mm512_maskz_loadu_epi64(valid, pairs + k), zeros = both(counts),
                          sizes = _mm512_maskz_loadu_epi64(valid, q.sizes + 2 * (begin + k));
            const __mmask16 any_x = _mm512_test_epi32_mask(sizes, sizes);
            const __mmask8 x = static_cast<__mmask8>(_pext_u32(any_x & any_x >> 1, 0x5555));
            const __mmask8 y = _mm512_test_epi64_mask(zeros, zeros) & _mm512_cmpneq_epi64_mask(zeros, both(sizes));
            _mm512_storeu_si512(q.counts + 2 * n, _mm512_maskz_compress_epi64(x & y, counts));
            _mm512_storeu_si512(q.varied_sizes + 2 * n, _mm512_maskz_compress_epi64(x & y, sizes));
            n += count_of(x & y);
        }
    }
    return n;
}

#else

// Eight rows at a time: a table says for each pattern of bits where the bytes go. (Gathering bits by pext would
// do as well on some processors; others take a hundred times as long for it.)
// Per pattern: the places of the zeros, and from the eighth byte on the places of the ones.
struct Moves {
    alignas(16) std::uint8_t of[256][16];
};
constexpr Moves make_moves() {
    Moves moves{};
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
        unsigned zeros = 0, ones = 8;
        for (std::uint8_t row = 0; row < 8; ++row) moves.of[pattern][pattern >> row & 1 ? ones++ : zeros++] = row;
        for (; zeros < 8; ++zeros) moves.of[pattern][zeros] = 0x80;
        for (; ones < 16; ++ones) moves.of[pattern][ones] = 0x80;
    }
    return moves;
}
constexpr Moves kMoves = make_moves();

#ifdef MNLEARN_NEON

struct Rows {
    uint8x16_t quarter[4] = {vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0)};

    MNLEARN_INLINE void add(std::uint64_t word, std::size_t lane) {
        const uint8x16_t bytes = vreinterpretq_u8_u64(vdupq_n_u64(word)), bit = vdupq_n_u8(1u << lane),
                         byte_of_row = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1)),
                         bit_of_row = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
        for (std::uint8_t k = 0; k < 4; ++k) {
            const uint8x16_t spread = vqtbl1q_u8(bytes, vaddq_u8(byte_of_row, vdupq_n_u8(2 * k)));
            quarter[k] = vorrq_u8(quarter[k], vandq_u8(vtstq_u8(spread, bit_of_row), bit));
        }
    }
    MNLEARN_INLINE void store(std::uint8_t* to) const {
        for (int k = 0; k < 4; ++k) vst1q_u8(to + 16 * k, quarter[k]);
    }
};

inline void move_eight(const std::uint8_t* from, const std::uint8_t* moves, std::uint8_t* to) {
    vst1_u8(to, vtbl1_u8(vld1_u8(from), vld1_u8(moves)));
}

// Which of 64 rows have a bit.
inline std::uint64_t rows_with(const std::uint8_t* rows, std::uint8_t bit) {
    const uint8x16_t wanted = vdupq_n_u8(bit);
    const auto have = [&](std::size_t k) { return vtstq_u8(vld1q_u8(rows + 16 * k), wanted); };
    return neon::bits_of(have(0), have(1), have(2), have(3));
}

#else

struct Rows {
    __m256i half[2] = {};

    MNLEARN_INLINE void add(std::uint64_t word, std::size_t lane) {
        const __m256i byte_of_row = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
        const __m256i bit_of_row = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201));
        const __m256i bit = _mm256_set1_epi8(static_cast<char>(1u << lane));
        for (int k = 0; k < 2; ++k) {
            const __m256i words = _mm256_set1_epi32(static_cast<int>(word >> 32 * k));
            const __m256i spread = _mm256_and_si256(_mm256_shuffle_epi8(words, byte_of_row), bit_of_row);
            half[k] = _mm256_or_si256(half[k], _mm256_and_si256(_mm256_cmpeq_epi8(spread, bit_of_row), bit));
        }
    }
    MNLEARN_INLINE void store(std::uint8_t* to) const {
        for (int k = 0; k < 2; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32 * k), half[k]);
    }
};

inline void move_eight(const std::uint8_t* from, const std::uint8_t* moves, std::uint8_t* to) {
    const __m128i rows = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    const __m128i places = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(moves));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(rows, places));
}

// Which of 64 rows have a bit.
inline std::uint64_t rows_with(const std::uint8_t* rows, std::uint8_t bit) {
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(bit));
    const auto half = [wanted](const std::uint8_t* first) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first));
        return static_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, wanted), wanted)));
    };
    return half(rows) | static_cast<std::uint64_t>(half(rows + 32)) << 32;
}

#endif

template <bool ONES> void move_rows(const PartitionQuery& q, std::uint8_t* to) {
    const auto* by = reinterpret_cast<const std::uint8_t*>(q.by);
    for (std::size_t row = 0; row < q.n_rows; row += 8) {
        const std::size_t left = q.n_rows - row;
        const unsigned valid = left >= 8 ? 0xffu : (1u << left) - 1, pattern = by[row / 8] & valid;
        move_eight(q.from + row, kMoves.of[pattern] + (ONES ? 8 : 0), to);
        to += count_of(ONES ? pattern : ~pattern & valid);
    }
}

void pack(const PackQuery& query) { pack_by<Rows>(query); }

// The zeros run over the ones by up to eight bytes, so they go first.
void stable_partition(const PartitionQuery& query) {
    move_rows<false>(query, query.to);
    move_rows<true>(query, query.to + query.n_zeros);
}

void count_runs(const RunQuery& query) {
    const auto bit = static_cast<std::uint8_t>(1u << query.lane);
    count_runs_by(query, [bit](const std::uint8_t* rows) { return rows_with(rows, bit); });
}

std::size_t pick_varied(const VariedRunQuery& q) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < q.n_strata; ++k) {
        const std::uint64_t counts = pair_of(q.below, q.order[k]);
        const std::uint32_t n0 = q.sizes[2 * k], n1 = q.sizes[2 * k + 1],
                            zeros = static_cast<std::uint32_t>(counts + (counts >> 32));
        std::memcpy(q.counts + 2 * n, &counts, sizeof counts);
        std::memcpy(q.varied_sizes + 2 * n, q.sizes + 2 * k, sizeof counts);
        n += (n0 != 0) & (n1 != 0) & (zeros != 0) & (zeros != n0 + n1);
    }
    return n;
}

#endif

}  // namespace stable_partition
}  // namespace
}  // namespace mnlearn
