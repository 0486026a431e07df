// Growing and shrinking the blanket of one variable: the questions of Algorithm 4 of [JAIR09], each decided before the
// next is asked, without a step outside the core in between. With knowledge (Algorithm 5), a question goes to the data
// only when no rule answers it.
#pragma once

#include "blankets/knowledge_base.hpp"
#include "scan/test_decision.hpp"

namespace mnlearn {

// When to stop, and when to ask ahead.
struct StopRule {
    bool first;            // at the first dependent y
    std::size_t in_a_row;  // after so many independent ones a scan of the next is sooner than each alone
    std::size_t ahead;     // of how many at most
    int n_threads;         // for the scan
};

// The answers to the first of the ys: fewer than requested where only slower methods apply, and after a few thousand,
// so that the caller can poll for signals.
struct PhaseAnswers {
    std::vector<double> support;  // NaN where a rule answered
    std::vector<std::uint8_t> independent;
    std::vector<AnsweredBy> sources;
    // Of the questions that the data answered: how many, weighing 2 + |z| each, and the largest z  [JAIR09, Sec. 5].
    std::size_t asked = 0, weighted = 0, largest_z = 0;
    std::size_t scanned = 0;  // how many tests were computed, those ahead of need among them

    std::size_t size() const { return support.size(); }
    void infer(AnsweredBy rule);
    void test(double value, bool is_independent, std::size_t size_z);
};

// Each y in turn, given z and those before it that turned out dependent. `known` may be null.
PhaseAnswers grow(const Store& store, const TestSpec& test, std::int32_t x, std::span<const std::int32_t> ys,
                  std::span<const std::int32_t> z, const StopRule& until, KnowledgeBase* known);

// Each y in turn, a member of z, given the rest of z without those before it that turned out independent. Likewise.
PhaseAnswers shrink(const Store& store, const TestSpec& test, std::int32_t x, std::span<const std::int32_t> ys,
                    std::span<const std::int32_t> z, KnowledgeBase* known);

}  // namespace mnlearn
