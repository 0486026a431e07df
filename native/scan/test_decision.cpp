#include "scan/test_decision.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "scan/chi_square_tail.hpp"
#include "scan/scorer_dispatch.hpp"

namespace mnlearn {

TestSpec make_test(const std::string& kernel, std::vector<double> settings, double level) {
    TestSpec test{parse_kernel(kernel, std::move(settings)), level};
    const KernelName name = test.kernel.name;
    if (name != KernelName::chi2 && name != KernelName::g2 && name != KernelName::bayes)
        throw std::invalid_argument("kernel must be that of a test, chi2, g2 or bayes; got '" + kernel +
                                    "'. Ask for its scores by reduce.");
    if (std::isnan(level)) throw std::invalid_argument("level must be a number; got nan. Use log(alpha), or log(1/2).");
    return test;
}

double TestDecision::operator()(std::int32_t y, std::span<const std::int32_t> z, const PairTables& table) {
    double scores[2] = {};
    const ScanFacts facts = facts_of(store_, z, table.n_strata + table.n_left_out);
    const bool binary = table.card_x == 2 && table.width == 1 && store_.n_records() < (std::size_t{1} << 26);
    with_scorer(test_.kernel, facts, store_.log_tables(), [&](const auto& scorer) {
        if (binary && test_.kernel.name == KernelName::chi2) {
            PearsonColumn column{table.counts, table.sizes, table.n_strata, 0.0, 0.0};
            store_.level().score_column(column);
            return scorer.finish({column.statistic, column.dof}, 2, 2, scores);
        }
        widen(table);
        score_small(scorer, Query{store_, x_, std::span(&y, 1), few_.strata, 1, scores}, few_);
    });
    if (test_.kernel.name == KernelName::bayes) return std::min(scores[0], 0.0);
    double log_p;
    log_chi2_tails(scores, scores + 1, 1, &log_p);
    return log_p;
}

// As the scorers take it.
void TestDecision::widen(const PairTables& table) {
    const std::size_t n_sets = table.n_strata * table.card_x;
    few_.x = {table.card_x, table.n_strata, false, {table.sizes, table.sizes + n_sets}};
    few_.counts.assign(table.counts, table.counts + n_sets * table.width);
    few_.width = table.width;
    few_.column.assign(1, 0);
    few_.strata.count = table.n_strata;
    few_.strata.sizes.assign(table.n_strata, 0);
    for (std::size_t k = 0; k < n_sets; ++k) few_.strata.sizes[k / table.card_x] += table.sizes[k];
}

}  // namespace mnlearn
