#include "screen/evidence_scale.hpp"

#include <algorithm>
#include <cmath>

#include "numbers/elementary.hpp"
#include "scan/chi_square_tail.hpp"

namespace mnlearn {
namespace {

constexpr double kHalfLogHalfPi = 0.22579135264472743236;  // log(sqrt(pi / 2))

double log_tail(double statistic, double dof) {
    double log_p = 0.0;
    log_chi2_tails(&statistic, &dof, 1, &log_p);
    return log_p;
}

// log Pr[chi²(dof) > statistic] for more degrees of freedom than the series serve: the cube root is nearly normal.
double log_tail_of_many(double statistic, double dof) {
    const double spread = 2.0 / (9.0 * dof),
                 z = (elementary::cbrt(statistic / dof) - (1.0 - spread)) / std::sqrt(spread);
    return z > 0.0 ? log_tail(z * z, 1.0) - elementary::log(2.0)
                   : elementary::log1p(-0.5 * elementary::exp(log_tail(z * z, 1.0)));
}

// log Pr[chi²(dof) > statistic]; for few even degrees of freedom by its finite sum.
double log_p_value(double statistic, double dof) {
    const double x = 0.5 * statistic;
    if (dof == 2.0) return -x;
    if (dof == 4.0) return elementary::log1p(x) - x;
    return dof <= kMostDof ? log_tail(statistic, dof) : log_tail_of_many(statistic, dof);
}

// −d log Pr[chi²(1) > z²] / dz, given that logarithm.
double hazard(double z, double log_p) { return elementary::exp(-0.5 * z * z - kHalfLogHalfPi - log_p); }

// log Pr[chi²(1) > z²] is concave and falls in z, and the start lies beyond the solution: Newton's steps come down to
// it without passing it.
double solve_from_above(double z, double log_p) {
    for (int step = 0; step < 60; ++step) {
        const double here = log_tail(z * z, 1.0), next = z - (log_p - here) / hazard(z, here);
        if (!(next > 0.0)) return 0.0;
        if (!(next < z) || z - next < 1e-13 * z) return next < z ? next : z;
        z = next;
    }
    return z;
}

// For small probabilities: Pr = sqrt(2 / π) exp(−z² / 2) / z nearly, then two of Halley's steps, which triple the
// digits.
double solve_small(double log_p) {
    const double a = -2.0 * (log_p + kHalfLogHalfPi), rough = a - elementary::log(a),
                 better = a - elementary::log(rough);
    double z = std::sqrt(better - 2.0 / better);
    for (int step = 0; step < 2; ++step) {
        const double here = log_tail(z * z, 1.0), slope = hazard(z, here), newton = (here - log_p) / slope;
        z += newton / (1.0 + 0.5 * newton * (slope - z));
    }
    return z;
}

double solved_equivalent(double statistic, double dof) {
    constexpr double kSmall = -4.0;
    const double log_p = log_p_value(statistic, dof);
    const double z = log_p < kSmall ? solve_small(log_p) : solve_from_above(std::sqrt(statistic), log_p);
    return z * z;
}

// The equivalents of two or four degrees of freedom, those of three states, by cubic interpolation: right to 1e-8. A
// solution takes 20 times as long, and a screen needs one for every pair that it lists.
class EquivalentTable {
public:
    explicit EquivalentTable(double dof) {
        for (std::size_t k = 0; k <= kSteps; ++k) {
            const double s = kFirst + static_cast<double>(k) * kStep, e = solved_equivalent(s, dof);
            // Equal tails have equal densities, but for the scale: f_dof(s) ds = f_1(e) de.
            const double log_density =
                dof == 2.0 ? -0.5 * s - elementary::log(2.0) : -0.5 * s + elementary::log(0.25 * s);
            const double log_density_of_one = -0.5 * e - 0.5 * elementary::log(kTwoPi * e);
            knots_.push_back({e, kStep * elementary::exp(log_density - log_density_of_one)});
        }
    }
    static bool covers(double statistic) { return statistic >= kFirst && statistic < kFirst + kSteps * kStep; }
    double operator()(double statistic) const {
        const double place = (statistic - kFirst) / kStep;
        const auto k = static_cast<std::size_t>(place);
        const double t = place - static_cast<double>(k), u = 1.0 - t;
        const Knot &a = knots_[k], &b = knots_[k + 1];
        return (a.value * (1.0 + 2.0 * t) + a.slope * t) * (u * u) +
               (b.value * (1.0 + 2.0 * u) - b.slope * u) * (t * t);
    }

private:
    struct Knot {
        double value, slope;
    };
    static constexpr double kFirst = 4.0, kStep = 1.0 / 8.0, kTwoPi = 6.283185307179586477;
    static constexpr std::size_t kSteps = 4096;
    std::vector<Knot> knots_;
};

}  // namespace

double one_dof_equivalent(double statistic, double dof) {
    if (!(statistic > 0.0) || !(dof >= 1.0)) return 0.0;
    if (dof == 1.0 || std::isinf(statistic)) return statistic;
    if ((dof == 2.0 || dof == 4.0) && EquivalentTable::covers(statistic)) {
        static const EquivalentTable of_two(2.0), of_four(4.0);
        return (dof == 2.0 ? of_two : of_four)(statistic);
    }
    return solved_equivalent(statistic, dof);
}

// A statistic is at least its equivalent, so the search for each begins where that for the one before has ended.
LeastStatistic::LeastStatistic(double dof) {
    if (dof == 1.0) return;
    double statistic = 0.0;
    for (std::size_t k = 0; k < kSteps; ++k) {
        const double equivalent = static_cast<double>(k) * kStep;
        while (one_dof_equivalent(statistic + kStep, dof) <= equivalent * (1.0 - 1e-6)) statistic += kStep;
        statistics_.push_back(static_cast<float>(statistic));
    }
}

float LeastStatistic::operator()(float equivalent) const {
    if (statistics_.empty() || !(equivalent >= 0.0f)) return equivalent * (1.0f - 1e-6f);
    const auto place = static_cast<std::size_t>(std::min(equivalent / kStep, static_cast<float>(kSteps - 1)));
    return std::max(equivalent * (1.0f - 1e-6f), statistics_[place]);
}

float LeastStatistics::operator()(float equivalent, double dof) const {
    if (dof < 1.0 || dof > static_cast<double>(kFew)) return equivalent * (1.0f - 1e-6f);
    const auto place = static_cast<std::size_t>(dof);
    std::call_once(made_[place], [&] { of_few_[place] = std::make_unique<const LeastStatistic>(dof); });
    return (*of_few_[place])(equivalent);
}

}  // namespace mnlearn
