#include "blankets/edge_flips.hpp"

#include <algorithm>
#include <limits>

#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

constexpr std::size_t kVariablesTogether = 32;  // variables in a piece of work

// Calls work(x) for every variable, over threads.
template <class Work> void for_each_variable(std::size_t n, int n_threads, Work work) {
    parallel_for((n + kVariablesTogether - 1) / kVariablesTogether, n_threads, [&](std::size_t piece) {
        for (std::size_t x = piece * kVariablesTogether; x < std::min((piece + 1) * kVariablesTogether, n); ++x)
            work(x);
    });
}

std::vector<std::vector<std::int32_t>> neighbors_in(std::size_t n, const Pairs& graph) {
    std::vector<std::vector<std::int32_t>> found(n);
    for (std::size_t k = 0; k < graph.size(); ++k) {
        found[static_cast<std::size_t>(graph.us[k])].push_back(graph.vs[k]);
        found[static_cast<std::size_t>(graph.vs[k])].push_back(graph.us[k]);
    }
    for (auto& neighbors : found) std::sort(neighbors.begin(), neighbors.end());
    return found;
}

}  // namespace

EdgeFlips::EdgeFlips(const LocalScore& score, const Pairs& graph, const Pairs& eligible, std::size_t limit,
                     double rounding, int n_threads)
    : score_(score),
      us_(eligible.us.begin(), eligible.us.end()),
      vs_(eligible.vs.begin(), eligible.vs.end()),
      limit_(limit),
      rounding_(rounding),
      neighbors_(neighbors_in(score.n_variables(), graph)),
      local_(score.n_variables()),
      flipped_(2 * eligible.size()),
      present_(eligible.size()),
      version_(eligible.size(), 0),
      first_(score.n_variables() + 1, 0),
      places_(2 * eligible.size()) {
    for (const auto* ends : {&us_, &vs_})
        for (const std::int32_t x : *ends) ++first_[static_cast<std::size_t>(x) + 1];
    for (std::size_t x = 0; x < score.n_variables(); ++x) first_[x + 1] += first_[x];
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t p = 0; p < us_.size(); ++p) {
        const auto u = static_cast<std::size_t>(us_[p]), v = static_cast<std::size_t>(vs_[p]);
        places_[static_cast<std::size_t>(next[u]++)] = places_[static_cast<std::size_t>(next[v]++)] =
            static_cast<std::int32_t>(p);
        present_[p] = std::binary_search(neighbors_[u].begin(), neighbors_[u].end(), vs_[p]);
    }
    for_each_variable(score.n_variables(), n_threads, [&](std::size_t x) {
        local_[x] = score.local(static_cast<std::int32_t>(x), neighbors_[x]);
        score_flips_of(static_cast<std::int32_t>(x));
    });
    for (std::size_t p = 0; p < us_.size(); ++p) update_gain(p);
}

std::span<const std::int32_t> EdgeFlips::places_of(std::int32_t x) const {
    const auto first = static_cast<std::size_t>(first_[static_cast<std::size_t>(x)]),
               last = static_cast<std::size_t>(first_[static_cast<std::size_t>(x) + 1]);
    return std::span(places_).subspan(first, last - first);
}

std::int32_t EdgeFlips::other_end(std::size_t place, std::int32_t x) const {
    return us_[place] == x ? vs_[place] : us_[place];
}

// The score of x after the flip of each of its pairs.
void EdgeFlips::score_flips_of(std::int32_t x) {
    const auto& z = neighbors_[static_cast<std::size_t>(x)];
    std::vector<std::int32_t> joining;
    bool leaving = false;
    for (const std::int32_t p : places_of(x)) {
        if (present_[static_cast<std::size_t>(p)])
            leaving = true;
        else
            joining.push_back(other_end(static_cast<std::size_t>(p), x));
    }
    std::vector<double> added(joining.size()), removed(leaving ? z.size() : 0);
    if (!joining.empty()) score_.additions(x, z, joining, added.data());
    if (leaving) score_.removals(x, z, removed.data());
    std::size_t next = 0;
    for (const std::int32_t place : places_of(x)) {
        const auto p = static_cast<std::size_t>(place);
        double& value = flipped_[2 * p + (us_[p] == x ? 0 : 1)];
        if (present_[p])
            value =
                removed[static_cast<std::size_t>(std::lower_bound(z.begin(), z.end(), other_end(p, x)) - z.begin())];
        else
            value = added[next++];
    }
}

