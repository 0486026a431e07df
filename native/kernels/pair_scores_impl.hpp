// Scores of pairs, written once over the number of lanes and compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function. Each function works
// on a copy of its PairRow: through a reference the compiler would read it again after every number written.
#pragma once

#include <cstring>

#include "kernels/binary_scores_impl.hpp"
#include "kernels/pair_scores.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace pair_scores {

using namespace binary_scores;

// Calls each(k) for LANES y from k on. The last ones may come twice, which gives the same numbers again.
template <int LANES, class Each> MNLEARN_INLINE inline void for_lanes(std::size_t n_ys, Each each) {
    std::size_t k = 0;
    for (; k + LANES <= n_ys; k += LANES) each(k);
    if (k < n_ys) each(n_ys - LANES);
}

template <int LANES> void pairs_counted(const PairRow row) {
    using W = Wide<LANES>;
    for_lanes<LANES>(row.n_ys,
                     [&](std::size_t k) { W::store(row.out + k, W::numbers(W::counts(row.counts + k, LANES))); });
}

template <int LANES> void pairs_plain(const PairRow row) {
    using W = Wide<LANES>;
    for_lanes<LANES>(row.n_ys,
                     [&](std::size_t k) { W::store(row.out + k, typename W::D{} + W::load(row.values + k)); });
}

template <int LANES> void pairs_entropy(const PairRow row) {
    using W = Wide<LANES>;
    const typename W::D zero{}, rounding = zero - row.ending.rounding;
    for_lanes<LANES>(row.n_ys, [&](std::size_t k) {
        const typename W::D value = W::load(row.values + k);
        W::store(row.out + k, value < rounding ? -value / row.ending.scale : zero);
    });
}

template <int LANES> void pairs_tested(const PairRow row) {
    using W = Wide<LANES>;
    const typename W::D zero{}, tested = zero + row.ending.tested, untested = zero + row.ending.untested,
                                rounding = zero + row.ending.rounding;
    for_lanes<LANES>(row.n_ys, [&](std::size_t k) {
        const auto mask = W::both_states(W::counts(row.totals + k, LANES), row.n0 + row.n1);
        const typename W::D value = W::where(mask, W::load(row.values + k));
        W::store(row.out + k, value > rounding ? row.ending.scale * value : zero);
        W::store(row.dof + k, W::choose(mask, tested, untested));
    });
}

template <int LANES> void pairs_odds(const PairRow row) {
    using W = Wide<LANES>;
    const typename W::D zero{};
    for_lanes<LANES>(row.n_ys, [&](std::size_t k) {
        const typename W::D value = W::load(row.values + k);
        const typename W::D above = value > zero ? value : zero, size = value > zero ? value : zero - value;
        W::store(row.out + k, row.ending.scale - (above + log_of_one_plus<LANES>(exp_of_minus<LANES>(size))));
    });
}

// The steps of add_pearson; the rows with x = 1 and y = 0 are what the total of y leaves.
template <int LANES> void pairs_pearson(const PairRow row) {
    using W = Wide<LANES>;
    const typename W::D nothing{}, tested = nothing + row.ending.tested, untested = nothing + row.ending.untested;
    const double n0 = row.n0, n1 = row.n1, scale = (n0 + n1) / (n0 * n1);
    for_lanes<LANES>(row.n_ys, [&](std::size_t k) {
        const auto zero = W::counts(row.counts + k, LANES), total = W::counts(row.totals + k, LANES);
        const typename W::D margin = W::numbers(total), rest = (n0 + n1) - margin;
        const auto mask = W::both_states(total, row.n0 + row.n1);
        const typename W::D difference = W::numbers(zero) * n1 - W::numbers(total - zero) * n0;
        const typename W::D statistic = ((difference * difference) * scale) / (margin * rest);
        W::store(row.out + k, W::where(mask, statistic));
        W::store(row.dof + k, W::choose(mask, tested, untested));
    });
}

template <int LANES> void pairs_of_form(const PairRow& row) {
    switch (row.form) {
        case PairForm::count:
            return pairs_counted<LANES>(row);
        case PairForm::plain:
            return pairs_plain<LANES>(row);
        case PairForm::entropy:
            return pairs_entropy<LANES>(row);
        case PairForm::tested:
            return pairs_tested<LANES>(row);
        case PairForm::odds:
            return pairs_odds<LANES>(row);
        case PairForm::pearson:
            return pairs_pearson<LANES>(row);
    }
}

// Fewer y than lanes: padded with y that are not needed.
template <int LANES> void pairs_filled_up(const PairRow& row) {
    std::uint32_t counts[LANES] = {}, totals[LANES] = {};
    double values[LANES] = {}, out[LANES], dof[LANES] = {};
    std::memcpy(counts, row.counts, row.n_ys * sizeof(std::uint32_t));
    std::memcpy(totals, row.totals, row.n_ys * sizeof(std::uint32_t));
    if (looks_up(row.form)) std::memcpy(values, row.values, row.n_ys * sizeof(double));
    PairRow filled = row;
    filled.counts = counts;
    filled.totals = totals;
    filled.n_ys = LANES;
    filled.values = values;
    filled.out = out;
    filled.dof = dof;
    pairs_of_form<LANES>(filled);
    std::memcpy(row.out, out, row.n_ys * sizeof(double));
    if (has_dof(row.form)) std::memcpy(row.dof, dof, row.n_ys * sizeof(double));
}

template <int LANES> void fold_pairs(const double* table, std::size_t n, double* folded) {
    using W = Wide<LANES>;
    std::size_t k = 0;
    for (; k + LANES <= n + 1; k += LANES) {
        const typename W::D other = W::load(table + (n + 1 - k - LANES));
        W::store(folded + k, W::load(table + k) + reversed(other));
    }
    for (; k <= n; ++k) folded[k] = table[k] + table[n - k];
}

template <int LANES> void score_pairs_by(const PairRow& row) {
    if (looks_up(row.form) && folds(row)) {
        fold_pairs<LANES>(row.cell, row.n0, row.folded);
        fold_pairs<LANES>(row.cell, row.n1, row.folded + row.n0 + 1);
    }
    if (looks_up(row.form)) look_up_pairs(row);
    if (row.n_ys >= LANES)
        pairs_of_form<LANES>(row);
    else
        pairs_filled_up<LANES>(row);
}

inline void score_pairs(const PairRow& row) { score_pairs_by<kWidth>(row); }

}  // namespace pair_scores
}  // namespace
}  // namespace mnlearn
