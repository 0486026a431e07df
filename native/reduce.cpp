#include "reduce.hpp"

#include <numeric>
#include <stdexcept>

#include "few.hpp"
#include "scan.hpp"
#include "with_scorer.hpp"

namespace mnlearn {
void reduce(const Store& store, const KernelSpec& kernel, std::int32_t x, std::span<const std::int32_t> ys,
            std::span<const std::int32_t> z, int n_threads, double* out) {
    if (ys.empty()) return;
    const auto finish = [&](const FewCounts& few) {
        with_scorer(kernel, facts_of(store, z, few.strata.count), store.log_tables(), [&](const auto& scorer) {
            score_few(scorer, Query{store, x, ys, few.strata, n_threads, out}, few);
        });
    };
    if (splitting_pays(store, x, ys, z)) return finish(count_by_splitting(store, x, ys, z));
    if (planes_suffice(store, x, ys, z)) {
        const PlaneSets ready = sets_from_planes(store, x, z);
        with_scorer(kernel, facts_of(store, z, ready.strata.count), store.log_tables(), [&](const auto& scorer) {
            const Query query{store, x, ys, ready.strata, n_threads, out};
            Scan(query, scorer).run_on(ready);
        });
        return;
    }
    if (whole_lanes_pay(store, x, ys, z)) return finish(count_in_whole_lanes(store, x, ys, z));
    CacheInUse cache(store);
    const auto strata = cache.strata(z);
    const Query query{store, x, ys, *strata, n_threads, out};
    const bool in_lanes = lanes_pay(query, cost_of(query));
    with_scorer(kernel, facts_of(store, z, strata->count), store.log_tables(), [&](const auto& scorer) {
        if (in_lanes)
            score_few(scorer, query, count_in_lanes(query));
        else
            Scan(query, scorer).run();
    });
}

void score_table(const KernelSpec& kernel, const GivenTable& given, double* out) {
    LogTables tables(given.n_rows);
    const ScanFacts facts{given.n_rows, given.n_strata, given.n_configurations, given.log_n_configurations};
    const std::size_t cells = static_cast<std::size_t>(given.rx) * given.ry;
    std::vector<std::int64_t> sizes, margins(given.rx + given.ry);
    for (std::size_t s = 0; s < given.n_strata; ++s)
        sizes.push_back(std::accumulate(given.counts + s * cells, given.counts + (s + 1) * cells, std::int64_t{0}));
    with_scorer(kernel, facts, tables, [&](const auto& scorer) {
        const auto prepared = scorer.prepare(given.rx, given.ry, sizes);
        typename std::remove_cvref_t<decltype(scorer)>::Sum sum;
        for (std::size_t s = 0; s < given.n_strata; ++s)
            visit_dense({given.counts + s * cells, margins.data(), margins.data() + given.rx, given.rx, given.ry},
                        [&](const auto& table) { scorer.add(sum, prepared, s, table); });
        scorer.finish(sum, given.rx, given.ry, out);
    });
}

}  // namespace mnlearn
