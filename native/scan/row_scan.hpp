// Counting row by row, one y at a time: the path of repeats, of many states, of single questions.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "scan/stratum_table.hpp"
#include "store/store.hpp"
#include "store/strata.hpp"

namespace mnlearn {

// Calls run(codes) with the column's codes as a function of the row, chosen once outside the loop over rows.
template <class F> void with_codes(const Column& column, F run) {
    if (column.narrow)
        run([p = column.narrow](std::size_t row) { return static_cast<std::uint32_t>(p[row]); });
    else if (column.wide)
        run([p = column.wide](std::size_t row) { return static_cast<std::uint32_t>(p[row]); });
    else
        run([](std::size_t) { return 0u; });
}

class RowScan {
public:
    // `ys`: the columns that will be asked for; decides whether row lists are made.
    RowScan(const Store& store, const Column& x, const Strata& strata, std::span<const Column> ys)
        : store_(store), x_(x), strata_(strata) {
        if (std::any_of(ys.begin(), ys.end(), [this](const Column& y) { return !in_one_pass(y); }))
            lists_ = list_rows(store, strata);
    }

    template <class Scorer>
    typename Scorer::Sum score(const Scorer& scorer, const typename Scorer::Prepared& prepared, const Column& y) const {
        typename Scorer::Sum sum;
        if (in_one_pass(y))
            pass_over_rows(y, [&](std::size_t s, const auto& table) { scorer.add(sum, prepared, s, table); });
        else
            pass_over_lists(y, [&](std::size_t s, const auto& table) { scorer.add(sum, prepared, s, table); });
        return sum;
    }

private:
    static constexpr std::size_t kSmallTables = 4096, kLargestTables = std::size_t{1} << 18;

    // In row order while the tables of all strata together are no larger than the data; else stratum by stratum.
    bool in_one_pass(const Column& y) const {
        const double cells = static_cast<double>(x_.card) * y.card * static_cast<double>(strata_.count);
        return cells <= static_cast<double>(std::min(kLargestTables, std::max(kSmallTables, store_.n_records())));
    }
    std::int64_t times(std::size_t row) const { return store_.repeats() ? store_.repeats()[row] : 1; }

    template <class Visit> void pass_over_rows(const Column& y, Visit visit) const {
        const std::size_t rx = x_.card, ry = y.card;
        std::vector<std::int64_t> counts(strata_.count * rx * ry, 0), margins(rx + ry);
        with_codes(x_, [&](auto code_x) {
            with_codes(y, [&](auto code_y) {
                for (std::size_t row = 0; row < store_.n_records(); ++row)
                    counts[(strata_[row] * rx + code_x(row)) * ry + code_y(row)] += times(row);
            });
        });
        for (std::size_t s = 0; s < strata_.count; ++s)
            visit_dense({counts.data() + s * rx * ry, margins.data(), margins.data() + rx, x_.card, y.card},
                        [&](const auto& table) { visit(s, table); });
    }
    template <class Visit> void pass_over_lists(const Column& y, Visit visit) const {
        const std::size_t rx = x_.card, ry = y.card;
        std::vector<std::int64_t> counts, margins(rx + ry);
        SparseStratum sparse(x_.card, y.card);
        for (std::size_t s = 0; s < strata_.count; ++s) {
            const std::span<const std::uint32_t> rows(lists_.rows.data() + lists_.begin[s],
                                                      lists_.begin[s + 1] - lists_.begin[s]);
            if (rx * ry <= std::min(kLargestTables, 64 + 4 * rows.size())) {
                counts.assign(rx * ry, 0);
                for (const std::uint32_t row : rows) counts[x_[row] * ry + y[row]] += times(row);
                visit_dense({counts.data(), margins.data(), margins.data() + rx, x_.card, y.card},
                            [&](const auto& table) { visit(s, table); });
            } else {  // far more cells than rows
                sparse.clear();
                for (const std::uint32_t row : rows) sparse.add(x_[row], y[row], times(row));
                sparse.sum_margins();
                visit(s, sparse);
            }
        }
    }

    const Store& store_;
    Column x_;
    const Strata& strata_;
    RowLists lists_;
};

}  // namespace mnlearn
