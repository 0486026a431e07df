// Test statistics on one scale: tables with more degrees of freedom have larger statistics by chance alone.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace mnlearn {

// The chi-square with one degree of freedom that has the same p-value: the statistic itself for one degree of freedom,
// 0 for none.
double one_dof_equivalent(double statistic, double dof);

// The way back, from below: a statistic with these degrees of freedom whose equivalent is at most the one given.
class LeastStatistic {
public:
    explicit LeastStatistic(double dof);
    float operator()(float equivalent) const;

private:
    static constexpr float kStep = 0.25f;
    static constexpr std::size_t kSteps = 4000;
    std::vector<float> statistics_;  // for multiples of the step; none for one degree of freedom
};

// Those of few degrees of freedom, each made at its first use, by any thread.
class LeastStatistics {
public:
    float operator()(float equivalent, double dof) const;

private:
    static constexpr std::size_t kFew = 64;
    mutable std::array<std::unique_ptr<const LeastStatistic>, kFew + 1> of_few_;
    mutable std::array<std::once_flag, kFew + 1> made_;
};

}  // namespace mnlearn
