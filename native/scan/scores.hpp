// What a table is worth: one small class per kernel, fed stratum by stratum.
//
//   prepare(rx, ry, sizes)   what depends on the cardinalities and the sizes of the strata, once for many y
//   add(sum, prepared, s, t) one stratum's table into the running sum of one y
//   finish(sum, rx, ry, out) the outputs of that y; out[k] is the k-th of `outputs`
//   binary_row(...)          the same as add for many binary y at once: how, if at all; see scan/binary_batch.hpp
//   ending()                 the same as finish for pairs of binary variables without strata; see scan/all_pairs.cpp
//
// Sums run over strata in ascending order: the same bits for any thread count, any code path, any way of counting.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/binary_scores.hpp"
#include "kernels/elementary.hpp"
#include "kernels/pair_scores.hpp"
#include "scan/stratum_table.hpp"
#include "store/log_tables.hpp"

namespace mnlearn {

struct Nothing {};

// The running sum of one y: two numbers whose meaning is the scorer's, and how many strata had something to say.
struct RunningSum {
    double first = 0.0, second = 0.0;
    std::int64_t strata = 0;
};

// What a stratum means for many binary y together: nothing, a row of look-ups, or one table at a time.
struct RowOfTables {
    enum CountingMethod { skip, together, one_by_one } method;
    const double *cell = nullptr, *column = nullptr;
    double base = 0.0;
};

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
    static constexpr BinaryForm form = BinaryForm::count;
    static constexpr PairForm pair_form = PairForm::count;
    using Prepared = Nothing;
    using Sum = RunningSum;  // first: the rows

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        sum.first += static_cast<double>(t.first_cell());
    }
    RowOfTables binary_row(const Prepared&, std::size_t, std::int64_t, std::int64_t) const {
        return {RowOfTables::together};
    }
    PairEnding ending() const { return {}; }
    void finish(const Sum& sum, std::uint32_t, std::uint32_t, double* out) const { out[0] = sum.first; }
};

// Pearson's X² = Σ (o − e)² / e, with e = nx ny / n. Numerators are whole numbers, so an exactly independent table
// gives 0.
class Pearson {
public:
    static constexpr int outputs = 2;
    static constexpr BinaryForm form = BinaryForm::pearson;
    static constexpr PairForm pair_form = PairForm::pearson;
    using Prepared = Nothing;
    using Sum = RunningSum;  // first: the statistic; second: adjusted degrees of freedom
    Pearson(DofRule rule, const ScanFacts& facts) : dof_{rule, facts} {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        const double free = t.adjusted_dof();
        if (t.n == 0 || free == 0.0) return;
        sum.second += free;
        const bool small = t.n < (std::int64_t{1} << 31);  // products fit 64 bits
        if constexpr (std::is_same_v<S, BinaryStratum>)
            sum.first += small ? two_by_two<std::int64_t>(t) : two_by_two<Wide>(t);
        else
            sum.first += small ? statistic<std::int64_t>(t) : statistic<Wide>(t);
    }
    RowOfTables binary_row(const Prepared&, std::size_t, std::int64_t n0, std::int64_t n1) const {
        if (n0 == 0 || n1 == 0) return {RowOfTables::skip};
        return {n0 + n1 < (1 << 26) ? RowOfTables::together : RowOfTables::one_by_one};  // else products need 64 bits
    }
    PairEnding ending() const { return {1.0, dof_.total(1.0, 2, 2), dof_.total(0.0, 2, 2)}; }
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        out[0] = sum.first;
        out[1] = dof_.total(sum.second, rx, ry);
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
    // n (n00 n11 − n01 n10)² / (n0 n1 n_0 n_1), in the steps of kernels/binary_scores_impl.hpp.
    template <class Int> static double two_by_two(const BinaryStratum& t) {
        const double d = static_cast<double>(static_cast<Int>(t.n00) * t.n1_ - static_cast<Int>(t.n10) * t.n0_);
        const double nx = static_cast<double>(t.n0_) * static_cast<double>(t.n1_),
                     ny = static_cast<double>(t.n_0) * static_cast<double>(t.n_1);
        return ((d * d) * (static_cast<double>(t.n) / nx)) / ny;
    }

    Dof dof_;
};

