// Separating sets close to x, sep(x; y), in a graph that changes flip by flip: searches on demand, nothing per pair.
//
// sep(x; y) is the part of N(x) - {y} that a search from y in G - x reaches without passing through N(x). All y in one
// component of G - N[x] share it: the neighbours of x adjacent to the component, its boundary. Definitions and the slow
// twin are in graphs/separating_sets.py and tests/references/separator.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace mnlearn {

class SeparatingSets {
public:
    using Variables = std::vector<std::int32_t>;

    SeparatingSets(std::size_t n_variables, std::span<const std::int32_t> us, std::span<const std::int32_t> vs);
    SeparatingSets(const SeparatingSets&) = delete;  // the sets are pointed at
    SeparatingSets& operator=(const SeparatingSets&) = delete;

    std::size_t n_variables() const { return neighbors_.size(); }
    const Variables& set(std::size_t number) const { return *sets_.at(number); }

    // The number of sep(x; y) of each pair. Two sets are equal if and only if their numbers are.
    void numbers(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys, std::int32_t* out);

    // Where sep(x; y) may have changed: for x in `around`, and for x and y of which exactly one is in `side`.
    struct Change {
        Variables around, side;
    };
    Change flip(std::int32_t u, std::int32_t v);

private:
    struct Hash {
        std::size_t operator()(const Variables& set) const;
    };
    // A component of G - N[x], or the part of it that was searched.
    struct Component {
        Variables boundary;  // ascending
        std::int32_t number = -1;
    };
    // A search from both ends: the path between them, or all that the exhausted end reaches.
    struct Meeting {
        bool met;
        Variables found;
    };

    bool adjacent(std::int32_t u, std::int32_t v) const;
    void enter(std::int32_t x);
    bool inside(std::int32_t v) const { return inside_[static_cast<std::size_t>(v)] == now_; }
    std::size_t component_of(std::int32_t y);
    void reach(std::int32_t v, std::size_t here);
    std::int32_t beside(std::int32_t x, std::int32_t y);
    std::int32_t number_of(const Variables& set);
    Meeting search(std::int32_t u, std::int32_t v);
    Variables path(std::int32_t from_u, std::int32_t from_v) const;
    Variables changed_around(const Variables& path, std::int32_t u, std::int32_t v);

    std::vector<Variables> neighbors_;  // ascending
    std::unordered_map<Variables, std::int32_t, Hash> number_;
    std::vector<const Variables*> sets_;  // by number

    // Of the x that is looked at: marks count only where they are of now.
    std::uint64_t now_ = 0, mark_ = 0;
    std::size_t n_reachable_ = 0;  // neighbours of x that have a neighbour outside N[x]
    std::vector<Component> components_;
    std::vector<std::uint64_t> inside_, labelled_, met_, seen_;  // by variable: when it was marked
    std::vector<std::int32_t> component_, parent_;               // by variable
    Variables queue_;
};

}  // namespace mnlearn
