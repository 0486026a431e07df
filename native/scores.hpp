// What a table is worth: one small class per kernel, fed stratum by stratum.
//
//   prepare(rx, ry, sizes)   what depends on the cardinalities and the sizes of the strata, once for many y
//   add(sum, prepared, s, t) one stratum's table into the running sum of one y
//   finish(sum, rx, ry, out) the outputs of that y; out[k] is the k-th of `outputs`
//
// Sums run over strata in ascending order: the same bits for any thread count, any code path, any way of counting.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "log_tables.hpp"
#include "stratum.hpp"

namespace mnlearn {

struct Nothing {};

// What the scores of one scan have in common.
struct ScanFacts {
    std::int64_t n_rows;
    std::size_t n_strata;         // observed configurations of z
    double n_configurations;      // all configurations of z, by declared cardinalities; may be infinite
    double log_n_configurations;  // finite whatever z is
};

// Degrees of freedom. No paper says which; the adjusted rule is the default.
enum class DofRule { adjusted, observed_strata, all_strata };

struct Dof {
    DofRule rule;
    ScanFacts facts;

    double total(double sum_adjusted, std::uint32_t rx, std::uint32_t ry) const {
        if (rule == DofRule::adjusted) return sum_adjusted;
        const double free = (rx - 1.0) * (ry - 1.0);
        if (free == 0.0) return 0.0;
        return free * (rule == DofRule::observed_strata ? static_cast<double>(facts.n_strata) : facts.n_configurations);
    }
};

// Rows in which x and y are both in their first state: hardly any scoring, so its time is that of the counting.
class FirstCell {
public:
    static constexpr int outputs = 1;
    using Prepared = Nothing;
    struct Sum {
        std::int64_t rows = 0;
    };
    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        sum.rows += t.first_cell();
    }
    void finish(const Sum& sum, std::uint32_t, std::uint32_t, double* out) const {
        out[0] = static_cast<double>(sum.rows);
    }
};

// Pearson's X² = Σ (o − e)² / e, with e = nx ny / n. Numerators are whole numbers, so an exactly independent table
// gives 0.
class Pearson {
public:
    static constexpr int outputs = 2;
    using Prepared = Nothing;
    struct Sum {
        double statistic = 0.0, dof = 0.0;
    };
    Pearson(DofRule rule, const ScanFacts& facts) : dof_{rule, facts} {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        const double free = t.adjusted_dof();
        if (t.n == 0 || free == 0.0) return;
        sum.dof += free;
        const bool small = t.n < (std::int64_t{1} << 31);  // products fit 64 bits
        if constexpr (std::is_same_v<S, BinaryStratum>)
            sum.statistic += small ? two_by_two<std::int64_t>(t) : two_by_two<Wide>(t);
        else
            sum.statistic += small ? statistic<std::int64_t>(t) : statistic<Wide>(t);
    }
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        out[0] = sum.statistic;
        out[1] = dof_.total(sum.dof, rx, ry);
    }

private:
    __extension__ typedef __int128 Wide;

    // Empty cells contribute e each: together (n² − Σ nx ny over the others) / n, again a whole number over n.
    template <class Int, class S> static double statistic(const S& t) {
        double occupied = 0.0;
        Int empty = static_cast<Int>(t.n) * t.n;
        const double n = static_cast<double>(t.n);
        t.cells([&](std::int64_t o, std::int64_t nx, std::int64_t ny) {
            const double difference = static_cast<double>(static_cast<Int>(o) * t.n - static_cast<Int>(nx) * ny);
            occupied += difference * difference / (n * static_cast<double>(nx) * static_cast<double>(ny));
            empty -= static_cast<Int>(nx) * ny;
        });
        return occupied + static_cast<double>(empty) / n;
    }
    template <class Int> static double two_by_two(const BinaryStratum& t) {
        const double d = static_cast<double>(static_cast<Int>(t.n00) * t.n11 - static_cast<Int>(t.n01) * t.n10);
        const double nx = static_cast<double>(t.n0_) * static_cast<double>(t.n1_),
                     ny = static_cast<double>(t.n_0) * static_cast<double>(t.n_1);
        return static_cast<double>(t.n) * (d / nx) * (d / ny);
    }

    Dof dof_;
};

