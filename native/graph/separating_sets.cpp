#include "graph/separating_sets.hpp"

#include <algorithm>
#include <numeric>
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
      seen_(n_variables),
      component_(n_variables),
      next_(n_variables),
      parent_(n_variables),
      part_(n_variables, kNone) {
    for (std::size_t k = 0; k < us.size(); ++k) {
        neighbors_[at(us[k])].push_back(vs[k]);
        neighbors_[at(vs[k])].push_back(us[k]);
    }
    for (Variables& around : neighbors_) std::sort(around.begin(), around.end());
    label_parts();
}

bool SeparatingSets::adjacent(std::int32_t u, std::int32_t v) const {
    return std::binary_search(neighbors_[at(u)].begin(), neighbors_[at(u)].end(), v);
}

// Give the variables of each connected part of the graph a number.
void SeparatingSets::label_parts() {
    Variables queue;
    for (std::size_t root = 0; root < n_variables(); ++root) {
        if (part_[root] != kNone) continue;
        part_[root] = n_parts_;
        queue.assign(1, static_cast<std::int32_t>(root));
        for (std::size_t k = 0; k < queue.size(); ++k)
            for (const std::int32_t v : neighbors_[at(queue[k])])
                if (part_[at(v)] == kNone) {
                    part_[at(v)] = n_parts_;
                    queue.push_back(v);
                }
        ++n_parts_;
    }
}

void SeparatingSets::numbers(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys, std::int32_t* out) {
    std::vector<std::size_t> order(xs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto earlier = [&](std::size_t j, std::size_t k) { return xs[j] < xs[k]; };
    if (!std::is_sorted(order.begin(), order.end(), earlier)) std::stable_sort(order.begin(), order.end(), earlier);
    std::int32_t last = kNone;
    for (const std::size_t k : order) {
        if (xs[k] != last) enter(last = xs[k]);
        out[k] = inside(ys[k]) ? beside(xs[k], ys[k]) : number_outside(xs[k], ys[k]);
    }
}

// From now on x is looked at: no component outside N[x] is known yet.
void SeparatingSets::enter(std::int32_t x) {
    ++now_;
    components_known_ = false;
    inside_[at(x)] = now_;
    for (const std::int32_t a : neighbors_[at(x)]) inside_[at(a)] = now_;
}

// The components of G - N[x] next to N(x), each searched to its end, but one at most.
void SeparatingSets::find_components(std::int32_t x) {
    components_known_ = true;
    components_.clear();
    active_.clear();
    for (const std::int32_t a : neighbors_[at(x)])
        for (const std::int32_t v : neighbors_[at(a)]) {
            if (inside(v) || labelled_[at(v)] == now_) continue;
            const auto here = static_cast<std::int32_t>(components_.size());
            labelled_[at(v)] = now_;
            component_[at(v)] = here;
            next_[at(v)] = kNone;
            components_.push_back({v, v, here});
            active_.push_back(here);
        }
    while (active_.size() > 1) {
        std::erase_if(active_,
                      [&](std::int32_t here) { return whole(here) != here || components_[at(here)].first == kNone; });
        if (active_.size() > 1)
            for (const std::int32_t here : active_) visit_next(whole(here));
    }
    rest_ = active_.empty() ? kNone : whole(active_.front());
    for (const std::int32_t a : neighbors_[at(x)])
        for (const std::int32_t v : neighbors_[at(a)]) {
            if (inside(v)) continue;
            Variables& boundary = components_[at(whole(component_[at(v)]))].boundary;
            if (boundary.empty() || boundary.back() != a) boundary.push_back(a);
        }
}

// One step of the search of a component.
void SeparatingSets::visit_next(std::int32_t here) {
    const std::int32_t w = components_[at(here)].first;
    if (w == kNone) return;
    components_[at(here)].first = next_[at(w)];
    for (const std::int32_t t : neighbors_[at(w)]) {
        if (inside(t)) continue;
        Component& component = components_[at(here)];
        if (labelled_[at(t)] == now_) {
            const std::int32_t there = whole(component_[at(t)]);
            if (there != here) join(here, there);
            continue;
        }
        labelled_[at(t)] = now_;
        component_[at(t)] = here;
        next_[at(t)] = kNone;
        (component.first == kNone ? component.first : next_[at(component.last)]) = t;
        component.last = t;
    }
}

// Two searches have met: the first goes on with the lists of both.
void SeparatingSets::join(std::int32_t here, std::int32_t there) {
    Component &mine = components_[at(here)], &other = components_[at(there)];
    other.joined_to = here;
    if (other.first == kNone) return;
    (mine.first == kNone ? mine.first : next_[at(mine.last)]) = other.first;
    mine.last = other.last;
}

std::int32_t SeparatingSets::whole(std::int32_t component) {
    while (components_[at(component)].joined_to != component) {
        std::int32_t& up = components_[at(component)].joined_to;
        up = components_[at(up)].joined_to;  // halves the way for the next time
        component = up;
    }
    return component;
}

// The number of sep(x; y) of a y outside N[x]. A y without a path to x needs no separator.
std::int32_t SeparatingSets::number_outside(std::int32_t x, std::int32_t y) {
    if (part_[at(y)] != part_[at(x)]) return number_of({});
    if (!components_known_) find_components(x);
    const std::int32_t here = labelled_[at(y)] == now_ ? whole(component_[at(y)]) : rest_;
    Component& component = components_[at(here)];
    if (component.number == kNone) component.number = number_of(component.boundary);
    return component.number;
}

// sep(x; y) of a neighbour y: common neighbours, and boundaries of the components adjacent to y.
std::int32_t SeparatingSets::beside(std::int32_t x, std::int32_t y) {
    if (!components_known_) find_components(x);
    Variables reached;
    for (const std::int32_t v : neighbors_[at(y)]) {
        if (v == x) continue;
        if (inside(v))
            reached.push_back(v);
        else
            for (const std::int32_t a : components_[at(whole(component_[at(v)]))].boundary)
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
    Change change{{}, {}, joins};
    if (meeting.met) {
        change.around = changed_around(meeting.found, u, v);
    } else {
        change.side = std::move(meeting.found);
        const std::int32_t part = joins ? part_[at(change.side.front() == u ? v : u)] : n_parts_++;
        for (const std::int32_t w : change.side) part_[at(w)] = part;
    }
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
