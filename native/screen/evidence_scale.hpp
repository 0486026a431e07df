// Test statistics on one scale: tables with more degrees of freedom have larger statistics by chance alone.
#pragma once

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
    static constexpr int kSteps = 4000;
    std::vector<float> equivalents_;  // of multiples of the step; none for one degree of freedom
};

}  // namespace mnlearn