void EdgeFlips::update_gain(std::size_t p) {
    const auto u = static_cast<std::size_t>(us_[p]), v = static_cast<std::size_t>(vs_[p]);
    ++version_[p];
    ++scored_;
    if (!present_[p] && std::max(neighbors_[u].size(), neighbors_[v].size()) >= limit_) return;
    const double gain = (flipped_[2 * p] - local_[u]) + (flipped_[2 * p + 1] - local_[v]);
    if (gain >= rounding_) heap_.push({gain, static_cast<std::int32_t>(p), version_[p]});
}

void EdgeFlips::drop_outdated() {
    while (!heap_.empty() && !is_current(heap_.top())) heap_.pop();
}

std::vector<std::int32_t> EdgeFlips::run(std::size_t most) {
    std::vector<Gain> best;
    for (std::size_t made = 0; made < most; ++made) {
        best.clear();
        drop_outdated();
        if (heap_.empty() || !(heap_.top().value > rounding_)) {
            done_ = true;
            return {};
        }
        const double bar = std::max(heap_.top().value - rounding_, rounding_);
        while (!heap_.empty() && heap_.top().value >= bar) {
            if (is_current(heap_.top())) best.push_back(heap_.top());
            heap_.pop();
        }
        if (best.size() > 1) {
            std::vector<std::int32_t> tied;
            for (const Gain& gain : best) {
                heap_.push(gain);
                tied.push_back(gain.place);
            }
            std::sort(tied.begin(), tied.end());
            return tied;
        }
        flip(static_cast<std::size_t>(best.front().place));
    }
    return {};
}

void EdgeFlips::flip(std::size_t place) {
    const std::int32_t u = us_[place], v = vs_[place];
    const auto change = [&](std::int32_t x, std::int32_t y, double score) {
        auto& z = neighbors_[static_cast<std::size_t>(x)];
        const auto at = std::lower_bound(z.begin(), z.end(), y);
        if (present_[place])
            z.erase(at);
        else
            z.insert(at, y);
        local_[static_cast<std::size_t>(x)] = score;
    };
    change(u, v, flipped_[2 * place]);
    change(v, u, flipped_[2 * place + 1]);
    present_[place] = !present_[place];
    ++made_;
    score_flips_of(u);
    score_flips_of(v);
    for (const std::int32_t p : places_of(u)) update_gain(static_cast<std::size_t>(p));
    for (const std::int32_t p : places_of(v))
        if (p != static_cast<std::int32_t>(place)) update_gain(static_cast<std::size_t>(p));
}

std::vector<double> removal_gains(const LocalScore& score, const Pairs& graph, std::span<const double> local,
                                  int n_threads) {
    const auto neighbors = neighbors_in(score.n_variables(), graph);
    std::vector<std::vector<double>> removed(score.n_variables());
    for_each_variable(score.n_variables(), n_threads, [&](std::size_t x) {
        removed[x].resize(neighbors[x].size());
        if (!neighbors[x].empty()) score.removals(static_cast<std::int32_t>(x), neighbors[x], removed[x].data());
    });
    const auto change = [&](std::int32_t x, std::int32_t y) {
        const auto& z = neighbors[static_cast<std::size_t>(x)];
        const auto at = static_cast<std::size_t>(std::lower_bound(z.begin(), z.end(), y) - z.begin());
        return removed[static_cast<std::size_t>(x)][at] - local[static_cast<std::size_t>(x)];
    };
    std::vector<double> gains(graph.size());
    for (std::size_t k = 0; k < gains.size(); ++k)
        gains[k] = change(graph.us[k], graph.vs[k]) + change(graph.vs[k], graph.us[k]);
    return gains;
}

}  // namespace mnlearn
