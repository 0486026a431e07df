// Tests by partial correlations: Fisher's z.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "subsets/subset_search.hpp"

namespace mnlearn {
namespace {

class CorrelationTester : public SubsetTester {
public:
    explicit CorrelationTester(const CorrelationTest& test) : test_(test), correlations_(test.correlation) {}

    void restart(std::int32_t x) override { x_ = x; }
    bool answers(std::size_t) const override { return true; }
    std::span<const double> operator()(std::span<const std::int32_t> ys, std::span<const std::int32_t> z) override {
        const std::span<double> r = correlations_(x_, ys, z);
        if (std::ranges::any_of(r, [](double value) { return std::isnan(value); })) ask_for_unclear(ys, z, r);
        statistic_.resize(ys.size());
        support_.resize(ys.size());
        const double dof = test_.n_rows - static_cast<double>(z.size()) - 3.0;
        fisher_tails(r, std::max(dof, 0.0), statistic_.data(), support_.data());
        return support_;
    }
    // What cannot be told, NaN, is independent: nothing is left that could depend.
    bool independent(double support) const override { return !(support <= test_.level); }

private:
    void ask_for_unclear(std::span<const std::int32_t> ys, std::span<const std::int32_t> z, std::span<double> r) {
        unclear_.clear();
        for (std::size_t k = 0; k < ys.size(); ++k)
            if (std::isnan(r[k])) unclear_.push_back(ys[k]);
        answers_.resize(unclear_.size());
        test_.from_rows(x_, unclear_, z, answers_.data());
        std::size_t next = 0;
        for (double& value : r)
            if (std::isnan(value)) value = answers_[next++];
    }

    const CorrelationTest& test_;
    PartialCorrelations correlations_;
    std::int32_t x_ = -1;
    std::vector<std::int32_t> unclear_;
    std::vector<double> statistic_, support_, answers_;
};

}  // namespace

SubsetTests correlation_tests(CorrelationTest test) {
    const auto shared = std::make_shared<const CorrelationTest>(std::move(test));
    return {shared->correlation.n, [shared] { return std::make_unique<CorrelationTester>(*shared); }};
}

}  // namespace mnlearn
