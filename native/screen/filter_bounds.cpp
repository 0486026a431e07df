#include "screen/filter_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace mnlearn {
namespace {

constexpr std::size_t kMostCells = 9;

double excess_factor(double m) { return 1.0 + m / 3.0 + 2.0 * m * m / 3.0; }

// Two by two: all cells have the same |o − e|, at most sqrt(X² e) of the rarest. So the others deviate little where the
// rarest is very rare.
StatisticBound with_rarest_apart(std::span<const double> x, std::span<const SizeRange> y, double n_rows, double g2) {
    const double rarest = x[0] * y[0].high / n_rows;
    const double next = std::min(x[0] * y[1].low, x[1] * y[0].low) / n_rows;
    const double factor = excess_factor(std::sqrt(g2 * rarest) / next);
    return {1.0 / factor, rarest / factor};
}

}  // namespace

StatisticBound likelihood_bound(std::span<const double> x, std::span<const SizeRange> y, double n_rows, double g2) {
    struct Cell {
        double steady;  // u² is at most X² over this
        double high;    // largest expected count
    };
    std::array<Cell, kMostCells> cells;
    std::size_t n_cells = 0;
    for (const double r : x)
        for (const SizeRange& c : y) {
            const double free = (1.0 - r / n_rows) * (1.0 - c.low / n_rows);
            cells[n_cells++] = {r * c.low / (n_rows * free), r * c.high / n_rows};
        }
    std::sort(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(n_cells),
              [](const Cell& a, const Cell& b) { return a.steady < b.steady; });
    StatisticBound best{0.5, 0.0};
    const auto take = [&](const StatisticBound& bound) {
        if (bound.slope * g2 - bound.offset > best.slope * g2 - best.offset) best = bound;
    };
    double apart = 0.0;
    for (std::size_t k = 0; k < n_cells && apart < 0.5 * g2; apart += cells[k++].high) {
        const double factor = excess_factor(std::sqrt(g2 / cells[k].steady));
        take({1.0 / factor, apart / factor});
    }
    if (x.size() == 2 && y.size() == 2) take(with_rarest_apart(x, y, n_rows, g2));
    return best;
}

}  // namespace mnlearn
