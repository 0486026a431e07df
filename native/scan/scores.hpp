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

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/binary_scores.hpp"
#include "kernels/elementary.hpp"
#include "kernels/pair_scores.hpp"
#include "numbers/elementary.hpp"
#include "portability.hpp"
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
    template <class S> MNLEARN_INLINE void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
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
    template <class S> MNLEARN_INLINE void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        const double free = t.adjusted_dof();
        if (t.n == 0 || free == 0.0) return;
        sum.second += free;
        const bool small = t.n < (std::int64_t{1} << 31);  // products fit 64 bits
        if constexpr (std::is_same_v<S, BinaryStratum>)
            sum.first += small ? two_by_two<std::int64_t>(t) : two_by_two<Int128>(t);
        else
            sum.first += small ? statistic<std::int64_t>(t) : statistic<Int128>(t);
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
    // Empty cells contribute e each: together (n² − Σ nx ny over the others) / n, again a whole number over n.
    template <class Int, class S> static double statistic(const S& t) {
        double occupied = 0.0;
        Int empty = static_cast<Int>(t.n) * t.n;
        const double n = static_cast<double>(t.n);
        t.cells([&](std::int64_t o, std::int64_t nx, std::int64_t ny) {
            const double difference = to_double(static_cast<Int>(o) * t.n - static_cast<Int>(nx) * ny);
            occupied += difference * difference / (n * static_cast<double>(nx) * static_cast<double>(ny));
            empty -= static_cast<Int>(nx) * ny;
        });
        return occupied + to_double(empty) / n;
    }
    // n (n00 n11 − n01 n10)² / (n0 n1 n_0 n_1), in the steps of kernels/binary_scores_impl.hpp.
    template <class Int> static double two_by_two(const BinaryStratum& t) {
        const double d = to_double(static_cast<Int>(t.n00) * t.n1_ - static_cast<Int>(t.n10) * t.n0_);
        const double nx = static_cast<double>(t.n0_) * static_cast<double>(t.n1_),
                     ny = static_cast<double>(t.n_0) * static_cast<double>(t.n_1);
        return ((d * d) * (static_cast<double>(t.n) / nx)) / ny;
    }

    Dof dof_;
};

// (1 + u) log(1 + u) − u >= 0, without its cancellation for small u.
inline double excess(double u) {
    // Σ (−u)^k / (k (k − 1)), k = 2 to 13: what is left out is below 1e-16 of the sum.
    constexpr double kSeries[] = {1.0 / 2,  -1.0 / 6,  1.0 / 12, -1.0 / 20,  1.0 / 30,  -1.0 / 42,
                                  1.0 / 56, -1.0 / 72, 1.0 / 90, -1.0 / 110, 1.0 / 132, -1.0 / 156};
    if (std::abs(u) > 0.05) return (1.0 + u) * elementary::log1p(u) - u;
    return u * u * polynomial(kSeries, u);
}

// Half of G² of one table, Σ o log(o / e), as Σ e ((1 + u) log(1 + u) − u) with u = (o − e) / e: no term is negative,
// so nothing cancels, and numerators are whole numbers, so an exactly independent table gives 0. For tables beyond
// those of logarithms, where Σ o log o and its like would leave few digits.
template <class Int, class S> double half_likelihood_ratio(const S& t) {
    double occupied = 0.0;
    Int empty = static_cast<Int>(t.n) * t.n;  // times n: what empty cells contribute, e each
    const double n = static_cast<double>(t.n);
    t.cells([&](std::int64_t o, std::int64_t nx, std::int64_t ny) {
        const Int expected = static_cast<Int>(nx) * ny;
        const double difference = to_double(static_cast<Int>(o) * t.n - expected);
        occupied += to_double(expected) / n * excess(difference / to_double(expected));
        empty -= expected;
    });
    return occupied + to_double(empty) / n;
}
template <class S> double half_likelihood_ratio(const S& t) {
    return t.n < (std::int64_t{1} << 31) ? half_likelihood_ratio<std::int64_t>(t) : half_likelihood_ratio<Int128>(t);
}

