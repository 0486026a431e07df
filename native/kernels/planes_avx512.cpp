// The bit-plane count with AVX-512 VPOPCNTDQ: a tile of up to four row sets by four groups lives in registers.
#include "kernels/planes.hpp"

#include <immintrin.h>

#include "kernels/ceilings.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kWordBlock = 512;  // words of a tile's planes that stay in the caches between row sets

template <int GROUPS> void fetch(const double* numbers, std::size_t also) {
    for (std::size_t j = 0; j < GROUPS * kLanes; j += kLanes) {
        __builtin_prefetch(numbers + j, 1);
        if (also) __builtin_prefetch(numbers + also + j, 1);
    }
}

// Words [begin, end) of sets s.. and groups g..; then finish.template set<GROUPS>(set, g, sums) for each set, the sums
// of one group in the lanes of one register.
template <int SETS, int GROUPS, class Finish>
void tile(const PlaneQuery& q, std::size_t s, std::size_t g, std::size_t begin, std::size_t end, const Finish& finish) {
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
    for (int i = 0; i < SETS; ++i) finish.template set<GROUPS>(s + static_cast<std::size_t>(i), g, sums[i]);
}

template <int GROUPS, class Finish>
void column(const PlaneQuery& q, std::size_t g, std::size_t begin, std::size_t end, const Finish& finish) {
    std::size_t s = 0;
    for (; s + 4 <= q.n_sets; s += 4) tile<4, GROUPS>(q, s, g, begin, end, finish);
    for (; s + 2 <= q.n_sets; s += 2) tile<2, GROUPS>(q, s, g, begin, end, finish);
    if (s < q.n_sets) tile<1, GROUPS>(q, s, g, begin, end, finish);
}

// All sets and groups, words [begin, end).
template <class Finish> void all_tiles(const PlaneQuery& q, std::size_t begin, std::size_t end, const Finish& finish) {
    std::size_t g = 0;
    for (; g + 4 <= q.n_groups; g += 4) column<4>(q, g, begin, end, finish);
    if (g + 2 <= q.n_groups) {
        column<2>(q, g, begin, end, finish);
        g += 2;
    }
    if (g < q.n_groups) column<1>(q, g, begin, end, finish);
}

// Counts into memory: two registers of 64-bit sums make one of 32-bit counts.
struct StoreCounts {
    const PlaneQuery& q;
    bool add;  // to what the words before gave

    template <int GROUPS> void set(std::size_t s, std::size_t g, const __m512i* sums) const {
        const __m512i low_halves = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        std::uint32_t* out = q.counts + (s * q.n_groups + g) * kLanes;
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
};

// Counts as numbers, to where they are wanted. Below 2^52 they are put into the last digits of 2^52, which is then
// taken away.
struct StoreNumbers {
    const PlaneQuery& q;

    template <int GROUPS> void set(std::size_t s, std::size_t g, const __m512i* sums) const {
        const __m512i digits = _mm512_set1_epi64(0x4330000000000000);
        double* out = q.soon[s] + g * kLanes;
        for (int j = 0; j < GROUPS; ++j)
            _mm512_storeu_pd(out + 8 * j, _mm512_sub_pd(_mm512_castsi512_pd(_mm512_or_si512(sums[j], digits)),
                                                        _mm512_set1_pd(0x1p52)));
    }
};

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
        all_tiles(q, begin, end, StoreCounts{q, begin > 0});
    }
}

void number_planes_avx512(const PlaneQuery& q) { all_tiles(q, 0, q.words, StoreNumbers{q}); }

}  // namespace mnlearn
