// Independent or not, from the tables of x and one y in every configuration of z.
#pragma once

#include "scan/small_scan.hpp"

namespace mnlearn {

// A test as a search sees it: a number for the support of independence, independent iff it is above the level. chi2 and
// g2: log p; bayes: the log posterior.
struct TestSpec {
    KernelSpec kernel;
    double level;
};
TestSpec make_test(const std::string& kernel, std::vector<double> settings, double level);  // throws for others

// The tables of x and one y in every configuration of z that occurs, in lexicographic order; of y all states but the
// last. Some that occur may have been left out, if x or y does not vary in them: chi2 and g2 only want their number.
struct PairTables {
    std::uint32_t card_x, width;  // width: the states of y that are counted
    std::size_t n_strata;
    const std::uint32_t* sizes;   // [stratum * card_x + a]
    const std::uint32_t* counts;  // [(stratum * card_x + a) * width + b]
    std::size_t n_left_out = 0;
};

// The support of independence of x and y given z, from the one table; NaN where the core has no short way to it.
class TestDecision {
public:
    TestDecision(const Store& store, const TestSpec& test, std::int32_t x) : store_(store), test_(test), x_(x) {}

    double operator()(std::int32_t y, std::span<const std::int32_t> z, const PairTables& table);
    bool wants_varied() const { return test_.kernel.name != KernelName::bayes; }  // strata in which x and y vary
    bool dependent(double support) const { return !(support > test_.level); }

private:
    void widen(const PairTables& table);

    const Store& store_;
    const TestSpec& test_;
    std::int32_t x_;
    SmallCounts few_;
};

}  // namespace mnlearn
