// Every pair without conditioning, in tiles: the row sets of some x against the planes of some y at a time.
#include <algorithm>
#include <ranges>

#include "scan.hpp"
#include "with_scorer.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kYsTogether = 512;

// Row sets of several x against the same planes: each plane is loaded once. With few rows that hardly matters, and the
// counts of 16 sets stay in the first cache.
std::size_t sets_together(const Store& store) { return store.planes().words <= 128 ? 16 : 32; }

// Runs of variables in [first, last) with planes, whose row sets are counted together.
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

// How many runs make a piece of work: as many as share memory, so few that all threads stay busy to the end.
std::size_t runs_together(std::size_t n_runs, int n_threads) {
    return std::clamp<std::size_t>(n_runs / (16 * static_cast<std::size_t>(n_threads)), 1, 16);
}

// Some variables with planes, as y of every x before them.
struct Block {
    std::vector<std::int32_t> ys;
    PlaneColumns columns;
    std::vector<std::uint32_t> totals;       // per column: its rows in all
    std::vector<std::size_t> binary, other;  // places in ys
    std::vector<std::uint32_t> zeros;        // per binary one: its rows with y = 0
    std::vector<double> margin;              // per binary one: what its score looks up for its totals
    bool neighbours = true;                  // the binary ones stand side by side, as variables and as columns

    Block(const Store& store, std::span<const std::int32_t> some)
        : ys(some.begin(), some.end()), columns(plane_columns(store, ys)), totals(column_totals(store, columns)) {
        for (std::size_t k = 0; k < ys.size(); ++k) {
            const bool is_binary = column_of(store, ys[k]).card == 2;
            (is_binary ? binary : other).push_back(k);
            if (is_binary) zeros.push_back(totals[columns.column[k]]);
        }
        if (binary.empty()) return;
        const std::size_t first = binary.front(), last = binary.back(), steps = binary.size() - 1;
        neighbours = static_cast<std::size_t>(ys[last] - ys[first]) == steps &&
                     columns.column[last] - columns.column[first] == steps;
    }
    // The first place whose y comes after x.
    std::size_t after(std::int32_t x) const {
        return static_cast<std::size_t>(std::upper_bound(ys.begin(), ys.end(), x) - ys.begin());
    }
    // The first of the binary ones at this place or after it.
    std::size_t binary_from(std::size_t place) const {
        if (other.empty()) return place;
        return static_cast<std::size_t>(std::lower_bound(binary.begin(), binary.end(), place) - binary.begin());
    }
};

// What is the same for all pairs.
template <class Scorer> struct AllPairs {
    const Store& store;
    const Scorer& scorer;
    const Strata& one;  // the only stratum
    std::size_t first_x, last_x;
    double* out;
    std::size_t n_pairs;
    typename Scorer::Prepared binary_pairs;  // for two binary variables
    PairEnding ending;
    std::vector<Block> blocks;
    std::size_t most_columns = 0;  // of a block

    AllPairs(const Store& some, const Scorer& scored, const Strata& stratum, std::size_t first, std::size_t last,
             double* numbers)
        : store(some),
          scorer(scored),
          one(stratum),
          first_x(first),
          last_x(last),
          out(numbers),
          n_pairs(pairs_between(store.n_variables(), first, last)),
          binary_pairs(scorer.prepare(2, 2, one.sizes)),
          ending(scorer.ending()) {
        std::vector<std::int32_t> with_planes;
        for (std::size_t v = first_x + 1; v < store.n_variables(); ++v)
            if (store.has_planes(v)) with_planes.push_back(static_cast<std::int32_t>(v));
        const std::span<const std::int32_t> all(with_planes);
        for (std::size_t k = 0; k < all.size(); k += kYsTogether)
            blocks.emplace_back(store, all.subspan(k, std::min(kYsTogether, all.size() - k)));
        for (Block& block : blocks) {
            look_up_margins(block);
            most_columns = std::max(most_columns, block.columns.width());
        }
    }
    // Where the pairs of x begin, such that the pair {x, y} stands at [y].
    double* row(std::size_t x) const { return out + pairs_between(store.n_variables(), first_x, x) - (x + 1); }

private:
    void look_up_margins(Block& block) const {
        const auto n = static_cast<std::size_t>(store.n_rows());
        if (n < 2) return;
        const RowOfTables tables = scorer.binary_row(binary_pairs, 0, 1, store.n_rows() - 1);
        if (!tables.column) return;
        for (const std::uint32_t zeros : block.zeros)
            block.margin.push_back(tables.column[zeros] + tables.column[n - zeros]);
    }
};