// G² = 2 Σ o log(o n / (nx ny)); as mutual information (nats) the same over 2 N.
class LikelihoodRatio {
public:
    static constexpr int outputs = 2;
    static constexpr BinaryForm form = BinaryForm::tested;
    static constexpr PairForm pair_form = PairForm::tested;
    using Prepared = Nothing;
    using Sum = RunningSum;  // first: half the statistic; second: adjusted degrees of freedom
    LikelihoodRatio(DofRule rule, const ScanFacts& facts, bool per_row, LogTables& tables)
        : dof_{rule, facts},
          scale_(per_row ? (facts.n_rows ? 1.0 / static_cast<double>(facts.n_rows) : 0.0) : 2.0),
          table_(tables.count_log_count()) {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        const double free = t.adjusted_dof();
        if (t.n == 0 || free == 0.0) return;
        sum.first += table_->covers(t.n) ? half(t, table_->unchecked()) : half(t, *table_);
        sum.second += free;
    }
    RowOfTables binary_row(const Prepared&, std::size_t, std::int64_t n0, std::int64_t n1) const {
        if (n0 == 0 || n1 == 0) return {RowOfTables::skip};
        if (!table_->covers(n0 + n1)) return {RowOfTables::one_by_one};
        const Unchecked term = table_->unchecked();
        return {RowOfTables::together, term.table, term.table, term(n0 + n1) - (term(n0) + term(n1))};
    }
    PairEnding ending() const { return {scale_, dof_.total(1.0, 2, 2), dof_.total(0.0, 2, 2)}; }
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        out[0] = sum.first > 0.0 ? scale_ * sum.first : 0.0;  // rounding may leave −1e-13
        out[1] = dof_.total(sum.second, rx, ry);
    }

private:
    template <class S, class Term> [[gnu::always_inline]] static double half(const S& t, const Term& count_log_count) {
        const double base = count_log_count(t.n) - t.sum_rows(count_log_count);
        return base + (t.sum_cells(count_log_count) - t.sum_columns(count_log_count));
    }

    Dof dof_;
    double scale_;
    std::shared_ptr<const CountLogCount> table_;
};

// The Bayesian test  [BJP18, App. C]: log P(CI | D) = Σ_k log( p g_k / (p g_k + q h_k) ), p = P(CI)^(1/K), q = 1 − p.
// A slice with no row, or one, has g = h: it contributes log p = log P(CI) / K.
//
// −log P is a sum of log(1 + exp(d)), d = log(q h / p g): of max(d, 0), and of log(1 + exp(−|d|)), for which one
// logarithm of a product does. What the product exceeds 1 by is kept, not the product, so the smallest posterior of
// dependence keeps its digits.
class BayesianPosterior {
public:
    static constexpr int outputs = 1;
    static constexpr BinaryForm form = BinaryForm::odds;
    static constexpr PairForm pair_form = PairForm::odds;
    static constexpr std::int64_t kFactors = 512;  // of at most 2 each, before the logarithm must be taken
    struct Priors {
        double alpha, beta, gamma, log_prior;
    };
    struct Prepared {
        std::vector<double> constant;  // log(q / p) + log h − log g, but for the counts of the table
    };
    using Sum = RunningSum;  // first: Σ max(d, 0) and logarithms taken; second: Π (1 + exp(−|d|)) − 1 since
    BayesianPosterior(const Priors& priors, const ScanFacts& facts, LogTables& tables)
        : priors_(priors),
          facts_(facts),
          log_odds_(log_prior_odds(priors.log_prior, facts)),
          tables_(&tables),
          alpha_(tables.rising_log_gamma(priors.alpha)),
          beta_(tables.rising_log_gamma(priors.beta)),
          gamma_(tables.rising_log_gamma(priors.gamma)) {}

    Prepared prepare(std::uint32_t rx, std::uint32_t ry, std::span<const std::int64_t> sizes) const {
        const auto rise = [&](double prior) {  // a table is for the many scans of binary variables
            if (rx == 2 && ry == 2) return tables_->rising_log_gamma(prior);
            return std::make_shared<const RisingLogGamma>(prior, 0);
        };
        const auto a = rise(rx * priors_.alpha), b = rise(ry * priors_.beta),
                   c = rise(static_cast<double>(rx) * ry * priors_.gamma);
        Prepared prepared;
        prepared.constant.reserve(sizes.size());
        for (const std::int64_t size : sizes)
            prepared.constant.push_back(log_odds_ + (((*a)(size) + (*b)(size)) - (*c)(size)));
        return prepared;
    }
    template <class S>
    [[gnu::always_inline]] void add(Sum& sum, const Prepared& prepared, std::size_t s, const S& t) const {
        if (t.n <= 1) return;
        const bool covered = gamma_->covers(t.n);  // all three tables have one size
        const double d =
            covered ? odds(prepared.constant[s], t, alpha_->unchecked(), beta_->unchecked(), gamma_->unchecked())
                    : odds(prepared.constant[s], t, *alpha_, *beta_, *gamma_);
        sum.first += d > 0.0 ? d : 0.0;
        sum.second += exp_of_minus<1>(std::abs(d)) * (sum.second + 1.0);
        if (++sum.strata % kFactors == 0) {
            sum.first += log_of_one_plus<1>(sum.second);
            sum.second = 0.0;
        }
    }
    RowOfTables binary_row(const Prepared& prepared, std::size_t s, std::int64_t n0, std::int64_t n1) const {
        if (n0 + n1 <= 1) return {RowOfTables::skip};
        if (!gamma_->covers(n0 + n1)) return {RowOfTables::one_by_one};
        const Unchecked alpha = alpha_->unchecked();
        return {RowOfTables::together, gamma_->unchecked().table, beta_->unchecked().table,
                prepared.constant[s] - (alpha(n0) + alpha(n1))};
    }
    PairEnding ending() const { return {0.0 * priors_.log_prior}; }  // no configuration is silent
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        // With one state of x the two models differ only in their priors for y, and the other way round.
        const bool same_model =
            (rx == 1 && (ry == 1 || priors_.beta == priors_.gamma)) || (ry == 1 && priors_.alpha == priors_.gamma);
        const bool tie = same_model || sum.strata == 0;
        const double silent = 1.0 - static_cast<double>(sum.strata) / facts_.n_configurations;
        const double informed = sum.second == 0.0 ? sum.first : sum.first + log_of_one_plus<1>(sum.second);
        out[0] = tie ? priors_.log_prior : silent * priors_.log_prior - informed;
    }

