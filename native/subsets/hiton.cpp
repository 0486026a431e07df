// Interleaved HITON-PC around one variable.
#include <algorithm>
#include <cmath>
#include <limits>

#include "subsets/subset_enumeration.hpp"

namespace mnlearn {
namespace {

class Hiton {
public:
    Hiton(SubsetTester& tester, std::int32_t x, std::size_t limit, const GoOn& go_on)
        : x_(x), limit_(limit), ask_(tester), poll_(go_on) {
        ask_.restart(x);
    }

    std::optional<HitonResult> run(std::span<const std::int32_t> candidates) {
        for (const std::int32_t newcomer : candidates) {
            if (explained(newcomer, kNone)) continue;
            const std::vector<Held> before = held_;
            held_.push_back({newcomer, weakest_});
            for (const Held& member : before)
                if (explained(member.v, newcomer)) drop(member.v);
            if (!answered_ || !found_.finished) break;
        }
        if (!answered_) return {};
        for (const Held& member : held_) {
            found_.members.push_back(member.v);
            found_.weakest.push_back(member.weakest);
        }
        return std::move(found_);
    }

private:
    static constexpr std::int32_t kNone = -1;
    struct Held {
        std::int32_t v;
        double weakest;
    };

    // Whether x and y are independent given some of the others held, and the newcomer unless y is the newcomer.
    bool explained(std::int32_t y, std::int32_t newcomer) {
        others_.clear();
        for (const Held& member : held_)
            if (member.v != y && member.v != newcomer) others_.push_back(member.v);
        weakest_ = std::numeric_limits<double>::quiet_NaN();
        const std::size_t always = newcomer == kNone ? 0 : 1;
        const std::size_t most = std::min(others_.size() + always, limit_);
        for (std::size_t size = 1; size <= most; ++size)
            if (separated(y, newcomer, size)) return true;
        const auto place = std::find_if(held_.begin(), held_.end(), [&](const Held& member) { return member.v == y; });
        if (place != held_.end()) place->weakest = std::fmax(place->weakest, weakest_);
        return false;
    }
    // By a set of this size; also where there is no going on.
    bool separated(std::int32_t y, std::int32_t newcomer, std::size_t size) {
        Combination choice(others_.size(), newcomer == kNone ? size : size - 1);
        do {
            z_.clear();
            for (const std::size_t place : choice.places()) z_.push_back(others_[place]);
            if (newcomer != kNone) z_.push_back(newcomer);
            std::sort(z_.begin(), z_.end());
            answered_ &= ask_.answers(size);  // once there was no answer, nothing that follows is worth anything
            if (!answered_ || !found_.finished) return true;
            const double support = ask_(std::span(&y, 1), z_)[0];
            found_.asked.resize(std::max(found_.asked.size(), size + 1), 0);
            ++found_.asked[size];
            found_.finished = poll_.keep_going(x_);
            if (ask_.independent(support)) return true;
            weakest_ = std::fmax(weakest_, support);
        } while (choice.next());
        return false;
    }
    void drop(std::int32_t y) {
        std::erase_if(held_, [&](const Held& member) { return member.v == y; });
    }

    std::int32_t x_;
    std::size_t limit_;
    SubsetTester& ask_;
    CancelPoll poll_;
    HitonResult found_;
    bool answered_ = true;
    std::vector<Held> held_;
    double weakest_ = 0.0;  // of the last that was not explained away
    std::vector<std::int32_t> others_, z_;
};

}  // namespace

std::optional<HitonResult> hiton_pc(const SubsetTests& tests, std::int32_t x, std::span<const std::int32_t> candidates,
                                    std::size_t limit, const GoOn& go_on) {
    return Hiton(*tests.tester(), x, limit, go_on).run(candidates);
}

}  // namespace mnlearn