// One thread's work: runs of x against all blocks, and the memory for it.
template <class Scorer> class Worker {
public:
    explicit Worker(const AllPairs<Scorer>& all)
        : all_(all),
          words_(all.store.planes().words),
          sets_(aligned_words(sets_together(all.store) * words_)),
          counts_(aligned_words(sets_together(all.store) * all.most_columns / 2)),
          picked_(std::make_unique_for_overwrite<std::uint32_t[]>(kYsTogether)),
          numbers_(std::make_unique_for_overwrite<double[]>(kMaxFoldedPairs + 3 * kYsTogether)) {}

    void score(std::span<const std::int32_t> run) {
        take(run);
        for (const Block& block : all_.blocks) {
            if (block.ys.back() <= run.front()) continue;
            const std::size_t first = block.columns.column[block.after(run.front())] / kLanes;
            const std::size_t last = block.columns.groups.size();
            const auto [from, to] = wanted_as_they_are(block);
            if (from == to) {
                count_and_score(block, first, last);
                continue;
            }
            count_and_score(block, first, from);
            all_.store.level().number_planes(query(block, from, to));
            count_and_score(block, to, last);
        }
    }

private:
    void take(std::span<const std::int32_t> run) {
        run_ = run;
        first_set_.assign(1, 0);
        xs_.resize(std::max(xs_.size(), run.size()));
        prepared_.clear();
        for (std::size_t i = 0; i < run.size(); ++i) {
            xs_[i] = bitsets_of_states(all_.store, run[i], sets_.get() + first_set_[i] * words_, std::move(xs_[i]));
            first_set_.push_back(first_set_[i] + xs_[i].n_sets());
            prepared_.emplace_back(all_.scorer, xs_[i].card_x, all_.one.sizes);
        }
    }
    std::uint32_t* counts() const { return reinterpret_cast<std::uint32_t*>(counts_.get()); }
    // Whether x and y are all binary and their pairs stand in order.
    bool plain(const Block& block) const {
        return block.other.empty() && block.neighbours && first_set_.back() == run_.size();
    }
    // Where the numbers of each set will stand, from this group of columns on; for plain blocks.
    double* const* soon(const Block& block, std::size_t group) {
        soon_.clear();
        const std::ptrdiff_t shift = static_cast<std::ptrdiff_t>(group * kLanes) -
                                     static_cast<std::ptrdiff_t>(block.columns.column[0]) + block.ys[0];
        for (std::size_t i = 0; i < run_.size(); ++i) soon_.push_back(row(i) + shift);
        return soon_.data();
    }
    PlaneQuery query(const Block& block, std::size_t first, std::size_t last) {
        return {sets_.get(),
                first_set_.back(),
                words_,
                all_.store.planes().bits,
                block.columns.groups.data() + first,
                last - first,
                counts(),
                plain(block) ? soon(block, first) : nullptr,
                (Scorer::outputs - 1) * all_.n_pairs};
    }

    // The groups of columns whose y come after every x, all eight of them: where the counts are what was asked for,
    // they go straight from the registers to their places.
    std::pair<std::size_t, std::size_t> wanted_as_they_are(const Block& block) const {
        constexpr std::size_t kFewWords = 512;  // whose planes stay in the caches; with more, it does not matter
        if (Scorer::pair_form != PairForm::count || words_ > kFewWords) return {};
        if (!all_.store.level().number_planes || !plain(block)) return {};
        const std::size_t after = block.after(run_.back());
        if (after == block.ys.size()) return {};
        const std::size_t from = (block.columns.column[after] + kLanes - 1) / kLanes;
        return {from, std::max(from, (block.columns.column.back() + 1) / kLanes)};
    }

    // The y whose first column is in groups [first, last).
    void count_and_score(const Block& block, std::size_t first, std::size_t last) {
        if (first == last) return;
        skipped_ = first * kLanes;
        width_ = (last - first) * kLanes;
        all_.store.level().count_planes(query(block, first, last));
        const auto place = [&](std::size_t group) {
            const auto& column = block.columns.column;
            return static_cast<std::size_t>(std::ranges::lower_bound(column, group * kLanes) - column.begin());
        };
        std::size_t begin = place(first);
        const std::size_t end = place(last);
        for (std::size_t i = 0; i < run_.size(); ++i) {
            while (begin < end && block.ys[begin] <= run_[i]) ++begin;
            if (begin < end) score(block, i, begin, end);
        }
    }

    // The i-th x with the y at places [begin, end).
    void score(const Block& block, std::size_t i, std::size_t begin, std::size_t end) {
        if (xs_[i].card_x == 2) {
            score_binary(block, i, block.binary_from(begin), block.binary_from(end));
            for (const std::size_t k : block.other)
                if (k >= begin && k < end) score_one(block, i, k);
        } else {
            for (std::size_t k = begin; k < end; ++k) score_one(block, i, k);
        }
    }

    // The binary ones [from, to) with a binary x.
    void score_binary(const Block& block, std::size_t i, std::size_t from, std::size_t to) {
        if (from == to) return;
        const std::int64_t n0 = xs_[i].sizes[0], n1 = xs_[i].sizes[1];
        const RowOfTables tables = all_.scorer.binary_row(all_.binary_pairs, 0, n0, n1);
        if (tables.way != RowOfTables::together || (tables.column && block.margin.empty())) {
            for (std::size_t b = from; b < to; ++b) score_one(block, i, block.binary[b]);
            return;
        }
        double* numbers = numbers_.get() + kMaxFoldedPairs;
        double* out = row(i) + block.ys[block.binary[from]];
        PairRow pairs{Scorer::pair_form,
                      all_.ending,
                      counted(block, i, block.binary[from]),
                      block.zeros.data() + from,
                      to - from,
                      static_cast<std::uint32_t>(n0),
                      static_cast<std::uint32_t>(n1),
                      tables.cell,
                      tables.column ? block.margin.data() + from : nullptr,
                      tables.base,
                      numbers_.get(),
                      numbers,
                      out,
                      out + (Scorer::outputs - 1) * all_.n_pairs};
        if (block.neighbours)
            all_.store.level().score_pairs(pairs);
        else
            score_scattered(block, i, from, pairs, numbers + kYsTogether);
    }
    // Block that do not stand side by side: their counts are collected, and their numbers spread out again.
    void score_scattered(const Block& block, std::size_t i, std::size_t from, PairRow& pairs, double* numbers) {
        for (std::size_t k = 0; k < pairs.n_ys; ++k) picked_[k] = *counted(block, i, block.binary[from + k]);
        pairs.counts = picked_.get();
        pairs.out = numbers;
        pairs.dof = numbers + kYsTogether;
        all_.store.level().score_pairs(pairs);
        for (std::size_t k = 0; k < pairs.n_ys; ++k) {
            double* out = row(i) + block.ys[block.binary[from + k]];
            out[0] = pairs.out[k];
            if constexpr (Scorer::outputs == 2) out[all_.n_pairs] = pairs.dof[k];
        }
    }
    // Any other pair.
    void score_one(const Block& block, std::size_t i, std::size_t k) {
        const std::uint32_t card = column_of(all_.store, block.ys[k]).card;
        typename Scorer::Sum sum;
        add_strata(all_.scorer, prepared_[i][card], xs_[i], 0, 1,
                   {counted(block, i, k), width_, block.totals.data() + block.columns.column[k], card}, sum);
        write(all_.scorer, sum, xs_[i].card_x, card, row(i) + block.ys[k], all_.n_pairs);
    }
    double* row(std::size_t i) const { return all_.row(static_cast<std::size_t>(run_[i])); }
    // Where the counts of the i-th x with this y begin.
    const std::uint32_t* counted(const Block& block, std::size_t i, std::size_t k) const {
        return counts() + first_set_[i] * width_ + (block.columns.column[k] - skipped_);
    }

    const AllPairs<Scorer>& all_;
    std::span<const std::int32_t> run_;
    std::size_t words_, width_ = 0, skipped_ = 0;  // columns counted, and before them those of y up to the first x
    AlignedWords sets_, counts_;
    std::vector<SetSizes> xs_;
    std::vector<std::size_t> first_set_{0};
    std::vector<double*> soon_;
    std::vector<PreparedByCard<Scorer>> prepared_;
    std::unique_ptr<std::uint32_t[]> picked_;
    std::unique_ptr<double[]> numbers_;
};

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

}  // namespace

