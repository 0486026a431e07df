// Tests by counts: chi2, g2 and bayes.
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "scan/chi_square_tail.hpp"
#include "scan/gaps.hpp"
#include "scan/scores.hpp"
#include "subsets/path_counts.hpp"
#include "subsets/subset_search.hpp"

namespace mnlearn {
namespace {

// What degrees of freedom cannot exceed, however many variables a question has: of n rows in a stratum at most n − 1
// states beyond the first occur, and no more strata occur than rows. `cards` descending.
double max_dof_of_rows(const Store& store, const TestSpec& test, std::span<const double> cards) {
    const double rows = static_cast<double>(store.n_records());
    if (cards.size() < 2) return rows;
    switch (static_cast<DofRule>(static_cast<int>(test.kernel.settings[0]))) {
        case DofRule::adjusted:
            return rows * (cards[1] - 1.0);
        case DofRule::observed_strata:
            return rows * (cards[0] - 1.0) * (cards[1] - 1.0);
        default:
            return std::numeric_limits<double>::infinity();
    }
}

// How many variables a question may have, whichever they are, so that log p is known for its degrees of freedom.
std::size_t most_variables(const Store& store, const TestSpec& test) {
    constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
    if (test.kernel.name == KernelName::bayes) return kAnyNumber;
    std::vector<double> cards;
    for (std::size_t v = 0; v < store.n_variables(); ++v) cards.push_back(store.column(v).states());
    std::sort(cards.begin(), cards.end(), std::greater<>());
    if (max_dof_of_rows(store, test, cards) <= kMostDof) return kAnyNumber;
    double cells = 1.0;
    for (std::size_t n = 0; n < cards.size(); ++n)
        if ((cells *= cards[n]) > kMostDof) return n;
    return kAnyNumber;
}

// Along a path of sets where that serves, else by a scan.
class CountTester : public SubsetTester {
public:
    CountTester(const Store& store, const TestSpec& test, std::size_t most_variables)
        : store_(store), test_(test), counts_(store), most_variables_(most_variables) {}

    void restart(std::int32_t x) override {
        counts_.restart(x);
        decision_.emplace(store_, test_, x);
    }
    // Whether log p is known for the degrees of freedom that any question about a set of this size may have.
    bool answers(std::size_t size_z) const override { return size_z + 2 <= most_variables_; }
    std::span<const double> operator()(std::span<const std::int32_t> ys, std::span<const std::int32_t> z) override {
        support_.resize(ys.size());
        if (!concerns_gaps(store_, counts_.x(), ys, z) && counts_.serves(z, ys)) {
            counts_.count(z, ys);
            for (std::size_t k = 0; k < ys.size(); ++k) support_[k] = (*decision_)(ys[k], z, counts_.table(k));
        } else {
            scan(ys, z);
        }
        return support_;
    }
    bool independent(double support) const override { return !decision_->dependent(support); }

private:
    void scan(std::span<const std::int32_t> ys, std::span<const std::int32_t> z) {
        scores_.resize(2 * ys.size());
        run_scan(store_, test_.kernel, counts_.x(), ys, z, 1, scores_.data());
        if (test_.kernel.name == KernelName::bayes)
            for (std::size_t k = 0; k < ys.size(); ++k) support_[k] = std::min(scores_[k], 0.0);
        else
            log_chi2_tails(scores_.data(), scores_.data() + ys.size(), ys.size(), support_.data());
    }

    const Store& store_;
    const TestSpec& test_;
    PathCounts counts_;
    std::size_t most_variables_;
    std::optional<TestDecision> decision_;
    std::vector<double> support_, scores_;
};

}  // namespace

SubsetTests count_tests(const Store& store, TestSpec test) {
    const auto shared = std::make_shared<const TestSpec>(std::move(test));
    const std::size_t most = most_variables(store, *shared);
    return {store.n_variables(),
            [&store, shared, most] { return std::make_unique<CountTester>(store, *shared, most); }};
}

}  // namespace mnlearn
