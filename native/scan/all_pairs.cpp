// Every pair without conditioning, in tiles: the row sets of some x against the planes of some y at a time.
#include <algorithm>
#include <array>

#include "scan/all_pairs.hpp"
#include "scan/gaps.hpp"
#include "scan/scorer_dispatch.hpp"

namespace mnlearn {

namespace {

// How many runs make a piece of work: as many as share memory, so few that all threads stay busy to the end.
std::size_t runs_together(std::size_t n_runs, int n_threads) {
    if (n_threads <= 1) return std::max<std::size_t>(n_runs, 1);
    return std::clamp<std::size_t>(n_runs / (16 * static_cast<std::size_t>(n_threads)), 1, 16);
}

template <class Scorer> void pairs_by_planes(const AllPairs<Scorer>& all, int n_threads) {
    const auto runs = plane_runs(all.store, all.first_x, all.last_x);
    const std::size_t together = runs_together(runs.size(), n_threads);
    parallel_for((runs.size() + together - 1) / together, n_threads, [&](std::size_t piece) {
        PairWorker worker(all);
        for (std::size_t k = piece * together; k < std::min((piece + 1) * together, runs.size()); ++k)
            worker.score(runs[k]);
    });
}

// Whether only counts are needed, and a kernel writes them as numbers; with many rows it gains nothing.
bool numbers_at_once(const Store& store, const KernelSpec& kernel) {
    constexpr std::size_t kFewWords = 512;  // whose planes stay in the caches
    return kernel.name == KernelName::first_cell && store.plain() && store.level().number_pairs &&
           store.planes().words <= kFewWords;
}

// Runs of x, straight from the planes to the numbers: nothing is prepared.
void number_pairs(const Store& store, std::size_t first_x, std::size_t last_x, int n_threads, double* out) {
    const std::size_t n = store.n_variables(), together = sets_together(store);
    parallel_for((last_x - first_x + together - 1) / together, n_threads, [&](std::size_t piece) {
        const std::size_t first = first_x + piece * together, n_xs = std::min(together, last_x - first);
        std::array<double*, kMostSetsTogether> rows{};
        for (std::size_t i = 0; i < n_xs; ++i) rows[i] = pair_row(n, first_x, first + i, out);
        store.level().number_pairs({store.planes().bits, store.planes().words, first, n_xs, n, rows.data()});
    });
}

// Those of x with a variable that has no planes, or of an x that has none.
template <class Scorer> void pairs_by_rows(const AllPairs<Scorer>& all, std::size_t x) {
    const Store& store = all.store;
    std::vector<std::size_t> ys;
    std::vector<Column> columns;
    for (std::size_t y = x + 1; y < store.n_variables(); ++y) {
        if (store.has_planes(x) && store.has_planes(y)) continue;
        ys.push_back(y);
        columns.push_back(store.column(y));
    }
    const RowScan rows(store, store.column(x), all.one, columns);
    PreparedByCard<Scorer> prepared(all.scorer, store.column(x).card, all.one.sizes);
    for (std::size_t k = 0; k < ys.size(); ++k)
        write(all.scorer, rows.score(all.scorer, prepared[columns[k].card], columns[k]), store.column(x).card,
              columns[k].card, all.row(x) + ys[k], all.n_pairs);
}

bool all_have_planes(const Store& store) {
    for (std::size_t v = 0; v < store.n_variables(); ++v)
        if (!store.has_planes(v)) return false;
    return true;
}

}  // namespace

std::size_t pairs_between(std::size_t n, std::size_t first_x, std::size_t last_x) {
    return last_x <= first_x ? 0 : (last_x - first_x) * (2 * n - first_x - last_x - 1) / 2;
}

double* pair_row(std::size_t n, std::size_t first_x, std::size_t x, double* out) {
    return out + pairs_between(n, first_x, x) - (x + 1);
}

void scan_pairs(const Store& store, const KernelSpec& kernel, std::size_t first_x, std::size_t last_x, int n_threads,
                double* out, const std::uint32_t* counted) {
    const double rows = static_cast<double>(store.n_records() / 64 + 8);
    const auto n_pairs = static_cast<double>(pairs_between(store.n_variables(), first_x, last_x));
    const int threads = threads_for(n_pairs * rows, n_threads);
    if (store.has_gaps()) return gap_scan_pairs(store, kernel, first_x, last_x, threads, out);
    if (!counted && numbers_at_once(store, kernel)) return number_pairs(store, first_x, last_x, threads, out);
    const Strata one = find_strata(store, {});
    with_scorer(kernel, facts_of(store, {}, one.count), store.log_tables(), [&](const auto& scorer) {
        const AllPairs all(store, scorer, one, first_x, last_x, out, counted);
        pairs_by_planes(all, threads);
        if (all_have_planes(store)) return;
        parallel_for(last_x - first_x, threads, [&](std::size_t k) { pairs_by_rows(all, first_x + k); });
    });
}

std::vector<std::vector<std::int32_t>> plane_runs(const Store& store, std::size_t first, std::size_t last) {
    std::vector<std::vector<std::int32_t>> runs;
    const std::size_t most = sets_together(store);
    std::size_t n_sets = most;
    for (std::size_t v = first; v < last; ++v) {
        if (!store.has_planes(v)) continue;
        const std::size_t more = store.column(v).card - 1;
        if (n_sets + more > most) {
            runs.emplace_back();
            n_sets = 0;
        }
        runs.back().push_back(static_cast<std::int32_t>(v));
        n_sets += more;
    }
    return runs;
}

PairBlock::PairBlock(const Store& store, std::span<const std::int32_t> some)
    : ys(some.begin(), some.end()), columns(plane_columns(store, ys)), totals(column_totals(store, columns)) {
    for (std::size_t k = 0; k < ys.size(); ++k) {
        const bool is_binary = store.column(static_cast<std::size_t>(ys[k])).card == 2;
        (is_binary ? binary : other).push_back(k);
        if (is_binary) zeros.push_back(totals[columns.column[k]]);
    }
    if (binary.empty()) return;
    const std::size_t first = binary.front(), last = binary.back(), steps = binary.size() - 1;
    neighbours = static_cast<std::size_t>(ys[last] - ys[first]) == steps &&
                 columns.column[last] - columns.column[first] == steps;
}

std::size_t PairBlock::after(std::int32_t x) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ys, x) - ys.begin());
}

std::size_t PairBlock::binary_from(std::size_t place) const {
    if (other.empty()) return place;
    return static_cast<std::size_t>(std::ranges::lower_bound(binary, place) - binary.begin());
}

std::size_t PairBlock::from_group(std::size_t group) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(columns.column, group * kLanes) - columns.column.begin());
}

std::vector<PairBlock> pair_blocks(const Store& store, std::size_t first) {
    std::vector<std::int32_t> with_planes;
    for (std::size_t v = first; v < store.n_variables(); ++v)
        if (store.has_planes(v)) with_planes.push_back(static_cast<std::int32_t>(v));
    std::vector<PairBlock> blocks;
    const std::span<const std::int32_t> all(with_planes);
    for (std::size_t k = 0; k < all.size(); k += kYsTogether)
        blocks.emplace_back(store, all.subspan(k, std::min(kYsTogether, all.size() - k)));
    return blocks;
}

}  // namespace mnlearn
