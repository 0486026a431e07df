// The bit-plane count with AVX-512 VPOPCNTDQ: a tile of up to four row sets by four groups lives in registers.
#pragma once

#include <immintrin.h>

#include "kernels/planes.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace planes {

constexpr std::size_t kWordBlock = 512;  // words of a tile's planes that stay in the caches between row sets
constexpr std::size_t kManyWords = 24;   // from here on an adder before the count pays
constexpr std::size_t kNearWords = 256;  // up to here the planes of a thousand variables stay in the second cache

// What a tile counts: row sets against groups of eight planes.
struct Tile {
    std::size_t words;
    const std::uint64_t* planes;
    std::size_t begin, end;       // words
    const char* ahead = nullptr;  // if not null: planes of the groups to come, fetched into the second cache meanwhile,
    std::size_t ahead_step = 0;   // so many bytes a word

    const __m512i* group(std::size_t g) const { return reinterpret_cast<const __m512i*>(planes + g * words * kLanes); }
};

__m512i everywhere(std::uint64_t word) { return _mm512_set1_epi64(static_cast<long long>(word)); }

// Word by word: AND, count, add. Three operations for 512 pairs of bits. From a word of a set to the next: STEP words.
template <int SETS, int GROUPS, int STEP> struct Sums {
    __m512i lanes[SETS][GROUPS];

    MNLEARN_INLINE void count(const Tile& t, const std::uint64_t* const* sets, const __m512i* const* planes) {
        add_word<true>(sets, planes, t.begin);
        for (std::size_t w = t.begin + 1; w < t.end; ++w) add_word<false>(sets, planes, w);
    }

private:
    template <bool FIRST>
    MNLEARN_INLINE void add_word(const std::uint64_t* const* sets, const __m512i* const* planes, std::size_t w) {
        __m512i states[GROUPS];
        for (int j = 0; j < GROUPS; ++j) states[j] = _mm512_load_si512(planes[j] + w);
        for (int i = 0; i < SETS; ++i) {
            const __m512i rows = everywhere(sets[i][w * STEP]);
            for (int j = 0; j < GROUPS; ++j) {
                const __m512i count = _mm512_popcnt_epi64(_mm512_and_si512(rows, states[j]));
                lanes[i][j] = FIRST ? count : _mm512_add_epi64(lanes[i][j], count);
            }
        }
    }
};

// Two words at a time, with one bit a place left over from those before: ones + (x & y) + (x' & y') = ones + 2 carry.
// The AND is part of the addition, so that is three operations; with count and add five, where two words took six.
template <int SETS, int GROUPS, int STEP> struct AddedSums {
    __m512i lanes[SETS][GROUPS], ones[SETS][GROUPS];

    MNLEARN_INLINE void count(const Tile& t, const std::uint64_t* const* sets, const __m512i* const* planes) {
        for (int i = 0; i < SETS; ++i)
            for (int j = 0; j < GROUPS; ++j) lanes[i][j] = ones[i][j] = _mm512_setzero_si512();
        std::size_t w = t.begin;
        for (; w + 4 <= t.end; w += 4) {  // twice two: what is left over changes places without a copy
            if (t.ahead) prefetch<false, 2>(t.ahead + (w - t.begin) * t.ahead_step);
            add_two(sets, planes, w);
            add_two(sets, planes, w + 2);
        }
        for (; w < t.end; ++w)
            for (int i = 0; i < SETS; ++i)
                for (int j = 0; j < GROUPS; ++j) {
                    const __m512i both =
                        _mm512_and_si512(everywhere(sets[i][w * STEP]), _mm512_load_si512(planes[j] + w));
                    add_carry(i, j, _mm512_and_si512(ones[i][j], both));
                    ones[i][j] = _mm512_xor_si512(ones[i][j], both);
                }
        for (int i = 0; i < SETS; ++i)
            for (int j = 0; j < GROUPS; ++j)
                lanes[i][j] =
                    _mm512_add_epi64(_mm512_add_epi64(lanes[i][j], lanes[i][j]), _mm512_popcnt_epi64(ones[i][j]));
    }

private:
    MNLEARN_INLINE void add_carry(int i, int j, __m512i carry) {
        lanes[i][j] = _mm512_add_epi64(lanes[i][j], _mm512_popcnt_epi64(carry));
    }
    MNLEARN_INLINE void add_two(const std::uint64_t* const* sets, const __m512i* const* planes, std::size_t w) {
        constexpr int kAndThenXor = 0x6a, kCarry = 0x74;  // (a & b) ^ c; b ? !c : a
        __m512i first[GROUPS], second[GROUPS];
        for (int j = 0; j < GROUPS; ++j) {
            first[j] = _mm512_load_si512(planes[j] + w);
            second[j] = _mm512_load_si512(planes[j] + w + 1);
        }
        for (int i = 0; i < SETS; ++i) {
            const __m512i rows = everywhere(sets[i][w * STEP]), more = everywhere(sets[i][(w + 1) * STEP]);
            for (int j = 0; j < GROUPS; ++j) {
                const __m512i one = _mm512_ternarylogic_epi64(rows, first[j], ones[i][j], kAndThenXor);
                const __m512i both = _mm512_ternarylogic_epi64(more, second[j], one, kAndThenXor);
                add_carry(i, j, _mm512_ternarylogic_epi64(ones[i][j], one, both, kCarry));
                ones[i][j] = both;
            }
        }
    }
};

