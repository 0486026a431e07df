#include "numbers/elementary.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "numbers/constants.hpp"
#include "numbers/two_doubles.hpp"

namespace mnlearn::elementary {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestNormal = 0x1p-1022;

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
double power_of_two(std::int64_t k) { return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52); }

// x 2^k, rounded once, for a result that may be subnormal or overflow.
double scaled(double x, std::int64_t k) {
    if (k >= -1021 && k <= 1023) return x * power_of_two(k);
    return k > 0 ? x * 0x1p1023 * power_of_two(k - 1023) : x * power_of_two(k + 100) * 0x1p-100;
}

// Σ c[k] x^k.
template <std::size_t N> double series(const double (&c)[N], double x, std::size_t first = 0) {
    double sum = c[N - 1];
    for (std::size_t k = N - 1; k-- > first;) sum = sum * x + c[k];
    return sum;
}

// --- exp ---

// x = m log(2) / 64 + r with |r| <= log(2) / 128, and exp(r) − 1 − r.
struct Reduced {
    std::int64_t m;
    double r, rest;  // r and what its rounding lost
    double above;
    const double* power() const { return kPowers[m & 63]; }
    std::int64_t exponent() const { return m >> 6; }
};

Reduced reduce(double x) {
    constexpr double kRounder = 0x1.8p52;  // adding it leaves a whole number in the low bits
    const double shifted = x * kSteps + kRounder, m = shifted - kRounder;
    const double near = x - m * kStep, little = m * kStepRest, r = near - little;
    const double square = r * r;
    const double above =
        square * ((0.5 + r * (1.0 / 6)) + square * ((1.0 / 24 + r * (1.0 / 120)) + square * (1.0 / 720)));
    return {static_cast<std::int64_t>(m), r, (near - r) - little, above};
}

// exp(x) = the sum times 2^k, for |x| below 2^20.
TwoDoubles exp_in_parts(double x, std::int64_t& k) {
    const Reduced at = reduce(x);
    const double* power = at.power();
    k = at.exponent();
    return quick_sum(power[0], power[1] + power[0] * (at.r + (at.rest + at.above)));
}

// --- log ---

// x = 2^k m; the interval of m, and c m − 1 = r + rest exactly but for what `tail`, which is added to x, rounds off.
struct Mantissa {
    double k, r, rest;
    const double* entry;                                      // c and −log(c) in two parts
    double top() const { return k * kLogTwoTop + entry[1]; }  // exact
    double bottom() const { return k * kLogTwoRest + (entry[2] + rest); }
};

Mantissa split(double x, double tail = 0.0) {
    constexpr std::uint64_t kFirst = 0x3fe6000000000000;  // the bits of 11/16
    double twos = 0.0;
    if (x < kSmallestNormal) {
        x *= 0x1p54;
        twos = -54.0;
    }
    const std::uint64_t bits = bits_of(x), above = bits - kFirst;
    const std::int64_t k = static_cast<std::int64_t>(above) >> 52;
    const double m = std::bit_cast<double>(bits - (above & (0xfffull << 52)));
    const double* entry = kLogs[above >> 45 & 127];
    const double upper = upper_half(m), lower = m - upper;
    const double near = upper * entry[0] - 1.0;  // exact, as is lower * entry[0]
    double left = lower * entry[0];
    if (tail != 0.0) left += tail * power_of_two(-k) * entry[0];
    const double r = near + left;
    return {twos + static_cast<double>(k), r, (near - r) + left, entry};
}

// (log(1 + r) − r + r²/2) / r³ for |r| <= 2^−7.
double log_cubic(double r) {
    const double square = r * r, fourth = square * square;
    return ((1.0 / 3 - r * (1.0 / 4)) + square * (1.0 / 5 - r * (1.0 / 6))) +
           fourth * ((1.0 / 7 - r * (1.0 / 8)) + square * (1.0 / 9));
}

// As split(1 + x), for −1 < x < 2^60.
Mantissa split_one_plus(double x) {
    if (std::abs(x) < 0x1p-8) return {0.0, x, 0.0, kLogs[80]};  // c = 1
    const TwoDoubles sum = exact_sum(1.0, x);
    return split(sum.high, sum.low);
}

double log_of(const Mantissa& at) {
    const TwoDoubles sum = quick_sum(at.top(), at.r);
    const double square = at.r * at.r;
    return sum.high + (sum.low + (at.bottom() + square * (at.r * log_cubic(at.r) - 0.5)));
}

