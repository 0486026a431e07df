// The pairwise log-linear conditional of x given its neighbours, and its Laplace evidence.
//
//   P(x = a | u) ∝ exp( C_x[a] · (b0 + Σ_z B_z C_z[u_z]) ),   vec(B_z) ~ N(0, I),   b0 ~ N(0, 100 I)
//
// u runs over the observed configurations of the neighbours, C_r are orthonormal contrasts of r states. Three-way terms
// are further features √2 C_y[u_y] ⊗ C_z[u_z] with the prior of the B_z. All sums run over u in ascending order: the
// same bits for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

private:
    std::size_t card_;
    std::vector<double> values_;
};

// How often x took each of its observed states in each observed configuration.
struct GroupedTable {
    std::size_t n_groups = 0, card = 0;
    std::vector<double> counts;  // [u * card + a]; whole numbers
    std::vector<double> sizes;   // [u]

    void clear(std::size_t states);
    void add_group(const double* of_state, std::size_t stride);  // leaves out a configuration that never occurred
};

// What is known of each configuration: 1, then the contrasts of every neighbour, then three-way terms.
struct Design {
    struct Member {
        std::size_t first, width;  // its features
    };
    std::size_t n_features = 1;
    std::vector<double> features;  // [u * n_features + q]
    std::vector<Member> members;
    std::vector<std::uint32_t> states;  // [u * members.size() + i]: the state of member i

    std::size_t state(std::size_t u, std::size_t i) const { return states[u * members.size() + i]; }
    const double* operator[](std::size_t u) const { return features.data() + u * n_features; }
};

// The posterior mode by Newton's method, and what follows from it. Parameter k * n_features + q is the weight of
// feature q on contrast k of x.
class Fit {
public:
    // False if there are too many parameters or Newton's method does not end. A warm start is the fit of a design
    // that has the first features of this one.
    bool run(const GroupedTable& table, const Design& design, const Contrasts& of_x, const Fit* warm = nullptr);

    double log_evidence() const { return log_evidence_; }  // without k_x and without prices
    std::size_t n_parameters() const { return n_features_ * width_; }
    std::size_t width() const { return width_; }
    const double* mean(std::size_t u) const { return mean_.data() + u * width_; }               // of C_x under the fit
    const double* spread(std::size_t u) const { return spread_.data() + u * width_ * width_; }  // its covariance
    const std::vector<double>& factor() const { return factor_; }  // lower triangular, of the posterior's information

private:
    void start(const GroupedTable& table, const Contrasts& of_x, const Fit* warm);
    double log_posterior(const GroupedTable& table, const Design& design, const Contrasts& of_x,
                         const std::vector<double>& weights);
    void moments(const GroupedTable& table, const Contrasts& of_x);
    void differentiate(const GroupedTable& table, const Design& design, const Contrasts& of_x);
    double prior_precision(std::size_t parameter) const;

    std::size_t n_features_ = 0, width_ = 0;
    double log_evidence_ = 0.0;
    std::vector<double> weights_, proposal_, probabilities_, mean_, spread_, gradient_, factor_, step_, field_;
};

// Small dense linear algebra, row-major.
double dot(const double* a, const double* b, std::size_t size);
// The factor of a matrix given by its lower triangle, in place; false if it is
// not positive definite.
bool factorise(double* matrix, std::size_t size);
void solve_lower(const std::vector<double>& factor, std::size_t size, double* vector);
void solve_upper(const std::vector<double>& factor, std::size_t size, double* vector);
double log_determinant(const double* factor, std::size_t size);

}  // namespace mnlearn
