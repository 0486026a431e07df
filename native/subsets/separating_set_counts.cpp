// All sets among the neighbours of x that separate it from others.
#include <algorithm>

#include "subsets/subset_enumeration.hpp"

namespace mnlearn {
namespace {

class Counting {
public:
    Counting(SubsetTester& tester, const Neighbors& around, const GoOn& go_on)
        : around_(around), ask_(tester), poll_(go_on), members_(around.of_x()) {
        ask_.restart(around.x);
    }

    std::optional<SeparatingSetCounts> run(std::span<const std::int32_t> ys, std::size_t limit) {
        const std::size_t most = std::min(members_.size(), limit);
        if (!ask_.answers(most)) return {};
        found_.counts.assign(ys.size() * (members_.size() + 1), 0);
        found_.asked.assign(most + 1, 0);
        for (std::size_t size = 0; size <= most && found_.finished; ++size) try_all(ys, size);
        return std::move(found_);
    }

private:
    void try_all(std::span<const std::int32_t> ys, std::size_t size) {
        Combination choice(members_.size(), size);
        do {
            z_.clear();
            for (const std::size_t place : choice.places()) z_.push_back(members_[place]);
            list_untried(ys);
            if (!untried_.empty()) ask(choice);
            found_.finished = poll_.keep_going(around_.x);
        } while (found_.finished && choice.next());
    }
    void list_untried(std::span<const std::int32_t> ys) {
        untried_.clear();
        places_.clear();
        for (std::size_t k = 0; k < ys.size(); ++k) {
            const auto around_y = [&](std::int32_t v) { return around_(ys[k], v); };
            if (ys[k] < around_.x && std::all_of(z_.begin(), z_.end(), around_y)) continue;
            untried_.push_back(ys[k]);
            places_.push_back(k);
        }
    }
    void ask(const Combination& choice) {
        const std::span<const double> support = ask_(untried_, z_);
        found_.asked[z_.size()] += static_cast<std::int64_t>(untried_.size());
        for (std::size_t k = 0; k < untried_.size(); ++k) {
            if (!ask_.independent(support[k])) continue;
            std::int64_t* counts = found_.counts.data() + places_[k] * (members_.size() + 1);
            ++counts[0];
            for (const std::size_t place : choice.places()) ++counts[place + 1];
        }
    }

    const Neighbors& around_;
    SubsetTester& ask_;
    CancelPoll poll_;
    SeparatingSetCounts found_;
    std::vector<std::int32_t> members_, untried_, z_;
    std::vector<std::size_t> places_;
};

}  // namespace

std::optional<SeparatingSetCounts> count_separating(const SubsetTests& tests, const Neighbors& around,
                                                    std::span<const std::int32_t> ys, std::size_t limit,
                                                    const GoOn& go_on) {
    return Counting(*tests.tester(), around, go_on).run(ys, limit);
}

}  // namespace mnlearn
