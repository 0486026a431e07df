// Cholesky factors of small symmetric matrices and what follows from them, in one order of steps everywhere. Matrices
// are stored by rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

// Cholesky with pivots, the largest remaining diagonal first, the first of equals, until it is `least` or less: returns
// the rank; the factor's first `rank` columns and the order of the variables. `matrix` is overwritten.
std::size_t pivoted_cholesky(double* matrix, std::size_t n, double least, std::int64_t* order);

// Solves L X = B for a lower triangular L of n rows; B has n rows of `width` numbers and is overwritten.
void solve_lower(const double* lower, std::size_t n, double* block, std::size_t width);

// Replaces a positive definite matrix by its inverse; by NaN where it is not positive definite.
void invert_positive(double* matrix, std::size_t n);

}  // namespace mnlearn
