// What one more block of features would add to a fitted model, to first order; and three-way terms chosen that way.
#pragma once

#include "evidence/pairwise_model.hpp"

namespace mnlearn {

// The one-step gain of a block of features:  g' S^-1 g / 2 - ln det(S) / 2,  with g the gradient of the log posterior
// in the block's parameters at 0 and S the Schur complement of the information, prior included. The features depend on
// few states only (of y, or of a pair of neighbours), so the groups are first added up state by state.
class OneStep {
public:
    void begin(const Fit& fit, std::size_t n_features, std::size_t n_states);
    // `rows` rows of group u are in this state; surplus: Σ (C_x - mean) over them.
    void add(std::size_t u, const double* feature, std::size_t state, double rows, const double* surplus);
    double gain(const double* of_state, std::size_t block_width);  // of_state[s * block_width + e]: the features

private:
    std::size_t triangle() const { return width_ * (width_ + 1) / 2; }
    void assemble(const double* of_state, std::size_t block);

    const Fit* fit_ = nullptr;
    std::size_t n_features_ = 0, n_states_ = 0, width_ = 0;
    std::vector<double> spread_, crossed_, surplus_;  // by state; contrasts k >= l of x, packed
    std::vector<double> gradient_, schur_, cross_;    // of the block's parameters
};

// The gain of a neighbour y: cells[(u * stride_u) + a * stride_a + b * stride_b] counts x = a, y = b in group u.
struct PairCells {
    const double* cells;
    std::size_t stride_group, stride_x, stride_y;

    double at(std::size_t u, std::size_t a, std::size_t b) const {
        return cells[u * stride_group + a * stride_x + b * stride_y];
    }
};

// A fitted conditional of x, three-way terms included.
class Model {
public:
    // May grow `design` by three-way terms. `warm`: a model whose features come first in the design.
    bool fit(const GroupedTable& table, Design& design, const Contrasts& of_x, bool three_way, const Model* warm);
    bool fitted() const { return fitted_; }
    double log_evidence() const { return fit_.log_evidence() - paid_; }
    double neighbour_gain(const Design& design, const PairCells& cells, const Contrasts& of_x, const Contrasts& of_y,
                          std::size_t n_groups);

private:
    void add_three_way(const GroupedTable& table, Design& design, const Contrasts& of_x);
    double three_way_gain(const GroupedTable& table, const Design& design, const Contrasts& of_x, std::size_t i,
                          std::size_t j);

    Fit fit_, refit_;
    OneStep one_step_;
    double paid_ = 0.0;
    bool fitted_ = false;
    std::vector<double> features_, surplus_;
};

}  // namespace mnlearn
