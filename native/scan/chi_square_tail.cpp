#include "scan/chi_square_tail.hpp"

#include <cmath>
#include <limits>

#include "numbers/elementary.hpp"

namespace mnlearn {
namespace {

constexpr double kStirlingFrom = 20.0;
constexpr double kHalfLog2Pi = 0.91893853320467274178;
constexpr double kSmallestDirect = 1e-290;  // below it the complement nears the subnormal numbers
constexpr int kMaxTerms = 20'000;           // never reached for at most 40,000 degrees of freedom

// log(1 + u) − u, which cancels for small u when it is computed as it is written.
double log1p_minus(double u) {
    if (u > 1.0 || u < -0.5) return elementary::log1p(u) - u;
    const double s = u / (2.0 + u), square = s * s;  // log(1 + u) = 2 artanh(s), and 2 s − u = −u s
    double odd = 0.0;
    for (int k = 35; k > 1; k -= 2) odd = odd * square + 1.0 / k;  // |s| <= 1/3: what is left out is below 1e-18
    return 2.0 * s * square * odd - u * s;
}

// log(x^a e^−x / Γ(a)); from a = 20 on by Stirling's series, so that nothing large cancels.
double log_front(double a, double x) {
    if (a < kStirlingFrom) return a * elementary::log(x) - x - elementary::log_gamma(a);
    const double inverse = 1.0 / a, square = inverse * inverse;
    const double remainder =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    const double main = x < 0.5 * a ? a * elementary::log(x / a) - (x - a) : a * log1p_minus((x - a) / a);
    return main + (0.5 * elementary::log(a) - kHalfLog2Pi - remainder);
}

// P(a, x) Γ(a) / (x^a e^−x) = 1/a + x/(a(a+1)) + ...; for x < a + 1, where the terms fall.
double series(double a, double x) {
    double term = 1.0 / a, total = term;
    for (int k = 1; k < kMaxTerms && term > total * 1e-17; ++k) {
        term *= x / (a + k);
        total += term;
    }
    return total;
}

// Q(a, x) Γ(a) / (x^a e^−x): Legendre's continued fraction by Lentz's method; for x >= a + 1.
double fraction(double a, double x) {
    double b = x - a + 1.0, d = 1.0 / b, c = std::numeric_limits<double>::infinity(), value = d;
    for (int n = 1; n < kMaxTerms; ++n) {
        b += 2.0;
        d = 1.0 / (b + (a - n) * (n * d));
        c = b + (a - n) * (n / c);
        const double step = c * d;
        value *= step;
        if (std::abs(step - 1.0) <= 1e-15) break;
    }
    return value;
}

// One degree of freedom: the square of a normal.
double log_tail_of_square(double x) {
    const double z = std::sqrt(x);
    if (z < 0.5) return elementary::log1p(-elementary::erf(z));
    const double q = elementary::erfc(z);
    return q > kSmallestDirect ? elementary::log(q) : log_front(0.5, x) + elementary::log(fraction(0.5, x));
}

// log Q(a, x) with a = dof / 2, x = statistic / 2.
double log_tail(double statistic, double dof) {
    if (std::isnan(statistic) || !(dof >= 0.0)) return std::numeric_limits<double>::quiet_NaN();
    if (statistic <= 0.0 || dof == 0.0 || std::isinf(dof)) return 0.0;
    if (dof < 1.0 || dof > kMostDof) return std::numeric_limits<double>::quiet_NaN();
    const double a = 0.5 * dof, x = 0.5 * statistic;
    if (std::isinf(x)) return -x;
    if (dof == 1.0) return log_tail_of_square(x);
    if (x >= a + 1.0) return log_front(a, x) + elementary::log(fraction(a, x));
    return elementary::log1p(-elementary::exp(log_front(a, x)) * series(a, x));
}

}  // namespace

bool log_chi2_tails(const double* statistic, const double* dof, std::size_t n, double* out) {
    bool all = true;
    for (std::size_t k = 0; k < n; ++k) {
        const double log_p = log_tail(statistic[k], dof[k]);
        out[k] = log_p < 0.0         ? log_p
                 : log_p + 0.0 > 0.0 ? 0.0
                                     : log_p + 0.0;  // at most 0, no negative zeros, NaN stays
        all &= !std::isnan(log_p);
    }
    return all;
}

}  // namespace mnlearn