// Largest rounding error of Σ c log c over the cells of all strata, less the same over their margins, all by look-ups:
// a smaller sum counts as 0. A stratum adds up to n_cells + 8 terms, which come to at most 4 n log n together.
class RoundingBound {
public:
    explicit RoundingBound(const ScanFacts& facts) {
        const double rows = static_cast<double>(facts.n_rows), table = static_cast<double>(kTableSize);
        const double looked_up = std::min(rows, table * static_cast<double>(facts.n_strata));
        most_cells_ = rows;
        const bool none = rows <= 1.0 || (facts.n_strata == 1 && rows >= table);  // no sum is looked up
        unit_ = none ? 0.0 : 0x1p-52 * looked_up * elementary::log(std::min(rows, table));
    }
    double operator()(std::uint32_t rx, std::uint32_t ry) const {
        return unit_ * (8.0 + std::min(static_cast<double>(rx) * ry, most_cells_));
    }

private:
    double unit_, most_cells_;
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
          rounding_(facts),
          scale_(per_row ? (facts.n_rows ? 1.0 / static_cast<double>(facts.n_rows) : 0.0) : 2.0),
          table_(tables.count_log_count()) {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> MNLEARN_INLINE void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        const double free = t.adjusted_dof();
        if (t.n == 0 || free == 0.0) return;
        sum.first += table_->covers(t.n) ? half(t, table_->unchecked()) : half_likelihood_ratio(t);
        sum.second += free;
    }
    RowOfTables binary_row(const Prepared&, std::size_t, std::int64_t n0, std::int64_t n1) const {
        if (n0 == 0 || n1 == 0) return {RowOfTables::skip};
        if (!table_->covers(n0 + n1)) return {RowOfTables::one_by_one};
        const Unchecked term = table_->unchecked();
        return {RowOfTables::together, term.table, term.table, term(n0 + n1) - (term(n0) + term(n1))};
    }
    PairEnding ending() const { return {scale_, dof_.total(1.0, 2, 2), dof_.total(0.0, 2, 2), rounding_(2, 2)}; }
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        out[0] = sum.first > rounding_(rx, ry) ? scale_ * sum.first : 0.0;
        out[1] = dof_.total(sum.second, rx, ry);
    }

private:
    template <class S, class Term> MNLEARN_INLINE static double half(const S& t, const Term& count_log_count) {
        const double base = count_log_count(t.n) - t.sum_rows(count_log_count);
        return base + (t.sum_cells(count_log_count) - t.sum_columns(count_log_count));
    }

    Dof dof_;
    RoundingBound rounding_;
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
    static constexpr std::int64_t kLarge = std::int64_t{1}
                                           << 22;  // rows of a stratum from which digits would run short
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
        for (const std::int64_t size : sizes) {
            const double of_counts = size < kLarge ? ((*a)(size) + (*b)(size)) - (*c)(size)
                                                   : (a->remainder(size) + b->remainder(size)) - c->remainder(size);
            prepared.constant.push_back(log_odds_ + of_counts);
        }
        return prepared;
    }
    // d of one stratum with two rows or more.
    template <class S> MNLEARN_INLINE double log_factor(const Prepared& prepared, std::size_t s, const S& t) const {
        const bool covered = gamma_->covers(t.n);  // all three tables have one size
        if (covered) return odds(prepared.constant[s], t, alpha_->unchecked(), beta_->unchecked(), gamma_->unchecked());
        return t.n < kLarge ? odds(prepared.constant[s], t, *alpha_, *beta_, *gamma_)
                            : odds_of_many(prepared.constant[s], t);
    }
    template <class S> MNLEARN_INLINE void add(Sum& sum, const Prepared& prepared, std::size_t s, const S& t) const {
        if (t.n <= 1) return;
        const double d = log_factor(prepared, s, t);
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
        const double informed = sum.second == 0.0 ? sum.first : sum.first + log_of_one_plus<1>(sum.second);
        out[0] = tie(sum, rx, ry) ? priors_.log_prior : log_prior_of_silent(sum) - informed;
    }
    double log_prior() const { return priors_.log_prior; }
    // Whether nothing in the tables can tell the two models apart. With one state of x they differ only in their priors
    // for y, and the other way round.
    bool tie(const Sum& sum, std::uint32_t rx, std::uint32_t ry) const {
        const bool same_model =
            (rx == 1 && (ry == 1 || priors_.beta == priors_.gamma)) || (ry == 1 && priors_.alpha == priors_.gamma);
        return same_model || sum.strata == 0;
    }
    // What configurations of fewer than two rows contribute.
    double log_prior_of_silent(const Sum& sum) const {
        return (1.0 - static_cast<double>(sum.strata) / facts_.n_configurations) * priors_.log_prior;
    }

