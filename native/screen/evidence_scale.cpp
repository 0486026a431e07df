#include "screen/evidence_scale.hpp"

#include <algorithm>
#include <cmath>

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
    const double spread = 2.0 / (9.0 * dof), z = (std::cbrt(statistic / dof) - (1.0 - spread)) / std::sqrt(spread);
    return z > 0.0 ? log_tail(z * z, 1.0) - std::log(2.0) : std::log1p(-0.5 * std::exp(log_tail(z * z, 1.0)));
}

}  // namespace

// log Pr[chi²(1) > z²] is concave and falls in z, and sqrt(statistic) lies beyond the solution: Newton's steps come
// down to it without passing it.
double one_dof_equivalent(double statistic, double dof) {
    if (!(statistic > 0.0) || !(dof >= 1.0)) return 0.0;
    if (dof == 1.0 || std::isinf(statistic)) return statistic;
    const double wanted = dof <= kMostDof ? log_tail(statistic, dof) : log_tail_of_many(statistic, dof);
    double z = std::sqrt(statistic);
    for (int step = 0; step < 60; ++step) {
        const double here = log_tail(z * z, 1.0);
        const double log_slope = -0.5 * z * z - kHalfLogHalfPi - here;  // of −d log Pr / dz
        const double next = z - (wanted - here) / std::exp(log_slope);
        if (!(next > 0.0)) return 0.0;
        if (!(next < z) || z - next < 1e-13 * z) return next < z ? next * next : z * z;
        z = next;
    }
    return z * z;
}

LeastStatistic::LeastStatistic(double dof) {
    if (dof == 1.0) return;
    for (int k = 0; k < kSteps; ++k)
        equivalents_.push_back(static_cast<float>(one_dof_equivalent(static_cast<double>(k) * kStep, dof)));
}

// A statistic is at least its equivalent; that much is known beyond the table too.
float LeastStatistic::operator()(float equivalent) const {
    if (equivalents_.empty()) return equivalent;
    const auto above = std::upper_bound(equivalents_.begin(), equivalents_.end(), equivalent * (1.0f - 1e-6f));
    const auto below = static_cast<float>(above - equivalents_.begin() - 1) * kStep;
    return std::max(equivalent * (1.0f - 1e-6f), below);
}

}  // namespace mnlearn
