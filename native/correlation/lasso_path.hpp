// The lasso path by least angles, from second moments: Efron, Hastie, Johnstone & Tibshirani, Annals of Statistics 32
// (2004), 407-499.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mnlearn {

// Minimises w'Gw / 2 − c'w + λ Σ |w_j| for falling λ. Between two knots the weights are linear in λ; at each a variable
// comes in, or one whose weight has become 0 leaves.
class LassoPath {
public:
    // gram: symmetric, by rows; shared: c. Only variables in `allowed` may come in. All must outlive the path.
    LassoPath(std::size_t n, const double* gram, const double* shared, std::span<const std::int32_t> allowed);

    // Goes on to the next knot, but to no penalty below `smallest`; false at the end of the path.
    bool next(double smallest);

    double penalty() const { return penalty_; }
    // Those that have come in, in order of entry, and their weights; below rounding they are 0.
    std::span<const std::int32_t> active() const { return active_; }
    double weight(std::size_t place) const;

private:
    bool enter(std::int32_t v);
    void leave(std::size_t place);
    bool append_row(std::size_t place);
    void find_direction();
    void move(double step);

    std::size_t n_;
    const double* gram_;
    double penalty_ = 0.0;
    std::vector<double> covariance_;  // of each variable with what the weights leave
    std::vector<std::uint8_t> open_;  // whether it may come in
    std::vector<std::int32_t> active_;
    std::vector<double> weights_, signs_, direction_;
    std::vector<std::vector<double>> factor_;  // Cholesky factor of the active ones, row by row
    std::vector<double> slope_;                // of the covariances along the direction
    std::int32_t next_in_ = -1, last_out_ = -1;
};

// The set along the path of x in a correlation matrix with the least N log σ² + |J| price, each fitted without penalty;
// the first of equals. The path ends after `patience` new sets in a row that are no better, or beyond `most` members.
struct LassoChoice {
    std::vector<std::int32_t> members;  // ascending
    std::int64_t n_sets = 1;            // that were fitted
};
struct LassoCriterion {
    double n_rows, price;
    std::size_t most, patience;
    double explained;  // a smaller share of a variance counts as this much
};
LassoChoice best_on_path(std::size_t n, const double* correlation, std::int32_t x,
                         std::span<const std::int32_t> allowed, const LassoCriterion& criterion);

}  // namespace mnlearn
