// The bit-plane count with AVX-512 VPOPCNTDQ: a tile of up to four row sets by four groups lives in registers.
#include "kernels/planes.hpp"

#include <immintrin.h>

#include "kernels/ceilings.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kWordBlock = 512;  // words of a tile's planes that stay in the caches between row sets

// The counts of one set: two registers of 64-bit sums make one of 32-bit counts.
template <int GROUPS> void store(const __m512i* sums, std::uint32_t* out, bool add) {
    const __m512i low_halves = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    int j = 0;
    for (; j + 2 <= GROUPS; j += 2) {
        __m512i total = _mm512_permutex2var_epi32(sums[j], low_halves, sums[j + 1]);
        if (add) total = _mm512_add_epi32(total, _mm512_loadu_si512(out + 8 * j));
        _mm512_storeu_si512(out + 8 * j, total);
    }
    if (j == GROUPS) return;
    __m256i total = _mm512_maskz_cvtepi64_epi32(0xff, sums[j]);  // gcc 12 warns of the unmasked form
    __m256i* cell = reinterpret_cast<__m256i*>(out + 8 * j);
    if (add) total = _mm256_add_epi32(total, _mm256_loadu_si256(cell));
    _mm256_storeu_si256(cell, total);
}

template <int GROUPS> void fetch(const double* numbers, std::size_t also) {
    for (std::size_t j = 0; j < GROUPS * kLanes; j += kLanes) {
        __builtin_prefetch(numbers + j, 1);
        if (also) __builtin_prefetch(numbers + also + j, 1);
    }
}

template <int SETS, int GROUPS>
void tile(const PlaneQuery& q, std::size_t s, std::size_t g, std::size_t begin, std::size_t end) {
    const __m512i* planes[GROUPS];
    const std::uint64_t* sets[SETS];
    __m512i sums[SETS][GROUPS];
    for (int j = 0; j < GROUPS; ++j) {
        const std::size_t group = q.groups[g + static_cast<std::size_t>(j)];
        planes[j] = reinterpret_cast<const __m512i*>(q.planes + group * q.words * kLanes);
    }
    for (int i = 0; i < SETS; ++i) {
        sets[i] = q.sets + (s + static_cast<std::size_t>(i)) * q.words;
        for (int j = 0; j < GROUPS; ++j) sums[i][j] = _mm512_setzero_si512();
        if (q.soon) fetch<GROUPS>(q.soon[s + static_cast<std::size_t>(i)] + g * kLanes, q.also_soon);
    }
    for (std::size_t w = begin; w < end; ++w) {
        __m512i states[GROUPS];
        for (int j = 0; j < GROUPS; ++j) states[j] = _mm512_load_si512(planes[j] + w);
        for (int i = 0; i < SETS; ++i) {
            const __m512i rows = _mm512_set1_epi64(static_cast<long long>(sets[i][w]));
            for (int j = 0; j < GROUPS; ++j) {
                const __m512i both = _mm512_and_si512(rows, states[j]);
                sums[i][j] = _mm512_add_epi64(sums[i][j], _mm512_popcnt_epi64(both));
            }
        }
    }
    for (int i = 0; i < SETS; ++i)
        store<GROUPS>(sums[i], q.counts + (s + static_cast<std::size_t>(i)) * kLanes * q.n_groups + g * kLanes,
                      begin > 0);
}

template <int GROUPS> void column(const PlaneQuery& q, std::size_t g, std::size_t begin, std::size_t end) {
    std::size_t s = 0;
    for (; s + 4 <= q.n_sets; s += 4) tile<4, GROUPS>(q, s, g, begin, end);
    for (; s + 2 <= q.n_sets; s += 2) tile<2, GROUPS>(q, s, g, begin, end);
    if (s < q.n_sets) tile<1, GROUPS>(q, s, g, begin, end);
}

}  // namespace

std::int64_t count_bits_avx512(const std::uint64_t* set, std::size_t words) {
    __m512i sums = _mm512_setzero_si512();
    for (std::size_t w = 0; w < words; w += kLanes) {
        const auto lanes = static_cast<__mmask8>(words - w < kLanes ? (1u << (words - w)) - 1 : 0xff);
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_maskz_loadu_epi64(lanes, set + w)));
    }
    alignas(64) std::int64_t lanes[kLanes];  // gcc 12 warns of the reducing intrinsic
    _mm512_store_si512(lanes, sums);
    std::int64_t total = 0;
    for (const std::int64_t lane : lanes) total += lane;
    return total;
}

std::uint64_t probe_popcount_avx512(std::size_t rounds) {
    constexpr int kSums = 16;
    const __m512i rows = _mm512_set1_epi64(0x123456789abcdef);
    __m512i sums[kSums];
    for (int j = 0; j < kSums; ++j) sums[j] = _mm512_setzero_si512();
    for (std::size_t round = 0; round < rounds; ++round)
        for (int j = 0; j < kSums; ++j) {
            __m512i states = rows;
            asm volatile("" : "+v"(states));  // else the compiler would count once and multiply
            sums[j] = _mm512_add_epi64(sums[j], _mm512_popcnt_epi64(_mm512_and_si512(rows, states)));
        }
    for (int j = 1; j < kSums; ++j) sums[0] = _mm512_add_epi64(sums[0], sums[j]);
    alignas(64) std::uint64_t lanes[kLanes];
    _mm512_store_si512(lanes, sums[0]);
    return lanes[0];
}

void count_planes_avx512(const PlaneQuery& q) {
    for (std::size_t begin = 0; begin < q.words; begin += kWordBlock) {
        const std::size_t end = q.words - begin < kWordBlock ? q.words : begin + kWordBlock;
        std::size_t g = 0;
        for (; g + 4 <= q.n_groups; g += 4) column<4>(q, g, begin, end);
        if (g + 2 <= q.n_groups) {
            column<2>(q, g, begin, end);
            g += 2;
        }
        if (g < q.n_groups) column<1>(q, g, begin, end);
    }
}

}  // namespace mnlearn
