// Numbers as the sum of two doubles, the second below half a unit of the first: about 32 digits (Dekker, Knuth).
#pragma once

#include <bit>
#include <cstdint>

namespace mnlearn::elementary {

struct TwoDoubles {
    double high, low;
    double sum() const { return high + low; }
};

inline TwoDoubles quick_sum(double a, double b) {  // exact for |a| >= |b| or a = 0
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

inline TwoDoubles exact_sum(double a, double b) {
    const double sum = a + b, of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

inline double upper_half(double a) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & ~0x7ffffffull); }

inline TwoDoubles exact_product(double a, double b) {  // unless it overflows, or its low part is subnormal
    const double product = a * b, a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
    return {product, ((a1 * b1 - product) + (a1 * b2 + a2 * b1)) + a2 * b2};
}

inline TwoDoubles operator*(const TwoDoubles& a, double b) {
    const TwoDoubles product = exact_product(a.high, b);
    return quick_sum(product.high, product.low + a.low * b);
}

inline TwoDoubles operator*(const TwoDoubles& a, const TwoDoubles& b) {
    const TwoDoubles product = exact_product(a.high, b.high);
    return quick_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline TwoDoubles operator+(const TwoDoubles& a, const TwoDoubles& b) {
    const TwoDoubles sum = exact_sum(a.high, b.high);
    return quick_sum(sum.high, sum.low + (a.low + b.low));
}

inline TwoDoubles operator-(const TwoDoubles& a) { return {-a.high, -a.low}; }

}  // namespace mnlearn::elementary
