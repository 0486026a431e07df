#include "blankets/blanket_climb.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

enum class Best { none, one, tied };

// The place of the best value, if it exceeds `now` by more than rounding; whether others are within rounding of it.
Best find_best(std::span<const double> values, double now, double rounding, std::size_t& place) {
    if (values.empty()) return Best::none;
    place = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
    const double best = values[place];
    if (!(best > now + rounding)) return Best::none;
    const double bar = std::max(best - rounding, now + rounding);
    const auto level = std::count_if(values.begin(), values.end(), [&](double value) { return value >= bar; });
    return level == 1 ? Best::one : Best::tied;
}

// The climb of one variable.
class BlanketClimb {
public:
    BlanketClimb(const LocalScore& score, std::int32_t x, std::span<const std::int32_t> blanket, double now,
                 const ClimbOptions& options)
        : score_(score), x_(x), joined_(blanket.begin(), blanket.end()), z_(joined_), now_(now), options_(options) {
        std::sort(z_.begin(), z_.end());
    }

    ClimbState run(std::span<const std::int32_t> partners, bool leaving) {
        if (leaving && shrink() == Best::tied) return ClimbState::tied_leaving;
        for (;;) {
            const Best found = grow(partners);
            if (found == Best::none) return ClimbState::done;
            if (found == Best::tied) return ClimbState::tied_joining;
            // A single member has just improved the score: it stays.
            if (z_.size() > 1 && shrink() == Best::tied) return ClimbState::tied_leaving;
        }
    }

    std::span<const std::int32_t> joined() const { return joined_; }
    double now() const { return now_; }
    std::int32_t rounds() const { return rounds_; }
    std::int64_t scored() const { return scored_; }

private:
    Best grow(std::span<const std::int32_t> partners) {
        ++rounds_;
        if (z_.size() >= options_.limit) return Best::none;
        ys_.clear();
        std::set_difference(partners.begin(), partners.end(), z_.begin(), z_.end(), std::back_inserter(ys_));
        values_.resize(ys_.size());
        score_.additions(x_, z_, ys_, values_.data());
        std::size_t place = 0;
        const Best found = find_best(values_, now_, options_.rounding, place);
        if (found == Best::tied) --rounds_;  // the caller decides the tie and counts this round
        if (found != Best::tied) scored_ += static_cast<std::int64_t>(ys_.size());
        if (found != Best::one) return found;
        now_ = values_[place];
        joined_.push_back(ys_[place]);
        z_.insert(std::upper_bound(z_.begin(), z_.end(), ys_[place]), ys_[place]);
        return found;
    }

    // Deletions until none improves.
    Best shrink() {
        while (!z_.empty()) {
            values_.resize(z_.size());
            score_.removals(x_, z_, values_.data());
            keep_required();
            std::size_t place = 0;
            const Best found = find_best(values_, now_, options_.rounding, place);
            if (found != Best::tied) scored_ += static_cast<std::int64_t>(z_.size());
            if (found != Best::one) return found;
            now_ = values_[place];
            joined_.erase(std::find(joined_.begin(), joined_.end(), z_[place]));
            z_.erase(z_.begin() + static_cast<std::ptrdiff_t>(place));
        }
        return Best::none;
    }

    void keep_required() {
        if (options_.required.empty()) return;
        const auto n = static_cast<std::int64_t>(score_.n_variables());
        for (std::size_t k = 0; k < z_.size(); ++k)
            if (std::binary_search(options_.required.begin(), options_.required.end(), x_ * n + z_[k]))
                values_[k] = -std::numeric_limits<double>::infinity();
    }

    const LocalScore& score_;
    std::int32_t x_;
    std::vector<std::int32_t> joined_, z_, ys_;  // the blanket as it joined, and ascending
    std::vector<double> values_;
    double now_;
    const ClimbOptions& options_;
    std::int32_t rounds_ = 0;
    std::int64_t scored_ = 0;
};

}  // namespace

Climbs climb_blankets(const LocalScore& score, std::span<const std::int32_t> xs, const Lists& blankets,
                      std::span<const double> scores, std::span<const std::int8_t> leaving, const Lists& partners,
                      const ClimbOptions& options, int n_threads) {
    constexpr std::size_t kTogether = 16;
    const std::size_t n = xs.size(), n_pieces = (n + kTogether - 1) / kTogether;
    Climbs found;
    found.scores.resize(n);
    found.states.resize(n);
    found.rounds.resize(n);
    std::vector<std::vector<std::int32_t>> joined(n);
    std::vector<std::int64_t> scored(n_pieces, 0);
    parallel_for(n_pieces, n_threads, [&](std::size_t piece) {
        for (std::size_t k = piece * kTogether; k < std::min((piece + 1) * kTogether, n); ++k) {
            BlanketClimb climb(score, xs[k], blankets[k], scores[k], options);
            const ClimbState state = climb.run(partners[static_cast<std::size_t>(xs[k])], leaving[k] != 0);
            found.states[k] = static_cast<std::int8_t>(state);
            found.scores[k] = climb.now();
            found.rounds[k] = climb.rounds();
            joined[k].assign(climb.joined().begin(), climb.joined().end());
            scored[piece] += climb.scored();
        }
    });
    for (const auto& blanket : joined) found.blankets.append(blanket);
    for (const std::int64_t count : scored) found.scored += count;
    return found;
}

}  // namespace mnlearn
