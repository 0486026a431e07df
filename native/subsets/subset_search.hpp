// Searches that try one set after another until one separates: each question decided before the next is asked, without
// a step outside the core in between.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "correlation/partial_correlations.hpp"
#include "correlation/testwise_correlations.hpp"
#include "scan/test_decision.hpp"

namespace mnlearn {

// Tests of x and each y given z, for one x at a time; each thread has its own.
class SubsetTester {
public:
    virtual ~SubsetTester() = default;

    virtual void restart(std::int32_t x) = 0;
    // Whether any question about a set of this size has an answer.
    virtual bool answers(std::size_t size_z) const = 0;
    // The support of independence of each y; z ascending. Good until the next call.
    virtual std::span<const double> operator()(std::span<const std::int32_t> ys, std::span<const std::int32_t> z) = 0;
    virtual bool independent(double support) const = 0;
};
struct SubsetTests {
    std::size_t n_variables;
    std::function<std::unique_ptr<SubsetTester>()> tester;
};
SubsetTests count_tests(const Store& store, TestSpec test);  // the store must outlive it

using FromRows =
    std::function<void(std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z, double* r)>;

// x and y are dependent iff the log p-value of Fisher's z is at most the level.
struct CorrelationTest {
    CorrelationMatrix correlation;  // must outlive the tests
    double n_rows;
    double level;
    // The partial correlations that the matrix does not have the digits for; NaN where they cannot be told at all.
    // Called from any thread.
    FromRows from_rows;
};
SubsetTests correlation_tests(CorrelationTest test);

// Tests of columns with gaps: each y by the rows in which x, y and z are observed.
struct TestwiseTest {
    GapColumns columns;  // must outlive the tests
    double level;
    FromRows from_rows;
};
SubsetTests testwise_tests(TestwiseTest test);

// Asked several times a second, at which variable the search is: whether to go on.
using GoOn = std::function<bool(std::int32_t x)>;

// Where the number of a pair (x, y) is: in a matrix by rows, or in lists of the partners of each x, ascending, one list
// after the other. Every pair is listed from both ends.
struct PairPlaces {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t n;
    const std::int64_t* starts = nullptr;  // of each list, and the end of the last; null for a matrix
    const std::int32_t* partners = nullptr;

    // The place of a pair; none if it is not listed.
    std::size_t at(std::int32_t x, std::int32_t y) const {
        const auto row = static_cast<std::size_t>(x);
        if (!starts) return row * n + static_cast<std::size_t>(y);
        const std::int32_t* const end = partners + starts[row + 1];
        const std::int32_t* const found = std::lower_bound(partners + starts[row], end, y);
        return found != end && *found == y ? static_cast<std::size_t>(found - partners) : none;
    }
    // Calls visit(y, place) for every listed y, ascending.
    template <class Visit> void each(std::int32_t x, const Visit& visit) const {
        const auto row = static_cast<std::size_t>(x);
        if (!starts)
            for (std::size_t y = 0; y < n; ++y) visit(static_cast<std::int32_t>(y), row * n + y);
        else
            for (auto place = static_cast<std::size_t>(starts[row]); place < static_cast<std::size_t>(starts[row + 1]);
                 ++place)
                visit(partners[place], place);
    }
};

// A level of PC-stable  [CM14]: for each x, all sets of one size among the neighbours that it had at the beginning,
// each tried on all that are left around x; a set that y < x has around it too was tried from there.
struct PcLevel {
    std::size_t size;
    std::size_t first_x, last_x;  // whose turns: [first, last)
    PairPlaces places;            // of the pairs in the following arrays
    const bool* around;           // at the beginning of the level
    bool* left;                   // now
    double* weakest;              // [x, y]: the largest support found when x was asked about y; NaN for none
};
struct PcLevelResult {
    std::vector<std::int32_t> sets;  // for each pair that was separated: x, y, and the members of the set, ascending
    std::vector<double> support;
    std::int64_t asked = 0;
    bool finished = true;
};
// None where a question would have more degrees of freedom than log p is known for. Any number of threads finds the
// same in the same order; only this one asks whether to go on.
std::optional<PcLevelResult> separate(const SubsetTests& tests, const PcLevel& level, int n_threads, const GoOn& go_on);

// Interleaved HITON-PC around x  [GLL10]: each candidate in turn comes in unless some of those held explain it away,
// given some of them; then everyone held is tried with all sets that have the newcomer. Sets by size, then in the order
// in which their members came in; of at most `limit` variables.
struct HitonResult {
    std::vector<std::int32_t> members;  // who is held in the end
    std::vector<double> weakest;        // for each the largest support found when it was kept; NaN for none
    std::vector<std::int64_t> asked;    // by the size of the set
    bool finished = true;
};
std::optional<HitonResult> hiton_pc(const SubsetTests& tests, std::int32_t x, std::span<const std::int32_t> candidates,
                                    std::size_t limit, const GoOn& go_on);

// For each y: how many sets of at most `limit` neighbours of x separate it from x, and in how many of them each
// neighbour is. A set that y < x has around it too counts from there.
struct Neighbors {
    std::int32_t x;
    PairPlaces places;
    const bool* joined;  // null: all that are listed
    bool operator()(std::int32_t u, std::int32_t v) const {
        const std::size_t place = places.at(u, v);
        return place != PairPlaces::none && (!joined || joined[place]);
    }
    std::vector<std::int32_t> of_x() const {
        std::vector<std::int32_t> found;
        places.each(x, [&](std::int32_t v, std::size_t place) {
            if (!joined || joined[place]) found.push_back(v);
        });
        return found;
    }
};
struct SeparatingSetCounts {
    std::vector<std::int64_t> counts;  // of each y: all, then those with each neighbour in ascending order
    std::vector<std::int64_t> asked;   // by the size of the set
    bool finished = true;
};
std::optional<SeparatingSetCounts> count_separating(const SubsetTests& tests, const Neighbors& around,
                                                    std::span<const std::int32_t> ys, std::size_t limit,
                                                    const GoOn& go_on);

}  // namespace mnlearn
