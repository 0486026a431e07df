#include "evidence/promising.hpp"

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>

#include "numbers/elementary.hpp"
#include "scan/count_bitsets.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

constexpr std::size_t kBlock = 512;             // candidates: their planes stay in the cache
constexpr std::size_t kVariablesTogether = 32;  // variables that share a block: else each would stream all planes
constexpr float kNoVariance = 1e30f;            // in place of 0: d is 0 there, but for rounding
constexpr double kStratumPrice = std::numbers::pi / 8;  // times its rows: a y that splits them evenly

// The strata of one x: what d_s and v_s need.
struct Stratum {
    float rows, share, spread;  // n, n_x0 / n, n_x0 n_x1 / n^3
};

// The best so far. Candidates come in ascending order.
class Best {
public:
    Best(std::size_t k, float above) : k_(k), bar_(above) {}
    float bar() const { return bar_; }
    void enter(float promise, std::int32_t y) {
        if (!(promise > bar_)) return;
        entries_.push_back({promise, y});
        if (entries_.size() >= 2 * k_) cut();
    }
    std::vector<std::int32_t> variables() {
        cut();
        std::vector<std::int32_t> found;
        for (const Entry& entry : entries_) found.push_back(entry.y);
        std::sort(found.begin(), found.end());
        return found;
    }

private:
    struct Entry {
        float promise;
        std::int32_t y;
    };
    void cut() {
        if (entries_.size() <= k_) return;
        const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
        std::nth_element(entries_.begin(), last, entries_.end(), [](const Entry& a, const Entry& b) {
            return a.promise != b.promise ? a.promise > b.promise : a.y < b.y;
        });
        bar_ = last->promise;
        entries_.resize(k_);
    }

    std::size_t k_;
    float bar_;
    std::vector<Entry> entries_;
};

// One x with its z, against blocks of candidates.
class Ranking {
public:
    Ranking(const Store& store, const EvidenceScan& scan, std::size_t k, float above)
        : x_(scan.x), ready_(sets_from_planes(store, scan.x, scan.z)), best_(k, above) {
        for (std::size_t s = 0; s < ready_.strata.count; ++s) {
            const auto rows = static_cast<double>(ready_.strata.sizes[s]);
            const auto zero = static_cast<double>(ready_.x.sizes[2 * s]);
            strata_.push_back({static_cast<float>(rows), static_cast<float>(zero / rows),
                               static_cast<float>(zero * (rows - zero) / (rows * rows * rows))});
            price_ += static_cast<float>(elementary::log1p(kStratumPrice * rows) / 2);
        }
    }

    void count(const Store& store, std::span<const std::uint32_t> groups, std::vector<std::uint32_t>& counts) {
        const std::size_t width = groups.size() * kLanes;
        counts.resize(ready_.x.n_sets() * width);
        store.level().count_planes({ready_.sets.get(), ready_.x.n_sets(), store.planes().words, store.planes().bits,
                                    groups.data(), groups.size(), counts.data()});
        std::fill_n(sum_, kBlock, 0.0f);
        std::fill_n(variance_, kBlock, 0.0f);
        std::fill_n(squares_, kBlock, 0.0f);
        for (std::size_t s = 0; s < strata_.size(); ++s) add(strata_[s], counts.data() + 2 * s * width, width);
    }

    // Takes what promises enough of the candidates first to last.
    void choose(std::size_t first, std::size_t last) {
        for (std::size_t j = 0; j < last - first; ++j) {
            const float twice = 2.0f * variance_[j] + 1.0f, pairwise = sum_[j] * sum_[j] / twice;
            const float full = 0.5f * squares_[j] - price_;
            if (!(std::max(pairwise, full) > best_.bar())) continue;
            const auto y = static_cast<std::int32_t>(first + j);
            if (y != x_) best_.enter(std::max(pairwise - 0.5f * static_cast<float>(elementary::log(twice)), full), y);
        }
    }

    std::vector<std::int32_t> best() { return best_.variables(); }

private:
    void add(const Stratum& stratum, const std::uint32_t* zero, std::size_t width) {
        const std::uint32_t* one = zero + width;
        for (std::size_t j = 0; j < width; ++j) {
            const auto here = static_cast<float>(static_cast<std::int32_t>(zero[j]));
            const float all = here + static_cast<float>(static_cast<std::int32_t>(one[j]));
            const float d = here - stratum.share * all, v = stratum.spread * (all * (stratum.rows - all));
            sum_[j] += d;
            variance_[j] += v;
            squares_[j] += d * d / (v > 0.0f ? v : kNoVariance);
        }
    }

    std::int32_t x_;
    PlaneSets ready_;
    std::vector<Stratum> strata_;
    float price_ = 0.0f;
    Best best_;
    float sum_[kBlock], variance_[kBlock], squares_[kBlock];
};

}  // namespace

bool has_promising(const Store& store) { return store.plain() && !store.repeats() && !store.has_gaps(); }

std::vector<std::vector<std::int32_t>> most_promising(const Store& store, const EvidenceBatch& batch, std::size_t k,
                                                      float above, int n_threads) {
    const std::size_t n = store.n_variables(), n_scans = batch.xs.size();
    std::vector<std::vector<std::int32_t>> found(n_scans);
    parallel_for((n_scans + kVariablesTogether - 1) / kVariablesTogether, n_threads, [&](std::size_t piece) {
        std::vector<Ranking> rankings;
        const std::size_t begin = piece * kVariablesTogether, end = std::min(begin + kVariablesTogether, n_scans);
        rankings.reserve(end - begin);
        for (std::size_t s = begin; s < end; ++s) rankings.emplace_back(store, batch[s], k, above);
        std::vector<std::uint32_t> groups, counts;
        for (std::size_t first = 0; first < n; first += kBlock) {
            const std::size_t last = std::min(first + kBlock, n);
            groups.resize((last - first + kLanes - 1) / kLanes);
            std::iota(groups.begin(), groups.end(), static_cast<std::uint32_t>(first / kLanes));
            for (Ranking& ranking : rankings) {
                ranking.count(store, groups, counts);
                ranking.choose(first, last);
            }
        }
        for (std::size_t s = begin; s < end; ++s) found[s] = rankings[s - begin].best();
    });
    return found;
}

}  // namespace mnlearn
