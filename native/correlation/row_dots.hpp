// Products of rows, summed in one order: the same bits for any block, any number of threads and any library of BLAS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mnlearn {

// Rows of two matrices, each `length` numbers wide; out[k] = Σ a[is[k]] b[js[k]].
struct RowPairs {
    const double *a, *b;
    std::size_t length;
    std::span<const std::int32_t> is, js;
};
void row_dots(const RowPairs& pairs, double* out);

}  // namespace mnlearn
