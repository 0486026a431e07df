// A level of PC-stable.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>

#include "subsets/subset_enumeration.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

// Whether the search goes on: the calling thread polls, the others read its flag.
class SharedCancelPoll {
public:
    explicit SharedCancelPoll(const GoOn& go_on) : poll_(go_on) {}

    bool keep_going(std::int32_t x) {
        if (stopped_) return false;
        if (std::this_thread::get_id() == caller_ && !poll_.keep_going(x)) stopped_ = true;
        return !stopped_;
    }
    bool stopped() const { return stopped_; }
    void stop() { stopped_ = true; }

private:
    CancelPoll poll_;
    const std::thread::id caller_ = std::this_thread::get_id();
    std::atomic<bool> stopped_ = false;
};

// Whose turns are over. Within a level, what becomes of a pair depends on no other pair; it is asked from its first
// variable before it is asked from its second.
class Done {
public:
    explicit Done(std::size_t n) : over_(std::make_unique<std::atomic<bool>[]>(n)) {}
    bool operator[](std::int32_t x) const { return over_[static_cast<std::size_t>(x)].load(std::memory_order_acquire); }
    void enter(std::int32_t x) { over_[static_cast<std::size_t>(x)].store(true, std::memory_order_release); }

private:
    std::unique_ptr<std::atomic<bool>[]> over_;
};

// One thread's turns.
class VariableTurns {
public:
    VariableTurns(const SubsetTests& tests, const PcLevel& level, SharedCancelPoll& poll)
        : level_(level), ask_(tests.tester()), shared_poll_(poll), z_(level.size) {}

    bool answered() const { return ask_->answers(level_.size); }

    // `done`, if other threads have turns too. Who comes before x, but whose turn is not over, may still part from x:
    // it is asked about all the same, and what came out counts if it turns out that it has not.
    void take(std::int32_t x, const Done* done, PcLevelResult& found) {
        around_.clear();
        early_.clear();
        level_.places.each(x, [&](std::int32_t y, std::size_t place) {
            if (!level_.around[place]) return;
            around_.push_back(y);
            if (done && y < x && static_cast<std::size_t>(y) >= level_.first_x && !(*done)[y])
                early_.push_back({y, level_.weakest[place], 0, false, 0.0, {}});
        });
        if (around_.size() <= level_.size) return;
        ask_->restart(x);
        try_sets(x, found);
        for (const Early& early : early_)
            if (found.finished) enter(x, early, *done, found);
    }

private:
    // What was found out about a y whose own turn was not over.
    struct Early {
        std::int32_t y;
        double weakest;
        std::int64_t asked;
        bool separated;
        double support;
        std::vector<std::int32_t> z;
    };

    std::size_t at(std::int32_t x, std::int32_t y) const { return level_.places.at(x, y); }
    bool was_around(std::int32_t x, std::int32_t y) const {
        const std::size_t place = at(x, y);
        return place != PairPlaces::none && level_.around[place];
    }
    Early* early(std::int32_t y) {
        const auto found = std::ranges::find(early_, y, &Early::y);
        return found == early_.end() ? nullptr : &*found;
    }

    void try_sets(std::int32_t x, PcLevelResult& found) {
        list_left(x);
        Combination choice(around_.size(), level_.size);
        do {
            std::transform(choice.places().begin(), choice.places().end(), z_.begin(),
                           [&](std::size_t place) { return around_[place]; });
            list_untried(x);
            if (!ys_.empty()) settle(x, found);
            found.finished = shared_poll_.keep_going(x);
        } while (found.finished && !left_.empty() && choice.next());
    }
    void list_left(std::int32_t x) {
        left_.clear();
        for (const std::int32_t y : around_) {
            const Early* unsure = early(y);
            if (unsure ? !unsure->separated : level_.left[at(x, y)]) left_.push_back(y);
        }
    }
    void list_untried(std::int32_t x) {
        ys_.clear();
        for (const std::int32_t y : left_) {
            if (std::find(z_.begin(), z_.end(), y) != z_.end()) continue;
            const auto around_y = [&](std::int32_t v) { return was_around(y, v); };
            if (y > x || !std::all_of(z_.begin(), z_.end(), around_y)) ys_.push_back(y);
        }
    }
    void settle(std::int32_t x, PcLevelResult& found) {
        const std::span<const double> support = (*ask_)(ys_, z_);
        bool some_separated = false;
        for (std::size_t k = 0; k < ys_.size(); ++k) {
            Early* unsure = early(ys_[k]);
            double& weakest = unsure ? unsure->weakest : level_.weakest[at(x, ys_[k])];
            if (support[k] > weakest || std::isnan(weakest)) weakest = support[k];
            ++(unsure ? unsure->asked : found.asked);
            if (!ask_->independent(support[k])) continue;
            some_separated = true;
            if (unsure)
                unsure->separated = true, unsure->support = support[k], unsure->z = z_;
            else
                part(x, ys_[k], z_, support[k], found);
        }
        if (some_separated) list_left(x);
    }
    void part(std::int32_t x, std::int32_t y, std::span<const std::int32_t> z, double support, PcLevelResult& found) {
        level_.left[at(x, y)] = level_.left[at(y, x)] = false;
        found.sets.insert(found.sets.end(), {x, y});
        found.sets.insert(found.sets.end(), z.begin(), z.end());
        found.support.push_back(support);
    }
    void enter(std::int32_t x, const Early& early, const Done& done, PcLevelResult& found) {
        while (!done[early.y])
            if (shared_poll_.keep_going(x))
                std::this_thread::yield();
            else
                return void(found.finished = false);
        if (!level_.left[at(x, early.y)]) return;
        level_.weakest[at(x, early.y)] = early.weakest;
        found.asked += early.asked;
        if (early.separated) part(x, early.y, early.z, early.support, found);
    }

