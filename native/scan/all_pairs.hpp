// All pairs in pieces: runs of x whose row sets are counted together, against blocks of y whose planes stand together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "scan/count_bitsets.hpp"
#include "scan/scan_runner.hpp"

namespace mnlearn {

// Most y of a block, and most row sets of a run: each plane is loaded once for all sets of a run. With few rows that
// hardly matters, and the counts of 16 sets stay in the near caches.
inline constexpr std::size_t kYsTogether = 1024;
inline constexpr std::size_t kMostSetsTogether = 32;
inline std::size_t sets_together(const Store& store) { return store.planes().words <= 128 ? 16 : kMostSetsTogether; }

// Where the pairs of x begin among those of [first_x, ...), such that the pair {x, y} stands at [y].
double* pair_row(std::size_t n, std::size_t first_x, std::size_t x, double* out);

// Runs of variables in [first, last) with planes, of so many row sets each or fewer.
std::vector<std::vector<std::int32_t>> plane_runs(const Store& store, std::size_t first, std::size_t last);

// Some variables with planes, as y of every x before them.
struct PairBlock {
    std::vector<std::int32_t> ys;
    PlaneColumns columns;
    std::vector<std::uint32_t> totals;       // per column: its rows in all
    std::vector<std::size_t> binary, other;  // places in ys
    std::vector<std::uint32_t> zeros;        // per binary one: its rows with y = 0
    std::vector<double> margin;              // per binary one: what its score looks up for its totals
    bool neighbours = true;                  // the binary ones stand side by side, as variables and as columns

    PairBlock(const Store& store, std::span<const std::int32_t> some);

