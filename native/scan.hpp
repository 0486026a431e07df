// How a scan is carried out: which way of counting, over which threads, scored while the counts are in cache.
#pragma once

#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "reduce.hpp"
#include "row_scan.hpp"
#include "scores.hpp"
#include "set_counts.hpp"

namespace mnlearn {

inline const Column kConstantColumn{};
inline const Column& column_of(const Store& store, std::int32_t v) {
    return v == kConstant ? kConstantColumn : store.column(static_cast<std::size_t>(v));
}

// What depends on the cardinality of y, prepared once for each that occurs.
template <class Scorer> class PreparedByCard {
public:
    PreparedByCard(const Scorer& scorer, std::uint32_t rx, std::span<const std::int64_t> sizes)
        : scorer_(&scorer), rx_(rx), sizes_(sizes) {}
    [[gnu::always_inline]] const typename Scorer::Prepared& operator[](std::uint32_t ry) {
        if (ry != last_card_) find(ry);
        return *last_;
    }

private:
    [[gnu::noinline]] void find(std::uint32_t ry) {
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
[[gnu::always_inline]] inline void write(const Scorer& scorer, const typename Scorer::Sum& sum, std::uint32_t rx,
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

// Which way each y is counted. The three costs, in nanoseconds, are those of dispatch.hpp; see docs/engine.md.
struct Plan {
    std::vector<std::size_t> together;  // positions in ys, in the order of their planes
    std::vector<std::size_t> alone;     // row by row
    bool by_columns = false;            // how those together are counted: vertical counters, or planes
    double cost_together = 0.0;
};
Plan make_plan(const Query& q);
Plan all_by_planes(const Query& q);  // for sets that are made already

// Whether sets_from_planes is the cheapest way: everything has planes, and the configurations are few.
bool planes_suffice(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                    std::span<const std::int32_t> z);

template <class Scorer> class Scan {
public:
    Scan(const Query& q, const Scorer& scorer) : q_(q), scorer_(scorer) {}

    void run() {
        const Plan plan = make_plan(q_);
        for (const std::size_t j : plan.together) ys_.push_back(q_.ys[j]);
        if (!plan.together.empty() && plan.by_columns) run_by_columns(plan);
        if (!plan.together.empty() && !plan.by_columns) run_by_planes(plan);
        if (!plan.alone.empty()) run_alone(plan);
    }

    void run_on(const PlaneSets& ready) {
        const Plan plan = all_by_planes(q_);
        for (const std::size_t j : plan.together) ys_.push_back(q_.ys[j]);
        run_on_bitsets(plan, ready.sets.get(), ready.x);
    }

private:
    PreparedByCard<Scorer> prepared() const { return {scorer_, q_.card_x(), q_.strata.sizes}; }
    void put(const typename Scorer::Sum& sum, std::size_t j) const {
        write(scorer_, sum, q_.card_x(), q_.card(j), q_.out + j, q_.ys.size());
    }

    void run_by_planes(const Plan& plan) const {
        const AlignedWords sets = aligned_words(q_.strata.count * q_.card_x() * q_.store.planes().words);
        const SetSizes x = q_.strata.count == 1 ? bitsets_of_states(q_.store, q_.x, sets.get())
                                                : bitsets_of_strata(q_.store, q_.x, q_.strata, sets.get());
        run_on_bitsets(plan, sets.get(), x);
    }

    void run_on_bitsets(const Plan& plan, const std::uint64_t* sets, const SetSizes& x) const {
        const Planes& planes = q_.store.planes();
        const auto blocks = split_blocks(q_.store, ys_);
        parallel_for(blocks.size(), threads_for(plan.cost_together, q_.n_threads), [&](std::size_t b) {
            const auto [begin, end] = blocks[b];
            const PlaneColumns columns = plane_columns(q_.store, std::span(ys_).subspan(begin, end - begin));
            std::vector<std::uint32_t> counts;
            count_by_planes(q_.store, sets, x.n_sets(), columns, counts);
            auto by_card = prepared();
            for (std::size_t k = begin; k < end; ++k) {
                const std::size_t j = plan.together[k];
                typename Scorer::Sum sum;
                add_strata(scorer_, by_card[q_.card(j)], x, 0, x.n_strata,
                           {counts.data() + columns.column[k - begin], columns.width(),
                            planes.totals.data() + q_.store.first_plane(ys_[k]), q_.card(j)},
                           sum);
                put(sum, j);
            }
        });
    }

    void run_by_columns(const Plan& plan) const {
        constexpr std::size_t kSetsInCache = 64;  // 512 counts each: 128 KB
        const SetLists lists = lists_of_strata(q_.store, q_.x, q_.strata);
        const std::size_t strata_together = std::max<std::size_t>(1, kSetsInCache / q_.card_x());
        q_.store.row_bits();  // built here, not in every thread's turn
        const auto blocks = split_blocks(q_.store, ys_);
        parallel_for(blocks.size(), threads_for(plan.cost_together, q_.n_threads), [&](std::size_t b) {
            const auto [begin, end] = blocks[b];
            std::vector<typename Scorer::Sum> sums(end - begin);
            std::vector<std::uint32_t> counts;
            auto by_card = prepared();
            for (std::size_t first = 0; first < q_.strata.count; first += strata_together) {
                const std::size_t last = std::min(first + strata_together, q_.strata.count);
                const std::size_t block = q_.store.first_plane(ys_[begin]) / kBlockColumns;
                count_by_columns(q_.store, lists, first * q_.card_x(), last * q_.card_x(), block, counts);
                for (std::size_t k = begin; k < end; ++k) {
                    const std::uint32_t ry = q_.card(plan.together[k]);
                    const std::size_t column = q_.store.first_plane(ys_[k]) % kBlockColumns;
                    add_strata(scorer_, by_card[ry], lists.x, first, last,
                               {counts.data() + column, kBlockColumns, nullptr, ry}, sums[k - begin]);
                }
            }
            for (std::size_t k = begin; k < end; ++k) put(sums[k - begin], plan.together[k]);
        });
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
                    put(rows.score(scorer_, by_card[columns[k].card], columns[k]), plan.alone[k]);
            });
    }

    const Query& q_;
    const Scorer& scorer_;
    std::vector<std::int32_t> ys_;  // those counted together
};

}  // namespace mnlearn
