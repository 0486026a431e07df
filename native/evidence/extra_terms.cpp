#include "evidence/extra_terms.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "scan/ties.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kMostMembers = 8, kMostBlocks = 8, kWidestBlock = 64, kMostParameters = 200;
constexpr std::size_t kFewestGroups = 4;  // three configurations of two binary neighbours show no interaction
constexpr double kLeastRise = 0.01;

// What a three-way term pays for having been chosen among so many.
double price(std::size_t n_members) {
    return kLeastRise + std::log(static_cast<double>(n_members * (n_members - 1) / 2));
}

// The products of two members' contrasts in one group, times √2.
void multiply(const Design& design, std::size_t u, std::size_t i, std::size_t j, double* products) {
    const Design::Member y = design.members[i], z = design.members[j];
    const double* feature = design[u];
    for (std::size_t e = 0; e < y.width; ++e)
        for (std::size_t h = 0; h < z.width; ++h)
            *products++ = std::numbers::sqrt2 * feature[y.first + e] * feature[z.first + h];
}

Design with_products(const Design& design, std::size_t n_groups, std::size_t i, std::size_t j) {
    const std::size_t old = design.n_features, more = design.members[i].width * design.members[j].width;
    Design wider{old + more, std::vector<double>(n_groups * (old + more)), design.members, design.states};
    for (std::size_t u = 0; u < n_groups; ++u) {
        double* feature = wider.features.data() + u * wider.n_features;
        std::copy_n(design[u], old, feature);
        multiply(design, u, i, j, feature + old);
    }
    return wider;
}

}  // namespace

void OneStep::begin(const Fit& fit, std::size_t n_features, std::size_t n_states) {
    fit_ = &fit;
    n_features_ = n_features;
    n_states_ = n_states;
    width_ = fit.width();
    spread_.assign(n_states * triangle(), 0.0);
    crossed_.assign(n_states * triangle() * n_features, 0.0);
    surplus_.assign(n_states * width_, 0.0);
}

void OneStep::add(std::size_t u, const double* feature, std::size_t state, double rows, const double* surplus) {
    double *spread = spread_.data() + state * triangle(), *crossed = crossed_.data() + state * triangle() * n_features_;
    for (std::size_t k = 0; k < width_; ++k) {
        surplus_[state * width_ + k] += surplus[k];
        for (std::size_t l = 0; l <= k; ++l, ++spread, crossed += n_features_) {
            const double weight = rows * fit_->spread(u)[k * width_ + l];
            *spread += weight;
            for (std::size_t q = 0; q < n_features_; ++q) crossed[q] += weight * feature[q];
        }
    }
}

// The block's gradient, its own information, and its information crossed with the parameters there are.
void OneStep::assemble(const double* of_state, std::size_t block) {
    const std::size_t size = block * width_, n_old = fit_->n_parameters();
    gradient_.assign(size, 0.0);
    schur_.assign(size * size, 0.0);
    cross_.assign(size * n_old, 0.0);
    const auto packed = [](std::size_t k, std::size_t l) { return k >= l ? k * (k + 1) / 2 + l : l * (l + 1) / 2 + k; };
    for (std::size_t s = 0; s < n_states_; ++s) {
        const double *f = of_state + s * block, *spread = spread_.data() + s * triangle();
        for (std::size_t row = 0; row < size; ++row) {
            const std::size_t e = row / width_, k = row % width_;
            gradient_[row] += f[e] * surplus_[s * width_ + k];
            for (std::size_t other = 0; other <= row; ++other)
                schur_[row * size + other] += f[e] * f[other / width_] * spread[packed(k, other % width_)];
            for (std::size_t l = 0; l < width_; ++l) {
                const double* crossed = crossed_.data() + (s * triangle() + packed(k, l)) * n_features_;
                double* cross = cross_.data() + row * n_old + l * n_features_;
                for (std::size_t q = 0; q < n_features_; ++q) cross[q] += f[e] * crossed[q];
            }
        }
    }
}

double OneStep::gain(const double* of_state, std::size_t block) {
    assemble(of_state, block);
    const std::size_t size = block * width_, n_old = fit_->n_parameters();
    for (std::size_t row = 0; row < size; ++row) {
        double* mine = cross_.data() + row * n_old;
        solve_lower(fit_->factor(), n_old, mine);
        for (std::size_t other = 0; other <= row; ++other)
            schur_[row * size + other] -= dot(mine, cross_.data() + other * n_old, n_old);
        schur_[row * size + row] += 1.0;  // the prior's precision
    }
    if (!factorise(schur_.data(), size)) return 0.0;
    solve_lower(schur_, size, gradient_.data());
    return 0.5 * dot(gradient_.data(), gradient_.data(), size) - 0.5 * log_determinant(schur_.data(), size);
}

