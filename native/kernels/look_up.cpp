// The look-ups of binary tables. With few rows for many y it pays to fold c[k] + c[n − k] into one table first: three
// look-ups a y instead of six.
#include "kernels/binary_scores.hpp"

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

}  // namespace mnlearn
