#include "evidence/pairwise_model.hpp"

#include <algorithm>
#include <cmath>

namespace mnlearn {
namespace {

constexpr double kInterceptPrecision = 0.01;  // b0 ~ N(0, 100)
constexpr double kWeightPrecision = 1.0;      // for two binary variables: log odds ratio ~ N(0, 4)
constexpr int kMaxSteps = 60, kMaxHalvings = 30;
constexpr double kConverged = 1e-18;  // Newton decrement; its root is how far the mode may be, in standard deviations
constexpr double kQuadratic = 1e-4;   // below it full steps are safe, and their gains may drown in rounding

void add_scaled(double* to, double scale, const double* from, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) to[k] += scale * from[k];
}

}  // namespace

Contrasts::Contrasts(std::size_t card) : card_(card), values_(card * (card - 1), 0.0) {
    for (std::size_t k = 1; k < card; ++k) {
        const double scale = 1.0 / std::sqrt(static_cast<double>(k * (k + 1)));
        for (std::size_t a = 0; a < k; ++a) values_[a * width() + k - 1] = scale;
        values_[k * width() + k - 1] = -static_cast<double>(k) * scale;
    }
}

void GroupedTable::clear(std::size_t states) {
    n_groups = 0;
    card = states;
    counts.clear();
    sizes.clear();
}

void GroupedTable::add_group(const double* of_state, std::size_t stride) {
    double size = 0.0;
    for (std::size_t a = 0; a < card; ++a) size += of_state[a * stride];
    if (size == 0.0) return;
    for (std::size_t a = 0; a < card; ++a) counts.push_back(of_state[a * stride]);
    sizes.push_back(size);
    ++n_groups;
}

bool Fit::run(const GroupedTable& table, const Design& design, const Contrasts& of_x, const Fit* warm) {
    n_features_ = design.n_features;
    width_ = of_x.width();
    if (n_parameters() > kMaxParameters) return false;
    start(table, of_x, warm);
    double height = log_posterior(table, design, of_x, weights_), last = HUGE_VAL;
    for (int step = 0; step < kMaxSteps; ++step) {
        moments(table, of_x);
        differentiate(table, design, of_x);
        if (!factorise(factor_.data(), n_parameters())) return false;
        step_ = gradient_;
        solve_lower(factor_, n_parameters(), step_.data());
        const double decrement = dot(step_.data(), step_.data(), n_parameters());
        if (!(decrement < HUGE_VAL)) return false;
        const bool stalled = decrement < 1e-9 && decrement >= 0.1 * last;  // by rounding: of so many rows
        last = decrement;
        if (decrement < kConverged || stalled) {
            log_evidence_ = height - 0.5 * log_determinant(factor_.data(), n_parameters());
            return true;
        }
        solve_upper(factor_, n_parameters(), step_.data());
        double length = 1.0, reached = 0.0;
        for (int halving = 0; halving <= kMaxHalvings; ++halving, length *= 0.5) {
            proposal_ = weights_;
            add_scaled(proposal_.data(), length, step_.data(), n_parameters());
            reached = log_posterior(table, design, of_x, proposal_);
            if (reached > height || decrement < kQuadratic) break;
        }
        weights_.swap(proposal_);
        height = reached;
    }
    return false;
}

// The margin of x, smoothed, as if there were no neighbours; or the fit of fewer features.
void Fit::start(const GroupedTable& table, const Contrasts& of_x, const Fit* warm) {
    weights_.assign(n_parameters(), 0.0);
    if (warm) {
        for (std::size_t k = 0; k < width_; ++k)
            std::copy_n(warm->weights_.data() + k * warm->n_features_, warm->n_features_,
                        weights_.data() + k * n_features_);
        return;
    }
    for (std::size_t a = 0; a < table.card; ++a) {
        double total = 0.5;
        for (std::size_t u = 0; u < table.n_groups; ++u) total += table.counts[u * table.card + a];
        for (std::size_t k = 0; k < width_; ++k) weights_[k * n_features_] += of_x[a][k] * std::log(total);
    }
}

double Fit::prior_precision(std::size_t parameter) const {
    return parameter % n_features_ == 0 ? kInterceptPrecision : kWeightPrecision;
}

