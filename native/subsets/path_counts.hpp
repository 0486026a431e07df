// The tables of one x given one set after another, where each set shares its first members with the last: what a search
// asks that tries all sets of some size.
//
// The rows of every configuration of x and the members but the last are kept as bits, and so is every step of the path
// that led there. The last member is never joined: rows that it has in common with a y are counted against the sets as
// they stand, and what they lack of the margins are the other configurations.
#pragma once

#include <deque>
#include <vector>

#include "scan/test_decision.hpp"

namespace mnlearn {

class PathCounts {
public:
    explicit PathCounts(const Store& store);

    void restart(std::int32_t x);
    std::int32_t x() const { return x_; }

    // Whether these are counted this way, sooner than by reduce: all have planes, and the sets are few.
    bool serves(std::span<const std::int32_t> z, std::span<const std::int32_t> ys) const;
    // Then the tables of every y. z ascending, not empty. Good until the next call.
    void count(std::span<const std::int32_t> z, std::span<const std::int32_t> ys);
    PairTables table(std::size_t place) const;

private:
    using Numbers = std::vector<std::uint32_t>;
    struct Variable {
        std::int32_t v = -1;
        std::size_t n_planes = 0, room = 0;  // planes: of all states but the last
        AlignedWords planes;
        Numbers margin;             // [set * n_planes + b]: rows with state b in each set at the end of the path,
        std::size_t known_for = 0;  // when that was this version of it
    };
    struct Step {
        std::int32_t v = -1;
        std::size_t n_sets = 0, room = 0;
        AlignedWords sets;  // [configuration * card_x + a]
    };
    struct Table {
        std::size_t begin;
        std::uint32_t width;
    };

    Variable& loaded(std::int32_t v);
    const Numbers& margin(Variable& variable);
    void count_sets();
    void start();
    void go_to(std::span<const std::int32_t> path);
    void split(const Step& from, const Variable& by, Step& to) const;
    void place_strata(const Variable& last);
    void place_table(const Variable& y, std::size_t n_last, std::size_t column);

    const Store& store_;
    const InstructionSet& level_;
    const bool few_distinct_;  // rows, so that reduce may have a shorter way than any over all of them
    std::size_t words_;        // of a set: a multiple of eight
    AlignedWords all_rows_;
    std::int32_t x_ = -1;
    std::uint32_t card_x_ = 1;
    std::vector<std::uint32_t> place_;  // of each variable among those loaded for this x, plus one
    std::deque<Variable> variables_;    // those, then others whose memory serves again
    std::size_t n_loaded_ = 0, loaded_words_ = 0;
    std::deque<Step> steps_;  // the first: x alone
    std::size_t depth_ = 0, version_ = 1;
    Numbers set_sizes_;  // at the end of the path
    std::size_t sizes_known_for_ = 0;
    // The answer, over the strata that occur.
    Numbers kept_;  // of each its number among all: configuration of the path * states of the last + its state
    Numbers sizes_, counts_;
    std::vector<Table> tables_;
    Numbers shared_;  // [(state of the last * sets + set) * width + column]
    std::size_t width_ = 0;
    std::vector<const std::uint64_t*> others_;
};

}  // namespace mnlearn
