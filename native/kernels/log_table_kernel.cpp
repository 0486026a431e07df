// The look-ups of binary tables. With few rows for many y it pays to fold c[k] + c[n − k] into one table first: three
// look-ups a y instead of six.
#include "kernels/binary_scores.hpp"
#include "kernels/pair_scores.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {

void fold(const double* table, std::uint32_t n, double* folded) {
    for (std::uint32_t k = 0; k <= n; ++k) folded[k] = table[k] + table[n - k];
}

void look_up_folded(const BinaryRow& row) {
    const std::uint32_t n = row.n0 + row.n1;
    double *zeros = row.folded, *ones = zeros + row.n0 + 1, *margins = ones + row.n1 + 1;
    fold(row.cell, row.n0, zeros);
    fold(row.cell, row.n1, ones);
    fold(row.column, n, margins);
    for (std::size_t k = 0; k < row.n_ys; ++k) {
        const std::uint32_t a = row.zero[k], b = row.one[k];
        row.values[k] = row.base + ((zeros[a] + ones[b]) - margins[a + b]);
    }
}

void look_up_each(const BinaryRow& row) {
    const std::uint32_t n = row.n0 + row.n1;
    const double *cell = row.cell, *column = row.column;
    for (std::size_t k = 0; k < row.n_ys; ++k) {
        const std::uint32_t a = row.zero[k], b = row.one[k];
        const double cells = (cell[a] + cell[row.n0 - a]) + (cell[b] + cell[row.n1 - b]);
        row.values[k] = row.base + (cells - (column[a + b] + column[n - a - b]));
    }
}

}  // namespace

void look_up(const BinaryRow& row) {
    const std::size_t entries = 2 * (static_cast<std::size_t>(row.n0) + row.n1) + 3;
    if (entries <= 2 * row.n_ys && entries <= kMaxFolded)
        look_up_folded(row);
    else
        look_up_each(row);
}

namespace {

// Two y at a time; each load is one number.
using Two = Vec<double, 2>;

template <class Cells> MNLEARN_INLINE inline void look_up_two(const PairRow& row, Cells cells) {
    double* values = row.values;
    const double* margin = row.margin;
    const double base = row.base;
    std::size_t k = 0;
    for (; k + 2 <= row.n_ys; k += 2) {
        const std::ptrdiff_t a = row.counts[k], b = row.totals[k] - row.counts[k];
        const std::ptrdiff_t c = row.counts[k + 1], d = row.totals[k + 1] - row.counts[k + 1];
        const Two value = base + (cells(a, b, c, d) - Two{margin[k], margin[k + 1]});
        values[k] = value[0];
        values[k + 1] = value[1];
    }
    if (k == row.n_ys) return;
    const std::ptrdiff_t a = row.counts[k], b = row.totals[k] - row.counts[k];
    values[k] = base + (cells(a, b, a, b)[0] - margin[k]);
}

void look_up_pairs_folded(const PairRow& row) {
    const double *zeros = row.folded, *ones = zeros + row.n0 + 1;
    look_up_two(row, [=](std::ptrdiff_t a, std::ptrdiff_t b, std::ptrdiff_t c, std::ptrdiff_t d) {
        return Two{zeros[a], zeros[c]} + Two{ones[b], ones[d]};
    });
}

void look_up_pairs_each(const PairRow& row) {
    const double *cell = row.cell, *cell_0 = cell + row.n0, *cell_1 = cell + row.n1;
    look_up_two(row, [=](std::ptrdiff_t a, std::ptrdiff_t b, std::ptrdiff_t c, std::ptrdiff_t d) {
        return (Two{cell[a], cell[c]} + Two{cell_0[-a], cell_0[-c]}) +
               (Two{cell[b], cell[d]} + Two{cell_1[-b], cell_1[-d]});
    });
}

}  // namespace

void look_up_pairs(const PairRow& row) {
    if (folds(row))
        look_up_pairs_folded(row);
    else
        look_up_pairs_each(row);
}

}  // namespace mnlearn