bool Model::fit(const GroupedTable& table, Design& design, const Contrasts& of_x, bool three_way, const Model* warm) {
    paid_ = 0.0;
    const bool can_start = warm && warm->fitted_ && warm->paid_ == 0.0;  // three-way features would be in the way
    fitted_ = fit_.run(table, design, of_x, can_start ? &warm->fit_ : nullptr);
    const std::size_t n_members = design.members.size();
    if (fitted_ && three_way && n_members >= 2 && n_members <= kMostMembers && table.n_groups >= kFewestGroups)
        add_three_way(table, design, of_x);
    return fitted_;
}

// Greedily: the pair of neighbours with the largest one-step gain, kept if the refitted evidence pays for it.
void Model::add_three_way(const GroupedTable& table, Design& design, const Contrasts& of_x) {
    const std::size_t n_members = design.members.size();
    const double cost = price(n_members);
    std::vector<char> taken(n_members * n_members, 0);
    for (std::size_t n_blocks = 0; n_blocks < kMostBlocks; ++n_blocks) {
        double best = 0.0;
        std::size_t best_i = 0, best_j = 0;
        for (std::size_t i = 0; i < n_members; ++i) {
            for (std::size_t j = i + 1; j < n_members; ++j) {
                const double gain = taken[i * n_members + j] ? 0.0 : three_way_gain(table, design, of_x, i, j);
                if (exceeds(gain, best)) best = gain, best_i = i, best_j = j;
            }
        }
        if (best_j == 0 || exceeds(cost, best)) return;
        Design wider = with_products(design, table.n_groups, best_i, best_j);
        if (wider.n_features * of_x.width() > kMostParameters) return;
        if (!refit_.run(table, wider, of_x, &fit_) || !exceeds(refit_.log_evidence(), fit_.log_evidence() + cost))
            return;
        std::swap(fit_, refit_);
        design = std::move(wider);
        paid_ += cost;
        taken[best_i * n_members + best_j] = 1;
    }
}

double Model::three_way_gain(const GroupedTable& table, const Design& design, const Contrasts& of_x, std::size_t i,
                             std::size_t j) {
    const Design::Member y = design.members[i], z = design.members[j];
    const std::size_t block = y.width * z.width, width = of_x.width();
    if (block == 0 || block * width > kWidestBlock) return 0.0;
    const std::size_t n_states = (y.width + 1) * (z.width + 1);
    one_step_.begin(fit_, design.n_features, n_states);
    features_.assign(n_states * block, 0.0);
    surplus_.resize(width);
    for (std::size_t u = 0; u < table.n_groups; ++u) {
        const std::size_t state = design.state(u, i) * (z.width + 1) + design.state(u, j);
        multiply(design, u, i, j, features_.data() + state * block);
        for (std::size_t k = 0; k < width; ++k) {
            surplus_[k] = -table.sizes[u] * fit_.mean(u)[k];
            for (std::size_t a = 0; a < table.card; ++a) surplus_[k] += table.counts[u * table.card + a] * of_x[a][k];
        }
        one_step_.add(u, design[u], state, table.sizes[u], surplus_.data());
    }
    return one_step_.gain(features_.data(), block);
}

double Model::neighbour_gain(const Design& design, const PairCells& cells, const Contrasts& of_x, const Contrasts& of_y,
                             std::size_t n_groups) {
    const std::size_t width = of_x.width();
    one_step_.begin(fit_, design.n_features, of_y.card());
    surplus_.resize(width);
    for (std::size_t u = 0; u < n_groups; ++u) {
        for (std::size_t b = 0; b < of_y.card(); ++b) {
            double rows = 0.0;
            std::fill(surplus_.begin(), surplus_.end(), 0.0);
            for (std::size_t a = 0; a < of_x.card(); ++a) {
                const double count = cells.at(u, a, b);
                if (count == 0.0) continue;
                rows += count;
                for (std::size_t k = 0; k < width; ++k) surplus_[k] += count * (of_x[a][k] - fit_.mean(u)[k]);
            }
            if (rows != 0.0) one_step_.add(u, design[u], b, rows, surplus_.data());
        }
    }
    return one_step_.gain(of_y[0], of_y.width());
}

}  // namespace mnlearn
