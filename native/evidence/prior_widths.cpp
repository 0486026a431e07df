#include "evidence/prior_widths.hpp"

#include <algorithm>

#include "evidence/pairwise_model.hpp"
#include "numbers/elementary.hpp"
#include "scan/ties.hpp"

namespace mnlearn {

namespace {

double mean_square(const BlockPosterior& posterior, std::size_t block) {
    const std::size_t first = posterior.starts[block], end = posterior.starts[block + 1];
    double sum = 0.0;
    for (std::size_t j = first; j < end; ++j) sum += posterior.mean[j] * posterior.mean[j];
    return end > first ? sum / static_cast<double>(end - first) : 0.0;
}

// (U')^-1 times the rows, which are overwritten.
void solve_rows(const std::vector<double>& upper, std::size_t size, std::vector<double>& rows, std::size_t width) {
    for (std::size_t j = 0; j < size; ++j)
        for (std::size_t c = 0; c < width; ++c) {
            double value = rows[j * width + c];
            for (std::size_t k = 0; k < j; ++k) value -= upper[k * size + j] * rows[k * width + c];
            rows[j * width + c] = value / upper[j * size + j];
        }
}

// The mean of N(w; 0, I / precision) / N(w; 0, I) over the posterior, if its log exceeds the price; then the posterior
// is that under the wide prior. With the covariance C of the block: I - (1 - precision) C = U'U.
bool widen(const ConditionalKernels& kernels, BlockPosterior& posterior, std::size_t block, double precision,
           double price) {
    const std::size_t first = posterior.starts[block], size = posterior.starts[block + 1] - first;
    const std::size_t all = posterior.mean.size(), width = all + 1;
    const double less = 1.0 - precision;
    std::vector<double> upper(size * size), rows(size * width);  // the covariance with all weights, and the mean
    for (std::size_t j = 0; j < size; ++j) {
        const double* row = posterior.covariance.data() + (first + j) * all;
        for (std::size_t k = 0; k < size; ++k) upper[j * size + k] = (j == k ? 1.0 : 0.0) - less * row[first + k];
        std::copy_n(row, all, rows.begin() + static_cast<std::ptrdiff_t>(j * width));
        rows[j * width + all] = posterior.mean[first + j];
    }
    if (!kernels.factorise(upper.data(), size)) return false;
    solve_rows(upper, size, rows, width);
    double square = 0.0;
    for (std::size_t j = 0; j < size; ++j) square += rows[j * width + all] * rows[j * width + all];
    const double prior = static_cast<double>(size) * elementary::log(precision);
    if (!exceeds(0.5 * (prior - log_determinant(upper.data(), size) + less * square), price)) return false;
    for (std::size_t j = 0; j < size; ++j) {
        const double* row = rows.data() + j * width;
        for (std::size_t a = 0; a < all; ++a) {
            posterior.mean[a] += less * row[a] * row[all];
            for (std::size_t b = 0; b < all; ++b) posterior.covariance[a * all + b] += less * row[a] * row[b];
        }
    }
    return true;
}

}  // namespace

std::vector<std::size_t> worth_widening(const ConditionalKernels& kernels, BlockPosterior posterior, double precision,
                                        double price, double small) {
    const std::size_t n = posterior.starts.size() - 1;
    std::vector<char> tried(n, 0);
    std::vector<std::size_t> found;
    for (;;) {
        double largest = small;
        std::size_t next = n;
        for (std::size_t i = 0; i < n; ++i)
            if (const double square = mean_square(posterior, i); !tried[i] && exceeds(square, largest))
                largest = square, next = i;
        if (next == n) return found;
        tried[next] = 1;
        if (widen(kernels, posterior, next, precision, price)) found.push_back(next);
    }
}

}  // namespace mnlearn
