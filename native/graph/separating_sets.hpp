// Separating sets close to x, sep(x; y), in a graph that changes flip by flip: searches on demand, nothing per pair.
//
// sep(x; y) is the part of N(x) - {y} that a search from y in G - x reaches without passing through N(x). All y in one
// component of G - N[x] share it: the neighbours of x adjacent to the component, its boundary. Definitions and the slow
// twin are in graphs/separators.py and tests/references/separator.py.
//
// Components are searched from all variables next to N[x] in turn, one step each, and join where two searches meet.
// When only one search is left it need not end: what no other search has reached, in the part of G with x, belongs to
// it. So the time is that of the smaller components and of the way until searches meet, not that of the graph.
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
        bool joins;  // whether the pair is joined now
    };
    Change flip(std::int32_t u, std::int32_t v);

private:
    struct Hash {
        std::size_t operator()(const Variables& set) const;
    };
    // A component of G - N[x], or the part of it that was searched: variables still to be visited are a linked list.
    struct Component {
        std::int32_t first, last;  // of the list; first is -1 if it is empty
        std::int32_t joined_to;    // itself, or the component that it turned out to be part of
        Variables boundary{};      // ascending
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
    void label_parts();
    void find_components(std::int32_t x);
    void visit_next(std::int32_t here);
    void join(std::int32_t here, std::int32_t there);
    std::int32_t whole(std::int32_t component);
    std::int32_t number_outside(std::int32_t x, std::int32_t y);
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
    bool components_known_ = false;
    std::int32_t rest_ = -1;  // the one component that was not searched to its end
    std::vector<Component> components_;
    std::vector<std::int32_t> active_;                     // components whose search goes on
    std::vector<std::uint64_t> inside_, labelled_, seen_;  // by variable: when it was marked
    std::vector<std::int32_t> component_, next_, parent_;  // by variable

    // Connected parts of G: variables have a path between them if and only if their parts are equal.
    std::vector<std::int32_t> part_;
    std::int32_t n_parts_ = 0;
};

}  // namespace mnlearn
