#include "evidence/logistic.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mnlearn {

namespace {

constexpr int kSteps = 200, kPasses = 1000, kHalvings = 40;
constexpr double kDamping = 1e-12;    // keeps a curvature of 0 from dividing
constexpr double kDecrease = 1e-4;    // of what the model promises, the share that a step must keep
constexpr double kModelShare = 0.01;  // the accuracy of a model, which is cheap beside its making, in tolerances
constexpr double kRounding = 1e-14;   // of an objective: less is not worth a step
constexpr double kCopies = 1e-9;      // by what share of a penalty rounding may exceed it
constexpr double kSlow = 0.2;         // a step that leaves more of the distance calls for new curvatures

// t less the penalty, towards 0; what exceeds it by rounding only is 0, or a copy of a column would enter beside it.
double soft_threshold(double t, double by) {
    return std::abs(t) <= by * (1 + kCopies) ? 0.0 : t - std::copysign(by, t);
}

class LogisticFit {
public:
    LogisticFit(const KernelTable& kernels, const GroupedRows& rows, std::span<const double> penalty, double ridge,
                std::span<double> b)
        : kernels_(kernels),
          rows_(rows.groups()),
          size_(rows_.n_columns),
          penalty_(penalty.begin(), penalty.end()),
          ridge_(ridge),
          b_(b),
          gradient_(size_),
          hessian_(size_ * size_),
          step_(size_),
          bent_(size_),
          point_(size_),
          memory_(aligned_words(3 * rows_.n_groups)),
          residual_(reinterpret_cast<double*>(memory_.get())),
          weight_(residual_ + rows_.n_groups),
          weighted_(weight_ + rows_.n_groups) {
        penalty_.push_back(0.0);
        penalised_ = std::ranges::any_of(penalty_, [](double each) { return each > 0; });
    }

    double run(double tolerance) {
        double loss = loss_at(b_), before = 0;
        for (int k = 0; k < kSteps; ++k) {
            find_gradient();
            const double away = distance_to_optimum();
            if (away <= tolerance) break;
            if (k == 0 || away > kSlow * before) find_hessian();
            before = away;
            if (penalised_ || !solve_equations()) solve_model(kModelShare * tolerance);
            if (!search_line(loss)) break;
        }
        return loss;
    }

private:
    double ridge_of(std::size_t j) const { return j + 1 < size_ && penalty_[j] == 0 ? ridge_ : 0.0; }

    double loss_at(std::span<const double> b) { return kernels_.logistic->loss(rows_, b.data(), residual_, weight_); }

    double penalties_at(std::span<const double> b) const {
        double sum = 0;
        for (std::size_t j = 0; j < size_; ++j) sum += penalty_[j] * std::abs(b[j]) + 0.5 * ridge_of(j) * b[j] * b[j];
        return sum;
    }

    void find_gradient() {
        for (std::size_t j = 0; j < size_; ++j)
            gradient_[j] = kernels_.conditional->dot(rows_.columns + j * rows_.n_groups, residual_, rows_.n_groups) +
                           ridge_of(j) * b_[j];
    }

    void find_hessian() {
        const BinaryGroups groups{rows_.n_groups, size_, rows_.columns, nullptr, nullptr};
        kernels_.conditional->weighted_gram(groups, weight_, weighted_, hessian_.data());
        for (std::size_t j = 0; j < size_; ++j) {
            for (std::size_t k = 0; k < j; ++k) hessian_[j * size_ + k] = hessian_[k * size_ + j];
            hessian_[j * size_ + j] += ridge_of(j) + kDamping;
        }
    }

    // The largest derivative that is left, after the penalty has taken what it may.
    double distance_to_optimum() const {
        double away = 0;
        for (std::size_t j = 0; j < size_; ++j) {
            const double left = b_[j] != 0 ? gradient_[j] + std::copysign(penalty_[j], b_[j])
                                           : soft_threshold(gradient_[j], penalty_[j]);
            away = std::max(away, std::abs(left));
        }
        return away;
    }

