#include "sampling/conditional_tables.hpp"

#include <algorithm>

#include "numbers/elementary.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kMostPlaces = 4096;  // 16 kB of thresholds of a binary variable; more go into a tree

// Running sums of the weights of the states, as shares of 2^32; the last one is everything and left out.
void to_thresholds(const std::int64_t* counts, std::size_t card, std::size_t n_rows, Weighing weighing, double b,
                   std::uint32_t* thresholds) {
    std::int64_t all = 0, most = 0;
    for (std::size_t k = 0; k < card; ++k) {
        all += counts[k];
        most = std::max(most, counts[k]);
    }
    const auto whole = static_cast<double>(weighing == Weighing::joint ? static_cast<std::int64_t>(n_rows) : all);
    std::array<double, 256> sums{};
    double total = 0;
    for (std::size_t k = 0; k < card; ++k) {
        const bool plain = weighing == Weighing::plain;
        sums[k] = total += plain ? static_cast<double>(counts[k])
                                 : elementary::exp(b * (static_cast<double>(counts[k] - most) / whole));
    }
    for (std::size_t k = 0; k + 1 < card; ++k)
        thresholds[k] = static_cast<std::uint32_t>(std::min(sums[k] / total * 0x1.0p32, 0x1.0p32 - 1));
}

const std::uint8_t* column(const MarkovianModel& model, std::int32_t y) {
    return model.codes.data() + static_cast<std::size_t>(y) * model.n_rows;
}

}  // namespace

ConditionalTable::ConditionalTable(const MarkovianModel& model, std::size_t x, Weighing weighing,
                                   double inverse_temperature)
    : x_(x),
      n_thresholds_(static_cast<std::size_t>(model.cards[x]) - 1),
      around_(model.neighbors.begin() + model.starts[x], model.neighbors.begin() + model.starts[x + 1]) {
    std::size_t places = 1;
    for (const std::int32_t y : around_) {
        cards_.push_back(static_cast<std::uint16_t>(model.cards[static_cast<std::size_t>(y)]));
        places = std::min(places * cards_.back(), kMostPlaces + 1);
    }
    tree_ = places > kMostPlaces;
    n_configurations_ = places;
    set_thresholds(model, tree_ ? grow_tree(model) : place_rows(model), weighing, inverse_temperature);
}

ConditionalTable::Configurations ConditionalTable::place_rows(const MarkovianModel& model) {
    Configurations at(model.n_rows, 0);
    for (std::size_t o = 0; o < around_.size(); ++o) {
        const std::uint8_t* values = column(model, around_[o]);
        for (std::size_t row = 0; row < model.n_rows; ++row) at[row] = at[row] * cards_[o] + values[row];
    }
    return at;
}

// Node 0 is where no row went, and leads only to itself; node 1 of each level is the first that a row reaches.
ConditionalTable::Configurations ConditionalTable::grow_tree(const MarkovianModel& model) {
    Configurations at(model.n_rows, 1);
    std::uint32_t n_nodes = 1;
    for (std::size_t o = 0; o < around_.size(); ++o) {
        const std::uint8_t* values = column(model, around_[o]);
        std::vector<std::uint32_t> next((n_nodes + 1) * std::size_t{cards_[o]}, 0);
        n_nodes = 0;
        for (std::size_t row = 0; row < model.n_rows; ++row) {
            std::uint32_t& node = next[at[row] * std::size_t{cards_[o]} + values[row]];
            if (node == 0) node = ++n_nodes;
            at[row] = node;
        }
        levels_.push_back(std::move(next));
    }
    n_configurations_ = n_nodes + 1;
    return at;
}

void ConditionalTable::set_thresholds(const MarkovianModel& model, const Configurations& of_rows, Weighing weighing,
                                      double b) {
    const std::size_t card = n_thresholds_ + 1;
    std::vector<std::int64_t> counts(n_configurations_ * card, 0);
    const std::uint8_t* own = column(model, static_cast<std::int32_t>(x_));
    for (std::size_t row = 0; row < model.n_rows; ++row) ++counts[of_rows[row] * card + own[row]];
    thresholds_.resize(n_configurations_ * n_thresholds_);
    for (std::size_t c = 0; c < n_configurations_; ++c) {
        const std::int64_t* mine = counts.data() + c * card;
        std::uint32_t* ends = thresholds_.data() + c * n_thresholds_;
        if (std::any_of(mine, mine + card, [](std::int64_t count) { return count > 0; }))
            to_thresholds(mine, card, model.n_rows, weighing, b, ends);
        else  // an empty slot
            for (std::size_t k = 0; k < n_thresholds_; ++k)
                ends[k] = static_cast<std::uint32_t>((k + 1) * 0x1.0p32 / static_cast<double>(card));
    }
}

void ConditionalTable::draw(std::vector<SixtyFour>& states, const std::uint32_t* numbers) const {
    if (tree_) {
        std::uint32_t at[kTogether];
        find_leaves(states, at);
        pick(states[x_], at, numbers);
    } else {
        std::uint16_t at[kTogether];
        find_places(states, at);
        pick(states[x_], at, numbers);
    }
}

void ConditionalTable::find_places(const std::vector<SixtyFour>& states, std::uint16_t* at) const {
    std::fill_n(at, kTogether, std::uint16_t{0});
    for (std::size_t o = 0; o < around_.size(); ++o) {
        const SixtyFour& values = states[static_cast<std::size_t>(around_[o])];
        const std::uint16_t card = cards_[o];
        for (std::size_t l = 0; l < kTogether; ++l) at[l] = static_cast<std::uint16_t>(at[l] * card + values[l]);
    }
}

void ConditionalTable::find_leaves(const std::vector<SixtyFour>& states, std::uint32_t* at) const {
    std::fill_n(at, kTogether, 1u);
    for (std::size_t o = 0; o < around_.size(); ++o) {
        const SixtyFour& values = states[static_cast<std::size_t>(around_[o])];
        for (std::size_t l = 0; l < kTogether; ++l) at[l] = levels_[o][at[l] * std::size_t{cards_[o]} + values[l]];
    }
}

template <class Index>
void ConditionalTable::pick(SixtyFour& own, const Index* at, const std::uint32_t* numbers) const {
    if (n_thresholds_ == 1) {
        for (std::size_t l = 0; l < kTogether; ++l) own[l] = numbers[l] >= thresholds_[at[l]];
        return;
    }
    for (std::size_t l = 0; l < kTogether; ++l) {
        const std::uint32_t* reached = thresholds_.data() + at[l] * n_thresholds_;
        std::size_t state = 0;
        for (std::size_t k = 0; k < n_thresholds_; ++k) state += numbers[l] >= reached[k];
        own[l] = static_cast<std::uint8_t>(state);
    }
}

}  // namespace mnlearn
