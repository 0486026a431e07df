// Every pair without conditioning, in tiles: the row sets of some x against the planes of 512 states at a time.
#include <algorithm>
#include <numeric>

#include "scan.hpp"
#include "with_scorer.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kSetsTogether = 32;  // row sets of several x against the same planes: each plane is loaded once

// Runs of variables in [first, last) with planes, whose row sets are counted together.
std::vector<std::vector<std::int32_t>> plane_runs(const Store& store, std::size_t first, std::size_t last) {
    std::vector<std::vector<std::int32_t>> runs;
    std::size_t n_sets = kSetsTogether;
    for (std::size_t v = first; v < last; ++v) {
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
    const Strata& one;  // the only stratum
    std::size_t first_x, last_x;
    double* out;

    std::size_t n_pairs() const { return pairs_between(store.n_variables(), first_x, last_x); }
    // Where the pairs of x begin, such that the pair {x, y} stands at [y].
    double* row(std::size_t x) const { return out + pairs_between(store.n_variables(), first_x, x) - (x + 1); }
};

// The candidates of one block of 512 planes.
template <class Scorer> struct Candidates {
    std::span<const std::int32_t> ys;
    PlaneColumns columns;
    std::vector<std::uint32_t> totals;       // per column: its rows in all
    std::vector<std::size_t> binary, other;  // places in ys
    BinaryBatch<Scorer> batch;               // of the binary ones

    Candidates(const Scorer& scorer, const Store& store, std::span<const std::int32_t> candidates)
        : ys(candidates),
          columns(plane_columns(store, ys)),
          totals(column_totals(store, columns)),
          batch(scorer, store.level(), split_off_binary(store)) {}

    std::vector<std::uint32_t> split_off_binary(const Store& store) {
        std::vector<std::uint32_t> places;
        for (std::size_t k = 0; k < ys.size(); ++k) {
            const bool is_binary = column_of(store, ys[k]).card == 2;
            (is_binary ? binary : other).push_back(k);
            if (is_binary) places.push_back(static_cast<std::uint32_t>(columns.column[k]));
        }
        return places;
    }
};

// The pairs of one x with the candidates after it; `counted` is the first row of its counts.
template <class Scorer> class PairsOfX {
public:
    PairsOfX(const AllPairs& all, const Scorer& scorer, std::int32_t x, const SetSizes& sizes)
        : all_(all),
          scorer_(scorer),
          sizes_(sizes),
          x_(x),
          row_(all.row(static_cast<std::size_t>(x))),
          prepared_(scorer, sizes.card_x, all.one.sizes) {}

    void score(Candidates<Scorer>& block, const std::uint32_t* counted, std::vector<std::uint32_t>& rest) {
        const auto later =
            static_cast<std::size_t>(std::upper_bound(block.ys.begin(), block.ys.end(), x_) - block.ys.begin());
        if (sizes_.card_x == 2) {
            score_binary(block, later, counted, rest);
            for (const std::size_t k : block.other)
                if (k >= later) score_one(block, k, counted);
        } else {
            for (std::size_t k = later; k < block.ys.size(); ++k) score_one(block, k, counted);
        }
    }

private:
    void score_binary(Candidates<Scorer>& block, std::size_t later, const std::uint32_t* counted,
                      std::vector<std::uint32_t>& rest) {
        const auto from = static_cast<std::size_t>(std::lower_bound(block.binary.begin(), block.binary.end(), later) -
                                                   block.binary.begin());
        if (from == block.binary.size()) return;
        rest.resize(block.totals.size());
        for (std::size_t c = 0; c < rest.size(); ++c) rest[c] = block.totals[c] - counted[c];
        block.batch.restart(from);
        block.batch.add(prepared_[2], 0, counted, rest.data(), sizes_.sizes[0], sizes_.sizes[1]);
        block.batch.finish();
        for (std::size_t i = from; i < block.binary.size(); ++i)
            write(scorer_, block.batch.sum(i), 2, 2, row_ + block.ys[block.binary[i]], all_.n_pairs());
    }
    void score_one(const Candidates<Scorer>& block, std::size_t k, const std::uint32_t* counted) {
        const std::uint32_t card = column_of(all_.store, block.ys[k]).card;
        const std::size_t column = block.columns.column[k];
        typename Scorer::Sum sum;
        add_strata(scorer_, prepared_[card], sizes_, 0, 1,
                   {counted + column, block.columns.width(), block.totals.data() + column, card}, sum);
        write(scorer_, sum, sizes_.card_x, card, row_ + block.ys[k], all_.n_pairs());
    }

    const AllPairs& all_;
    const Scorer& scorer_;
    const SetSizes& sizes_;
    std::int32_t x_;
    double* row_;
    PreparedByCard<Scorer> prepared_;
};

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
    std::vector<std::uint32_t> counts, rest;
    for (const auto& [begin, end] : split_blocks(store, ys)) {
        Candidates<Scorer> block(scorer, store, ys.subspan(begin, end - begin));
        count_by_planes(store, sets.get(), first_set.back(), block.columns, counts);
        for (std::size_t i = 0; i < run.size(); ++i)
            PairsOfX<Scorer>(all, scorer, run[i], xs[i])
                .score(block, counts.data() + first_set[i] * block.columns.width(), rest);
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
              all.row(x) + ys[k], all.n_pairs());
}

}  // namespace

std::size_t pairs_between(std::size_t n, std::size_t first_x, std::size_t last_x) {
    return last_x <= first_x ? 0 : (last_x - first_x) * (2 * n - first_x - last_x - 1) / 2;
}

void reduce_pairs(const Store& store, const KernelSpec& kernel, std::size_t first_x, std::size_t last_x, int n_threads,
                  double* out) {
    const std::size_t n = store.n_variables();
    const Strata one = find_strata(store, {});
    std::vector<std::int32_t> with_planes;
    for (std::size_t v = 0; v < n; ++v)
        if (store.has_planes(v)) with_planes.push_back(static_cast<std::int32_t>(v));
    const AllPairs all{store, one, first_x, last_x, out};
    with_scorer(kernel, facts_of(store, {}, one.count), store.log_tables(), [&](const auto& scorer) {
        const auto runs = plane_runs(store, first_x, last_x);
        const double rows = static_cast<double>(store.n_records() / 64 + 8);
        const int threads = threads_for(static_cast<double>(all.n_pairs()) * rows, n_threads);
        parallel_for(runs.size(), threads, [&](std::size_t k) { pairs_of_run(all, scorer, runs[k], with_planes); });
        if (with_planes.size() == n) return;
        parallel_for(last_x - first_x, threads, [&](std::size_t k) { pairs_by_rows(all, scorer, first_x + k); });
    });
}

}  // namespace mnlearn
