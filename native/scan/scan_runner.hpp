// How a scan is carried out: which way of counting, over which threads, scored while the counts are in cache.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "portability.hpp"
#include "scan/binary_batch.hpp"
#include "scan/candidates.hpp"
#include "scan/count_bitsets.hpp"
#include "scan/scan.hpp"
#include "scan/scores.hpp"
#include "scan/stratum_table.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

// What depends on the cardinality of y, prepared once for each that occurs.
template <class Scorer> class PreparedByCard {
public:
    PreparedByCard(const Scorer& scorer, std::uint32_t rx, std::span<const std::int64_t> sizes)
        : scorer_(&scorer), rx_(rx), sizes_(sizes) {}
    MNLEARN_INLINE const typename Scorer::Prepared& operator[](std::uint32_t ry) {
        if (ry != last_card_) find(ry);
        return *last_;
    }

private:
    MNLEARN_NOINLINE void find(std::uint32_t ry) {
        auto found = by_card_.find(ry);
        if (found == by_card_.end()) found = by_card_.emplace(ry, scorer_->prepare(rx_, ry, sizes_)).first;
        last_card_ = ry;
        last_ = &found->second;
    }

    const Scorer* scorer_;
    std::uint32_t rx_, last_card_ = 0;
    std::span<const std::int64_t> sizes_;
    std::map<std::uint32_t, typename Scorer::Prepared> by_card_;
    const typename Scorer::Prepared* last_ = nullptr;
};

// out[k * stride]: output k of one y.
template <class Scorer>
MNLEARN_INLINE inline void write(const Scorer& scorer, const typename Scorer::Sum& sum, std::uint32_t rx,
                                 std::uint32_t ry, double* out, std::size_t stride) {
    double values[Scorer::outputs];
    scorer.finish(sum, rx, ry, values);
    for (int k = 0; k < Scorer::outputs; ++k) out[static_cast<std::size_t>(k) * stride] = values[k];
}

struct Query {
    const Store& store;
    std::int32_t x;
    std::span<const std::int32_t> ys;
    const Strata& strata;
    int n_threads;
    double* out;

    std::uint32_t card_x() const { return column_of(store, x).card; }
    std::uint32_t card(std::size_t j) const { return column_of(store, ys[j]).card; }
};

// Which way each y is counted. The costs, in nanoseconds, are those of scan/cost_model.hpp; see docs/engine.md.
struct Plan {
    std::span<const std::int32_t> ys;  // those counted together, in the order of their planes
    std::vector<std::size_t> places;   // where they stand in the question; empty where they are the question
    std::vector<std::int32_t> sorted;  // what `ys` looks at, unless it is the question
    std::vector<std::size_t> alone;    // places of those counted row by row
    bool binary = false;               // those together and x, all of them
    bool by_columns = false;           // with numbered strata: as row lists by columns, not by planes
    double cost_together = 0.0, cost_alone = 0.0;

    Plan() = default;
    Plan(const Plan&) = delete;  // `ys` may look at what is in here
    Plan(Plan&&) = default;
    std::size_t place(std::size_t k) const { return places.empty() ? k : places[k]; }
    double cost() const { return cost_together + cost_alone; }  // nanoseconds of one core
};
Plan make_plan(const Query& q, const Candidates& ys);
// All y together, for sets that this method made.
Plan plan_together(const Query& q, const Candidates& ys, CountingMethod method);

// Nanoseconds of a scan by each way, all y included; infinite where it is impossible.
struct MethodCosts {
    std::array<double, kCountingMethods> of;
    MethodCosts() { of.fill(std::numeric_limits<double>::infinity()); }
    double& operator[](CountingMethod method) { return of[static_cast<std::size_t>(method)]; }
    double operator[](CountingMethod method) const { return of[static_cast<std::size_t>(method)]; }
    CountingMethod least() const {
        return static_cast<CountingMethod>(std::min_element(of.begin(), of.end()) - of.begin());
    }
};
MethodCosts costs_of_methods(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z,
                             const CostConstants& costs);

// The cheapest method, or the one that is forced. Where strata are numbered first, `make_plan` decides between planes,
// columns and row by row, once their number is known. `needs_sets`: only methods that make the sets of (z, x).
CountingMethod choose_method(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z,
                             bool needs_sets = false);

// Whether few distinct rows (Store::distinct) are counted sooner one by one than all rows in any other way.
bool distinct_rows_pay(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z);

// Strata [first, last) of a batch; `counts` stands at the first of them.
template <class Scorer>
void add_binary_strata(BinaryBatch<Scorer>& batch, const typename Scorer::Prepared& prepared, const SetSizes& x,
                       std::size_t first, std::size_t last, const std::uint32_t* counts, std::size_t width) {
    for (std::size_t s = first; s < last; ++s, counts += 2 * width)
        batch.add(prepared, s, counts, counts + width, x.sizes[2 * s], x.sizes[2 * s + 1]);
}

