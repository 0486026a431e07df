#include "scan/scan.hpp"

#include <numeric>
#include <stdexcept>

#include "scan/gaps.hpp"
#include "scan/scan_runner.hpp"
#include "scan/scorer_dispatch.hpp"
#include "scan/small_scan.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

// One scan: its arguments, and how each method carries it out.
struct ScanTask {
    const Store& store;
    const KernelSpec& kernel;
    std::int32_t x;
    const Candidates& candidates;
    std::span<const std::int32_t> z;
    int n_threads;
    double* out;

    template <class Run> void with_strata(const Strata& strata, const Run& run) const {
        with_scorer(kernel, facts_of(store, z, strata.count), store.log_tables(),
                    [&](const auto& scorer) { run(scorer, Query{store, x, candidates.ys, strata, n_threads, out}); });
    }
    void by_keys() const {
        const SmallCounts counts = count_in_whole_lanes(store, x, candidates.ys, z);
        with_strata(counts.strata, [&](const auto& scorer, const Query& query) { score_small(scorer, query, counts); });
    }
    void on_bitsets() const {
        const PlaneSets ready = sets_from_planes(store, x, z);
        with_strata(ready.strata, [&](const auto& scorer, const Query& query) {
            const Plan plan = plan_together(query, candidates, CountingMethod::split_planes);
            Scan(query, scorer).run_on_bitsets(plan, ready.sets.get(), ready.x);
        });
    }
    void on_lists(CountingMethod method) const {
        const bool from_planes = method == CountingMethod::split_columns;
        const SortedLists ready = from_planes ? lists_from_planes(store, x, z) : lists_from_keys(store, x, z);
        with_strata(ready.strata, [&](const auto& scorer, const Query& query) {
            Scan(query, scorer).run_on_lists(plan_together(query, candidates, method), ready.lists);
        });
    }
    // By planes of all rows, or one y at a time.
    CountingMethod on_strata() const {
        CacheInUse cache(store);
        const auto strata = cache.strata(z);
        CountingMethod method = CountingMethod::alone;
        with_strata(*strata, [&](const auto& scorer, const Query& query) {
            const Plan plan = make_plan(query, candidates);
            Scan(query, scorer).run(plan);
            if (!plan.ys.empty()) method = plan.by_columns ? CountingMethod::columns : CountingMethod::planes;
        });
        return method;
    }
};

}  // namespace

CountingMethod run_scan(const Store& store, const KernelSpec& kernel, std::int32_t x, std::span<const std::int32_t> ys,
                        std::span<const std::int32_t> z, int n_threads, double* out) {
    if (ys.empty()) return CountingMethod::any;
    if (concerns_gaps(store, x, ys, z)) {
        run_gap_scan(store, kernel, x, ys, z, n_threads, out);
        return CountingMethod::any;
    }
    const Candidates candidates(store, ys);
    if (distinct_rows_pay(store, x, candidates, z)) {
        run_scan(store.distinct(), kernel, x, ys, z, n_threads, out);
        return CountingMethod::distinct;
    }
    const ScanTask task{store, kernel, x, candidates, z, n_threads, out};
    const CountingMethod method = choose_method(store, x, candidates, z);
    switch (method) {
        case CountingMethod::keys:
            task.by_keys();
            return method;
        case CountingMethod::split_planes:
            task.on_bitsets();
            return method;
        case CountingMethod::split_columns:
        case CountingMethod::sorted_columns:
            task.on_lists(method);
            return method;
        default:
            return task.on_strata();
    }
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
    if (kind != BatchKind::scan && concerns_gaps(store, q.x, {}, q.z))
        return gap_scan_members(store, kernel, q, kind == BatchKind::leave_one_out);
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