std::size_t pairs_between(std::size_t n, std::size_t first_x, std::size_t last_x) {
    return last_x <= first_x ? 0 : (last_x - first_x) * (2 * n - first_x - last_x - 1) / 2;
}

void reduce_pairs(const Store& store, const KernelSpec& kernel, std::size_t first_x, std::size_t last_x, int n_threads,
                  double* out) {
    const Strata one = find_strata(store, {});
    with_scorer(kernel, facts_of(store, {}, one.count), store.log_tables(), [&](const auto& scorer) {
        const AllPairs all(store, scorer, one, first_x, last_x, out);
        const auto runs = plane_runs(store, first_x, last_x);
        const double rows = static_cast<double>(store.n_records() / 64 + 8);
        const int threads = threads_for(static_cast<double>(all.n_pairs) * rows, n_threads);
        const std::size_t together = runs_together(runs.size(), threads);
        parallel_for((runs.size() + together - 1) / together, threads, [&](std::size_t piece) {
            Worker worker(all);
            for (std::size_t k = piece * together; k < std::min((piece + 1) * together, runs.size()); ++k)
                worker.score(runs[k]);
        });
        const auto has_planes = [&](std::size_t v) { return store.has_planes(v); };
        const auto variables = std::views::iota(std::size_t{0}, store.n_variables());
        if (std::ranges::all_of(variables, has_planes)) return;
        parallel_for(last_x - first_x, threads, [&](std::size_t k) { pairs_by_rows(all, first_x + k); });
    });
}

}  // namespace mnlearn
