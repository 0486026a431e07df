// The pairwise log-linear conditional of x given its neighbours, and its Laplace evidence.
//
//   P(x = a | u) ∝ exp( C_x[a] · (b0 + Σ_z B_z C_z[u_z]) ),   vec(B_z) ~ N(0, s_z² I),   b0 ~ N(0, 100 I)
//
// The scale s_z is 1, or wider for a neighbour that nearly determines x (evidence/extra_terms.hpp).
// u runs over the observed configurations of the neighbours, C_r are orthonormal contrasts of r states. Three-way terms
// are further features √2 C_y[u_y] ⊗ C_z[u_z] with the prior of the B_z. All sums run over u in ascending order, in
// eight lanes (kernels/conditional.hpp): the same bits for any number of threads and any instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "evidence/prior_widths.hpp"
#include "kernels/conditional.hpp"

namespace mnlearn {

// A model with more parameters is not fitted: its information matrix alone would take minutes over a search.
inline constexpr std::size_t kMaxParameters = 256;

// Orthonormal (Helmert) contrasts: row a holds the card - 1 coordinates of state a.
class Contrasts {
public:
    explicit Contrasts(std::size_t card);
    std::size_t card() const { return card_; }
    std::size_t width() const { return card_ - 1; }
    const double* operator[](std::size_t state) const { return values_.data() + state * width(); }

    static const Contrasts& of(std::size_t card);  // made once; of at most kMaxParameters + 1 states

private:
    std::size_t card_;
    std::vector<double> values_;
};

// How often x took each of its observed states in each observed configuration.
struct GroupedTable {
    std::size_t n_groups = 0, card = 0;
    std::vector<double> counts;  // [u * stride() + a]; whole numbers
    std::vector<double> sizes;   // [u]

    std::size_t stride() const { return in_lanes(card); }
    const double* operator[](std::size_t u) const { return counts.data() + u * stride(); }
    void clear(std::size_t states);
    // Adds the counts of_state[a * stride] of one configuration; leaves out one that never occurred (false).
    bool add_group(const double* of_state, std::size_t stride);
};

// What the model knows of each configuration: the states of the neighbours, and of pairs with three-way terms.
struct Design {
    struct Member {
        std::size_t card, width, first;  // states; features; the first of these. Feature 0 is the intercept.
        const double* coding;            // [state * width + e]
        double precision = 1.0;          // of the prior of its weights
    };
    std::size_t n_groups = 0, n_features = 1, n_neighbours = 0;  // neighbours come before their products
    std::vector<Member> members;
    std::vector<std::uint32_t> states;                                // [i * n_groups + u]
    std::vector<std::shared_ptr<const std::vector<double>>> codings;  // of products

    const std::uint32_t* states_of(std::size_t i) const { return states.data() + i * n_groups; }
    void add_neighbour(std::size_t card);
    // The products of two neighbours' contrasts, times √2.
    std::vector<double> products(std::size_t i, std::size_t j) const;
    void add_products(std::size_t i, std::size_t j);
    void drop_products();  // those added last
};

// The posterior mode by Newton's method, and what follows from it.
class Fit {
public:
    // False if there are too many parameters or Newton's method does not end. A warm start is the fit of a design
    // that has the first features of this one. The table and the design must live as long as the fit is used.
    bool run(const ConditionalKernels& kernels, const GroupedTable& table, const Design& design, const Contrasts& of_x,
             const Fit* warm = nullptr);

    double log_evidence() const { return log_evidence_; }  // without k_x and without prices
    std::size_t n_parameters() const { return n_features_ * width_; }
    double mean_square(std::size_t i) const;                                  // of the weights of a member
    BlockPosterior posterior_of(std::span<const std::size_t> members) const;  // by the information at the mode
    bool binary() const { return width_ == 1; }

    // Of a block of features that depends on a state of `entries`, such as one more neighbour: what one Newton step
    // from here promises, g' S^-1 g / 2 - ln det(S) / 2, with the gradient g of the log posterior in the block's
    // parameters at 0 and the Schur complement S of the information, prior included.
    double gain(const Entries& entries, const CodedBlock& block);
    // A range for the gain, without the other parameters: `lower` is a bound, `upper` a generous guess.
    struct Range {
        double lower, upper;
    };
    Range gain_range(const Entries& entries, const CodedBlock& block);
    // Σ (C_x - mean) over rows of group u with these counts of x; in_lanes(width) numbers.
    void surplus_of(std::size_t u, const double* counts, double* surplus) const;

    // A binary x: gains of eight binary y, see BinaryGains.
    void binary_gains(const double* zero, double* gain);
    // ln of the Bayes factor for a member that is in the model, by its posterior (Savage and Dickey).
    double member_evidence(std::size_t i) const;
    // A generous guess at the gain of the product of two neighbours, or of a member and the variable of the entries.
    double product_guess(std::size_t i, std::size_t j);
    double product_guess(const Entries& entries, std::size_t card, std::size_t i);

private:
    void prepare(const GroupedTable& table, const Design& design);
    void start(const GroupedTable& table, const Fit* warm);
    double log_posterior(const std::vector<double>& weights);
    void find_gradient();
    bool find_information();
    double find_step();
    void climb(double decrement, double& height);
    void finish(double height);
    double gain_from_sums(const CodedBlock& block, double* cross, std::size_t stride);
    void sum_states(const Entries& entries, std::size_t n_states);
    double guess_from_sums(const double* spread, std::size_t n_pairs, std::size_t n_paid);
    void dense_cross(const Entries& entries, const CodedBlock& block, double* cross, std::size_t stride);
    BinaryGroups binary_groups() const;
    GeneralGroups general_groups() const;
    GeneralMoments general_moments();

    const ConditionalKernels* kernels_ = nullptr;
    const GroupedTable* table_ = nullptr;
    const Contrasts* of_x_ = nullptr;
    std::vector<CodedMember> members_;
    std::size_t n_groups_ = 0, n_features_ = 0, width_ = 0;
    double log_evidence_ = 0.0;
    std::vector<double> precision_;  // of the prior, by parameter
    std::vector<double> weights_, proposal_, gradient_, upper_, step_;
    std::vector<double> features_, zeros_, ones_, first_, second_, weight_, weighted_;  // of a binary x
    std::vector<double> probabilities_, mean_, spread_, surplus_, cells_, tables_, sums_;
    std::vector<std::uint32_t> pair_states_;
    std::vector<double> room_, cross_, by_state_, surplus_by_state_, block_, block_gradient_;
};

double log_determinant(const double* upper, std::size_t size);  // of U'U

}  // namespace mnlearn
