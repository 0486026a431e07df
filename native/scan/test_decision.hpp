// Independent or not, from the tables of x and one y in every configuration of z.
#pragma once

#include "blankets/sorted_rows.hpp"
#include "scan/small_scan.hpp"

namespace mnlearn {

// A test as a search sees it: a number for the support of independence, independent iff it is above the level. chi2 and
// g2: log p; bayes: the log posterior.
struct Decision {
    KernelSpec kernel;
    double level;
};
Decision make_decision(const std::string& kernel, std::vector<double> settings, double level);  // throws for others

// The support of independence of x and y given z, from the one table; NaN where the core has no short way to it.
class Judge {
public:
    Judge(const Store& store, const Decision& test, std::int32_t x) : store_(store), test_(test), x_(x) {}

    double operator()(std::int32_t y, std::span<const std::int32_t> z, const OneByOne& table);
    bool wants_varied() const { return test_.kernel.name != KernelName::bayes; }  // strata in which x and y vary
    bool dependent(double support) const { return !(support > test_.level); }

private:
    void widen(const OneByOne& table);

    const Store& store_;
    const Decision& test_;
    std::int32_t x_;
    FewCounts few_;
};

}  // namespace mnlearn
