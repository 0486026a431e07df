// The k strongest partners of each variable, in one pass over the rows of a symmetric matrix that is never stored.
//
// A variable has a buffer of 2k partners and a bar: weaker ones are not entered; a full buffer is cut to the best k,
// which raises the bar. Partners come in ascending order, so of equal ones the first are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mnlearn {

class StrongestPartners {
public:
    StrongestPartners(std::size_t n_variables, std::size_t k);

    std::size_t n_variables() const { return bars_.size(); }
    // The evidence of x with each later variable; rows come in the order of x. Exactly 0 counts as none.
    void add(std::int32_t x, std::span<const double> row);

    struct Pair {
        std::int64_t key;  // u n + v, u < v
        double evidence;
    };
    std::vector<Pair> pairs();                                           // ascending, each once
    const std::vector<std::uint8_t>& varies() const { return varies_; }  // by variable: any evidence that is not 0
    std::size_t n_against() const { return n_against_; }                 // pairs of negative evidence,
    double odds_against() const { return odds_against_; }                // and the sum of their exp(evidence)

private:
    struct Partner {
        double evidence;
        std::int32_t variable;
    };
    void enter(std::int32_t x, std::int32_t y, double evidence);
    void cut(std::int32_t x);

    std::size_t k_;
    std::vector<double> bars_;
    std::vector<std::vector<Partner>> partners_;
    std::vector<std::uint8_t> varies_;
    std::size_t n_against_ = 0;
    double odds_against_ = 0.0;
};

}  // namespace mnlearn