private:
    // d of one table; what depends on x alone comes first.
    template <class S, class Term>
    MNLEARN_INLINE static double odds(double constant, const S& t, const Term& alpha, const Term& beta,
                                      const Term& gamma) {
        return (constant - t.sum_rows(alpha)) + (t.sum_cells(gamma) - t.sum_columns(beta));
    }
    // Log-odds without log-gammas as large as n log n: their terms n log n − n add up to half of G², which is computed
    // without cancellation, and what is left of each grows like log n.
    template <class S> MNLEARN_NOINLINE double odds_of_many(double constant, const S& t) const {
        return odds(constant, t, alpha_->remainders(), beta_->remainders(), gamma_->remainders()) +
               half_likelihood_ratio(t);
    }
    static double log_prior_odds(double log_prior, const ScanFacts& facts) {  // log(q / p)
        const double log_p = log_prior / facts.n_configurations;
        if (facts.log_n_configurations < 600.0) return elementary::log(-elementary::expm1(log_p)) - log_p;
        return elementary::log(-log_prior) - facts.log_n_configurations;  // q = −log P / K to first order; here exactly
    }

    Priors priors_;
    ScanFacts facts_;
    double log_odds_;
    LogTables* tables_;
    std::shared_ptr<const RisingLogGamma> alpha_, beta_, gamma_;
};

// log(1 − P(CI | D)), right however small it is: −log P(CI | D) is added up by its logarithm, so it cannot underflow.
// One table at a time; for the few pairs whose posterior of independence is 1 to the last digit.
class BayesianDependence {
public:
    static constexpr int outputs = 1;
    static constexpr BinaryForm form = BinaryForm::plain;  // never used: no row is scored together
    static constexpr PairForm pair_form = PairForm::plain;
    using Prepared = BayesianPosterior::Prepared;
    using Sum = RunningSum;  // first: the largest log term; second: Σ exp(log term − first)
    BayesianDependence(const BayesianPosterior::Priors& priors, const ScanFacts& facts, LogTables& tables)
        : posterior_(priors, facts, tables) {}

    Prepared prepare(std::uint32_t rx, std::uint32_t ry, std::span<const std::int64_t> sizes) const {
        return posterior_.prepare(rx, ry, sizes);
    }
    template <class S> void add(Sum& sum, const Prepared& prepared, std::size_t s, const S& t) const {
        if (t.n > 1) add_log(sum, log_softplus(posterior_.log_factor(prepared, s, t)));
    }
    RowOfTables binary_row(const Prepared&, std::size_t, std::int64_t n0, std::int64_t n1) const {
        return {n0 + n1 <= 1 ? RowOfTables::skip : RowOfTables::one_by_one};
    }
    PairEnding ending() const { return {}; }
    void finish(Sum sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        if (posterior_.tie(sum, rx, ry)) {
            out[0] = elementary::log(-elementary::expm1(posterior_.log_prior()));
            return;
        }
        const double silent = -posterior_.log_prior_of_silent(sum);
        if (silent > 0.0) add_log(sum, elementary::log(silent));
        const double log_size = sum.first + elementary::log(sum.second),
                     size = elementary::exp(log_size);  // of log P(CI | D)
        if (log_size < kLinear)
            out[0] = log_size;
        else
            out[0] =
                size < 0.5 ? elementary::log(-elementary::expm1(-size)) : elementary::log1p(-elementary::exp(-size));
    }

private:
    static constexpr double kLinear = -40.0;  // below it log(1 + exp(d)) = exp(d) and 1 − exp(−s) = s, to the last bit