// G² = 2 Σ o log(o n / (nx ny)); as mutual information (nats) the same over 2 N.
class LikelihoodRatio {
public:
    static constexpr int outputs = 2;
    using Prepared = Nothing;
    struct Sum {
        double statistic = 0.0, dof = 0.0;
    };
    LikelihoodRatio(DofRule rule, const ScanFacts& facts, bool per_row, LogTables& tables)
        : dof_{rule, facts},
          scale_(per_row ? (facts.n_rows ? 1.0 / static_cast<double>(facts.n_rows) : 0.0) : 2.0),
          table_(tables.count_log_count()) {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        const double free = t.adjusted_dof();
        if (t.n == 0 || free == 0.0) return;
        sum.statistic += table_->covers(t.n) ? half(t, table_->unchecked()) : half(t, *table_);
        sum.dof += free;
    }
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        out[0] = sum.statistic > 0.0 ? scale_ * sum.statistic : 0.0;  // rounding may leave −1e-13
        out[1] = dof_.total(sum.dof, rx, ry);
    }

private:
    template <class S, class Term> [[gnu::always_inline]] static double half(const S& t, const Term& count_log_count) {
        const double margins = t.sum_rows(count_log_count) + t.sum_columns(count_log_count);
        return t.sum_cells(count_log_count) - margins + count_log_count(t.n);
    }

    Dof dof_;
    double scale_;
    std::shared_ptr<const CountLogCount> table_;
};

// The Bayesian test  [BJP18, App. C]: log P(CI | D) = Σ_k log( p g_k / (p g_k + q h_k) ), p = P(CI)^(1/K), q = 1 − p.
// A slice with no row, or one, has g = h: it tells nothing and contributes log p = log P(CI) / K.
class BayesianPosterior {
public:
    static constexpr int outputs = 1;
    struct Priors {
        double alpha, beta, gamma, log_prior;
    };
    struct Prepared {
        std::vector<double> constant;  // log(q / p) + log h − log g, but for the counts of the table
    };
    struct Sum {
        double log_posterior = 0.0;
        std::int64_t informative = 0;
    };
    BayesianPosterior(const Priors& priors, const ScanFacts& facts, LogTables& tables)
        : priors_(priors),
          facts_(facts),
          log_odds_(log_prior_odds(priors.log_prior, facts)),
          alpha_(tables.rising_log_gamma(priors.alpha)),
          beta_(tables.rising_log_gamma(priors.beta)),
          gamma_(tables.rising_log_gamma(priors.gamma)) {}

    Prepared prepare(std::uint32_t rx, std::uint32_t ry, std::span<const std::int64_t> sizes) const {
        const double a = rx * priors_.alpha, b = ry * priors_.beta, c = static_cast<double>(rx) * ry * priors_.gamma;
        const double base = log_gamma(c) - log_gamma(a) - log_gamma(b);
        Prepared prepared;
        prepared.constant.reserve(sizes.size());
        for (const std::int64_t size : sizes) {
            const double m = static_cast<double>(size);
            prepared.constant.push_back(log_odds_ + base - log_gamma(c + m) + log_gamma(a + m) + log_gamma(b + m));
        }
        return prepared;
    }
    template <class S>
    [[gnu::always_inline]] void add(Sum& sum, const Prepared& prepared, std::size_t s, const S& t) const {
        if (t.n <= 1) return;
        const bool covered = gamma_->covers(t.n);  // all three tables have one size
        const double counts = covered ? ratio(t, alpha_->unchecked(), beta_->unchecked(), gamma_->unchecked())
                                      : ratio(t, *alpha_, *beta_, *gamma_);
        sum.log_posterior -= log_one_plus_exp(prepared.constant[s] + counts);
        ++sum.informative;
    }
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        // With one state of x the two models differ only in their priors for y, and the other way round.
        const bool same_model =
            (rx == 1 && (ry == 1 || priors_.beta == priors_.gamma)) || (ry == 1 && priors_.alpha == priors_.gamma);
        const bool tie = same_model || sum.informative == 0;
        const double silent = 1.0 - static_cast<double>(sum.informative) / facts_.n_configurations;
        out[0] = tie ? priors_.log_prior : sum.log_posterior + silent * priors_.log_prior;
    }