    // The same without penalties, by a Cholesky factor; false if the curvatures have none.
    bool solve_equations() {
        factor_ = hessian_;
        for (std::size_t j = 0; j < size_; ++j) {
            for (std::size_t k = 0; k <= j; ++k) {
                double left = factor_[j * size_ + k];
                for (std::size_t i = 0; i < k; ++i) left -= factor_[j * size_ + i] * factor_[k * size_ + i];
                if (j == k && !(left > 0)) return false;
                factor_[j * size_ + k] = j == k ? std::sqrt(left) : left / factor_[k * size_ + k];
            }
        }
        for (std::size_t j = 0; j < size_; ++j) {
            double left = -gradient_[j];
            for (std::size_t i = 0; i < j; ++i) left -= factor_[j * size_ + i] * step_[i];
            step_[j] = left / factor_[j * size_ + j];
        }
        for (std::size_t j = size_; j-- > 0;) {
            double left = step_[j];
            for (std::size_t i = j + 1; i < size_; ++i) left -= factor_[i * size_ + j] * step_[i];
            step_[j] = left / factor_[j * size_ + j];
        }
        return true;
    }

    // The step to the minimum of the quadratic model with its penalties, coordinate by coordinate.
    void solve_model(double accuracy) {
        std::ranges::fill(step_, 0.0);
        std::ranges::fill(bent_, 0.0);  // hessian × step
        for (int pass = 0; pass < kPasses; ++pass) {
            double largest = 0;
            for (std::size_t j = 0; j < size_; ++j) {
                const double curvature = hessian_[j * size_ + j], now = b_[j] + step_[j];
                const double slope = gradient_[j] + bent_[j];
                const double moved = soft_threshold(curvature * now - slope, penalty_[j]) / curvature - now;
                if (moved == 0) continue;
                step_[j] += moved;
                for (std::size_t k = 0; k < size_; ++k) bent_[k] += moved * hessian_[j * size_ + k];
                largest = std::max(largest, std::abs(moved) * curvature);
            }
            if (largest <= accuracy) break;
        }
    }

    // Goes as far along the step as the objective falls; false if it does not.
    bool search_line(double& loss) {
        double promised = 0;
        for (std::size_t j = 0; j < size_; ++j) {
            promised += gradient_[j] * step_[j] + penalty_[j] * (std::abs(b_[j] + step_[j]) - std::abs(b_[j]));
        }
        const double before = loss + penalties_at(b_);
        double share = 1;
        for (int k = 0; k < kHalvings && -promised > kRounding * before; ++k, share /= 2) {
            for (std::size_t j = 0; j < size_; ++j) point_[j] = b_[j] + share * step_[j];
            const double there = loss_at(point_);
            if (there + penalties_at(point_) > before + kDecrease * share * promised) continue;
            std::ranges::copy(point_, b_.begin());
            loss = there;
            return true;
        }
        return false;
    }

    const KernelTable& kernels_;
    LogisticGroups rows_;
    std::size_t size_;
    std::vector<double> penalty_;
    double ridge_;
    bool penalised_;
    std::span<double> b_;
    std::vector<double> gradient_, hessian_, factor_, step_, bent_, point_;
    AlignedWords memory_;
    double *residual_, *weight_, *weighted_;
};

}  // namespace

GroupedRows::GroupedRows(std::size_t n_rows, std::size_t n_columns)
    : n_rows_(n_rows),
      n_columns_(n_columns + 1),
      length_((n_rows + 7) / 8 * 8),
      memory_(aligned_words((n_columns_ + 2) * length_)),
      values_(reinterpret_cast<double*>(memory_.get())) {
    std::fill_n(column(n_columns), n_rows, 1.0);
}

LogisticGroups GroupedRows::groups() const {
    const double* total = values_ + n_columns_ * length_;
    return {length_, n_columns_, values_, total, total + length_};
}

double fit_logistic(const KernelTable& kernels, const GroupedRows& rows, std::span<const double> penalty, double ridge,
                    double tolerance, std::span<double> coefficients) {
    return LogisticFit(kernels, rows, penalty, ridge, coefficients).run(tolerance);
}

}  // namespace mnlearn
