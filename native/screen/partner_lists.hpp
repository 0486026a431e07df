// The strongest partners of each variable, collected from pairs that come in any order and on any thread.
//
// A variable has a buffer of 2k partners and a bar: weaker ones are not entered; a full buffer is cut to the best k,
// which raises the bar. The order is total (larger value first, then smaller index), so what is left at the end depends
// on the pairs alone and not on the order in which they came.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace mnlearn {

class PartnerLists {
public:
    // k = 0: all partners whose value is at least the floor, up to `most` entries, beyond which it throws.
    PartnerLists(std::size_t n_variables, std::size_t k, float floor, std::size_t most);

    std::size_t n_variables() const { return n_; }
    std::size_t k() const { return k_; }
    float floor() const { return floor_; }
    // No partner of x below it is needed. It only rises, so a stale one lets too much through, never too little.
    float bar(std::size_t x) const { return bars_[x].load(std::memory_order_relaxed); }
    // Enters a pair at both ends. Values that are not positive are no evidence.
    void push(std::int32_t x, std::int32_t y, float value) {
        if (!(value > 0.0f)) return;
        if (value >= bar(static_cast<std::size_t>(x))) enter(x, y, value);
        if (value >= bar(static_cast<std::size_t>(y))) enter(y, x, value);
    }

    struct Lists {
        std::vector<std::int64_t> starts;
        std::vector<std::int32_t> partners;
        std::vector<float> values;
    };
    // Pairs that are listed by either end, from both ends; partners ascending. More may be pushed afterwards.
    Lists lists();

private:
    struct Partner {
        float value;
        std::int32_t variable;
    };
    static bool stronger(const Partner& a, const Partner& b) {
        return a.value != b.value ? a.value > b.value : a.variable < b.variable;
    }
    static bool earlier(const Partner& a, const Partner& b) { return a.variable < b.variable; }
    void enter(std::int32_t x, std::int32_t y, float value);
    void cut(std::size_t x);
    std::vector<std::vector<Partner>> one_sided() const;  // those that y lists and x does not, by x

    static constexpr std::size_t kStripes = 1024;  // a variable shares its lock with one in so many
    std::size_t n_, k_, most_;
    float floor_;
    std::vector<std::vector<Partner>> partners_;
    std::unique_ptr<std::atomic<float>[]> bars_;
    std::unique_ptr<std::mutex[]> stripes_;
    std::atomic<std::size_t> n_entries_ = 0;
};

}  // namespace mnlearn