private:
    // log h − log g, as far as it depends on the cells.
    template <class S, class Term>
    [[gnu::always_inline]] static double ratio(const S& t, const Term& alpha, const Term& beta, const Term& gamma) {
        return t.sum_cells(gamma) - (t.sum_rows(alpha) + t.sum_columns(beta));
    }
    static double log_one_plus_exp(double d) {
        const double e = std::exp(-std::abs(d));
        return (d > 0.0 ? d : 0.0) + (e < 1e-17 ? e : std::log1p(e));  // log(1 + e) = e to the last bit
    }
    static double log_prior_odds(double log_prior, const ScanFacts& facts) {  // log(q / p)
        const double log_p = log_prior / facts.n_configurations;
        if (facts.log_n_configurations < 600.0) return std::log(-std::expm1(log_p)) - log_p;
        return std::log(-log_prior) - facts.log_n_configurations;  // q = −log P / K to first order; here exactly
    }

    Priors priors_;
    ScanFacts facts_;
    double log_odds_;
    std::shared_ptr<const RisingLogGamma> alpha_, beta_, gamma_;
};

// Dirichlet-multinomial local score of x given z + y: Σ_u [ log Γ(A) − log Γ(A + n_u) + Σ_a log Γ(a + n_ua) − log Γ(a)
// ], A = rx a. The prior of a cell is fixed, or an equivalent sample size shared by all cells of the declared table.
class Dirichlet {
public:
    static constexpr int outputs = 1;
    struct Prepared {
        std::shared_ptr<const RisingLogGamma> cell, total;
    };
    struct Sum {
        double score = 0.0;
    };
    Dirichlet(double prior, bool is_sample_size, const ScanFacts& facts, LogTables& tables)
        : prior_(prior), is_sample_size_(is_sample_size), facts_(facts), tables_(&tables) {}

    Prepared prepare(std::uint32_t rx, std::uint32_t ry, std::span<const std::int64_t>) const {
        const double smallest = std::numeric_limits<double>::min();  // a sample size over 2^2000 configurations
        double cell = prior_;
        if (is_sample_size_)
            cell = std::max(smallest, prior_ / (static_cast<double>(rx) * ry * facts_.n_configurations));
        return {tables_->rising_log_gamma(cell), tables_->rising_log_gamma(rx * cell)};
    }
    template <class S>
    [[gnu::always_inline]] void add(Sum& sum, const Prepared& prepared, std::size_t, const S& t) const {
        if (prepared.cell->covers(t.n))
            sum.score += t.sum_cells(prepared.cell->unchecked()) - t.sum_columns(prepared.total->unchecked());
        else
            sum.score += t.sum_cells(*prepared.cell) - t.sum_columns(*prepared.total);
    }
    void finish(const Sum& sum, std::uint32_t, std::uint32_t, double* out) const { out[0] = sum.score; }

private:
    double prior_;
    bool is_sample_size_;
    ScanFacts facts_;
    LogTables* tables_;
};

// Conditional entropy H(x | z + y) in nats; −N times it is the maximised log-likelihood of x given z + y.
class Entropy {
public:
    static constexpr int outputs = 1;
    using Prepared = Nothing;
    struct Sum {
        double entropy = 0.0;
    };
    Entropy(const ScanFacts& facts, LogTables& tables) : facts_(facts), table_(tables.count_log_count()) {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        if (table_->covers(t.n))
            sum.entropy += t.sum_columns(table_->unchecked()) - t.sum_cells(table_->unchecked());
        else
            sum.entropy += t.sum_columns(*table_) - t.sum_cells(*table_);
    }
    void finish(const Sum& sum, std::uint32_t, std::uint32_t, double* out) const {
        out[0] = sum.entropy > 0.0 ? sum.entropy / static_cast<double>(facts_.n_rows) : 0.0;
    }

private:
    ScanFacts facts_;
    std::shared_ptr<const CountLogCount> table_;
};

}  // namespace mnlearn