// With an error below 2^−70 of the larger of r and the result.
TwoDoubles log_in_parts(const Mantissa& at) {
    const TwoDoubles sum = quick_sum(at.top(), at.r), square = exact_product(at.r, at.r);
    const TwoDoubles main = quick_sum(sum.high, -0.5 * square.high);
    const double cubic = square.high * at.r * log_cubic(at.r);
    return quick_sum(main.high, main.low + (sum.low + (at.bottom() - at.r * at.rest + (cubic - 0.5 * square.low))));
}

// --- erfc ---

constexpr double kFirstTail = 0.5, kLastTail = 27.5;  // before: the series of erf; after: 0

// erfc(z) = the sum times 2^k, for z from 1/2 to 27.5.
TwoDoubles tail_in_parts(double z, std::int64_t& k) {
    constexpr std::uint64_t kFirst = 0x3fe0000000000000;  // the bits of 1/2
    const std::uint64_t part = (bits_of(z) - kFirst) >> 49;
    const double centre = std::bit_cast<double>(((part << 49) + kFirst) | std::uint64_t{1} << 48);
    const double h = z - centre, *row = kScaledTail[part];
    double rest = row[12];
    for (std::size_t n = 12; n-- > 2;) rest = rest * h + row[n];
    const TwoDoubles value = quick_sum(row[0], row[1] + h * rest), square = exact_product(z, z);
    const TwoDoubles bell = exp_in_parts(-square.high, k);
    return value * TwoDoubles{bell.high, bell.low - bell.high * square.low};
}

// --- log Γ ---

constexpr double kFirstCentre = 1.0, kSeriesBelow = 2.5625, kSeriesFrom = 0.9375, kStirlingFrom = 10.0;

// log Γ(x + tail) for x from 15/16 to 41/16; beside 1 and 2 the error is relative to the result.
TwoDoubles log_gamma_near(double x, double tail = 0.0) {
    const auto part = static_cast<std::size_t>((x - kSeriesFrom) * 8.0);
    const double centre = kFirstCentre + 0.125 * static_cast<double>(part), h = x - centre, *row = kLogGamma[part];
    double rest = row[17];
    for (std::size_t n = 17; n-- > 4;) rest = rest * h + row[n];
    const TwoDoubles line = exact_product(h, row[2]), sum = exact_sum(row[0], line.high);
    const double small = h * (row[3] + h * rest) + tail * (row[2] + 2.0 * h * rest);  // the slope at x, nearly
    return quick_sum(sum.high, sum.low + ((row[1] + line.low) + small));
}

// Stirling: (x − 1/2) log x − x + log(2π) / 2 + Σ B(2k) / (2k (2k − 1) x^(2k − 1)).
double log_gamma_far(double x) {
    const TwoDoubles log_x = log_in_parts(split(x));
    if (x > 0x1p500) {  // where products overflow; the rest is below half a unit
        const TwoDoubles less_one = log_x + TwoDoubles{-1.0, 0.0};
        return (less_one * (x * 0x1p-600)).sum() * 0x1p600;
    }
    const TwoDoubles main = log_x * x + TwoDoubles{-x, -0.5 * log_x.high};
    const double inverse = 1.0 / x;
    const double rest = kHalfLogTwoPiRest - 0.5 * log_x.low + inverse * series(kStirling, inverse * inverse);
    return (main + TwoDoubles{kHalfLogTwoPi, rest}).sum();
}

}  // namespace

double exp(double x) {
    if (!(std::abs(x) < 708.0)) {
        if (std::isnan(x)) return x;
        if (x > 709.8) return kInfinity;
        if (x < -745.2) return 0.0;
    }
    std::int64_t k;
    const TwoDoubles found = exp_in_parts(x, k);
    return scaled(found.high, k);
}

double expm1(double x) {
    if (x == 0.0) return x;                                           // also −0
    if (!(std::abs(x) < 40.0)) return x < 0.0 ? -1.0 : exp(x) - 1.0;  // the 1 is below half a unit; NaN stays
    const Reduced at = reduce(x);
    const double scale = power_of_two(at.exponent()), power = at.power()[0] * scale, rest = at.power()[1] * scale;
    const TwoDoubles whole = exact_sum(power, -1.0), line = exact_product(power, at.r);
    const TwoDoubles sum = exact_sum(whole.high, line.high);
    return sum.high + (sum.low + (whole.low + (line.low + (rest + (rest * at.r + power * (at.rest + at.above))))));
}