// Sets s.. and the groups at places g.. of a query; then finish.template set<GROUPS>(set, g, sums) for each set, the
// sums of one group in the lanes of one register. finish.fetch comes before: memory that will be needed soon.
template <class Counted, int SETS, int GROUPS, class Finish>
MNLEARN_INLINE inline void count_tile(const Tile& t, std::size_t s, std::size_t g, const Finish& finish) {
    const __m512i* planes[GROUPS];
    const std::uint64_t* sets[SETS];
    for (int j = 0; j < GROUPS; ++j) planes[j] = t.group(finish.group(g + static_cast<std::size_t>(j)));
    for (int i = 0; i < SETS; ++i) {
        sets[i] = finish.bits(s + static_cast<std::size_t>(i));
        finish.template fetch<GROUPS>(s + static_cast<std::size_t>(i), g);
    }
    Counted sums;
    sums.count(t, sets, planes);
    for (int i = 0; i < SETS; ++i) finish.template set<GROUPS>(s + static_cast<std::size_t>(i), g, sums.lanes[i]);
}

// All sets against some groups.
template <template <int, int, int> class Counted, int GROUPS, class Finish>
void count_column(const Tile& t, std::size_t n_sets, std::size_t g, const Finish& finish) {
    std::size_t s = 0;
    constexpr int kStep = Finish::kStep;
    for (; s + 4 <= n_sets; s += 4) count_tile<Counted<4, GROUPS, kStep>, 4, GROUPS>(t, s, g, finish);
    for (; s + 2 <= n_sets; s += 2) count_tile<Counted<2, GROUPS, kStep>, 2, GROUPS>(t, s, g, finish);
    if (s < n_sets) count_tile<Counted<1, GROUPS, kStep>, 1, GROUPS>(t, s, g, finish);
}

// The same, while the groups at places g + 2 and g + 3 are fetched: each tile of four sets fetches its share of them.
template <class Finish> void count_column_ahead(Tile t, std::size_t n_sets, std::size_t g, const Finish& finish) {
    const std::size_t bytes = (t.end - t.begin) * kLanes * 8;  // of each group
    t.ahead_step = n_sets < 512 ? 512 / n_sets : 1;  // two groups of 64 bytes a word, over a fourth of the sets
    std::size_t s = 0;
    for (; s + 4 <= n_sets; s += 4) {
        const std::size_t done = 2 * bytes * s / n_sets, second = done >= bytes;
        const __m512i* next = t.group(finish.group(g + 2 + second)) + t.begin;
        t.ahead = reinterpret_cast<const char*>(next) + (done - second * bytes);
        count_tile<AddedSums<4, 2, Finish::kStep>, 4, 2>(t, s, g, finish);
    }
    t.ahead = nullptr;
    for (; s < n_sets; ++s) count_tile<AddedSums<1, 2, Finish::kStep>, 1, 2>(t, s, g, finish);
}

// All sets against the groups at places [g, last).
template <class Finish>
void count_all(const Tile& t, std::size_t n_sets, std::size_t g, std::size_t last, const Finish& finish) {
    if (t.end - t.begin >= kManyWords) {  // two registers a sum: half as many groups
        for (; t.words > kNearWords && g + 4 <= last; g += 2) count_column_ahead(t, n_sets, g, finish);
        for (; g + 2 <= last; g += 2) count_column<AddedSums, 2>(t, n_sets, g, finish);
        if (g < last) count_column<AddedSums, 1>(t, n_sets, g, finish);
        return;
    }
    for (; g + 4 <= last; g += 4) count_column<Sums, 4>(t, n_sets, g, finish);
    for (; g + 2 <= last; g += 2) count_column<Sums, 2>(t, n_sets, g, finish);
    if (g < last) count_column<Sums, 1>(t, n_sets, g, finish);
}

// Counts into memory: two registers of 64-bit sums make one of 32-bit counts.
struct StoreCounts {
    static constexpr int kStep = 1;
    const PlaneQuery& q;
    bool add;  // to what the words before gave