private:
    // d of one table; what depends on x alone comes first.
    template <class S, class Term>
    [[gnu::always_inline]] static double odds(double constant, const S& t, const Term& alpha, const Term& beta,
                                              const Term& gamma) {
        return (constant - t.sum_rows(alpha)) + (t.sum_cells(gamma) - t.sum_columns(beta));
    }
    static double log_prior_odds(double log_prior, const ScanFacts& facts) {  // log(q / p)
        const double log_p = log_prior / facts.n_configurations;
        if (facts.log_n_configurations < 600.0) return std::log(-std::expm1(log_p)) - log_p;
        return std::log(-log_prior) - facts.log_n_configurations;  // q = −log P / K to first order; here exactly
    }

    Priors priors_;
    ScanFacts facts_;
    double log_odds_;
    LogTables* tables_;
    std::shared_ptr<const RisingLogGamma> alpha_, beta_, gamma_;
};

// Dirichlet-multinomial local score of x given z + y: Σ_u [ log Γ(A) − log Γ(A + n_u) + Σ_a log Γ(a + n_ua) − log Γ(a)
// ], A = rx a. The prior of a cell is fixed, or an equivalent sample size shared by all cells of the declared table.
class Dirichlet {
public:
    static constexpr int outputs = 1;
    static constexpr BinaryForm form = BinaryForm::plain;
    static constexpr PairForm pair_form = PairForm::plain;
    struct Prepared {
        std::shared_ptr<const RisingLogGamma> cell, total;
    };
    using Sum = RunningSum;  // first: the score
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
            sum.first += t.sum_cells(prepared.cell->unchecked()) - t.sum_columns(prepared.total->unchecked());
        else
            sum.first += t.sum_cells(*prepared.cell) - t.sum_columns(*prepared.total);
    }
    RowOfTables binary_row(const Prepared& prepared, std::size_t, std::int64_t n0, std::int64_t n1) const {
        if (!prepared.cell->covers(n0 + n1)) return {RowOfTables::one_by_one};
        return {RowOfTables::together, prepared.cell->unchecked().table, prepared.total->unchecked().table};
    }
    PairEnding ending() const { return {}; }
    void finish(const Sum& sum, std::uint32_t, std::uint32_t, double* out) const { out[0] = sum.first; }

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
    static constexpr BinaryForm form = BinaryForm::plain;
    static constexpr PairForm pair_form = PairForm::entropy;
    using Prepared = Nothing;
    using Sum = RunningSum;  // first: −N times the entropy
    Entropy(const ScanFacts& facts, LogTables& tables) : facts_(facts), table_(tables.count_log_count()) {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> [[gnu::always_inline]] void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        if (table_->covers(t.n))
            sum.first += t.sum_cells(table_->unchecked()) - t.sum_columns(table_->unchecked());
        else
            sum.first += t.sum_cells(*table_) - t.sum_columns(*table_);
    }
    RowOfTables binary_row(const Prepared&, std::size_t, std::int64_t n0, std::int64_t n1) const {
        if (!table_->covers(n0 + n1)) return {RowOfTables::one_by_one};
        return {RowOfTables::together, table_->unchecked().table, table_->unchecked().table};
    }
    PairEnding ending() const { return {static_cast<double>(facts_.n_rows)}; }
    void finish(const Sum& sum, std::uint32_t, std::uint32_t, double* out) const {
        out[0] = sum.first < 0.0 ? -sum.first / static_cast<double>(facts_.n_rows) : 0.0;
    }

private:
    ScanFacts facts_;
    std::shared_ptr<const CountLogCount> table_;
};

}  // namespace mnlearn
