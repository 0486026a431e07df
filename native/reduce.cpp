#include "reduce.hpp"

#include <numeric>
#include <stdexcept>

#include "scan.hpp"
#include "with_scorer.hpp"

namespace mnlearn {
namespace {

// ---- all pairs --------------------------------------------------------------------------------------------

constexpr std::size_t kSetsTogether = 32;  // row sets of several x against the same planes: each plane is loaded once

std::size_t pair_index(std::size_t n, std::size_t x, std::size_t y) { return x * n - x * (x + 1) / 2 + (y - x - 1); }

// Runs of variables with planes whose row sets are counted together.
std::vector<std::vector<std::int32_t>> plane_runs(const Store& store) {
    std::vector<std::vector<std::int32_t>> runs;
    std::size_t n_sets = kSetsTogether;
    for (std::size_t v = 0; v < store.n_variables(); ++v) {
        if (!store.has_planes(v)) continue;
        const std::size_t more = store.column(v).card - 1;
        if (n_sets + more > kSetsTogether) {
            runs.emplace_back();
            n_sets = 0;
        }
        runs.back().push_back(static_cast<std::int32_t>(v));
        n_sets += more;
    }
    return runs;
}

struct AllPairs {
    const Store& store;
    const Strata& one;
    std::size_t n_pairs;
    double* out;
    // Where the pairs of x begin, such that the pair {x, y} stands at [y].
    double* row(std::size_t x) const { return out + pair_index(store.n_variables(), x, x + 1) - (x + 1); }
};

// The candidates of a block as plain arrays: the loop over pairs has a few nanoseconds for each.
struct BlockYs {
    std::span<const std::int32_t> ys;
    PlaneColumns columns;
    std::vector<std::uint32_t> cards;
    std::vector<const std::uint32_t*> totals;
    bool all_binary;
};

BlockYs block_ys(const Store& store, std::span<const std::int32_t> ys) {
    BlockYs block{ys, plane_columns(store, ys), {}, {}, true};
    for (const std::int32_t y : ys) {
        block.cards.push_back(store.column(static_cast<std::size_t>(y)).card);
        block.totals.push_back(store.planes().totals.data() + store.first_plane(y));
        block.all_binary &= block.cards.back() == 2;
    }
    return block;
}

// Binary x, binary candidates: what depends on x alone leaves the loop.
template <class Scorer>
void binary_pairs(const Scorer& scorer, const typename Scorer::Prepared& prepared, const std::int64_t* sizes,
                  const BlockYs& block, std::size_t later, const std::uint32_t* counted, double* __restrict row,
                  std::size_t n_pairs) {
    const std::int64_t zeros = sizes[0], ones = sizes[1];
    for (std::size_t k = later; k < block.ys.size(); ++k) {
        const std::int64_t c00 = counted[block.columns.column[k]], c10 = *block.totals[k] - c00;
        typename Scorer::Sum sum;
        scorer.add(sum, prepared, 0, BinaryStratum(c00, zeros - c00, c10, ones - c10));
        write(scorer, sum, 2, 2, row + block.ys[k], n_pairs);
    }
}

// One x against the candidates after it; `counted` is the first row of its counts.
template <class Scorer>
void pairs_of_x(const Scorer& scorer, const AllPairs& all, std::int32_t x, const SetSizes& sizes, const BlockYs& block,
                const std::uint32_t* counted) {
    PreparedByCard<Scorer> prepared(scorer, sizes.card_x, all.one.sizes);
    double* const row = all.row(static_cast<std::size_t>(x));
    const std::size_t width = block.columns.width();
    const auto later =
        static_cast<std::size_t>(std::upper_bound(block.ys.begin(), block.ys.end(), x) - block.ys.begin());
    if (sizes.card_x == 2 && block.all_binary)
        return binary_pairs(scorer, prepared[2], sizes.sizes.data(), block, later, counted, row, all.n_pairs);
    for (std::size_t k = later; k < block.ys.size(); ++k) {
        typename Scorer::Sum sum;
        add_strata(scorer, prepared[block.cards[k]], sizes, 0, 1,
                   {counted + block.columns.column[k], width, block.totals[k], block.cards[k]}, sum);
        write(scorer, sum, sizes.card_x, block.cards[k], row + block.ys[k], all.n_pairs);
    }
}

template <class Scorer>
void pairs_of_run(const AllPairs& all, const Scorer& scorer, std::span<const std::int32_t> run,
                  std::span<const std::int32_t> with_planes) {
    const Store& store = all.store;
    const std::size_t words = store.planes().words;
    const AlignedWords sets = aligned_words(kSetsTogether * words);
    std::vector<SetSizes> xs;
    std::vector<std::size_t> first_set{0};
    for (const std::int32_t x : run) {
        xs.push_back(bitsets_of_states(store, x, sets.get() + first_set.back() * words));
        first_set.push_back(first_set.back() + xs.back().n_sets());
    }
    const std::span<const std::int32_t> ys(std::upper_bound(with_planes.begin(), with_planes.end(), run.front()),
                                           with_planes.end());
    std::vector<std::uint32_t> counts;
    for (const auto& [begin, end] : split_blocks(store, ys)) {
        const BlockYs block = block_ys(store, ys.subspan(begin, end - begin));
        count_by_planes(store, sets.get(), first_set.back(), block.columns, counts);
        for (std::size_t i = 0; i < run.size(); ++i)
            pairs_of_x(scorer, all, run[i], xs[i], block, counts.data() + first_set[i] * block.columns.width());
    }
}

template <class Scorer> void pairs_by_rows(const AllPairs& all, const Scorer& scorer, std::size_t x) {
    const Store& store = all.store;
    std::vector<std::size_t> ys;
    std::vector<Column> columns;
    for (std::size_t y = x + 1; y < store.n_variables(); ++y) {
        if (store.has_planes(x) && store.has_planes(y)) continue;
        ys.push_back(y);
        columns.push_back(store.column(y));
    }
    const RowScan rows(store, store.column(x), all.one, columns);
    PreparedByCard<Scorer> prepared(scorer, store.column(x).card, all.one.sizes);
    for (std::size_t k = 0; k < ys.size(); ++k)
        write(scorer, rows.score(scorer, prepared[columns[k].card], columns[k]), store.column(x).card, columns[k].card,
              all.row(x) + ys[k], all.n_pairs);
}

}  // namespace

void reduce(const Store& store, const KernelSpec& kernel, std::int32_t x, std::span<const std::int32_t> ys,
            std::span<const std::int32_t> z, int n_threads, double* out) {
    if (ys.empty()) return;
    if (planes_suffice(store, x, ys, z)) {
        const PlaneSets ready = sets_from_planes(store, x, z);
        with_scorer(kernel, facts_of(store, z, ready.strata.count), store.log_tables(), [&](const auto& scorer) {
            const Query query{store, x, ys, ready.strata, n_threads, out};
            Scan(query, scorer).run_on(ready);
        });
        return;
    }
    const Strata strata = find_strata(store, z);
    with_scorer(kernel, facts_of(store, z, strata.count), store.log_tables(), [&](const auto& scorer) {
        const Query query{store, x, ys, strata, n_threads, out};
        Scan(query, scorer).run();
    });
}

void reduce_all(const Store& store, const KernelSpec& kernel, int n_threads, double* out) {
    const std::size_t n = store.n_variables();
    const Strata one = find_strata(store, {});
    std::vector<std::int32_t> with_planes;
    for (std::size_t v = 0; v < n; ++v)
        if (store.has_planes(v)) with_planes.push_back(static_cast<std::int32_t>(v));
    const AllPairs all{store, one, n * (n - 1) / 2, out};
    with_scorer(kernel, facts_of(store, {}, one.count), store.log_tables(), [&](const auto& scorer) {
        const auto runs = plane_runs(store);
        const int threads =
            threads_for(static_cast<double>(all.n_pairs) * static_cast<double>(store.n_records() / 64 + 8), n_threads);
        parallel_for(runs.size(), threads, [&](std::size_t k) { pairs_of_run(all, scorer, runs[k], with_planes); });
        if (with_planes.size() < n) parallel_for(n, threads, [&](std::size_t x) { pairs_by_rows(all, scorer, x); });
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
