#include "blankets/local_score.hpp"

#include <algorithm>

#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

constexpr double kMostConfigurations = 1e280;  // more count as this many, never infinite

}  // namespace

double LocalScore::configurations(std::span<const std::int32_t> z) const {
    double n = 1.0;
    if (!weights.empty())
        for (const std::int32_t v : z) n *= cards[static_cast<std::size_t>(v)];
    return std::min(n, kMostConfigurations);
}

double LocalScore::finished(std::int32_t x, double value, double n_configurations, std::size_t size) const {
    const double fit = scale * value;
    if (weights.empty()) return fit + log_prior[size];
    return fit - weights[static_cast<std::size_t>(x)] * std::min(n_configurations, kMostConfigurations) +
           log_prior[size];
}

double LocalScore::local(std::int32_t x, std::span<const std::int32_t> z) const {
    double value;
    run_scan(*store, kernel, x, std::span(&kConstant, 1), z, 1, &value);
    return finished(x, value, configurations(z), z.size());
}

void LocalScore::additions(std::int32_t x, std::span<const std::int32_t> z, std::span<const std::int32_t> ys,
                           double* out) const {
    run_scan(*store, kernel, x, ys, z, 1, out);
    const double before = configurations(z);
    for (std::size_t j = 0; j < ys.size(); ++j)
        out[j] =
            finished(x, out[j], weights.empty() ? 1.0 : before * cards[static_cast<std::size_t>(ys[j])], z.size() + 1);
}

void LocalScore::removals(std::int32_t x, std::span<const std::int32_t> z, double* out) const {
    scan_without_member(*store, kernel, {x, {}, z, out});
    std::vector<std::int32_t> others(z.begin() + (z.empty() ? 0 : 1), z.end());
    for (std::size_t j = 0; j < z.size(); ++j) {
        out[j] = finished(x, out[j], configurations(others), z.size() - 1);
        if (j < others.size()) others[j] = z[j];
    }
}

std::vector<double> local_scores(const LocalScore& score, std::span<const std::int32_t> xs, const Lists& blankets,
                                 int n_threads) {
    constexpr std::size_t kTogether = 64;
    std::vector<double> found(xs.size());
    parallel_for((xs.size() + kTogether - 1) / kTogether, n_threads, [&](std::size_t piece) {
        std::vector<std::int32_t> z;
        for (std::size_t k = piece * kTogether; k < std::min((piece + 1) * kTogether, xs.size()); ++k) {
            z.assign(blankets[k].begin(), blankets[k].end());
            std::sort(z.begin(), z.end());
            found[k] = score.local(xs[k], z);
        }
    });
    return found;
}

}  // namespace mnlearn