    static double log_softplus(double d) {
        if (d < kLinear) return d;
        return elementary::log((d > 0.0 ? d : 0.0) + log_of_one_plus<1>(exp_of_minus<1>(std::abs(d))));
    }
    static void add_log(Sum& sum, double term) {
        if (sum.strata++ == 0) {
            sum.first = term;
            sum.second = 1.0;
        } else if (term <= sum.first) {
            sum.second += exp_of_minus<1>(sum.first - term);
        } else {
            sum.second = sum.second * exp_of_minus<1>(term - sum.first) + 1.0;
            sum.first = term;
        }
    }

    BayesianPosterior posterior_;
};

// Σ o log(o / ny) over the cells of one table: minus its rows times the conditional entropy of x.
template <class S> double sum_of_logs(const S& t) {
    double sum = 0.0;
    t.cells([&](std::int64_t o, std::int64_t, std::int64_t ny) {
        const double part = static_cast<double>(o), whole = static_cast<double>(ny);
        sum += part * (2.0 * part > whole ? elementary::log1p(static_cast<double>(o - ny) / whole)
                                          : elementary::log(part / whole));
    });
    return sum;
}

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
    template <class S> MNLEARN_INLINE void add(Sum& sum, const Prepared& prepared, std::size_t, const S& t) const {
        if (prepared.cell->covers(t.n))
            sum.first += t.sum_cells(prepared.cell->unchecked()) - t.sum_columns(prepared.total->unchecked());
        else if (t.n < BayesianPosterior::kLarge)
            sum.first += t.sum_cells(*prepared.cell) - t.sum_columns(*prepared.total);
        else  // as in the posterior: the terms n log n − n add up to a sum of logarithms that does not cancel
            sum.first += sum_of_logs(t) +
                         (t.sum_cells(prepared.cell->remainders()) - t.sum_columns(prepared.total->remainders()));
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
    Entropy(const ScanFacts& facts, LogTables& tables)
        : facts_(facts), rounding_(facts), table_(tables.count_log_count()) {}

    Prepared prepare(std::uint32_t, std::uint32_t, std::span<const std::int64_t>) const { return {}; }
    template <class S> MNLEARN_INLINE void add(Sum& sum, const Prepared&, std::size_t, const S& t) const {
        if (table_->covers(t.n))
            sum.first += t.sum_cells(table_->unchecked()) - t.sum_columns(table_->unchecked());
        else
            sum.first += log_likelihood(t, *table_);
    }
    RowOfTables binary_row(const Prepared&, std::size_t, std::int64_t n0, std::int64_t n1) const {
        if (!table_->covers(n0 + n1)) return {RowOfTables::one_by_one};
        return {RowOfTables::together, table_->unchecked().table, table_->unchecked().table};
    }
    PairEnding ending() const { return {static_cast<double>(facts_.n_rows), 0.0, 0.0, rounding_(2, 2)}; }
    void finish(const Sum& sum, std::uint32_t rx, std::uint32_t ry, double* out) const {
        out[0] = sum.first < -rounding_(rx, ry) ? -sum.first / static_cast<double>(facts_.n_rows) : 0.0;
    }

private:
    // Of a table beyond those of logarithms; where y almost determines x, by terms of which none is positive.
    template <class S> static double log_likelihood(const S& t, const CountLogCount& count_log_count) {
        const double found = t.sum_cells(count_log_count) - t.sum_columns(count_log_count);
        return found < -1e-3 * static_cast<double>(t.n) ? found : sum_of_logs(t);
    }

    ScanFacts facts_;
    RoundingBound rounding_;
    std::shared_ptr<const CountLogCount> table_;
};

}  // namespace mnlearn