    const std::uint64_t* bits(std::size_t s) const { return q.sets + s * q.words; }
    std::size_t group(std::size_t place) const { return q.groups[place]; }
    template <int GROUPS> void fetch(std::size_t s, std::size_t g) const {
        if (!q.soon || add) return;
        const double* numbers = q.soon[s] + g * kLanes;
        for (std::size_t j = 0; j < GROUPS * kLanes; j += kLanes) {
            prefetch<true>(numbers + j);
            if (q.also_soon) prefetch<true>(numbers + q.also_soon + j);
        }
    }
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

// Counts as numbers, straight to where they are wanted. Below 2^52 they are put into the last digits of 2^52, which is
// then taken away. Near the diagonal and in the last group only some of the eight are wanted. The sets are planes too.
struct StoreNumbers {
    static constexpr int kStep = kLanes;
    const PairNumbers& q;

    const std::uint64_t* bits(std::size_t s) const {
        const std::size_t x = q.first_x + s;
        return q.planes + x / kLanes * q.words * kLanes + x % kLanes;
    }
    std::size_t group(std::size_t place) const { return place; }
    template <int GROUPS> void fetch(std::size_t s, std::size_t g) const {
        const double* numbers = q.rows[s] + g * kLanes;
        for (std::size_t j = 0; j < GROUPS * kLanes; j += kLanes) prefetch<true>(numbers + j);
    }
    template <int GROUPS> void set(std::size_t s, std::size_t g, const __m512i* sums) const {
        const __m512i digits = _mm512_set1_epi64(0x4330000000000000);
        const std::size_t x = q.first_x + s;
        const bool all = g * kLanes > x && (g + GROUPS) * kLanes <= q.n_variables;
        double* out = q.rows[s] + g * kLanes;
        for (int j = 0; j < GROUPS; ++j) {
            const __m512d numbers =
                _mm512_sub_pd(_mm512_castsi512_pd(_mm512_or_si512(sums[j], digits)), _mm512_set1_pd(0x1p52));
            if (all)
                _mm512_storeu_pd(out + 8 * j, numbers);
            else
                _mm512_mask_storeu_pd(out + 8 * j, wanted(x, (g + static_cast<std::size_t>(j)) * kLanes), numbers);
        }
    }
    // Which of the eight y from `first` on come after x and exist.
    __mmask8 wanted(std::size_t x, std::size_t first) const {
        unsigned mask = 0;
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            if (first + lane > x && first + lane < q.n_variables) mask |= 1u << lane;
        return static_cast<__mmask8>(mask);
    }
};

std::int64_t make_plane(const NewPlane& plane) {
    const __m512i state = _mm512_set1_epi8(static_cast<char>(plane.state));
    std::int64_t total = 0;
    for (std::size_t word = 0; word < plane.n_words; ++word) {
        const std::uint64_t rows = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(plane.codes + 64 * word), state);
        plane.out[word * kLanes] = rows;
        total += count_ones(rows);
    }
    return total;
}

std::int64_t count_bits(const std::uint64_t* set, std::size_t words) {
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

std::uint64_t probe_popcount(std::size_t rounds) {
    constexpr int kRows = 4, kStates = 4;
    __m512i rows[kRows], states[kStates], sums[kRows][kStates] = {};
    for (int i = 0; i < kRows; ++i) rows[i] = everywhere(0x123456789abcdef + static_cast<std::uint64_t>(i));
    for (int j = 0; j < kStates; ++j) states[j] = everywhere(0xfedcba987654321 + static_cast<std::uint64_t>(j));
    for (std::size_t round = 0; round < rounds; ++round)
        for (int i = 0; i < kRows; ++i) {
            forget_origin_of_vector(rows[i]);  // else the compiler would count once and multiply
            for (int j = 0; j < kStates; ++j)
                sums[i][j] = _mm512_add_epi64(sums[i][j], _mm512_popcnt_epi64(_mm512_and_si512(rows[i], states[j])));
        }
    std::uint64_t total = 0;
    for (int i = 0; i < kRows; ++i)
        for (int j = 0; j < kStates; ++j) {
            alignas(64) std::uint64_t lanes[kLanes];
            _mm512_store_si512(lanes, sums[i][j]);
            total += lanes[0];
        }
    return total;
}

void count_planes(const PlaneQuery& q) {
    for (std::size_t begin = 0; begin < q.words; begin += kWordBlock) {
        const std::size_t end = q.words - begin < kWordBlock ? q.words : begin + kWordBlock;
        count_all({q.words, q.planes, begin, end}, q.n_sets, 0, q.n_groups, StoreCounts{q, begin > 0});
    }
}

void number_pairs(const PairNumbers& q) {
    const std::size_t first = (q.first_x + 1) / kLanes, last = (q.n_variables + kLanes - 1) / kLanes;
    count_all({q.words, q.planes, 0, q.words}, q.n_xs, first, last, StoreNumbers{q});
}

}  // namespace planes
}  // namespace
}  // namespace mnlearn
