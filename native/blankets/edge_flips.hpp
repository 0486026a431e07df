// The best single flip of an edge by a local score, while it improves  [MPL17, Algorithm 2].
#pragma once

#include <queue>

#include "blankets/local_score.hpp"

namespace mnlearn {

// Pairs u < v in lexicographic order.
struct Pairs {
    std::span<const std::int32_t> us, vs;
    std::size_t size() const { return us.size(); }
};

// A graph, the local score of each variable in it, and the gain of flipping each of some pairs. A flip changes the
// gains of the pairs at its two ends only. The best one is on top of a heap, in which outdated gains stay until they
// come up.
class EdgeFlips {
public:
    EdgeFlips(const LocalScore& score, const Pairs& graph, const Pairs& eligible, std::size_t limit, double rounding,
              int n_threads);

    // Makes the best flips until none improves, `most` are made, or several are within rounding of the best. Returns
    // the places of those, ascending.
    std::vector<std::int32_t> run(std::size_t most);
    void flip(std::size_t place);

    bool done() const { return done_; }
    std::int64_t made() const { return made_; }
    std::int64_t scored() const { return scored_; }  // gains computed
    std::size_t n_eligible() const { return us_.size(); }
    bool present(std::size_t place) const { return present_[place]; }
    std::size_t degree(std::size_t x) const { return neighbors_[x].size(); }
    const std::vector<std::vector<std::int32_t>>& neighbors() const { return neighbors_; }
    const std::vector<double>& scores() const { return local_; }

private:
    struct Gain {
        double value;
        std::int32_t place;
        std::uint32_t version;
        bool operator<(const Gain& other) const {
            return value != other.value ? value < other.value : place > other.place;
        }
    };
    std::span<const std::int32_t> places_of(std::int32_t x) const;
    std::int32_t other_end(std::size_t place, std::int32_t x) const;
    void score_flips_of(std::int32_t x);
    void update_gain(std::size_t place);
    bool is_current(const Gain& gain) const { return version_[static_cast<std::size_t>(gain.place)] == gain.version; }
    void drop_outdated();

    const LocalScore& score_;
    std::vector<std::int32_t> us_, vs_;
    std::size_t limit_;
    double rounding_;
    std::vector<std::vector<std::int32_t>> neighbors_;  // ascending
    std::vector<double> local_, flipped_;               // flipped_[2 place + end]: score of that end after the flip
    std::vector<char> present_;
    std::vector<std::uint32_t> version_;
    std::vector<std::int64_t> first_;   // where the places of a variable begin
    std::vector<std::int32_t> places_;  // ascending, so are the other ends
    std::priority_queue<Gain> heap_;
    std::int64_t made_ = 0, scored_ = 0;
    bool done_ = false;
};

// The change of the score without each edge of a graph; `local`: the scores of its variables.
std::vector<double> removal_gains(const LocalScore& score, const Pairs& graph, std::span<const double> local,
                                  int n_threads);

}  // namespace mnlearn
