#include "graph/separating_sets.hpp"

#include <algorithm>
#include <utility>

namespace mnlearn {

namespace {

constexpr std::int32_t kNone = -1;

std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }

void insert_sorted(SeparatingSets::Variables& set, std::int32_t v) {
    set.insert(std::lower_bound(set.begin(), set.end(), v), v);
}

void erase_sorted(SeparatingSets::Variables& set, std::int32_t v) {
    set.erase(std::lower_bound(set.begin(), set.end(), v));
}

}  // namespace

std::size_t SeparatingSets::Hash::operator()(const Variables& set) const {
    std::uint64_t hash = set.size();
    for (const std::int32_t v : set) hash = (hash ^ static_cast<std::uint64_t>(v)) * 0x9E3779B97F4A7C15u + (hash >> 29);
    return static_cast<std::size_t>(hash);
}

SeparatingSets::SeparatingSets(std::size_t n_variables, std::span<const std::int32_t> us,
                               std::span<const std::int32_t> vs)
    : neighbors_(n_variables),
      inside_(n_variables),
      labelled_(n_variables),
      met_(n_variables),
      seen_(n_variables),
      component_(n_variables),
      parent_(n_variables) {
    for (std::size_t k = 0; k < us.size(); ++k) {
        neighbors_[at(us[k])].push_back(vs[k]);
        neighbors_[at(vs[k])].push_back(us[k]);
    }
    for (Variables& around : neighbors_) std::sort(around.begin(), around.end());
}

bool SeparatingSets::adjacent(std::int32_t u, std::int32_t v) const {
    return std::binary_search(neighbors_[at(u)].begin(), neighbors_[at(u)].end(), v);
}

void SeparatingSets::numbers(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys, std::int32_t* out) {
    std::vector<std::size_t> starts(n_variables() + 1), order(xs.size());
    for (const std::int32_t x : xs) ++starts[at(x) + 1];
    for (std::size_t x = 0; x < n_variables(); ++x) starts[x + 1] += starts[x];
    for (std::size_t k = 0; k < xs.size(); ++k) order[starts[at(xs[k])]++] = k;
    std::int32_t last = kNone;
    for (const std::size_t k : order) {
        const std::int32_t x = xs[k], y = ys[k];
        if (x != last) enter(last = x);
        if (inside(y)) {
            out[k] = beside(x, y);
            continue;
        }
        Component& component = components_[component_of(y)];
        if (component.number == kNone) component.number = number_of(component.boundary);
        out[k] = component.number;
    }
}

// From now on x is looked at: no component outside N[x] is known yet.
void SeparatingSets::enter(std::int32_t x) {
    ++now_;
    components_.clear();
    inside_[at(x)] = now_;
    for (const std::int32_t a : neighbors_[at(x)]) inside_[at(a)] = now_;
    n_reachable_ = 0;
    for (const std::int32_t a : neighbors_[at(x)])
        n_reachable_ +=
            !std::all_of(neighbors_[at(a)].begin(), neighbors_[at(a)].end(), [&](std::int32_t v) { return inside(v); });
}

// The component of y: searched from y until it is exhausted, or its boundary is all that any search can reach.
std::size_t SeparatingSets::component_of(std::int32_t y) {
    if (labelled_[at(y)] == now_) return at(component_[at(y)]);
    const std::size_t here = components_.size();
    components_.emplace_back();
    ++mark_;
    queue_.clear();
    reach(y, here);
    for (std::size_t k = 0; k < queue_.size() && components_[here].boundary.size() < n_reachable_; ++k)
        for (const std::int32_t v : neighbors_[at(queue_[k])]) reach(v, here);
    std::sort(components_[here].boundary.begin(), components_[here].boundary.end());
    return here;
}

