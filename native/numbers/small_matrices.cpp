#include "numbers/small_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mnlearn {
namespace {

void swap_symmetric(double* matrix, std::size_t n, std::size_t j, std::size_t pivot) {
    if (j == pivot) return;
    std::swap_ranges(matrix + j * n, matrix + (j + 1) * n, matrix + pivot * n);
    for (std::size_t i = 0; i < n; ++i) std::swap(matrix[i * n + j], matrix[i * n + pivot]);
}

}  // namespace

std::size_t pivoted_cholesky(double* matrix, std::size_t n, double least, std::int64_t* order) {
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int64_t>(i);
    std::size_t rank = 0;
    for (; rank < n; ++rank) {
        const std::size_t j = rank;
        std::size_t pivot = j;
        for (std::size_t i = j + 1; i < n; ++i)
            if (matrix[i * n + i] > matrix[pivot * n + pivot]) pivot = i;
        if (!(matrix[pivot * n + pivot] > least)) break;
        swap_symmetric(matrix, n, j, pivot);
        std::swap(order[j], order[pivot]);
        double* row = matrix + j * n;
        const double diagonal = row[j] = std::sqrt(row[j]);
        for (std::size_t i = j + 1; i < n; ++i) row[i] /= diagonal;
        for (std::size_t i = j + 1; i < n; ++i) {  // what is left of the rows below, by the part right of the diagonal
            double* other = matrix + i * n;
            const double share = other[j] = row[i];
            for (std::size_t k = j + 1; k < n; ++k) other[k] -= share * row[k];
        }
    }
    for (std::size_t i = 0; i < n; ++i) std::fill(matrix + i * n + std::min(i + 1, rank), matrix + (i + 1) * n, 0.0);
    return rank;
}

void solve_lower(const double* lower, std::size_t n, double* block, std::size_t width) {
    for (std::size_t i = 0; i < n; ++i) {
        double* row = block + i * width;
        for (std::size_t j = 0; j < i; ++j) {
            const double share = lower[i * n + j];
            const double* above = block + j * width;
            for (std::size_t k = 0; k < width; ++k) row[k] -= share * above[k];
        }
        for (std::size_t k = 0; k < width; ++k) row[k] /= lower[i * n + i];
    }
}

void invert_positive(double* matrix, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {  // the factor, in the lower half
        const double left = matrix[j * n + j];
        if (!(left > 0.0)) {
            std::fill_n(matrix, n * n, std::numeric_limits<double>::quiet_NaN());
            return;
        }
        const double diagonal = matrix[j * n + j] = std::sqrt(left);
        for (std::size_t i = j + 1; i < n; ++i) matrix[i * n + j] /= diagonal;
        for (std::size_t i = j + 1; i < n; ++i)
            for (std::size_t k = j + 1; k <= i; ++k) matrix[i * n + k] -= matrix[i * n + j] * matrix[k * n + j];
    }
    std::vector<double> inverse(n * n, 0.0);  // of the factor
    for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 1.0;
    solve_lower(matrix, n, inverse.data(), n);
    std::fill_n(matrix, n * n, 0.0);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i <= k; ++i)
            for (std::size_t j = 0; j <= k; ++j) matrix[i * n + j] += inverse[k * n + i] * inverse[k * n + j];
}

}  // namespace mnlearn
