// Tests by partial correlations: Fisher's z.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "subsets/subset_search.hpp"

namespace mnlearn {
namespace {

// `Correlations`: of one x with many y given z, NaN where they are not clear.
template <class Test, class Correlations> class CorrelationTester : public SubsetTester {
public:
    CorrelationTester(const Test& test, Correlations correlations)
        : test_(test), correlations_(std::move(correlations)) {}

    void restart(std::int32_t x) override { x_ = x; }
    bool answers(std::size_t) const override { return true; }
    std::span<const double> operator()(std::span<const std::int32_t> ys, std::span<const std::int32_t> z) override {
        const std::span<double> r = correlations_(x_, ys, z);
        if (std::ranges::any_of(r, [](double value) { return std::isnan(value); })) ask_for_unclear(ys, z, r);
        statistic_.resize(ys.size());
        support_.resize(ys.size());
        if constexpr (std::is_same_v<Test, CorrelationTest>)
            fisher_tails(r, dof(test_.n_rows, z), statistic_.data(), support_.data());
        else
            for (std::size_t k = 0; k < ys.size(); ++k)
                fisher_tails(r.subspan(k, 1), dof(std::nearbyint(correlations_.rows()[k]), z), &statistic_[k],
                             &support_[k]);
        return support_;
    }
    // What cannot be told, NaN, is independent: nothing is left that could depend.
    bool independent(double support) const override { return !(support <= test_.level); }

private:
    static double dof(double n_rows, std::span<const std::int32_t> z) {
        return std::max(n_rows - static_cast<double>(z.size()) - 3.0, 0.0);
    }
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

    const Test& test_;
    Correlations correlations_;
    std::int32_t x_ = -1;
    std::vector<std::int32_t> unclear_;
    std::vector<double> statistic_, support_, answers_;
};

}  // namespace

SubsetTests correlation_tests(CorrelationTest test) {
    const auto shared = std::make_shared<const CorrelationTest>(std::move(test));
    return {shared->correlation.n, [shared]() -> std::unique_ptr<SubsetTester> {
                return std::make_unique<CorrelationTester<CorrelationTest, PartialCorrelations>>(
                    *shared, PartialCorrelations(shared->correlation));
            }};
}

SubsetTests testwise_tests(TestwiseTest test) {
    const auto shared = std::make_shared<const TestwiseTest>(std::move(test));
    return {shared->columns.n_columns, [shared]() -> std::unique_ptr<SubsetTester> {
                return std::make_unique<CorrelationTester<TestwiseTest, TestwiseCorrelations>>(
                    *shared, TestwiseCorrelations(shared->columns));
            }};
}

}  // namespace mnlearn