// The search for component `here` comes to v: part of its boundary, of the component, or of one that ended early.
void SeparatingSets::reach(std::int32_t v, std::size_t here) {
    Component& component = components_[here];
    if (inside(v)) {
        if (met_[at(v)] != mark_) component.boundary.push_back(v);
        met_[at(v)] = mark_;
    } else if (labelled_[at(v)] != now_) {
        labelled_[at(v)] = now_;
        component_[at(v)] = static_cast<std::int32_t>(here);
        queue_.push_back(v);
    } else if (at(component_[at(v)]) != here) {
        for (const std::int32_t a : components_[at(component_[at(v)])].boundary) reach(a, here);
    }
}

// sep(x; y) of a neighbour y: common neighbours, and boundaries of the components adjacent to y.
std::int32_t SeparatingSets::beside(std::int32_t x, std::int32_t y) {
    Variables reached;
    for (const std::int32_t v : neighbors_[at(y)]) {
        if (v == x) continue;
        if (inside(v))
            reached.push_back(v);
        else
            for (const std::int32_t a : components_[component_of(v)].boundary)
                if (a != y) reached.push_back(a);
    }
    std::sort(reached.begin(), reached.end());
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    return number_of(reached);
}

std::int32_t SeparatingSets::number_of(const Variables& set) {
    const auto [place, is_new] = number_.try_emplace(set, static_cast<std::int32_t>(sets_.size()));
    if (is_new) sets_.push_back(&place->first);
    return place->second;
}

// Without a way from u to v beside the edge, only separators between the two sides change. Otherwise those of x remain
// if u and v are outside N[x] and connected there without the edge: as they are by a path that x is not adjacent to.
SeparatingSets::Change SeparatingSets::flip(std::int32_t u, std::int32_t v) {
    const bool joins = !adjacent(u, v);
    if (!joins) {
        erase_sorted(neighbors_[at(u)], v);
        erase_sorted(neighbors_[at(v)], u);
    }
    ++now_;  // nothing is inside: no variable is avoided
    Meeting meeting = search(u, v);
    Change change;
    if (meeting.met)
        change.around = changed_around(meeting.found, u, v);
    else
        change.side = std::move(meeting.found);
    if (joins) {
        insert_sorted(neighbors_[at(u)], v);
        insert_sorted(neighbors_[at(v)], u);
    }
    return change;
}

SeparatingSets::Variables SeparatingSets::changed_around(const Variables& path, std::int32_t u, std::int32_t v) {
    Variables near = path;
    for (const std::int32_t w : path) near.insert(near.end(), neighbors_[at(w)].begin(), neighbors_[at(w)].end());
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    std::erase_if(near, [&](std::int32_t x) {
        if (x == u || x == v || adjacent(x, u) || adjacent(x, v)) return false;
        enter(x);
        return search(u, v).met;
    });
    return near;
}

// One step from either end in turn, so that the smaller side decides the time; N[x] of the x entered is avoided.
SeparatingSets::Meeting SeparatingSets::search(std::int32_t u, std::int32_t v) {
    const std::uint64_t marks[2] = {mark_ + 1, mark_ + 2};
    mark_ += 2;
    Variables reached[2] = {{u}, {v}};
    std::size_t done[2] = {0, 0};
    parent_[at(u)] = parent_[at(v)] = kNone;
    seen_[at(u)] = marks[0];
    seen_[at(v)] = marks[1];
    for (int end = 0;; end = 1 - end) {
        if (done[end] == reached[end].size()) return {false, std::move(reached[end])};
        const std::int32_t w = reached[end][done[end]++];
        for (const std::int32_t t : neighbors_[at(w)]) {
            if (inside(t) || seen_[at(t)] == marks[end]) continue;
            if (seen_[at(t)] == marks[1 - end]) return {true, end == 0 ? path(w, t) : path(t, w)};
            seen_[at(t)] = marks[end];
            parent_[at(t)] = w;
            reached[end].push_back(t);
        }
    }
}

SeparatingSets::Variables SeparatingSets::path(std::int32_t from_u, std::int32_t from_v) const {
    Variables found;
    for (const std::int32_t last : {from_u, from_v})
        for (std::int32_t w = last; w != kNone; w = parent_[at(w)]) found.push_back(w);
    return found;
}

}  // namespace mnlearn