double log(double x) {
    if (!(x > 0.0 && x < kInfinity)) return x == 0.0 ? -kInfinity : x > 0.0 ? x : kNaN;
    return log_of(split(x));
}

double log1p(double x) {
    if (!(x > -1.0 && x < 0x1p60)) return x == -1.0 ? -kInfinity : log(x);
    return x == 0.0 ? x : log_of(split_one_plus(x));  // −0 stays
}

double log2(double x) {
    if (!(x > 0.0 && x < kInfinity)) return log(x);
    return (log_in_parts(split(x)) * TwoDoubles{kPerLogTwo, kPerLogTwoRest}).sum();
}

double atanh(double x) {
    if (!(std::abs(x) < 1.0)) return std::abs(x) == 1.0 ? std::copysign(kInfinity, x) : kNaN;
    if (std::abs(x) < 0x1p-30) return x;
    return 0.5 * (log_in_parts(split_one_plus(x)) + -log_in_parts(split_one_plus(-x))).sum();
}

double cbrt(double x) {
    if (!(std::abs(x) > 0.0 && std::abs(x) < kInfinity)) return x;
    double size = std::abs(x);
    std::int64_t third = 0;
    if (size < kSmallestNormal) {
        size *= 0x1p54;
        third = -18;
    }
    const std::int64_t exponent =
        static_cast<std::int64_t>(bits_of(size) >> 52) - 1023 + 1026;  // above 0, a multiple more
    third += exponent / 3 - 342;
    const double m = std::bit_cast<double>((bits_of(size) & ~(0x7ffull << 52)) |
                                           static_cast<std::uint64_t>(1023 + exponent % 3) << 52);  // 1 to 8
    double y = 0.75 + m * (0.3 - m * 0.0185);
    for (int step = 0; step < 2; ++step) {  // Halley
        const double cube = y * y * y;
        y *= (cube + 2.0 * m) / (2.0 * cube + m);
    }
    const TwoDoubles cube = exact_product(y, y) * y;
    y += ((m - cube.high) - cube.low) / (3.0 * y * y);
    return std::copysign(y * power_of_two(third), x);
}

double erf(double x) {
    const double z = std::abs(x);
    if (z < kFirstTail) return x + x * series(kErf, x * x);
    if (!(z < 6.0)) return std::isnan(x) ? x : std::copysign(1.0, x);
    std::int64_t k;
    const TwoDoubles tail = tail_in_parts(z, k);
    const TwoDoubles rest = quick_sum(1.0, -scaled(tail.high, k));
    return std::copysign(rest.high + (rest.low - scaled(tail.low, k)), x);
}

double erfc(double x) {
    if (std::abs(x) < kFirstTail) {
        const double more = x * series(kErf, x * x);
        const TwoDoubles rest = exact_sum(1.0, -x);
        return rest.high + (rest.low - more);
    }
    if (!(x > -6.0 && x < kLastTail)) return std::isnan(x) ? x : x < 0.0 ? 2.0 : 0.0;
    std::int64_t k;
    const TwoDoubles tail = tail_in_parts(std::abs(x), k);
    if (x > 0.0) return scaled(tail.high, k);
    const TwoDoubles rest = quick_sum(2.0, -scaled(tail.high, k));
    return rest.high + (rest.low - scaled(tail.low, k));
}

double log_gamma(double x) {
    if (!(x > 0.0)) return x == 0.0 ? kInfinity : kNaN;
    if (x >= kStirlingFrom) return x < kInfinity ? log_gamma_far(x) : x;
    if (x < kSeriesFrom) {  // log Γ(1 + x) − log x
        const TwoDoubles next = exact_sum(1.0, x);
        return (log_gamma_near(next.high, next.low) + -log_in_parts(split(x))).sum();
    }
    TwoDoubles product{1.0, 0.0};
    const bool far = x >= kSeriesBelow;
    while (x >= kSeriesBelow) {  // log Γ(x) = log Γ(x − 1) + log(x − 1)
        x -= 1.0;
        product = product * x;
    }
    const TwoDoubles near = log_gamma_near(x);
    return far ? (log_in_parts(split(product.high, product.low)) + near).sum() : near.sum();
}

}  // namespace mnlearn::elementary
