// Scores of many binary y, written once over the number of lanes and compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <cstring>
#include <type_traits>

#include "kernels/binary_scores.hpp"
#include "kernels/elementary.hpp"
#include "kernels/scratch.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace binary_scores {

template <int LANES> struct Wide {
    using D = typename Lanes<LANES>::Doubles;
    using B = typename Lanes<LANES>::Bits;
    using Counts = Vec<std::int32_t, LANES>;
    using Masks = Vec<std::int64_t, LANES>;

    static D load(const double* p) {
        D v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
    static void store(double* p, D v) { std::memcpy(p, &v, sizeof v); }
    static Counts counts(const std::uint32_t* p, std::size_t left) {
#ifdef __AVX512F__
        if constexpr (LANES == 8) {
            const auto those = static_cast<unsigned char>(left < 8 ? (1u << left) - 1 : 0xff);
            return reinterpret_cast<Counts>(_mm256_maskz_loadu_epi32(those, p));
        }
#endif
        Counts v{};
        if (left >= LANES)
            std::memcpy(&v, p, sizeof v);
        else
            std::memcpy(&v, p, left * 4);
        return v;
    }
    static D numbers(Counts v) {
#ifdef __AVX512F__  // gcc 12 makes two halves of it, and warns of the unmasked form
        if constexpr (LANES == 8) return _mm512_maskz_cvtepi32_pd(0xff, reinterpret_cast<__m256i>(v));
#endif
        return converted<D>(v);
    }
    static D size(D v) { return std::bit_cast<D>(std::bit_cast<B>(v) & ~(std::uint64_t{1} << 63)); }

    // Where neither state of y is missing; `zeros` are the rows with the first.
#ifdef __AVX512F__
    using Which = std::conditional_t<LANES == 8, __mmask8, Masks>;  // a bit, or all ones
#else
    using Which = Masks;
#endif
    static Which both_states(Counts zeros, std::uint32_t n) {
#ifdef __AVX512F__
        if constexpr (LANES == 8) {
            const auto those = reinterpret_cast<__m256i>(zeros);
            return static_cast<__mmask8>(_mm256_test_epi32_mask(those, those) &
                                         _mm256_cmpneq_epi32_mask(those, _mm256_set1_epi32(static_cast<int>(n))));
        } else
#endif
            return (numbers(zeros) != D{}) & (numbers(zeros) != D{} + n);
    }
    static D choose(Which which, D those, D others) {
#ifdef __AVX512F__
        if constexpr (LANES == 8)
            return reinterpret_cast<D>(
                _mm512_mask_blend_pd(which, reinterpret_cast<__m512d>(others), reinterpret_cast<__m512d>(those)));
        else
#endif
            return which ? those : others;
    }
    static D where(Which which, D v) {
#ifdef __AVX512F__
        if constexpr (LANES == 8)
            return reinterpret_cast<D>(_mm512_maskz_mov_pd(which, reinterpret_cast<__m512d>(v)));
        else
#endif
            return std::bit_cast<D>(std::bit_cast<B>(which) & std::bit_cast<B>(v));
    }
};

template <int LANES> void add_counts(const BinaryRow& row) {
    using W = Wide<LANES>;
    const std::size_t n = row.n_ys;
    const std::uint32_t* zero = row.zero;
    double* first = row.first;
    std::size_t k = 0;
    for (; k + LANES <= n; k += LANES) W::store(first + k, W::load(first + k) + W::numbers(W::counts(zero + k, LANES)));
    if (k < n) W::store(first + k, W::load(first + k) + W::numbers(W::counts(zero + k, n - k)));
}

// value(k): those of LANES y from k on.
template <int LANES, class Value> void add_plain(const BinaryRow& row, const Value& value) {
    using W = Wide<LANES>;
    const std::size_t n = row.n_ys;
    double* first = row.first;
    for (std::size_t k = 0; k < n; k += LANES) W::store(first + k, W::load(first + k) + value(k));
}

template <int LANES, class Value> void add_tested(const BinaryRow& row, const Value& value) {
    using W = Wide<LANES>;
    const typename W::D one = typename W::D{} + 1.0;
    for (std::size_t k = 0; k < row.n_ys; k += LANES) {
        const std::size_t left = row.n_ys - k;
        const typename W::Counts margin = W::counts(row.zero + k, left) + W::counts(row.one + k, left);
        const auto mask = W::both_states(margin, row.n0 + row.n1);
        W::store(row.first + k, W::load(row.first + k) + W::where(mask, value(k)));
        W::store(row.second + k, W::load(row.second + k) + W::where(mask, one));
    }
}

template <int LANES> void add_odds(const BinaryRow& row) {
    using W = Wide<LANES>;
    const typename W::D zero{};
    for (std::size_t k = 0; k < row.n_ys; k += LANES) {
        const typename W::D value = W::load(row.values + k), second = W::load(row.second + k);
        const typename W::D above = value > zero ? value : zero, size = W::size(value);
        W::store(row.first + k, W::load(row.first + k) + above);
        W::store(row.second + k, second + exp_of_minus<LANES>(size) * (second + 1.0));
    }
}

// X² = n (n00 n11 − n01 n10)² / (n0 n1 n_0 n_1). With fewer than 2^26 rows all but the last three steps are exact.
template <int LANES> void add_pearson(const BinaryRow& row) {
    using W = Wide<LANES>;
    const double n0 = row.n0, n1 = row.n1, scale = (n0 + n1) / (n0 * n1);
    const typename W::D one = typename W::D{} + 1.0;
    for (std::size_t k = 0; k < row.n_ys; k += LANES) {
        const auto zero = W::counts(row.zero + k, row.n_ys - k), ones = W::counts(row.one + k, row.n_ys - k);
        const typename W::D margin = W::numbers(zero + ones), rest = (n0 + n1) - margin;
        const auto mask = W::both_states(zero + ones, row.n0 + row.n1);
        const typename W::D difference = W::numbers(zero) * n1 - W::numbers(ones) * n0;
        const typename W::D statistic = ((difference * difference) * scale) / (margin * rest);
        W::store(row.first + k, W::load(row.first + k) + W::where(mask, statistic));
        W::store(row.second + k, W::load(row.second + k) + W::where(mask, one));
    }
}

// The same for one y: the terms of several strata side by side, then added one by one, as a stratum at a time would be.
inline void score_column(PearsonColumn& column) {
    constexpr std::size_t kTogether = 64;
    double terms[kTogether];
    for (std::size_t begin = 0; begin < column.n_strata; begin += kTogether) {
        const std::size_t n = column.n_strata - begin < kTogether ? column.n_strata - begin : kTogether;
        std::int32_t n_varied = 0;
        const std::uint32_t *counts = column.counts + 2 * begin, *sizes = column.sizes + 2 * begin;
        for (std::size_t s = 0; s < n; ++s) {
            const double n0 = static_cast<std::int32_t>(sizes[2 * s]), n1 = static_cast<std::int32_t>(sizes[2 * s + 1]);
            const double zero = static_cast<std::int32_t>(counts[2 * s]),
                         one = static_cast<std::int32_t>(counts[2 * s + 1]);
            const double margin = zero + one, rest = (n0 + n1) - margin, difference = zero * n1 - one * n0;
            const double below = margin * rest, across = n0 * n1;
            const double statistic = ((difference * difference) * ((n0 + n1) / across)) / below;
            const bool varied = below != 0.0 && across != 0.0;
            terms[s] = varied ? statistic : 0.0;
            n_varied += varied;
        }
        for (std::size_t s = 0; s < n; ++s) column.statistic += terms[s];
        column.dof += n_varied;
    }
}

// folded[k] = table[k] + table[n − k], k = 0 to n. It is symmetric: from both ends, up to where they meet.
template <int LANES> void fold(const double* table, std::uint32_t n, double* folded) {
    using W = Wide<LANES>;
    std::uint32_t k = 0;
    for (; 2 * k + LANES <= n + 1; k += LANES) {
        const std::uint32_t mirrored = n + 1 - k - LANES;
        const typename W::D sum = W::load(table + k) + reversed(W::load(table + mirrored));
        W::store(folded + k, sum);
        W::store(folded + mirrored, reversed(sum));
    }
    for (; 2 * k <= n; ++k) folded[k] = folded[n - k] = table[k] + table[n - k];
}

// Two counts at a time: a load for each would be two of five loads a y, and loads are what takes the time.
struct TwoCounts {
    std::uint64_t both;
    explicit TwoCounts(const std::uint32_t* counts) { std::memcpy(&both, counts, 8); }
    explicit TwoCounts(std::uint64_t sum) : both(sum) {}
    std::uint64_t one() const { return both & 0xffffffff; }
    std::uint64_t other() const { return both >> 32; }
};

// With few rows for many y it pays to fold c[k] + c[n − k] into one table first: three look-ups a y instead of six.
template <int LANES> void look_up_by_loads(const BinaryRow& row) {
    const std::uint32_t n = row.n0 + row.n1, *zero = row.zero, *one = row.one;
    const std::size_t entries = 2 * std::size_t{n} + 3, n_ys = row.n_ys;
    if (entries > LANES / 2 * n_ys || entries > kMaxFolded) return look_up(row);
    double *zeros = row.folded, *ones = zeros + row.n0 + 1, *margins = ones + row.n1 + 1, *values = row.values;
    fold<LANES>(row.cell, row.n0, zeros);
    fold<LANES>(row.cell, row.n1, ones);
    fold<LANES>(row.column, n, margins);
    const double base = row.base;
    std::size_t k = 0;
    for (; k + 2 <= n_ys; k += 2) {
        const TwoCounts a(zero + k), b(one + k), sum(a.both + b.both);  // which stay below 2^32
        values[k] = base + ((zeros[a.one()] + ones[b.one()]) - margins[sum.one()]);
        values[k + 1] = base + ((zeros[a.other()] + ones[b.other()]) - margins[sum.other()]);
    }
    if (k < n_ys) values[k] = base + ((zeros[zero[k]] + ones[one[k]]) - margins[zero[k] + one[k]]);
}

// Adds up row.values, or the counts themselves.
template <int LANES> void add_values(const BinaryRow& row) {
    const auto value = [values = row.values](std::size_t k) { return Wide<LANES>::load(values + k); };
    switch (row.form) {
        case BinaryForm::count:
            return add_counts<LANES>(row);
        case BinaryForm::plain:
            return add_plain<LANES>(row, value);
        case BinaryForm::tested:
            return add_tested<LANES>(row, value);
        case BinaryForm::odds:
            return add_odds<LANES>(row);
        case BinaryForm::pearson:
            return add_pearson<LANES>(row);
    }
}

inline bool looks_up(BinaryForm form) { return form != BinaryForm::count && form != BinaryForm::pearson; }

template <int LANES> void finish_odds_by(double* first, double* second, std::size_t n_ys) {
    using W = Wide<LANES>;
    for (std::size_t k = 0; k < n_ys; k += LANES) {
        W::store(first + k, W::load(first + k) + log_of_one_plus<LANES>(W::load(second + k)));
        W::store(second + k, typename W::D{});
    }
}

#ifdef __AVX512F__

// Scores of binary y, eight at a time. In strata of at most 63 rows the tables that are looked up fit registers.
using W = Wide<8>;
using Indices = Vec<std::uint32_t, 8>;

// gcc 12 makes two halves of a conversion, and warns of the unmasked form.
inline W::B widened(Indices k) {
    return reinterpret_cast<W::B>(_mm512_maskz_cvtepu32_epi64(0xff, reinterpret_cast<__m256i>(k)));
}

// k -> table[k] + table[n − k], in 2 * PAIRS registers. Up to n = 15 as it is; it is symmetric, so half of it is enough
// up to n = 32 PAIRS − 1.
template <int PAIRS, bool HALF> struct Folded {
    W::D part[2 * PAIRS];
    std::uint32_t n;

    Folded(const double* table, std::uint32_t rows) : n(rows) {
        double entries[16 * PAIRS] = {};
        for (std::uint32_t k = 0; k <= (HALF ? rows / 2 : rows); ++k) entries[k] = table[k] + table[rows - k];
        for (int p = 0; p < 2 * PAIRS; ++p) part[p] = W::load(entries + 8 * p);
    }
    MNLEARN_INLINE W::D operator()(Indices k) const {
        const Indices mirrored = n - k;
        const W::B place = widened(HALF ? (k < mirrored ? k : mirrored) : k);
        W::D found = entries_at(part[0], part[1], place);
        for (int p = 1; p < PAIRS; ++p)
            found = (place >> 4) == p ? entries_at(part[2 * p], part[2 * p + 1], place) : found;
        return found;
    }
};

// Eight values at a time, straight into the sums where few steps follow; the exponential needs the registers itself.
template <int PAIRS, bool HALF> void score_in_registers(const BinaryRow& row) {
    using Table = Folded<PAIRS, HALF>;
    const Table zeros(row.cell, row.n0), ones(row.cell, row.n1), margins(row.column, row.n0 + row.n1);
    const auto value = [&](std::size_t k) {
        const std::size_t left = row.n_ys - k;
        const auto a = reinterpret_cast<Indices>(W::counts(row.zero + k, left)),
                   b = reinterpret_cast<Indices>(W::counts(row.one + k, left));
        return row.base + ((zeros(a) + ones(b)) - margins(a + b));
    };
    if (row.form == BinaryForm::plain) return add_plain<8>(row, value);
    if (row.form == BinaryForm::tested) return add_tested<8>(row, value);
    for (std::size_t k = 0; k < row.n_ys; k += 8) W::store(row.values + k, value(k));
    add_values<8>(row);
}

void score_binary(const BinaryRow& row) {
    const std::uint32_t n = row.n0 + row.n1;
    if (!looks_up(row.form)) return add_values<8>(row);
    if (row.n_ys < 8 || n > 63) {
        look_up_by_loads<8>(row);
        return add_values<8>(row);
    }
    if (n <= 15) return score_in_registers<1, false>(row);
    if (n <= 31) return score_in_registers<1, true>(row);
    score_in_registers<2, true>(row);
}

#else

#ifdef MNLEARN_NEON
constexpr int kLookUps = 4;  // with two lanes as well, two counts to a load take an eighth fewer instructions
#else
constexpr int kLookUps = kWidth;
#endif

inline void score_binary(const BinaryRow& row) {
    if (looks_up(row.form) && kLookUps == 2) look_up(row);
    if (looks_up(row.form) && kLookUps > 2) look_up_by_loads<kLookUps>(row);
    add_values<kWidth>(row);
}

#endif

inline void finish_odds(double* first, double* second, std::size_t n_ys) {
    finish_odds_by<kWidth>(first, second, n_ys);
}

}  // namespace binary_scores
}  // namespace
}  // namespace mnlearn
