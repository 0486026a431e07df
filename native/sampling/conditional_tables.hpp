// From the values around a variable to the odds of its own: one look for each of 64 rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sampling/markovian.hpp"

namespace mnlearn {

using SixtyFour = std::array<std::uint8_t, kTogether>;

// What a variable does next: the thresholds of its states for every configuration of its neighbours. Few configurations
// have a place each (mixed radix); many are the leaves of a tree that has only the branches that some old row took.
class ConditionalTable {
public:
    ConditionalTable(const MarkovianModel& model, std::size_t x, Weighing weighing, double inverse_temperature);

    // Draws the variable anew in each row: the state is the number of thresholds that the row's number reaches.
    void draw(std::vector<SixtyFour>& states, const std::uint32_t* numbers) const;

    const std::vector<std::int32_t>& around() const { return around_; }
    const std::vector<std::uint32_t>& thresholds() const { return thresholds_; }

    // The threshold of a binary variable in a row whose values are given by variable.
    template <class Value> std::uint32_t threshold(const Value& value) const {
        std::size_t at = tree_ ? 1 : 0;
        for (std::size_t o = 0; o < around_.size(); ++o) {
            at = at * cards_[o] + value(around_[o]);
            if (tree_) at = levels_[o][at];
        }
        return thresholds_[at];
    }

private:
    using Configurations = std::vector<std::uint32_t>;
    Configurations place_rows(const MarkovianModel& model);
    Configurations grow_tree(const MarkovianModel& model);
    void set_thresholds(const MarkovianModel& model, const Configurations& of_rows, Weighing weighing, double b);
    void find_places(const std::vector<SixtyFour>& states, std::uint16_t* at) const;
    void find_leaves(const std::vector<SixtyFour>& states, std::uint32_t* at) const;
    template <class Index> void pick(SixtyFour& own, const Index* at, const std::uint32_t* numbers) const;

    std::size_t x_, n_thresholds_, n_configurations_ = 1;
    bool tree_ = false;
    std::vector<std::int32_t> around_;
    std::vector<std::uint16_t> cards_;                // of those around
    std::vector<std::vector<std::uint32_t>> levels_;  // [level][node * card + value]: the next node; 0 where none went
    std::vector<std::uint32_t> thresholds_;           // [configuration][state], of 2^32, without the last state
};

// Writes rows[row][variable] where every variable is binary. A block has 1, 2, 4 or 8 words of 64 rows, the fewest that
// hold all rows, or 8. Block b takes from the Philox stream (key, b) four numbers for the generator of each word (the
// first of all words, then the second), and then for each update one, whose upper half says which variable it is. The
// start of a variable is one draw of every word; an update draws as in kernels/binary_gibbs.hpp.
void markovian_binary(const MarkovianModel& model, const MarkovianPlan& plan,
                      const std::vector<std::optional<ConditionalTable>>& lookups, std::uint8_t* rows);

}  // namespace mnlearn
