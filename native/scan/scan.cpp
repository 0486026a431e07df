#include "scan/scan.hpp"

#include <numeric>
#include <stdexcept>

#include "scan/scan_runner.hpp"
#include "scan/scorer_dispatch.hpp"
#include "scan/small_scan.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

// With the strata of z numbered: from planes, columns or lanes of all rows, or one y at a time.
CountingMethod reduce_on_strata(const Store& store, const KernelSpec& kernel, std::int32_t x,
                                const Candidates& candidates, std::span<const std::int32_t> z, int n_threads,
                                double* out) {
    CacheInUse cache(store);
    const auto strata = cache.strata(z);
    const Query query{store, x, candidates.ys, *strata, n_threads, out};
    const Plan plan = make_plan(query, candidates);
    const bool in_lanes = lanes_pay(query, candidates, plan.cost());
    with_scorer(kernel, facts_of(store, z, strata->count), store.log_tables(), [&](const auto& scorer) {
        if (in_lanes)
            score_small(scorer, query, count_in_lanes(query));
        else
            Scan(query, scorer).run(plan);
    });
    if (in_lanes) return CountingMethod::lanes;
    return plan.ys.empty() ? CountingMethod::alone : plan.by_columns ? CountingMethod::columns : CountingMethod::planes;
}

}  // namespace

CountingMethod run_scan(const Store& store, const KernelSpec& kernel, std::int32_t x, std::span<const std::int32_t> ys,
                        std::span<const std::int32_t> z, int n_threads, double* out) {
    if (ys.empty()) return CountingMethod::any;
    const auto finish = [&](CountingMethod method, const SmallCounts& few) {
        with_scorer(kernel, facts_of(store, z, few.strata.count), store.log_tables(), [&](const auto& scorer) {
            score_small(scorer, Query{store, x, ys, few.strata, n_threads, out}, few);
        });
        return method;
    };
    const Candidates candidates(store, ys);
    if (distinct_rows_pay(store, x, candidates, z)) {
        run_scan(store.distinct(), kernel, x, ys, z, n_threads, out);
        return CountingMethod::distinct;
    }
    const CountingMethod chosen = choose_method(store, x, candidates, z);
    if (chosen == CountingMethod::tree) return finish(CountingMethod::tree, count_by_splitting(store, x, ys, z));
    if (chosen == CountingMethod::keys) return finish(CountingMethod::keys, count_in_whole_lanes(store, x, ys, z));
    const auto with = [&](const Strata& strata, const auto& run) {
        CountingMethod method = CountingMethod::any;
        with_scorer(kernel, facts_of(store, z, strata.count), store.log_tables(), [&](const auto& scorer) {
            const Query query{store, x, ys, strata, n_threads, out};
            method = run(query, Scan(query, scorer));
        });
        return method;
    };
    const Source source = source_of(chosen);
    const auto on_lists = [&](CountingMethod method, const SortedLists& ready) {
        return with(ready.strata, [&](const Query& query, const auto& scan) {
            scan.run_on_lists(plan_on_lists(query, candidates), ready.lists);
            return method;
        });
    };
    if (source == Source::planes) {
        const PlaneSets ready = sets_from_planes(store, x, z);
        return with(ready.strata, [&](const Query& query, const auto& scan) {
            scan.run_on_bitsets(plan_on_sets(query, candidates), ready.sets.get(), ready.x);
            return CountingMethod::split_planes;
        });
    }
    if (source == Source::lists) return on_lists(chosen, lists_from_planes(store, x, z));
    if (source == Source::keys) return on_lists(chosen, lists_from_keys(store, x, z));
    return reduce_on_strata(store, kernel, x, candidates, z, n_threads, out);
}

void score_tables(const KernelSpec& kernel, const GivenTables& given, LogTables& tables, double* out) {
    if (given.rys.empty()) return;
    const ScanFacts facts{given.n_rows, given.n_strata, given.n_configurations, given.log_n_configurations};
    const std::size_t first = static_cast<std::size_t>(given.rx) * static_cast<std::size_t>(given.rys[0]);
    std::vector<std::int64_t> sizes;
    for (std::size_t s = 0; s < given.n_strata; ++s) {
        const std::int64_t* stratum = given.counts + s * given.width;
        sizes.push_back(std::accumulate(stratum, stratum + first, std::int64_t{0}));
    }
    with_scorer(kernel, facts, tables, [&](const auto& scorer) {
        using Scorer = std::remove_cvref_t<decltype(scorer)>;
        PreparedByCard<Scorer> by_card(scorer, given.rx, sizes);
        std::size_t place = 0;
        for (std::size_t j = 0; j < given.rys.size(); ++j) {
            const auto ry = static_cast<std::uint32_t>(given.rys[j]);
            std::vector<std::int64_t> margins(given.rx + ry);
            const auto& prepared = by_card[ry];
            typename Scorer::Sum sum;
            for (std::size_t s = 0; s < given.n_strata; ++s)
                visit_dense(
                    {given.counts + s * given.width + place, margins.data(), margins.data() + given.rx, given.rx, ry},
                    [&](const auto& table) { scorer.add(sum, prepared, s, table); });
            write(scorer, sum, given.rx, ry, out + j, given.rys.size());
            place += static_cast<std::size_t>(given.rx) * ry;
        }
    });
}

// Many questions in one call.

namespace {

// Rough nanoseconds: enough to know whether threads are worth starting.
double cost_of(const Store& store, const ScanRequest& q) {
    return 300.0 + static_cast<double>(store.n_records()) * 0.3 * static_cast<double>(1 + q.z.size()) +
           20.0 * static_cast<double>(q.ys.size() + q.z.size());
}

void ask(const Store& store, const KernelSpec& kernel, BatchKind kind, const ScanRequest& q, int n_threads) {
    switch (kind) {
        case BatchKind::scan:
            run_scan(store, kernel, q.x, q.ys, q.z, n_threads, q.out);
            return;
        case BatchKind::leave_one_out:
            return scan_leave_one_out(store, kernel, q);
        case BatchKind::without_member:
            return scan_without_member(store, kernel, q);
    }
}

}  // namespace

// Few questions are answered one after the other, each over all threads; many side by side, each on one.
void scan_batch(const Store& store, const KernelSpec& kernel, BatchKind kind, std::span<const ScanRequest> questions,
                int n_threads) {
    double cost = 0.0;
    for (const ScanRequest& q : questions) cost += cost_of(store, q);
    const bool side_by_side = kind != BatchKind::scan || questions.size() >= 2 * static_cast<std::size_t>(n_threads);
    const int outer = side_by_side ? threads_for(cost, n_threads) : 1, inner = side_by_side ? 1 : n_threads;
    parallel_for(questions.size(), outer, [&](std::size_t k) { ask(store, kernel, kind, questions[k], inner); });
}

}  // namespace mnlearn
