#include "blankets/strongest_additions.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

struct Scored {
    double score;
    std::int32_t y;
    bool operator<(const Scored& other) const {  // the better one comes first
        return score != other.score ? score > other.score : y < other.y;
    }
};

// The k best so far, and a bar that what comes must exceed; cut back whenever 2 k have come together.
class BestOfMany {
public:
    BestOfMany(std::size_t k, double bar) : k_(k), bar_(bar) {}
    // Candidates come in ascending order of y, so one that only equals the bar is never among the best.
    void add(std::span<const double> scores, std::span<const std::int32_t> ys) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
            if (!(scores[j] > bar_)) continue;
            kept_.push_back({scores[j], ys[j]});
            if (kept_.size() >= 2 * k_) cut();
        }
    }
    const std::vector<Scored>& finish() {
        if (kept_.size() > k_) cut();
        std::sort(kept_.begin(), kept_.end(), [](const Scored& a, const Scored& b) { return a.y < b.y; });
        return kept_;
    }

private:
    void cut() {
        const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
        std::nth_element(kept_.begin(), last, kept_.end());
        bar_ = last->score;
        kept_.resize(k_);
    }

    std::size_t k_;
    double bar_;
    std::vector<Scored> kept_;
};

// One x with its blanket.
struct Growing {
    std::int32_t x;
    std::vector<std::int32_t> z, outside;  // the blanket, ascending; the blanket and x
    BestOfMany best;

    Growing(std::int32_t x_, std::span<const std::int32_t> blanket, double now, std::size_t k)
        : x(x_), z(blanket.begin(), blanket.end()), best(k, now) {
        std::sort(z.begin(), z.end());
        outside = z;
        outside.insert(std::upper_bound(outside.begin(), outside.end(), x), x);
    }
    void scan(const LocalScore& score, std::span<const std::int32_t> ys, std::vector<std::int32_t>& some,
              std::vector<double>& values) {
        const auto in_range = std::lower_bound(outside.begin(), outside.end(), ys.front());
        if (in_range != outside.end() && *in_range <= ys.back()) {
            some.clear();
            std::set_difference(ys.begin(), ys.end(), outside.begin(), outside.end(), std::back_inserter(some));
            ys = some;
        }
        values.resize(ys.size());
        score.additions(x, z, ys, values.data());
        best.add(values, ys);
    }
};

}  // namespace

StrongestAdditions strongest_additions(const LocalScore& score, std::span<const std::int32_t> xs, const Lists& blankets,
                                       std::span<const double> now, const Lists* ys, std::size_t k, int n_threads) {
    // Blocks of x share what they read: the planes of 2,048 candidates stay in the second cache.
    constexpr std::size_t kTogether = 32, kCandidates = 2048;
    std::vector<std::int32_t> everyone(ys ? 0 : score.n_variables());
    std::iota(everyone.begin(), everyone.end(), 0);
    std::vector<std::vector<Scored>> found(xs.size());
    parallel_for((xs.size() + kTogether - 1) / kTogether, n_threads, [&](std::size_t piece) {
        const std::size_t first = piece * kTogether, last = std::min(first + kTogether, xs.size());
        std::vector<Growing> growing;
        for (std::size_t j = first; j < last; ++j) growing.emplace_back(xs[j], blankets[j], now[j], k);
        std::vector<std::int32_t> some;
        std::vector<double> values;
        const std::span<const std::int32_t> all(everyone);
        for (std::size_t begin = 0; begin < all.size(); begin += kCandidates)
            for (Growing& one : growing)
                one.scan(score, all.subspan(begin, std::min(kCandidates, all.size() - begin)), some, values);
        for (std::size_t j = first; j < last; ++j) {
            if (ys && !(*ys)[j].empty()) growing[j - first].scan(score, (*ys)[j], some, values);
            found[j] = growing[j - first].best.finish();
        }
    });
    StrongestAdditions result;
    std::vector<std::int32_t> partners;
    for (const auto& best : found) {
        partners.clear();
        for (const Scored& one : best) {
            partners.push_back(one.y);
            result.scores.push_back(one.score);
        }
        result.partners.append(partners);
    }
    return result;
}

}  // namespace mnlearn
