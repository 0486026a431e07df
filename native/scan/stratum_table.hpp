// One stratum's table of (x, y), dense or sparse, behind one face.
//
// A score sums a term over cells in lexicographic order and over margins in order of state. The term of an empty cell
// is exactly 0, so a form may skip it or not: the sums have the same bits whichever form the counting chose.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "portability.hpp"
#include "store/store.hpp"
#include "store/strata.hpp"

namespace mnlearn {

// Two by two, in registers. Empty cells are added too: the term of an empty cell is exactly 0.
struct BinaryStratum {
    std::int64_t n00, n01, n10, n11;
    std::int64_t n0_, n1_, n_0, n_1, n;

    BinaryStratum(std::int64_t c00, std::int64_t c01, std::int64_t c10, std::int64_t c11)
        : n00(c00),
          n01(c01),
          n10(c10),
          n11(c11),
          n0_(c00 + c01),
          n1_(c10 + c11),
          n_0(c00 + c10),
          n_1(c01 + c11),
          n(c00 + c01 + c10 + c11) {}

    std::int64_t first_cell() const { return n00; }
    double adjusted_dof() const { return n0_ && n1_ && n_0 && n_1 ? 1.0 : 0.0; }
    template <class F> void cells(F visit) const {  // occupied ones, with their margins
        if (n00) visit(n00, n0_, n_0);
        if (n01) visit(n01, n0_, n_1);
        if (n10) visit(n10, n1_, n_0);
        if (n11) visit(n11, n1_, n_1);
    }
    // Pairs first: so they can be folded into one table when many y are scored together (kernels/binary_scores.hpp).
    template <class T> MNLEARN_INLINE double sum_cells(const T& term) const {
        return (term(n00) + term(n01)) + (term(n10) + term(n11));
    }
    template <class T> MNLEARN_INLINE double sum_rows(const T& term) const { return term(n0_) + term(n1_); }
    template <class T> MNLEARN_INLINE double sum_columns(const T& term) const { return term(n_0) + term(n_1); }
};

struct DenseStratum {
    const std::int64_t* counts;  // counts[a * ry + b]
    std::int64_t* nx;
    std::int64_t* ny;
    std::uint32_t rx, ry;
    std::int64_t n = 0;

    void sum_margins() {
        n = 0;
        for (std::uint32_t b = 0; b < ry; ++b) ny[b] = 0;
        for (std::uint32_t a = 0; a < rx; ++a) {
            std::int64_t row = 0;
            for (std::uint32_t b = 0; b < ry; ++b) {
                const std::int64_t cell = counts[a * ry + b];
                row += cell;
                ny[b] += cell;
            }
            nx[a] = row;
            n += row;
        }
    }
    std::int64_t first_cell() const { return counts[0]; }
    double adjusted_dof() const {
        return static_cast<double>(occupied(nx, rx) - 1) * static_cast<double>(occupied(ny, ry) - 1);
    }
    template <class F> void cells(F visit) const {
        for (std::uint32_t a = 0; a < rx; ++a)
            for (std::uint32_t b = 0; b < ry; ++b)
                if (const std::int64_t cell = counts[a * ry + b]) visit(cell, nx[a], ny[b]);
    }
    template <class T> double sum_cells(const T& term) const { return sum(counts, rx * ry, term); }
    template <class T> double sum_rows(const T& term) const { return sum(nx, rx, term); }
    template <class T> double sum_columns(const T& term) const { return sum(ny, ry, term); }

    template <class T> static double sum(const std::int64_t* values, std::size_t n_values, const T& term) {
        double total = 0.0;
        for (std::size_t k = 0; k < n_values; ++k) total += term(values[k]);
        return total;
    }
    static std::int64_t occupied(const std::int64_t* margin, std::uint32_t card) {
        return std::count_if(margin, margin + card, [](std::int64_t m) { return m != 0; });
    }
};

// Scores one dense table, by the binary form when it is two by two: one form per shape, so the bits agree.
template <class Visit> void visit_dense(DenseStratum table, Visit visit) {
    const std::int64_t* c = table.counts;
    if (table.rx == 2 && table.ry == 2) return visit(BinaryStratum(c[0], c[1], c[2], c[3]));
    table.sum_margins();
    visit(table);
}

// For tables with far more cells than rows: two variables of 65,535 states have 4 · 10^9 cells, but no more than N
// of them are occupied.
class SparseStratum {
public:
    struct Cell {
        std::uint64_t key;  // a * ry + b
        std::int64_t count;
    };

    SparseStratum(std::uint32_t card_x, std::uint32_t card_y) : ry_(card_y), nx_(card_x, 0), ny_(card_y, 0) {}

    void clear() {
        for (const Cell& cell : cells_) nx_[cell.key / ry_] = ny_[cell.key % ry_] = 0;
        cells_.clear();
        n = 0;
    }
    void add(std::uint32_t a, std::uint32_t b, std::int64_t times) {
        cells_.push_back({static_cast<std::uint64_t>(a) * ry_ + b, times});
    }
    void sum_margins() {
        std::sort(cells_.begin(), cells_.end(), [](const Cell& u, const Cell& v) { return u.key < v.key; });
        std::size_t kept = 0;
        for (const Cell& cell : cells_) {
            if (kept && cells_[kept - 1].key == cell.key)
                cells_[kept - 1].count += cell.count;
            else
                cells_[kept++] = cell;
        }
        cells_.resize(kept);
        states_y_.clear();
        n_rows_ = 0;
        for (const Cell& cell : cells_) {
            n_rows_ += nx_[cell.key / ry_] == 0;
            nx_[cell.key / ry_] += cell.count;
            if (ny_[cell.key % ry_] == 0) states_y_.push_back(static_cast<std::uint32_t>(cell.key % ry_));
            ny_[cell.key % ry_] += cell.count;
            n += cell.count;
        }
        std::sort(states_y_.begin(), states_y_.end());
    }
    std::int64_t first_cell() const { return !cells_.empty() && cells_[0].key == 0 ? cells_[0].count : 0; }
    double adjusted_dof() const {
        return (static_cast<double>(n_rows_) - 1.0) * (static_cast<double>(states_y_.size()) - 1.0);
    }
    template <class F> void cells(F visit) const {
        for (const Cell& cell : cells_) visit(cell.count, nx_[cell.key / ry_], ny_[cell.key % ry_]);
    }
    template <class T> double sum_cells(const T& term) const {
        double total = 0.0;
        for (const Cell& cell : cells_) total += term(cell.count);
        return total;
    }
    template <class T> double sum_rows(const T& term) const {
        double total = 0.0;
        for (std::size_t k = 0; k < cells_.size(); ++k)
            if (k == 0 || cells_[k].key / ry_ != cells_[k - 1].key / ry_) total += term(nx_[cells_[k].key / ry_]);
        return total;
    }
    template <class T> double sum_columns(const T& term) const {
        double total = 0.0;
        for (const std::uint32_t b : states_y_) total += term(ny_[b]);
        return total;
    }

    std::int64_t n = 0;

private:
    std::uint64_t ry_;
    std::int64_t n_rows_ = 0;
    std::vector<Cell> cells_;
    std::vector<std::int64_t> nx_, ny_;
    std::vector<std::uint32_t> states_y_;
};

// Counting row by row, one y at a time: the path of repeats, of many states, of single questions.

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
    // `ys`: the columns needed later; decides whether row lists are made.
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
