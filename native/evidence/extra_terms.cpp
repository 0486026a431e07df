#include "evidence/extra_terms.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <utility>

#include "numbers/elementary.hpp"
#include "scan/ties.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kMostBlocks = 8, kMostParameters = 200;
constexpr std::size_t kFewestGroups = 4;  // three configurations of two binary neighbours show no interaction
constexpr double kLeastRise = 0.01;
constexpr double kWidePrecision = 1.0 / 16.0;      // of the other prior of the weights of a block
constexpr double kLargeSquare = 1.0;               // mean squares of weights up to this are as N(0, 1) expects
constexpr double kWidthPrice = std::numbers::ln2;  // for the choice between two scales

}  // namespace

double three_way_price(std::size_t n_members) {
    return kLeastRise + elementary::log(static_cast<double>(n_members * (n_members - 1) / 2));
}

bool Model::fit(const ConditionalKernels& kernels, const GroupedTable& table, Design& design, const Contrasts& of_x,
                const Model* warm) {
    kernels_ = &kernels;
    table_ = &table;
    design_ = &design;
    of_x_ = &of_x;
    paid_ = paid_for_width_ = 0.0;
    const bool can_start = warm && warm->fitted_ && warm->paid_ == 0.0;  // three-way features would be in the way
    design.states.reserve((design.members.size() + kMostBlocks) * design.n_groups);  // fits point into it
    fitted_ = fit_.run(kernels, table, design, of_x, can_start ? &warm->fit_ : nullptr);
    if (fitted_) widen(0);
    return fitted_;
}

// All blocks of large weights that a quadratic likelihood promises enough for, in one fit.
void Model::widen(std::size_t first) {
    std::vector<std::size_t> large, wide;
    for (std::size_t i = first; i < design_->members.size(); ++i)
        if (exceeds(fit_.mean_square(i), kLargeSquare)) large.push_back(i);
    if (large.empty()) return;
    for (const std::size_t k :
         worth_widening(*kernels_, fit_.posterior_of(large), kWidePrecision, kWidthPrice, kLargeSquare))
        wide.push_back(large[k]);
    if (wide.empty()) return;
    for (const std::size_t i : wide) design_->members[i].precision = kWidePrecision;
    const double price = static_cast<double>(wide.size()) * kWidthPrice;
    if (refit_.run(*kernels_, *table_, *design_, *of_x_, &fit_) &&
        exceeds(refit_.log_evidence(), fit_.log_evidence() + price)) {
        std::swap(fit_, refit_);
        paid_for_width_ += price;
    } else {
        for (const std::size_t i : wide) design_->members[i].precision = 1.0;
    }
}

void Model::add_three_way() {
    add_blocks();
    if (fitted_ && paid_ > 0.0) widen(design_->n_neighbours);
}

void Model::add_blocks() {
    const std::size_t n = design_->n_neighbours;
    if (!fitted_ || n < 2 || n > kMostWithProducts || table_->n_groups < kFewestGroups) return;
    const double cost = three_way_price(n);
    std::vector<char> taken(n * n, 0);
    for (std::size_t n_blocks = 0; n_blocks < kMostBlocks; ++n_blocks) {
        const std::vector<double> gains = three_way_gains(taken);
        double best = 0.0;
        std::size_t best_i = 0, best_j = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = i + 1; j < n; ++j)
                if (exceeds(gains[i * n + j], best)) best = gains[i * n + j], best_i = i, best_j = j;
        if (best_j == 0 || exceeds(cost, best)) return;
        design_->add_products(best_i, best_j);
        const bool fits = design_->n_features * of_x_->width() <= kMostParameters;
        if (!fits || !refit_.run(*kernels_, *table_, *design_, *of_x_, &fit_) ||
            !exceeds(refit_.log_evidence(), fit_.log_evidence() + cost))
            return design_->drop_products();
        std::swap(fit_, refit_);
        paid_ += cost;
        taken[best_i * n + best_j] = 1;
    }
}

bool Model::had_room() const {
    return design_->n_neighbours <= kMostWithProducts && fit_.n_parameters() + kWidestProducts <= kMostParameters;
}

// Gains below what a term has to pay may be given as 0.
std::vector<double> Model::three_way_gains(const std::vector<char>& taken) {
    const std::size_t n = design_->n_neighbours, width = of_x_->width();
    std::vector<double> gains(n * n, 0.0);
    if (fit_.binary()) binary_gains(taken, gains);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) {
            const Design::Member &y = design_->members[i], &z = design_->members[j];
            const std::size_t block = y.width * z.width;
            if (taken[i * n + j] || block == 0 || block * width > kWidestProducts) continue;
            if (fit_.binary() ? block > 1 : fit_.product_guess(i, j) > three_way_price(n))
                gains[i * n + j] = block_gain(i, j);
        }
    }
    return gains;
}

// A product of two binary neighbours is a binary variable: state 0 where their states are equal.
void Model::binary_gains(const std::vector<char>& taken, std::vector<double>& gains) {
    const std::size_t n = design_->n_neighbours, n_groups = table_->n_groups;
    std::vector<std::size_t> places;
    const auto find = [&] {
        double found[kFitLanes];
        zero_.assign(2 * kFitLanes * n_groups, 0.0);
        for (std::size_t k = 0; k < places.size(); ++k) {
            const std::uint32_t *y = design_->states_of(places[k] / n), *z = design_->states_of(places[k] % n);
            for (std::size_t u = 0; u < n_groups; ++u) {
                if (y[u] != z[u]) continue;
                zero_[16 * u + k] = (*table_)[u][0];
                zero_[16 * u + 8 + k] = (*table_)[u][1];
            }
        }
        fit_.binary_gains(zero_.data(), found);
        for (std::size_t k = 0; k < places.size(); ++k) gains[places[k]] = found[k];
        places.clear();
    };
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) {
            if (taken[i * n + j] || design_->members[i].width != 1 || design_->members[j].width != 1) continue;
            places.push_back(i * n + j);
            if (places.size() == kFitLanes) find();
        }
    }
    if (!places.empty()) find();
}

double Model::block_gain(std::size_t i, std::size_t j) {
    const std::size_t n_groups = table_->n_groups, card = design_->members[j].card;
    every_group_.resize(n_groups);
    std::iota(every_group_.begin(), every_group_.end(), 0u);
    pair_states_.resize(n_groups);
    for (std::size_t u = 0; u < n_groups; ++u)
        pair_states_[u] = design_->states_of(i)[u] * static_cast<std::uint32_t>(card) + design_->states_of(j)[u];
    const std::vector<double> coding = design_->products(i, j);
    const std::size_t line = in_lanes(of_x_->width());
    std::vector<double> surplus(n_groups * line, 0.0);
    for (std::size_t u = 0; u < n_groups; ++u) fit_.surplus_of(u, (*table_)[u], surplus.data() + u * line);
    return fit_.gain(
        {n_groups, every_group_.data(), pair_states_.data(), table_->sizes.data(), surplus.data()},
        {design_->members[i].card * card, design_->members[i].width * design_->members[j].width, coding.data()});
}

}  // namespace mnlearn
