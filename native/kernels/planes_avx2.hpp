// The bit-plane count with AVX2: bits of each nibble by a table in a register, two row sets at a time.
#pragma once

#include <immintrin.h>

#include "kernels/planes.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace planes {

struct Pair {  // eight lanes are two registers of four
    __m256i lo, hi;
};

inline __m256i nibble_bits(__m256i v) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2,
                                           2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i a = _mm256_shuffle_epi8(table, _mm256_and_si256(v, low));
    const __m256i b = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    return _mm256_add_epi8(a, b);
}

inline void widen(__m256i& sum, __m256i& bytes) {
    sum = _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
    bytes = _mm256_setzero_si256();
}

inline void store(std::uint32_t* out, const Pair& sums) {
    alignas(32) std::uint64_t lanes[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sums.lo);
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes + 4), sums.hi);
    for (std::size_t lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<std::uint32_t>(lanes[lane]);
}

// One or two sets against one group. A byte of the running count gains at most 8 a word: widen after 31 words.
template <int SETS> void tile(const PlaneQuery& q, std::size_t s, std::size_t g) {
    constexpr std::size_t kWordsPerByteSum = 31;
    const __m256i* planes =
        reinterpret_cast<const __m256i*>(q.planes + static_cast<std::size_t>(q.groups[g]) * q.words * kLanes);
    const __m256i zero = _mm256_setzero_si256();
    Pair sums[SETS], bytes[SETS];
    for (int k = 0; k < SETS; ++k) sums[k] = bytes[k] = {zero, zero};
    for (std::size_t w = 0; w < q.words;) {
        const std::size_t end = q.words - w < kWordsPerByteSum ? q.words : w + kWordsPerByteSum;
        for (; w < end; ++w) {
            const __m256i lo = _mm256_load_si256(planes + 2 * w), hi = _mm256_load_si256(planes + 2 * w + 1);
            for (int k = 0; k < SETS; ++k) {
                const __m256i rows =
                    _mm256_set1_epi64x(static_cast<long long>(q.sets[(s + static_cast<std::size_t>(k)) * q.words + w]));
                bytes[k].lo = _mm256_add_epi8(bytes[k].lo, nibble_bits(_mm256_and_si256(lo, rows)));
                bytes[k].hi = _mm256_add_epi8(bytes[k].hi, nibble_bits(_mm256_and_si256(hi, rows)));
            }
        }
        for (int k = 0; k < SETS; ++k) {
            widen(sums[k].lo, bytes[k].lo);
            widen(sums[k].hi, bytes[k].hi);
        }
    }
    for (int k = 0; k < SETS; ++k)
        store(q.counts + (s + static_cast<std::size_t>(k)) * kLanes * q.n_groups + g * kLanes, sums[k]);
}

std::int64_t make_plane(const NewPlane& plane) {
    const __m256i state = _mm256_set1_epi8(static_cast<char>(plane.state));
    const auto with_state = [&](const std::uint8_t* codes) {
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(some, state)));
    };
    std::int64_t total = 0;
    for (std::size_t word = 0; word < plane.n_words; ++word) {
        const std::uint8_t* codes = plane.codes + 64 * word;
        const std::uint64_t rows = with_state(codes) | std::uint64_t{with_state(codes + 32)} << 32;
        plane.out[word * kLanes] = rows;
        total += count_ones(rows);
    }
    return total;
}

std::int64_t count_bits(const std::uint64_t* set, std::size_t words) {
    __m256i sums = _mm256_setzero_si256();
    std::size_t w = 0;
    for (; w + 4 <= words; w += 4) {
        __m256i bytes = nibble_bits(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(set + w)));
        widen(sums, bytes);
    }
    alignas(32) std::int64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sums);
    std::int64_t total = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    for (; w < words; ++w) total += count_ones(set[w]);
    return total;
}

std::uint64_t probe_popcount(std::size_t rounds) {
    __m256i rows = _mm256_set1_epi64x(0x123456789abcdef), bytes[4] = {};
    for (std::size_t step = 0; step < 8 * rounds; ++step)
        for (int j = 0; j < 4; ++j) {
            __m256i states = rows;
            forget_origin_of_vector(states);  // else the compiler would count once and multiply
            bytes[j] = _mm256_add_epi8(bytes[j], nibble_bits(_mm256_and_si256(rows, states)));
        }
    for (int j = 0; j < 4; ++j) widen(rows, bytes[j]);
    return static_cast<std::uint64_t>(_mm256_extract_epi64(rows, 0));
}

void count_planes(const PlaneQuery& q) {
    for (std::size_t g = 0; g < q.n_groups; ++g) {
        std::size_t s = 0;
        for (; s + 2 <= q.n_sets; s += 2) tile<2>(q, s, g);
        if (s < q.n_sets) tile<1>(q, s, g);
    }
}

}  // namespace planes
}  // namespace
}  // namespace mnlearn
