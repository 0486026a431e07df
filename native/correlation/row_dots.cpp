#include "correlation/row_dots.hpp"

namespace mnlearn {
namespace {

// Eight sums side by side, which compilers turn into vectors without changing the order.
double dot(const double* a, const double* b, std::size_t length) {
    constexpr std::size_t kSums = 8;
    double sums[kSums] = {};
    std::size_t row = 0;
    for (; row + kSums <= length; row += kSums)
        for (std::size_t k = 0; k < kSums; ++k) sums[k] += a[row + k] * b[row + k];
    for (std::size_t k = 0; row + k < length; ++k) sums[k] += a[row + k] * b[row + k];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

void row_dots(const RowPairs& pairs, double* out) {
    for (std::size_t k = 0; k < pairs.is.size(); ++k)
        out[k] = dot(pairs.a + static_cast<std::size_t>(pairs.is[k]) * pairs.length,
                     pairs.b + static_cast<std::size_t>(pairs.js[k]) * pairs.length, pairs.length);
}

}  // namespace mnlearn
