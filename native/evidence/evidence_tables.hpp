// From rows to the tables that evidence is made of: groups of x in the configurations of z, cells of (z, x, y).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "evidence/evidence.hpp"
#include "evidence/extra_terms.hpp"
#include "store/strata.hpp"

namespace mnlearn {

// Cells of one (x, y) in every configuration of z; only states that occur.
struct PairTable {
    std::vector<double> cells;  // [(u * card_x + a) * card_y + b]
    std::size_t n_groups = 0, card_x = 0, card_y = 0;

    PairCells seen_from_x() const { return {cells.data(), card_x * card_y, card_y, 1}; }
    PairCells seen_from_y() const { return {cells.data(), card_x * card_y, 1, card_y}; }
};
PairTable compacted(const std::vector<double>& cells, std::size_t n_groups, std::size_t card_x, std::size_t card_y);

// Counts (z, x, y) for each y, by declared states: take(j, cells) with cells[(u * rx + a) * ry + b].
void visit_tables(const Store& store, std::int32_t x, std::span<const std::int32_t> ys, const Strata& strata,
                  const std::function<void(std::size_t, const std::vector<double>&)>& take);

GroupedTable groups_of(const Store& store, std::int32_t x, const Strata& strata);
void sum_out_x(const PairTable& pair, GroupedTable& groups);  // y in the configurations of z

// 1 and the contrasts of every member of z, in each of its configurations.
Design design_of(const Store& store, std::span<const std::int32_t> z, const Strata& strata,
                 std::map<std::size_t, Contrasts>& contrasts);
// One more neighbour: groups of x in the configurations of z + y, and their design.
void add_neighbour(const Design& of_z, std::size_t n_groups, const PairCells& cells, std::size_t card_x,
                   const Contrasts& of_y, GroupedTable& table, Design& design);

const Contrasts& contrasts_of(std::size_t card, std::map<std::size_t, Contrasts>& known);

// Σ over groups of  ln G(r/2) - ln G(r/2 + n_u) + Σ_a [ ln G(1/2 + n_ua) - ln G(1/2) ].
class FullTable {
public:
    explicit FullTable(const Store& store) : tables_(&store.log_tables()), half_(tables_->rising_log_gamma(0.5)) {}
    double operator()(const GroupedTable& table) const;
    double operator()(const PairCells& cells, std::size_t n_groups, std::size_t card_x, std::size_t card_y) const;

private:
    LogTables* tables_;
    std::shared_ptr<const RisingLogGamma> half_;
};

}  // namespace mnlearn
