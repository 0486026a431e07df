#include "subsets.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "path_counts.hpp"
#include "tails.hpp"

namespace mnlearn {
namespace {

// The support of independence of x and each y given z.
class Asker {
public:
    Asker(const Store& store, const Decision& test) : store_(store), test_(test), counts_(store) {}

    void restart(std::int32_t x) {
        counts_.restart(x);
        judge_.emplace(store_, test_, x);
    }
    std::span<const double> operator()(std::span<const std::int32_t> ys, std::span<const std::int32_t> z) {
        support_.resize(ys.size());
        if (!counts_.serves(z, ys)) return by_scan(ys, z);
        counts_.count(z, ys);
        for (std::size_t k = 0; k < ys.size(); ++k) support_[k] = (*judge_)(ys[k], z, counts_.table(k));
        return support_;
    }
    bool independent(double support) const { return !judge_->dependent(support); }

private:
    std::span<const double> by_scan(std::span<const std::int32_t> ys, std::span<const std::int32_t> z) {
        scores_.resize(2 * ys.size());
        reduce(store_, test_.kernel, counts_.x(), ys, z, 1, scores_.data());
        if (test_.kernel.name == KernelName::bayes)
            for (std::size_t k = 0; k < ys.size(); ++k) support_[k] = std::min(scores_[k], 0.0);
        else
            log_chi2_tails(scores_.data(), scores_.data() + ys.size(), ys.size(), support_.data());
        return support_;
    }

    const Store& store_;
    const Decision& test_;
    PathCounts counts_;
    std::optional<Judge> judge_;
    std::vector<double> support_, scores_;
};

// Some of n things, one choice after the other in lexicographic order.
class Choice {
public:
    Choice(std::size_t n, std::size_t size) : n_(n), places_(size) {
        std::iota(places_.begin(), places_.end(), std::size_t{0});
    }
    std::span<const std::size_t> places() const { return places_; }
    bool next() {
        for (std::size_t k = places_.size(); k-- > 0;) {
            if (places_[k] == n_ - places_.size() + k) continue;
            std::iota(places_.begin() + static_cast<std::ptrdiff_t>(k), places_.end(), places_[k] + 1);
            return true;
        }
        return false;
    }

private:
    std::size_t n_;
    std::vector<std::size_t> places_;
};

// Asks whether to go on: at once, and then no more often than a reader of the answers could tell.
class Patience {
public:
    explicit Patience(const GoOn& go_on) : go_on_(go_on) {}
    bool lasts(std::int32_t x) {
        const Clock::time_point now = Clock::now();
        if (now < next_) return true;
        next_ = now + std::chrono::milliseconds(50);
        return go_on_(x);
    }

private:
    using Clock = std::chrono::steady_clock;
    const GoOn& go_on_;
    Clock::time_point next_ = Clock::time_point::min();
};

class LevelOfSets {
public:
    LevelOfSets(const Store& store, const Decision& test, const PcLevel& level, const GoOn& go_on)
        : n_(store.n_variables()), level_(level), ask_(store, test), patience_(go_on), z_(level.size) {}

    Separated run() {
        const std::size_t last = std::min(level_.last_x, n_);
        for (std::size_t x = level_.first_x; x < last && found_.finished; ++x)
            drop_around(static_cast<std::int32_t>(x));
        return std::move(found_);
    }

private:
    std::size_t at(std::int32_t x, std::int32_t y) const {
        return static_cast<std::size_t>(x) * n_ + static_cast<std::size_t>(y);
    }

    void drop_around(std::int32_t x) {
        around_.clear();
        for (std::int32_t y = 0; static_cast<std::size_t>(y) < n_; ++y)
            if (level_.around[at(x, y)]) around_.push_back(y);
        if (around_.size() <= level_.size) return;
        list_left(x);
        ask_.restart(x);
        Choice choice(around_.size(), level_.size);
        do {
            std::transform(choice.places().begin(), choice.places().end(), z_.begin(),
                           [&](std::size_t place) { return around_[place]; });
            list_untried(x);
            if (!ys_.empty()) settle(x);
            found_.finished = patience_.lasts(x);
        } while (found_.finished && !left_.empty() && choice.next());
    }
    void list_left(std::int32_t x) {
        left_.clear();
        for (const std::int32_t y : around_)
            if (level_.left[at(x, y)]) left_.push_back(y);
    }
    void list_untried(std::int32_t x) {
        ys_.clear();
        for (const std::int32_t y : left_) {
            if (std::find(z_.begin(), z_.end(), y) != z_.end()) continue;
            const auto around_y = [&](std::int32_t v) { return level_.around[at(y, v)]; };
            if (y > x || !std::all_of(z_.begin(), z_.end(), around_y)) ys_.push_back(y);
        }
    }
    void settle(std::int32_t x) {
        const std::span<const double> support = ask_(ys_, z_);
        found_.asked += static_cast<std::int64_t>(ys_.size());
        const std::size_t n_before = found_.support.size();
        for (std::size_t k = 0; k < ys_.size(); ++k) {
            double& weakest = level_.weakest[at(x, ys_[k])];
            if (support[k] > weakest || std::isnan(weakest)) weakest = support[k];
            if (!ask_.independent(support[k])) continue;
            level_.left[at(x, ys_[k])] = level_.left[at(ys_[k], x)] = false;
            found_.sets.insert(found_.sets.end(), {x, ys_[k]});
            found_.sets.insert(found_.sets.end(), z_.begin(), z_.end());
            found_.support.push_back(support[k]);
        }
        if (found_.support.size() > n_before) list_left(x);
    }

    std::size_t n_;
    const PcLevel& level_;
    Asker ask_;
    Patience patience_;
    Separated found_;
    std::vector<std::int32_t> around_, left_, ys_, z_;
};

}  // namespace

Separated separate(const Store& store, const Decision& test, const PcLevel& level, const GoOn& go_on) {
    return LevelOfSets(store, test, level, go_on).run();
}

bool answers_all(const Store& store, const Decision& test, std::size_t size) {
    if (test.kernel.name == KernelName::bayes) return true;
    std::vector<double> cards;
    for (std::size_t v = 0; v < store.n_variables(); ++v) cards.push_back(store.column(v).card);
    std::sort(cards.begin(), cards.end(), std::greater<>());
    const auto end = cards.begin() + static_cast<std::ptrdiff_t>(std::min(size + 2, cards.size()));
    return std::accumulate(cards.begin(), end, 1.0, std::multiplies<>()) <= kMostDof;
}

}  // namespace mnlearn
