// A level of PC-stable.
#include <algorithm>
#include <cmath>

#include "subset_walk.hpp"

namespace mnlearn {
namespace {

class LevelOfSets {
public:
    LevelOfSets(const Store& store, const Decision& test, const PcLevel& level, const GoOn& go_on)
        : n_(store.n_variables()), level_(level), ask_(store, test), patience_(go_on), z_(level.size) {}

    std::optional<Separated> run() {
        if (!ask_.answers(level_.size)) return {};
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

std::optional<Separated> separate(const Store& store, const Decision& test, const PcLevel& level, const GoOn& go_on) {
    return LevelOfSets(store, test, level, go_on).run();
}

}  // namespace mnlearn