template <class Scorer> class Scan {
public:
    Scan(const Query& q, const Scorer& scorer) : q_(q), scorer_(scorer) {}

    void run(const Plan& plan) const {
        if (!plan.ys.empty() && plan.by_columns)
            run_on_lists(plan, lists_of_strata(q_.store, q_.x, q_.strata));
        else if (!plan.ys.empty())
            run_by_planes(plan);
        if (!plan.alone.empty()) run_alone(plan);
    }

    void run_on_lists(const Plan& plan, const SetLists& lists) const {
        q_.store.row_bits();  // built here, not in every thread's turn
        const auto blocks = split_blocks(q_.store, plan.ys);
        parallel_for(blocks.size(), threads_for(plan.cost_together, q_.n_threads),
                     [&](std::size_t b) { run_block(plan, lists, blocks[b].first, blocks[b].second); });
    }

    void run_on_bitsets(const Plan& plan, const std::uint64_t* sets, const SetSizes& x) const {
        if (plan.binary && are_far_apart(plan.ys)) return run_on_gathered(plan, sets, x);
        const auto blocks = split_blocks(q_.store, plan.ys);
        parallel_for(blocks.size(), threads_for(plan.cost_together, q_.n_threads), [&](std::size_t b) {
            const std::size_t begin = blocks[b].first, end = blocks[b].second;  // clang 14 captures no bindings
            const PlaneColumns columns = plane_columns(q_.store, plan.ys.subspan(begin, end - begin));
            std::vector<std::uint32_t> counts;
            count_by_planes(q_.store, sets, x.n_sets(), columns, counts);
            if (x.last_derived && x.card_x == 2) derive_last_set(column_totals(q_.store, columns), counts);
            auto by_card = prepared();
            const Block block =
                split_binary(plan, begin, end, [&](std::size_t k) { return columns.column[k - begin]; });
            score_binary(plan, block, [&](BinaryBatch<Scorer>& batch) {
                add_binary_strata(batch, by_card[2], x, 0, x.n_strata, counts.data(), columns.width());
            });
            for (const std::size_t k : block.others) {
                const std::size_t j = plan.place(k);
                typename Scorer::Sum sum;
                add_strata(scorer_, by_card[q_.card(j)], x, 0, x.n_strata,
                           {counts.data() + columns.column[k - begin], columns.width(),
                            q_.store.planes().totals.data() + q_.store.first_plane(plan.ys[k]), q_.card(j)},
                           sum);
                put(sum, j, q_.card(j));
            }
        });
    }

private:
    PreparedByCard<Scorer> prepared() const { return {scorer_, q_.card_x(), q_.strata.sizes}; }
    void put(const typename Scorer::Sum& sum, std::size_t j, std::uint32_t card) const {
        write(scorer_, sum, q_.card_x(), card, q_.out + j, q_.ys.size());
    }

    void run_by_planes(const Plan& plan) const {
        const std::size_t words = q_.strata.count * q_.card_x() * q_.store.planes().words;
        const Buffer<std::uint64_t> sets(q_.store.pool(), words);
        std::fill_n(sets.get(), words, std::uint64_t{0});
        const SetSizes x = q_.strata.count == 1 ? bitsets_of_states(q_.store, q_.x, sets.get())
                                                : bitsets_of_strata(q_.store, q_.x, q_.strata, sets.get());
        run_on_bitsets(plan, sets.get(), x);
    }

    // The candidates of a block: the binary ones of a binary x are scored together, the others one by one.
    struct Block {
        std::size_t begin;                        // in the plan
        std::vector<std::size_t> binary, others;  // places in the plan; if all are binary, `binary` is left empty
        std::span<const std::uint32_t> columns;   // of the binary ones
        std::vector<std::uint32_t> own_columns;   // what `columns` looks at, unless it is the question
        std::size_t binary_place(std::size_t i) const { return binary.empty() ? begin + i : binary[i]; }
    };
    template <class ColumnOf>
    Block split_binary(const Plan& plan, std::size_t begin, std::size_t end, ColumnOf column_of_place) const {
        Block block{begin, {}, {}, {}, {}};
        for (std::size_t k = begin; k < end && !plan.binary; ++k)
            (q_.card_x() == 2 && q_.card(plan.place(k)) == 2 ? block.binary : block.others).push_back(k);
        block.own_columns.resize(plan.binary ? end - begin : block.binary.size());
        for (std::size_t i = 0; i < block.own_columns.size(); ++i)
            block.own_columns[i] = static_cast<std::uint32_t>(column_of_place(block.binary_place(i)));
        block.columns = block.own_columns;
        return block;
    }
    // The same by planes, counted from the first of all on.
    Block split_binary_planes(const Plan& plan, std::size_t begin, std::size_t end) const {
        if (!plan.binary || !q_.store.plain())
            return split_binary(plan, begin, end, [&](std::size_t k) { return q_.store.first_plane(plan.ys[k]); });
        const auto* planes =
            reinterpret_cast<const std::uint32_t*>(plan.ys.data());  // a variable's plane is its number
        return {begin, {}, {}, {planes + begin, end - begin}, {}};
    }

    bool are_far_apart(std::span<const std::int32_t> ys) const {
        if (ys.size() > kMostGathered) return false;
        std::size_t n_groups = 1;
        for (std::size_t k = 1; k < ys.size(); ++k)
            n_groups += q_.store.first_plane(ys[k]) / kLanes != q_.store.first_plane(ys[k - 1]) / kLanes;
        return far_apart(ys.size(), n_groups);
    }
    void run_on_gathered(const Plan& plan, const std::uint64_t* sets, const SetSizes& x) const {
        const GatheredPlanes planes = gather_planes(q_.store, plan.ys);
        std::vector<std::uint32_t> counts = count_gathered(q_.store, sets, x.n_sets(), planes);
        if (x.last_derived) derive_last_set(planes.totals, counts);
        auto by_card = prepared();
        const Block block = split_binary(plan, 0, plan.ys.size(), [](std::size_t k) { return k; });
        score_binary(plan, block, [&](BinaryBatch<Scorer>& batch) {
            add_binary_strata(batch, by_card[2], x, 0, x.n_strata, counts.data(), planes.totals.size());
        });
    }

    // Without strata only the rows with x = 0 are counted: those with x = 1 are what the totals leave.
    void derive_last_set(const std::vector<std::uint32_t>& totals, std::vector<std::uint32_t>& counts) const {
        counts.resize(2 * totals.size());
        for (std::size_t c = 0; c < totals.size(); ++c) counts[totals.size() + c] = totals[c] - counts[c];
    }

    template <class AddAll> void score_binary(const Plan& plan, const Block& block, AddAll add_all) const {
        if (block.columns.empty()) return;
        BinaryBatch<Scorer> batch(scorer_, q_.store, block.columns);
        add_all(batch);
        put_batch(plan, block, batch);
    }
    void put_batch(const Plan& plan, const Block& block, BinaryBatch<Scorer>& batch) const {
        batch.finish();
        batch.visit_sums([&](std::size_t i, const auto& sum) { put(sum, plan.place(block.binary_place(i)), 2); });
    }

    // Candidates [begin, end) of the plan, whose planes stand in one block of 512.
    void run_block(const Plan& plan, const SetLists& lists, std::size_t begin, std::size_t end) const {
        const std::size_t number = q_.store.first_plane(plan.ys[begin]) / kBlockColumns,
                          origin = number * kBlockColumns;
        const Block block = split_binary_planes(plan, begin, end);
        BinaryBatch<Scorer> batch(scorer_, q_.store, block.columns, static_cast<std::uint32_t>(origin));
        std::vector<typename Scorer::Sum> sums(block.others.size());
        const Buffer<std::uint32_t> counts(q_.store.pool(), kSetsInCache * kBlockColumns);
        auto by_card = prepared();
        for_sets_in_cache([&](std::size_t first, std::size_t last) {
            count_by_columns(q_.store, lists, first * q_.card_x(), last * q_.card_x(), number, counts.get());
            if (batch.size()) add_binary_strata(batch, by_card[2], lists.x, first, last, counts.get(), kBlockColumns);
            for (std::size_t i = 0; i < block.others.size(); ++i) {
                const std::size_t k = block.others[i];
                const std::uint32_t ry = q_.card(plan.place(k));
                add_strata(scorer_, by_card[ry], lists.x, first, last,
                           {counts.get() + (q_.store.first_plane(plan.ys[k]) - origin), kBlockColumns, nullptr, ry},
                           sums[i]);
            }
        });
        put_batch(plan, block, batch);
        for (std::size_t i = 0; i < block.others.size(); ++i) {
            const std::size_t j = plan.place(block.others[i]);
            put(sums[i], j, q_.card(j));
        }
    }

    // Strata [first, last) at a time, such that their counts of 512 columns stay in cache.
    template <class Visit> void for_sets_in_cache(Visit visit) const {
        const std::size_t together = std::max<std::size_t>(1, kSetsInCache / q_.card_x());
        for (std::size_t first = 0; first < q_.strata.count; first += together)
            visit(first, std::min(first + together, q_.strata.count));
    }

    void run_alone(const Plan& plan) const {
        std::vector<Column> columns;
        for (const std::size_t j : plan.alone) columns.push_back(column_of(q_.store, q_.ys[j]));
        const RowScan rows(q_.store, column_of(q_.store, q_.x), q_.strata, columns);
        constexpr std::size_t kTogether = 8;  // a piece of work: so many y share what is prepared by cardinality
        const double cost = 2.0 * static_cast<double>(q_.store.n_records()) * static_cast<double>(columns.size());
        parallel_for(
            (columns.size() + kTogether - 1) / kTogether, threads_for(cost, q_.n_threads), [&](std::size_t piece) {
                auto by_card = prepared();
                for (std::size_t k = piece * kTogether; k < std::min((piece + 1) * kTogether, columns.size()); ++k)
                    put(rows.score(scorer_, by_card[columns[k].card], columns[k]), plan.alone[k], columns[k].card);
            });
    }

    const Query& q_;
    const Scorer& scorer_;
};

}  // namespace mnlearn