    std::size_t after(std::int32_t x) const;           // the first place whose y comes after x
    std::size_t binary_from(std::size_t place) const;  // the first of the binary ones at this place or after it
    std::size_t from_group(std::size_t group) const;   // the first place whose columns begin in this group or later
};

// Those of all variables from `first` on that have planes.
std::vector<PairBlock> pair_blocks(const Store& store, std::size_t first);

// Counting and scoring all pairs: what is the same for all of them, and one thread's work.

// What is the same for all pairs x < y with x in [first_x, last_x).
template <class Scorer> struct AllPairs {
    const Store& store;
    const Scorer& scorer;
    const Strata& one;  // the only stratum
    std::size_t first_x, last_x;
    double* out;
    const std::uint32_t* counted;  // per pair: the rows with both states 0, where they are known; else null
    std::size_t n_pairs;
    typename Scorer::Prepared binary_pairs;  // for two binary variables
    PairEnding ending;
    std::vector<PairBlock> blocks;
    std::size_t most_columns = 0;  // of a block
    mutable BufferPool memory;     // what the workers of one piece leave to those of the next

    AllPairs(const Store& some, const Scorer& scored, const Strata& stratum, std::size_t first, std::size_t last,
             double* numbers, const std::uint32_t* known)
        : store(some),
          scorer(scored),
          one(stratum),
          first_x(first),
          last_x(last),
          out(numbers),
          counted(known),
          n_pairs(pairs_between(store.n_variables(), first, last)),
          binary_pairs(scorer.prepare(2, 2, one.sizes)),
          ending(scorer.ending()) {
        memory.set_bound(std::numeric_limits<std::size_t>::max());
        blocks = pair_blocks(store, first + 1);
        for (PairBlock& block : blocks) {
            look_up_margins(block);
            most_columns = std::max(most_columns, block.columns.width());
        }
    }
    // Where the pairs of x begin, such that the pair {x, y} stands at [y].
    double* row(std::size_t x) const { return pair_row(store.n_variables(), first_x, x, out); }

private:
    void look_up_margins(PairBlock& block) const {
        const auto n = static_cast<std::size_t>(store.n_rows());
        if (n < 2) return;
        const RowOfTables tables = scorer.binary_row(binary_pairs, 0, 1, store.n_rows() - 1);
        if (!tables.column) return;
        for (const std::uint32_t zeros : block.zeros)
            block.margin.push_back(tables.column[zeros] + tables.column[n - zeros]);
    }
};

// One thread's work: runs of x against all blocks, and the memory for it.
template <class Scorer> class PairWorker {
public:
    explicit PairWorker(const AllPairs<Scorer>& all)
        : all_(all),
          words_(all.store.planes().words),
          sets_(all.memory, sets_together(all.store) * words_),
          counts_(all.memory, sets_together(all.store) * all.most_columns),
          picked_(all.memory, kYsTogether),
          numbers_(all.memory, kMaxFoldedPairs + 3 * kYsTogether) {
        prepared_.reserve(kMaxPlaneCard + 1);
        for (std::uint32_t card = 0; card <= kMaxPlaneCard; ++card)
            prepared_.emplace_back(all.scorer, card, all.one.sizes);
    }

    void score(std::span<const std::int32_t> run) {
        take(run);
        for (const PairBlock& block : all_.blocks)
            if (run.front() < block.ys.back()) count_and_score(block);
    }

private:
    void take(std::span<const std::int32_t> run) {
        run_ = run;
        first_set_.assign(1, 0);
        xs_.resize(std::max(xs_.size(), run.size()));
        for (std::size_t i = 0; i < run.size(); ++i) {
            xs_[i] = bitsets_of_states(all_.store, run[i], sets_.get() + first_set_[i] * words_, std::move(xs_[i]));
            first_set_.push_back(first_set_[i] + xs_[i].n_sets());
        }
    }

    // The y of a block that come after the first x.
    void count_and_score(const PairBlock& block) {
        const std::size_t first = block.columns.column[block.after(run_.front())] / kLanes;
        skipped_ = first * kLanes;
        width_ = block.columns.width() - skipped_;
        count(block, first);
        std::size_t begin = block.from_group(first);
        for (std::size_t i = 0; i < run_.size(); ++i) {
            while (begin < block.ys.size() && block.ys[begin] <= run_[i]) ++begin;
            if (begin < block.ys.size()) score(block, i, begin);
        }
    }
    void count(const PairBlock& block, std::size_t first) {
        if (all_.counted) return copy_counts(block, first);
        all_.store.level().count_planes({sets_.get(), first_set_.back(), words_, all_.store.planes().bits,
                                         block.columns.groups.data() + first, block.columns.groups.size() - first,
                                         counts_.get(), soon(block), (Scorer::outputs - 1) * all_.n_pairs});
    }
    // Counts that are known before; all variables are binary.
    void copy_counts(const PairBlock& block, std::size_t first) {
        const std::size_t n = all_.store.n_variables();
        for (std::size_t i = 0; i < run_.size(); ++i) {
            const auto x = static_cast<std::size_t>(run_[i]);
            const std::size_t row = pairs_between(n, all_.first_x, x);
            for (std::size_t k = std::max(block.from_group(first), block.after(run_[i])); k < block.ys.size(); ++k)
                counts_[first_set_[i] * width_ + block.columns.column[k] - skipped_] =
                    all_.counted[row + static_cast<std::size_t>(block.ys[k]) - (x + 1)];
        }
    }
    // Where the numbers of each set will stand, if x and y are all binary and their pairs stand in order.
    double* const* soon(const PairBlock& block) {
        if (!block.other.empty() || !block.neighbours || first_set_.back() != run_.size()) return nullptr;
        rows_.clear();
        const std::ptrdiff_t shift =
            static_cast<std::ptrdiff_t>(skipped_) - static_cast<std::ptrdiff_t>(block.columns.column[0]) + block.ys[0];
        for (std::size_t i = 0; i < run_.size(); ++i) rows_.push_back(row(i) + shift);
        return rows_.data();
    }

    // The i-th x with the y from this place on.
    void score(const PairBlock& block, std::size_t i, std::size_t begin) {
        if (xs_[i].card_x == 2) {
            score_binary(block, i, block.binary_from(begin));
            for (const std::size_t k : block.other)
                if (k >= begin) score_one(block, i, k);
        } else {
            for (std::size_t k = begin; k < block.ys.size(); ++k) score_one(block, i, k);
        }
    }

    // The binary ones from this one on with a binary x.
    void score_binary(const PairBlock& block, std::size_t i, std::size_t from) {
        const std::size_t to = block.binary.size();
        if (from == to) return;
        const std::int64_t n0 = xs_[i].sizes[0], n1 = xs_[i].sizes[1];
        const RowOfTables tables = all_.scorer.binary_row(all_.binary_pairs, 0, n0, n1);
        if (tables.method != RowOfTables::together || (tables.column && block.margin.empty())) {
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
    // Those that do not stand side by side: their counts are collected, and their numbers spread out again.
    void score_scattered(const PairBlock& block, std::size_t i, std::size_t from, PairRow& pairs, double* numbers) {
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
    void score_one(const PairBlock& block, std::size_t i, std::size_t k) {
        const std::uint32_t card = column_of(all_.store, block.ys[k]).card;
        typename Scorer::Sum sum;
        add_strata(all_.scorer, prepared_[xs_[i].card_x][card], xs_[i], 0, 1,
                   {counted(block, i, k), width_, block.totals.data() + block.columns.column[k], card}, sum);
        write(all_.scorer, sum, xs_[i].card_x, card, row(i) + block.ys[k], all_.n_pairs);
    }
    double* row(std::size_t i) const { return all_.row(static_cast<std::size_t>(run_[i])); }
    // Where the counts of the i-th x with this y begin.
    const std::uint32_t* counted(const PairBlock& block, std::size_t i, std::size_t k) const {
        return counts_.get() + first_set_[i] * width_ + (block.columns.column[k] - skipped_);
    }

    const AllPairs<Scorer>& all_;
    std::span<const std::int32_t> run_;
    std::size_t words_, width_ = 0, skipped_ = 0;  // columns counted, and before them those of y up to the first x
    Buffer<std::uint64_t> sets_;
    Buffer<std::uint32_t> counts_, picked_;
    Buffer<double> numbers_;
    std::vector<SetSizes> xs_;
    std::vector<std::size_t> first_set_{0};
    std::vector<double*> rows_;
    std::vector<PreparedByCard<Scorer>> prepared_;  // by the states of x
};

}  // namespace mnlearn
