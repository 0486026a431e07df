// A fitted conditional of x, with wide priors and three-way terms where they pay.
//
// A column that is nearly a function of a neighbour has weights far beyond N(0, 1). Two copies of that neighbour share
// them, each with half, which such a prior makes cheaper: a copy of a neighbour would look like a neighbour. So
// neighbours of large weights get a wide prior, if the evidence pays ln 2 for each; then three-way terms do.
#pragma once

#include "evidence/pairwise_model.hpp"

namespace mnlearn {

inline constexpr std::size_t kMostWithProducts = 8;  // neighbours of a model with three-way terms
inline constexpr std::size_t kWidestProducts = 64;   // parameters of one term

// What a three-way term pays for having been chosen among the pairs of so many neighbours.
double three_way_price(std::size_t n_members);

class Model {
public:
    // The pairwise terms alone, each with the prior that explains x better. The table and the design must live as long
    // as the model is used; the design may grow by three-way terms. `warm`: a model whose features come first in the
    // design.
    bool fit(const ConditionalKernels& kernels, const GroupedTable& table, Design& design, const Contrasts& of_x,
             const Model* warm);
    // Greedily: the pair of neighbours with the largest one-step gain, kept if the refitted evidence pays for it.
    void add_three_way();

    void clear() { fitted_ = false, paid_ = paid_for_width_ = 0.0; }  // forgets the fit
    bool fitted() const { return fitted_; }
    bool has_extras() const { return paid_ > 0.0 || paid_for_width_ > 0.0; }
    bool had_room() const;  // for any three-way term; without it, a model of fewer neighbours may have one
    double log_evidence() const { return fit_.log_evidence() - paid_ - paid_for_width_; }
    Fit& mode() { return fit_; }
    const Fit& mode() const { return fit_; }

private:
    void widen(std::size_t first);  // the blocks from this one on
    void add_blocks();
    std::vector<double> three_way_gains(const std::vector<char>& taken);
    void binary_gains(const std::vector<char>& taken, std::vector<double>& gains);
    double block_gain(std::size_t i, std::size_t j);

    const ConditionalKernels* kernels_ = nullptr;
    const GroupedTable* table_ = nullptr;
    Design* design_ = nullptr;
    const Contrasts* of_x_ = nullptr;
    Fit fit_, refit_;
    double paid_ = 0.0, paid_for_width_ = 0.0;
    bool fitted_ = false;
    std::vector<double> zero_;
    std::vector<std::uint32_t> every_group_, pair_states_;
};

}  // namespace mnlearn