double Fit::log_posterior(const GroupedTable& table, const Design& design, const Contrasts& of_x,
                          const std::vector<double>& weights) {
    const std::size_t card = table.card;
    probabilities_.resize(table.n_groups * card);
    field_.resize(width_);
    double height = 0.0;
    for (std::size_t u = 0; u < table.n_groups; ++u) {
        for (std::size_t k = 0; k < width_; ++k)
            field_[k] = dot(design[u], weights.data() + k * n_features_, n_features_);
        double *p = probabilities_.data() + u * card, largest = -HUGE_VAL, sum = 0.0, fits = 0.0;
        for (std::size_t a = 0; a < card; ++a) largest = std::max(largest, p[a] = dot(of_x[a], field_.data(), width_));
        for (std::size_t a = 0; a < card; ++a) {
            fits += table.counts[u * card + a] * (p[a] - largest);
            sum += p[a] = std::exp(p[a] - largest);
        }
        for (std::size_t a = 0; a < card; ++a) p[a] /= sum;
        height += fits - table.sizes[u] * std::log(sum);
    }
    for (std::size_t j = 0; j < weights.size(); ++j) height -= 0.5 * prior_precision(j) * weights[j] * weights[j];
    return height;
}

// Mean and covariance of the contrasts of x in each configuration, under the fitted probabilities.
void Fit::moments(const GroupedTable& table, const Contrasts& of_x) {
    mean_.assign(table.n_groups * width_, 0.0);
    spread_.assign(table.n_groups * width_ * width_, 0.0);
    for (std::size_t u = 0; u < table.n_groups; ++u) {
        const double* p = probabilities_.data() + u * table.card;
        double *m = mean_.data() + u * width_, *v = spread_.data() + u * width_ * width_;
        for (std::size_t a = 0; a < table.card; ++a) add_scaled(m, p[a], of_x[a], width_);
        if (table.card == 2) {  // p (1 - p) without cancellation
            v[0] = 2.0 * p[0] * p[1];
            continue;
        }
        for (std::size_t a = 0; a < table.card; ++a) {
            for (std::size_t k = 0; k < width_; ++k) {
                const double weighted = p[a] * (of_x[a][k] - m[k]);
                for (std::size_t l = 0; l < width_; ++l) v[k * width_ + l] += weighted * (of_x[a][l] - m[l]);
            }
        }
    }
}

// The gradient and the information (lower triangle, into factor_) of the log posterior.
void Fit::differentiate(const GroupedTable& table, const Design& design, const Contrasts& of_x) {
    const std::size_t size = n_parameters(), n_q = n_features_;
    gradient_.assign(size, 0.0);
    factor_.assign(size * size, 0.0);
    for (std::size_t u = 0; u < table.n_groups; ++u) {
        const double *feature = design[u], *count = table.counts.data() + u * table.card;
        for (std::size_t k = 0; k < width_; ++k) {
            double surplus = -table.sizes[u] * mean(u)[k];
            for (std::size_t a = 0; a < table.card; ++a) surplus += count[a] * of_x[a][k];
            add_scaled(gradient_.data() + k * n_q, surplus, feature, n_q);
            for (std::size_t l = 0; l <= k; ++l) {
                const double weight = table.sizes[u] * spread(u)[k * width_ + l];
                double* block = factor_.data() + k * n_q * size + l * n_q;
                for (std::size_t q = 0; q < n_q; ++q)  // a block off the diagonal is symmetric, but needed in full
                    add_scaled(block + q * size, weight * feature[q], feature, l == k ? q + 1 : n_q);
            }
        }
    }
    for (std::size_t j = 0; j < size; ++j) {
        gradient_[j] -= prior_precision(j) * weights_[j];
        factor_[j * size + j] += prior_precision(j);
    }
}

// Four running sums: one alone would wait for its own last addition.
double dot(const double* a, const double* b, std::size_t size) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::size_t k = 0;
    for (; k + 4 <= size; k += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[k + lane] * b[k + lane];
    for (; k < size; ++k) sums[0] += a[k] * b[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

bool factorise(double* matrix, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        double* row = matrix + i * size;
        for (std::size_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, matrix + j * size, j)) / matrix[j * size + j];
        const double rest = row[i] - dot(row, row, i);
        if (!(rest > 0.0)) return false;
        row[i] = std::sqrt(rest);
    }
    return true;
}

void solve_lower(const std::vector<double>& factor, std::size_t size, double* vector) {
    for (std::size_t i = 0; i < size; ++i)
        vector[i] = (vector[i] - dot(factor.data() + i * size, vector, i)) / factor[i * size + i];
}

void solve_upper(const std::vector<double>& factor, std::size_t size, double* vector) {
    for (std::size_t i = size; i-- > 0;) {
        vector[i] /= factor[i * size + i];
        add_scaled(vector, -vector[i], factor.data() + i * size, i);
    }
}

double log_determinant(const double* factor, std::size_t size) {
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) sum += std::log(factor[i * size + i]);
    return 2.0 * sum;
}

}  // namespace mnlearn
