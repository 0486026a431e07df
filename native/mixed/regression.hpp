// The regression of one variable on others of any kind, and its evidence: Laplace for a categorical variable, closed
// for a numeric one.
//
// A categorical x: P(x = a | u) ∝ exp( C[a] · b0 + D[a] · Σ_z B_z φ_z(u_z) ), b0 ~ N(0, 100). A numeric x: a linear
// regression on the same features, b given s² ~ N(0, s² / precision), flat in the constant and in log s.
//
//   reading     features φ_z of an ordinal z, and statistics D of an ordinal x
//   ordered     its standardised score
//   curved      its standardised score, and the square of it, made orthogonal
//   nominal     contrasts of its states
//
// A numeric z has its standardised value, a nominal one the contrasts of its states, in all readings. With scores on
// both sides an edge has one parameter: the adjacent-categories logit, the conditional of an ordinal Markov field.
//
// Evidence is relative to no neighbours, on the same rows.
#pragma once

#include <optional>
#include <vector>

#include "evidence/pairwise_model.hpp"
#include "mixed/mixed_data.hpp"

namespace mnlearn {

inline constexpr double kGuessSlack = 6.0;  // what a guess adds to be generous

enum class Reading { ordered, curved, nominal };
inline constexpr Reading kReadings[] = {Reading::ordered, Reading::curved, Reading::nominal};

inline constexpr double kSlopeScale = 0.2;      // prior standard deviation of a coefficient between scores and values
inline constexpr double kContrastScale = 0.35;  // of one between contrasts and a score or value: times √2

// Σ over rows that a further variable brings to a regression; see Regression::rise.
struct Rise {
    double without = 0.0, with = 0.0;  // log evidence of the members, and of the members and the further variable
    double moment = 0.0;               // what the moment prior adds to `with`, for coefficients of scores and values
    bool fitted = false;
};

// The Laplace evidence of the thresholds of x alone, which have the same prior in every model of x.
double empty_evidence(const ConditionalKernels& kernels, std::span<const double> margin);

class Regression {
public:
    explicit Regression(const MixedData& data);
    // By maximum likelihood instead of evidence: all parameters have this precision, just enough to stay finite, and
    // those of a numeric x none but for rounding.
    Regression(const MixedData& data, double ridge);

    // False if there are too many parameters or Newton's method does not end. The frame must live as long as this and
    // be grouped by the members. `warm`: a regression whose members come first in this one.
    bool fit(std::int32_t x, std::span<const std::int32_t> members, Reading reading, const Frame& frame,
             const Regression* warm = nullptr);

    bool fitted() const { return fitted_; }
    double log_evidence() const { return log_evidence_; }
    double moment_of_last() const;  // of the last member, if its coefficients are between scores and values; else 0
    // What y adds, by one Newton step; exact for a numeric x. Rows in which y is missing are left out of both.
    Rise rise(std::int32_t y);
    // A generous guess at what y adds, from a few sums, kGuessSlack included; infinite where there is none. For y that
    // is missing in few rows.
    double guess(std::int32_t y);
    double member_evidence(std::size_t i) const;

    // Log likelihood at the mode, and the number of parameters beyond those of no neighbours.
    double log_likelihood() const { return log_likelihood_; }
    double penalised() const { return height_; }        // log likelihood less the ridge: never less for more members
    double unexplained() const { return rss_ / tss_; }  // of a numeric x: the share of its sum of squares
    std::size_t n_slopes() const { return n_parameters_ - n_free_; }

private:
    struct Block {
        std::int32_t variable;
        std::size_t first, width;  // features
        double precision;
    };
    struct Sums {  // of a further variable
        std::vector<double> cross, block, gradient;
        std::size_t width = 0;
    };
    struct Reduced {  // factor, gradient and height without the rows that lack the further variable
        const double* upper;
        const double* gradient;  // U'^-1 g
        double without, rss, nu;
        bool ok;
    };

    std::size_t width_of(std::int32_t v) const;
    const double* coding_of(std::int32_t v) const;  // [state * width + e]; null for numbers
    double precision_of(std::int32_t v) const;
    double free_precision() const;
    bool by_contrasts(std::int32_t v) const;
    bool has_moment(std::int32_t v) const { return !by_contrasts(x_) && !by_contrasts(v); }
    double moment(const double* upper, std::size_t size, std::size_t n, const double* mean, double s2) const;
    void add_features(std::int32_t v, std::span<const std::uint32_t> rows, std::size_t length, double* out) const;
    void set_up(std::int32_t x, std::span<const std::int32_t> members, Reading reading, const Frame& frame);
    bool fit_states(const Regression* warm);
    bool fit_numbers();
    void count_states();
    DenseGroups groups() const;
    bool newton();
    bool find_information();
    double log_posterior(const std::vector<double>& weights);
    void find_residuals();
    void find_mean_spread();
    void fill_sums_of_states(std::int32_t y, Sums& sums);
    void fill_sums_of_numbers(std::int32_t y, Sums& sums);
    Reduced reduce(std::int32_t y);
    Reduced reduce_states(const std::vector<std::uint32_t>& lacking);
    Reduced reduce_numbers(const std::vector<std::uint32_t>& lacking);
    double closed_evidence(const double* upper, double rss, double tss, double n_rows) const;

    const MixedData& data_;
    const ConditionalKernels& kernels_;
    const DenseKernels& dense_;
    const Frame* frame_ = nullptr;
    std::int32_t x_ = 0;
    Reading reading_ = Reading::ordered;
    bool fitted_ = false;
    std::vector<Block> blocks_;
    std::size_t n_features_ = 0, n_free_ = 0, n_statistics_ = 0, n_parameters_ = 0, length_ = 0;
    double ridge_ = 0.0, log_evidence_ = 0.0, log_likelihood_ = 0.0, height_ = 0.0;
    std::vector<double> features_, precision_, weights_, proposal_, gradient_, information_, upper_, step_;
    // A categorical x.
    std::vector<double> table_, counts_, sizes_, probabilities_, mean_, covariance_, surplus_, room_, residuals_;
    std::vector<double> margin_, mean_spread_;
    // A numeric x.
    std::vector<double> response_, row_weights_, products_;
    double sum_of_squares_ = 0.0, rss_ = 0.0, tss_ = 1.0, n_rows_ = 0.0;
    // Of a further variable.
    Sums sums_;
    std::vector<double> phi_, by_group_, reduced_, reduced_gradient_, schur_;
    std::vector<std::uint32_t> lacking_;
};

}  // namespace mnlearn
