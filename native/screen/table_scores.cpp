#include "screen/table_scores.hpp"

#include "scan/scorer_dispatch.hpp"
#include "scan/stratum_table.hpp"

namespace mnlearn {

TableScores::TableScores(const Store& store, const KernelSpec& kernel)
    : pearson_(DofRule::adjusted, facts_of(store, {}, 1)),
      ratio_(DofRule::adjusted, facts_of(store, {}, 1), kernel.name == KernelName::mi, store.log_tables()),
      is_pearson_(kernel.name == KernelName::chi2),
      terms_(store.log_tables().count_log_count()),
      margins_(store.n_variables(), 0.0) {
    looked_up_ = !is_pearson_ && terms_->covers(store.n_rows());
    all_rows_ = looked_up_ ? (*terms_)(store.n_rows()) : 0.0;
}

void TableScores::prepare(const ScreenVariable& v, std::size_t n_states) {
    if (!looked_up_) return;
    double sum = 0.0;
    for (std::size_t s = 0; s < n_states; ++s) sum += (*terms_)(v.sizes[v.by_code[s]]);
    margins_[static_cast<std::size_t>(v.variable)] = sum;
}

TableScores::Score TableScores::operator()(const ScreenVariable& x, std::size_t n_x, const ScreenVariable& y,
                                           std::size_t n_y, const std::uint32_t (*counts)[kScreenPlanes]) const {
    Cells cells;
    std::int64_t columns[3] = {y.sizes[0], y.sizes[1], y.sizes[2]};
    for (std::size_t p = 0; p < n_x; ++p) {
        std::int64_t rest = x.sizes[p];
        for (std::size_t q = 0; q < n_y; ++q) {
            const std::int64_t cell = counts[p][q];
            cells.counts[p][q] = cell;
            rest -= cell;
            columns[q] -= cell;
        }
        cells.counts[p][n_y] = rest;
        columns[n_y] -= rest;
    }
    for (std::size_t q = 0; q <= n_y; ++q) cells.counts[n_x][q] = columns[q];
    if (looked_up_) return by_terms(x, n_x, y, n_y, cells);
    if (is_pearson_) return by_table(pearson_, x, n_x, y, n_y, cells);
    return by_table(ratio_, x, n_x, y, n_y, cells);
}

// Half of G² = (term of all − terms of rows) + (terms of cells − terms of columns); rows are those of the variable that
// comes first.
TableScores::Score TableScores::by_terms(const ScreenVariable& x, std::size_t n_x, const ScreenVariable& y,
                                         std::size_t n_y, const Cells& cells) const {
    const Unchecked term = terms_->unchecked();
    const bool in_order = x.variable < y.variable;
    const auto cell = [&](std::size_t a, std::size_t b) {
        return term(in_order ? cells.counts[x.by_code[a]][y.by_code[b]] : cells.counts[x.by_code[b]][y.by_code[a]]);
    };
    double sum = 0.0;
    if (x.card == 2 && y.card == 2) {
        sum = (cell(0, 0) + cell(0, 1)) + (cell(1, 0) + cell(1, 1));
    } else {
        const std::size_t rows = in_order ? n_x : n_y, columns = in_order ? n_y : n_x;
        for (std::size_t a = 0; a <= rows; ++a)
            for (std::size_t b = 0; b <= columns; ++b) sum += cell(a, b);
    }
    const double of_x = margins_[static_cast<std::size_t>(x.variable)],
                 of_y = margins_[static_cast<std::size_t>(y.variable)];
    RunningSum half;
    half.first = (all_rows_ - (in_order ? of_x : of_y)) + (sum - (in_order ? of_y : of_x));
    half.second = static_cast<double>(n_x * n_y);
    double out[2];
    ratio_.finish(half, x.card, y.card, out);
    return {out[0], out[1]};
}

template <class Scorer>
TableScores::Score TableScores::by_table(const Scorer& scorer, const ScreenVariable& x, std::size_t n_x,
                                         const ScreenVariable& y, std::size_t n_y, const Cells& cells) const {
    std::int64_t counts[kMaxPlaneCard * kMaxPlaneCard] = {};
    const bool in_order = x.variable < y.variable;
    const std::uint32_t step_x = in_order ? y.card : 1, step_y = in_order ? 1 : x.card;
    for (std::size_t p = 0; p <= n_x; ++p)
        for (std::size_t q = 0; q <= n_y; ++q) counts[x.states[p] * step_x + y.states[q] * step_y] = cells.counts[p][q];
    return in_order ? of(scorer, counts, x.card, y.card) : of(scorer, counts, y.card, x.card);
}

template <class Scorer>
TableScores::Score TableScores::of(const Scorer& scorer, const std::int64_t* counts, std::uint32_t rx,
                                   std::uint32_t ry) {
    std::int64_t margins[2 * kMaxPlaneCard];
    typename Scorer::Sum sum;
    double out[2];
    visit_dense({counts, margins, margins + rx, rx, ry}, [&](const auto& table) { scorer.add(sum, {}, 0, table); });
    scorer.finish(sum, rx, ry, out);
    return {out[0], out[1]};
}

TableScores::Score TableScores::operator()(const std::int64_t (&counts)[4]) const {
    return is_pearson_ ? of(pearson_, counts, 2, 2) : of(ratio_, counts, 2, 2);
}

}  // namespace mnlearn