    const PcLevel& level_;
    std::unique_ptr<SubsetTester> ask_;
    SharedCancelPoll& shared_poll_;
    std::vector<std::int32_t> around_, left_, ys_, z_;
    std::vector<Early> early_;
};

// Several threads, each with turns of its own that serve again.
class ParallelTurns {
public:
    ParallelTurns(const SubsetTests& tests, const PcLevel& level, int n_threads, SharedCancelPoll& poll)
        : tests_(tests), level_(level), n_threads_(n_threads), shared_poll_(poll) {}

    PcLevelResult run() {
        std::vector<PcLevelResult> found(level_.last_x - level_.first_x);
        Done done(level_.last_x);
        parallel_for(found.size(), n_threads_, [&](std::size_t k) {
            try {
                take(static_cast<std::int32_t>(level_.first_x + k), done, found[k]);
            } catch (...) {
                shared_poll_.stop();  // no thread waits for this turn
                throw;
            }
        });
        PcLevelResult all;
        for (const PcLevelResult& part : found) append(part, all);
        return all;
    }

private:
    void take(std::int32_t x, Done& done, PcLevelResult& found) {
        PcLevelResult mine;  // on this thread's own memory: what neighbours write stands side by side
        mine.finished = !shared_poll_.stopped();
        if (mine.finished) {
            auto turns = borrow();
            turns->take(x, &done, mine);
            done.enter(x);
            give_back(std::move(turns));
        }
        found = std::move(mine);
    }
    std::unique_ptr<VariableTurns> borrow() {
        {
            const std::lock_guard lock(guard_);
            if (!free_.empty()) {
                auto turns = std::move(free_.back());
                free_.pop_back();
                return turns;
            }
        }
        return std::make_unique<VariableTurns>(tests_, level_, shared_poll_);
    }
    void give_back(std::unique_ptr<VariableTurns> turns) {
        const std::lock_guard lock(guard_);
        free_.push_back(std::move(turns));
    }

    // In the order in which one thread finds them: by the set, then by y.
    void append(const PcLevelResult& part, PcLevelResult& all) const {
        const std::size_t width = level_.size + 2;
        const auto pair = [&](std::size_t k) { return std::span(part.sets).subspan(k * width, width); };
        std::vector<std::size_t> order(part.support.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            const auto one = pair(a), other = pair(b);
            const bool same = std::ranges::equal(one.subspan(2), other.subspan(2));
            return same ? one[1] < other[1] : std::ranges::lexicographical_compare(one.subspan(2), other.subspan(2));
        });
        for (const std::size_t k : order) {
            all.sets.insert(all.sets.end(), pair(k).begin(), pair(k).end());
            all.support.push_back(part.support[k]);
        }
        all.asked += part.asked;
        all.finished = all.finished && part.finished;
    }

    const SubsetTests& tests_;
    const PcLevel& level_;
    int n_threads_;
    SharedCancelPoll& shared_poll_;
    std::mutex guard_;
    std::vector<std::unique_ptr<VariableTurns>> free_;
};

}  // namespace

std::optional<PcLevelResult> separate(const SubsetTests& tests, const PcLevel& given, int n_threads,
                                      const GoOn& go_on) {
    PcLevel level = given;
    level.last_x = std::max(level.first_x, std::min(level.last_x, tests.n_variables));
    SharedCancelPoll poll(go_on);
    VariableTurns turns(tests, level, poll);
    if (!turns.answered()) return {};
    if (n_threads > 1) return ParallelTurns(tests, level, n_threads, poll).run();
    PcLevelResult found;
    for (std::size_t x = level.first_x; x < level.last_x && found.finished; ++x)
        turns.take(static_cast<std::int32_t>(x), nullptr, found);
    return found;
}

}  // namespace mnlearn
