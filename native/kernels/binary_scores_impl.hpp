// Scores of many binary y, written once over the number of lanes and compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "elementary.hpp"
#include "kernels/binary_scores.hpp"

namespace mnlearn {
namespace {

template <int LANES> struct Wide {
    using D = typename Lanes<LANES>::Doubles;
    using B = typename Lanes<LANES>::Bits;
    typedef std::int32_t Counts __attribute__((vector_size(4 * LANES)));
    typedef std::int64_t Masks __attribute__((vector_size(8 * LANES)));

    static D load(const double* p) {
        D v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
    static void store(double* p, D v) { std::memcpy(p, &v, sizeof v); }
    static Counts counts(const std::uint32_t* p, std::size_t left) {
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
        return __builtin_convertvector(v, D);
    }
    static D size(D v) { return std::bit_cast<D>(std::bit_cast<B>(v) & ~(std::uint64_t{1} << 63)); }

    // All ones where neither state of y is missing.
    static Masks both_states(D zeros_of_y, double n) { return (zeros_of_y != D{}) & (zeros_of_y != D{} + n); }
    static D where(Masks mask, D v) { return std::bit_cast<D>(std::bit_cast<B>(mask) & std::bit_cast<B>(v)); }
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

template <int LANES> void add_plain(const BinaryRow& row) {
    using W = Wide<LANES>;
    const std::size_t n = row.n_ys;
    const double* values = row.values;
    double* first = row.first;
    for (std::size_t k = 0; k < n; k += LANES) W::store(first + k, W::load(first + k) + W::load(values + k));
}

template <int LANES> void add_tested(const BinaryRow& row) {
    using W = Wide<LANES>;
    const typename W::D one = typename W::D{} + 1.0;
    for (std::size_t k = 0; k < row.n_ys; k += LANES) {
        const std::size_t left = row.n_ys - k;
        const typename W::Counts margin = W::counts(row.zero + k, left) + W::counts(row.one + k, left);
        const auto mask = W::both_states(W::numbers(margin), row.n0 + row.n1);
        W::store(row.first + k, W::load(row.first + k) + W::where(mask, W::load(row.values + k)));
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
        const auto mask = W::both_states(margin, n0 + n1);
        const typename W::D difference = W::numbers(zero) * n1 - W::numbers(ones) * n0;
        const typename W::D statistic = ((difference * difference) * scale) / (margin * rest);
        W::store(row.first + k, W::load(row.first + k) + W::where(mask, statistic));
        W::store(row.second + k, W::load(row.second + k) + W::where(mask, one));
    }
}

// The same for one y: the terms of several strata side by side, then added one by one, as a stratum at a time would be.
inline void add_pearson_column(PearsonColumn& column) {
    constexpr std::size_t kTogether = 64;
    double terms[kTogether];
    for (std::size_t begin = 0; begin < column.n_strata; begin += kTogether) {
        const std::size_t n = column.n_strata - begin < kTogether ? column.n_strata - begin : kTogether;
        std::int32_t told = 0;
        const std::uint32_t *counts = column.counts + 2 * begin, *sizes = column.sizes + 2 * begin;
        for (std::size_t s = 0; s < n; ++s) {
            const double n0 = static_cast<std::int32_t>(sizes[2 * s]), n1 = static_cast<std::int32_t>(sizes[2 * s + 1]);
            const double zero = static_cast<std::int32_t>(counts[2 * s]),
                         one = static_cast<std::int32_t>(counts[2 * s + 1]);
            const double margin = zero + one, rest = (n0 + n1) - margin, difference = zero * n1 - one * n0;
            const double below = margin * rest, across = n0 * n1;
            const double statistic = ((difference * difference) * ((n0 + n1) / across)) / below;
            const bool tells = below != 0.0 && across != 0.0;
            terms[s] = tells ? statistic : 0.0;
            told += tells;
        }
        for (std::size_t s = 0; s < n; ++s) column.statistic += terms[s];
        column.dof += told;
    }
}

// folded[k] = table[k] + table[n − k], k = 0 to n.
template <int LANES> void fold(const double* table, std::uint32_t n, double* folded) {
    using W = Wide<LANES>;
    typename W::Masks backwards;
    for (int k = 0; k < LANES; ++k) backwards[k] = LANES - 1 - k;
    std::uint32_t k = 0;
    for (; k + LANES <= n + 1; k += LANES) {
        const typename W::D mirrored = W::load(table + (n + 1 - k - LANES));
        W::store(folded + k, W::load(table + k) + __builtin_shuffle(mirrored, backwards));
    }
    for (; k <= n; ++k) folded[k] = table[k] + table[n - k];
}

// With few rows for many y it pays to fold c[k] + c[n − k] into one table first: three look-ups a y instead of six.
template <int LANES> void look_up_by_loads(const BinaryRow& row) {
    const std::uint32_t n = row.n0 + row.n1, *zero = row.zero, *one = row.one;
    const std::size_t entries = 2 * std::size_t{n} + 3;
    if (entries > LANES / 2 * row.n_ys || entries > kMaxFolded) return look_up(row);
    double *zeros = row.folded, *ones = zeros + row.n0 + 1, *margins = ones + row.n1 + 1, *values = row.values;
    fold<LANES>(row.cell, row.n0, zeros);
    fold<LANES>(row.cell, row.n1, ones);
    fold<LANES>(row.column, n, margins);
    const double base = row.base;
    for (std::size_t k = 0; k < row.n_ys; ++k)
        values[k] = base + ((zeros[zero[k]] + ones[one[k]]) - margins[zero[k] + one[k]]);
}

// Adds up row.values, or the counts themselves.
template <int LANES> void add_values(const BinaryRow& row) {
    switch (row.form) {
        case BinaryForm::count:
            return add_counts<LANES>(row);
        case BinaryForm::plain:
            return add_plain<LANES>(row);
        case BinaryForm::tested:
            return add_tested<LANES>(row);
        case BinaryForm::odds:
            return add_odds<LANES>(row);
        case BinaryForm::pearson:
            return add_pearson<LANES>(row);
    }
}

inline bool looks_up(BinaryForm form) { return form != BinaryForm::count && form != BinaryForm::pearson; }

template <int LANES> void finish_odds(double* first, double* second, std::size_t n_ys) {
    using W = Wide<LANES>;
    for (std::size_t k = 0; k < n_ys; k += LANES) {
        W::store(first + k, W::load(first + k) + log_of_one_plus<LANES>(W::load(second + k)));
        W::store(second + k, typename W::D{});
    }
}

}  // namespace
}  // namespace mnlearn
