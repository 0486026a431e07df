// From rows to the tables that evidence is made of: groups of x in the configurations of z, cells of (z, x, y).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "evidence/evidence.hpp"
#include "evidence/pairwise_model.hpp"
#include "scan/count_bitsets.hpp"

namespace mnlearn {

// x in the configurations of z + y; entry t lies in group[t] of z and has y = state[t].
struct PairTable {
    GroupedTable of_x;
    std::vector<std::uint32_t> group, state;
    std::size_t card_y = 0;  // states that occur

    void clear(std::size_t states_x, std::size_t states_y);
};
// y in the configurations of z + x, and y in those of z.
void turn(const PairTable& pair, PairTable& turned);
void sum_out_x(const PairTable& pair, GroupedTable& of_y);
// Binary x and y as the first of eight lanes: see BinaryGains.
void zero_lane(const PairTable& pair, std::vector<double>& zero);

// The tables of one scan, counted by bit-planes or row by row. States that do not occur are left out.
class ScanTables {
public:
    ScanTables(const Store& store, const VariableFacts& facts) : store_(store), facts_(facts) {}

    void begin(const EvidenceScan& scan);  // the next scan; memory is used again

    const GroupedTable& of_x() const { return of_x_; }
    const Design& design() const { return design_; }  // the members of z
    std::size_t n_groups() const { return of_x_.n_groups; }
    std::size_t states(std::int32_t v) const {  // that occur
        return static_cast<std::size_t>(facts_.n_states[static_cast<std::size_t>(v)]);
    }

    // Binary y of a binary x, eight at a time: take(places, zero), see BinaryGains. `places`: in the ys of the scan.
    template <class Take> void count_binary(std::span<const std::size_t> places, Take take);
    // take(place, table) for each.
    template <class Take> void count_pairs(std::span<const std::size_t> places, Take take);

private:
    bool by_planes() const;
    void number_by_planes();
    void number_rows();
    void read_states(const std::vector<std::uint32_t>& code_of_group, std::int32_t variable, std::size_t i);
    std::vector<std::uint32_t> ranks(std::int32_t variable) const;  // empty where all states occur
    const Column& column(std::int32_t v) const { return store_.column(static_cast<std::size_t>(v)); }
    std::size_t card(std::int32_t v) const { return column(v).card; }
    bool complete(std::int32_t v) const { return states(v) == card(v); }

    // The y of these places with planes, in the order of their planes.
    struct Counted {
        std::vector<std::size_t> places;
        PlaneColumns columns;
    };
    std::vector<Counted> count_blocks(std::span<const std::size_t> places) const;
    void count(const Counted& block) {
        count_by_planes(store_, planes_->sets.get(), planes_->x.n_sets(), block.columns, counts_);
    }
    void fill_lane(std::size_t lane, std::int32_t y);
    void fill_pair(std::int32_t y);
    void fill_pair(std::int32_t y, const CountedY& counted);
    void emit(std::size_t u, const std::int64_t* cells, std::int32_t y);
    void emit_alone(std::size_t u, std::uint32_t a, std::uint32_t b, std::int64_t count);

    const Store& store_;
    VariableFacts facts_;
    EvidenceScan scan_{};
    GroupedTable of_x_;
    Design design_;
    std::optional<PlaneSets> planes_;  // or strata and lists of rows
    Strata strata_;
    RowLists lists_;
    std::vector<std::uint32_t> rank_x_, rank_y_;
    std::vector<std::uint32_t> keys_;  // per row: 2 * group + x, for binary x
    std::vector<std::uint32_t> counts_;
    std::vector<double> zero_, sums_;
    std::vector<std::int64_t> cells_;
    PairTable pair_;
};

// Σ over groups of  ln G(r/2) - ln G(r/2 + n_u) + Σ_a [ ln G(1/2 + n_ua) - ln G(1/2) ].
class FullTable {
public:
    explicit FullTable(const Store& store) : FullTable(store.log_tables(), store.n_rows()) {}
    FullTable(LogTables& tables, std::int64_t n_rows);
    double operator()(const GroupedTable& table) const;
    // No table of more configurations exceeds this one: x is the same in all rows of each.
    double bound(const GroupedTable& table) const;
    // Eight binary y of a binary x; `zero`: see BinaryGains.
    void binary(const ConditionalKernels& kernels, const GroupedTable& of_x, const double* zero, double* score) const;

private:
    LogTables* tables_;
    std::shared_ptr<const RisingLogGamma> half_, one_;
    std::int64_t n_rows_;
};

template <class Take> void ScanTables::count_binary(std::span<const std::size_t> places, Take take) {
    const std::size_t room = 2 * kFitLanes * n_groups();
    if (!planes_) {
        for (std::size_t k = 0; k < places.size(); k += kFitLanes) {
            const auto some = places.subspan(k, std::min(kFitLanes, places.size() - k));
            zero_.assign(room, 0.0);
            for (std::size_t lane = 0; lane < some.size(); ++lane) fill_lane(lane, scan_.ys[some[lane]]);
            take(some, zero_.data());
        }
        return;
    }
    std::vector<std::size_t> together, alone;  // those with more states than two that occur
    for (const std::size_t j : places) (complete(scan_.x) && complete(scan_.ys[j]) ? together : alone).push_back(j);
    zero_.resize(room);
    for (const Counted& block : count_blocks(together)) {
        count(block);
        const std::size_t width = block.columns.width(), n_sets = planes_->x.n_sets();
        for (std::size_t k = 0; k < block.places.size(); k += kFitLanes) {
            const std::size_t n_lanes = std::min(kFitLanes, block.places.size() - k);
            if (n_lanes < kFitLanes) std::fill(zero_.begin(), zero_.end(), 0.0);
            for (std::size_t set = 0; set < n_sets; ++set)
                for (std::size_t lane = 0; lane < n_lanes; ++lane)
                    zero_[set * kFitLanes + lane] = counts_[set * width + block.columns.column[k + lane]];
            take(std::span(block.places).subspan(k, n_lanes), zero_.data());
        }
    }
    if (alone.empty()) return;
    count_pairs(alone, [&](std::size_t j, const PairTable& pair) {
        zero_lane(pair, zero_);
        take(std::span<const std::size_t>(&j, 1), zero_.data());
    });
}

template <class Take> void ScanTables::count_pairs(std::span<const std::size_t> places, Take take) {
    std::vector<std::size_t> alone;
    if (planes_) {
        std::vector<std::size_t> together;
        for (const std::size_t j : places)
            (store_.has_planes(static_cast<std::size_t>(scan_.ys[j])) ? together : alone).push_back(j);
        for (const Counted& block : count_blocks(together)) {
            count(block);
            for (std::size_t k = 0; k < block.places.size(); ++k) {
                const std::int32_t y = scan_.ys[block.places[k]];
                fill_pair(y,
                          {counts_.data() + block.columns.column[k], block.columns.width(), nullptr, column(y).card});
                take(block.places[k], pair_);
            }
        }
        if (alone.empty()) return;
        if (strata_.count == 0) number_rows();
    } else {
        alone.assign(places.begin(), places.end());
    }
    for (const std::size_t j : alone) {
        fill_pair(scan_.ys[j]);
        take(j, pair_);
    }
}

}  // namespace mnlearn
