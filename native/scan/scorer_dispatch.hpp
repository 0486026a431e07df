// From the name of a kernel to the class that scores by it.
#pragma once

#include <span>

#include "numbers/elementary.hpp"
#include "scan/scan.hpp"
#include "scan/scores.hpp"

namespace mnlearn {

inline ScanFacts facts_of(const Store& store, std::span<const std::int32_t> z, std::size_t n_strata) {
    ScanFacts facts{store.n_rows(), n_strata, 1.0, 0.0};
    double last = 1.0, log_last = 0.0;  // most variables of a data set have the same number of states
    for (const std::int32_t variable : z) {
        const double card = store.column(static_cast<std::size_t>(variable)).states();
        if (card != last) log_last = elementary::log(last = card);
        facts.n_configurations *= card;
        facts.log_n_configurations += log_last;
    }
    return facts;
}

// Calls run(scorer) with the scorer the kernel names.
template <class F> void with_scorer(const KernelSpec& kernel, const ScanFacts& facts, LogTables& tables, F run) {
    const auto& set = kernel.settings;
    const auto rule = [&] { return static_cast<DofRule>(static_cast<int>(set[0])); };
    switch (kernel.name) {
        case KernelName::chi2:
            return run(Pearson(rule(), facts));
        case KernelName::g2:
            return run(LikelihoodRatio(rule(), facts, false, tables));
        case KernelName::mi:
            return run(LikelihoodRatio(rule(), facts, true, tables));
        case KernelName::bayes:
            return run(BayesianPosterior({set[0], set[1], set[2], set[3]}, facts, tables));
        case KernelName::bayes_dependent:
            return run(BayesianDependence({set[0], set[1], set[2], set[3]}, facts, tables));
        case KernelName::dirichlet:
            return run(Dirichlet(set[0], set[1] != 0.0, facts, tables));
        case KernelName::entropy:
            return run(Entropy(facts, tables));
        case KernelName::first_cell:
            return run(FirstCell());
    }
}

}  // namespace mnlearn
