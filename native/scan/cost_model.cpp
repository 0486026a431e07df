#include "scan/cost_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/lanes.hpp"
#include "kernels/sort_rows.hpp"
#include "numbers/elementary.hpp"
#include "scan/count_bitsets.hpp"

namespace mnlearn {
namespace {

constexpr double kSecondCache = 1 << 20;  // bytes of row bits that stay near
constexpr double kSetsTogether = 16;      // up to so many, the largest need not be counted (scan/count_bitsets.hpp)

double real(std::size_t n) { return static_cast<double>(n); }

// How many of so many sets have a row, if each row falls into any of them.
double hit(double sets, double rows) { return sets * -elementary::expm1(-rows / sets); }

// Blocks from the first to the last y; no more than groups of planes. Out of order, about all there are.
double blocks_of(const Store& store, const Candidates& ys, double groups) {
    if (!ys.in_order || !ys.have_planes || ys.ys.empty() || ys.ys.front() == kConstant) {
        const double states = real(ys.n_states) / real(std::max<std::size_t>(1, ys.ys.size()));
        return std::min(groups, std::ceil(real(store.n_variables()) * states / kBlockColumns));
    }
    const std::size_t first = store.first_plane(ys.ys.front()) / kBlockColumns,
                      last = store.first_plane(ys.ys.back()) / kBlockColumns;
    return std::min(groups, real(last - first + 1));
}

// The states of one y stand in the same pass; one lane counts every row.
double passes_of(double ys, double states) {
    const double each = std::max(1.0, states / std::max(ys, 1.0)),
                 whole = std::max(1.0, std::floor(kCountLanes / each));
    const double full = std::floor(ys / whole), rest = ys - full * whole;
    return full + (rest > 0 ? std::ceil((rest * each + 1) / kCountLanes) : whole * each >= kCountLanes ? 1 : 0);
}

}  // namespace

ScanSize::ScanSize(const Store& store, std::int32_t x, const Candidates& candidates)
    : rows(real(store.n_records())),
      words(real((store.n_records() + 63) / 64)),
      ys(real(candidates.ys.size())),
      states(real(candidates.n_states)),
      groups(real(candidates.n_groups)),
      blocks(blocks_of(store, candidates, groups)),
      passes(passes_of(ys, states)),
      card_x(column_of(store, x).card),
      binary(card_x == 2 && candidates.are_binary) {
    if (!binary || !candidates.have_planes || !far_apart(candidates.ys.size(), candidates.n_groups)) return;
    groups = std::ceil(ys / kLanes);
    gathered = ys;
}

ScanSize::ScanSize(const Store& store, std::int32_t x, const Candidates& candidates, std::span<const std::int32_t> z)
    : ScanSize(store, x, candidates) {
    for (const std::int32_t v : z) {
        configurations *= column_of(store, v).card;
        planes += column_of(store, v).card - 1;
    }
    variables += real(z.size());
    strata = z.empty() ? 1 : hit(configurations, rows);
    finish();
    if (store.level().sort_rows) divide(store, x, z);
}

ScanSize::ScanSize(const Store& store, std::int32_t x, const Candidates& candidates, const Strata& known)
    : ScanSize(store, x, candidates) {
    configurations = strata = real(known.count);
    variables += known.count > 1;
    finish();
}

void ScanSize::finish() {
    planes += card_x - 1;
    sets = configurations * card_x;
    occupied = std::min(strata * card_x, hit(sets, rows));
    digits = std::max(1.0, elementary::log2(2 * rows / occupied));
    split_planes = planes;
    split_sets = sets;
}

// x and as many of z as a key has room for sort. By two bits of the key the bits are looked through, by two more at a
// time the resulting lists are split.
void ScanSize::divide(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    int bits = 0;
    for (std::size_t k = z.size() + 1; k-- > 0;) {
        const std::uint32_t card = column_of(store, k == z.size() ? x : z[k]).card;
        if (bits + std::bit_width(card - 1) > kSortBits) break;
        bits += std::bit_width(card - 1);
        split_sets /= card;
        split_planes -= card - 1;
    }
    sorts = bits <= 2 ? 0 : bits <= 4 ? 1 : 2;
    strung = rows > 64.0 * kSortWords;
}

namespace {

// The cost of one question with these constants, part by part.
struct Estimate {
    const ScanSize& w;
    const CostConstants& c;

    double handed_over() const { return w.ys * w.strata * (w.binary ? c.table : c.cell * w.card_x * cells_of_y()); }
    double handed_over_few() const {
        return w.ys * w.strata * (w.binary ? c.few_table : c.cell * w.card_x * cells_of_y());
    }
    double cells_of_y() const { return (w.states + w.ys) / w.ys; }

    double bitsets(double n_planes, double n_sets) const {
        return c.load_word * n_planes * w.words + n_sets * (2 * w.words * c.split_word + c.split_set);
    }
    double by_planes(double n_sets) const {
        return w.gathered * w.words * c.load_word + n_sets * w.groups * (w.words * c.group_word + c.group_set) +
               handed_over();
    }

    // Where there are few sets, the counts of the largest are what the others leave: the share of the others.
    double share_counted() const {
        const bool all = w.occupied > kSetsTogether || w.rows < 16 * w.occupied * w.occupied;
        return all ? 1 : 1 - 1 / w.occupied;
    }
    double lists_from_planes() const {
        const double listed = w.split_sets < w.sets ? 1 : share_counted();  // all rows, where lists are sorted
        const double a_row = listed * c.list_row + w.sorts * c.sorted_row + (w.strung ? c.strung_row : 0);
        return bitsets(w.split_planes, w.split_sets) + w.split_sets * w.words * listed * c.list_word + w.rows * a_row +
               w.sets * c.list_set;
    }
    double lists_from_keys() const { return w.rows * (w.variables * c.key_digit + c.key_row) + w.sets * c.key_set; }
    double by_columns(double share) const {
        const double counted = w.rows * share;
        const double bytes = w.rows * w.blocks * kBlockColumns / 8, far = std::max(0.0, 1 - kSecondCache / bytes);
        return w.blocks * (counted * (c.column_row + far * c.far_row) +
                           w.occupied * (c.column_set + w.digits * c.column_digit)) +
               handed_over();
    }

    double in_lanes(double n_sets) const {
        return w.passes * (w.rows * c.lane_row + n_sets * c.lane_set) + handed_over_few();
    }
    double by_tables() const {
        return w.ys * (w.rows * c.table_row + w.sets * cells_of_y() * c.table_cell) + handed_over_few();
    }
    double with_whole_keys() const {
        return w.rows * w.variables * c.key_digit + w.sets * c.whole_set +
               (w.ys <= kTablesAtMost ? by_tables() : in_lanes(w.sets));
    }

    double bitsets_of_strata() const {
        return w.variables == 1 ? 0 : w.rows * c.bitset_row + w.occupied * w.words * c.bitset_word;
    }
    double one_by_one() const {
        return w.ys * (c.alone_y + w.rows * c.alone_row + w.strata * w.card_x * cells_of_y() * c.alone_cell);
    }
};

}  // namespace

double cost_of(CountingMethod method, const ScanSize& work, const CostConstants& costs) {
    const Estimate e{work, costs};
    switch (method) {
        case CountingMethod::split_planes:
            return costs.split_planes + e.bitsets(work.planes, work.sets) + e.by_planes(work.occupied);
        case CountingMethod::split_columns:
            return costs.split_columns + e.lists_from_planes() + e.by_columns(e.share_counted());
        case CountingMethod::sorted_columns:
            return costs.sorted_columns + e.lists_from_keys() + e.by_columns(1);
        case CountingMethod::keys:
            return costs.keys + e.with_whole_keys();
        case CountingMethod::planes:  // without strata the set of x's last state is not counted
            return costs.planes + e.bitsets_of_strata() +
                   e.by_planes(work.variables == 1 ? work.card_x - 1 : work.occupied);
        case CountingMethod::columns:
            return costs.columns + work.rows * costs.listed_row + e.by_columns(1);
        case CountingMethod::alone:
        case CountingMethod::any:
        case CountingMethod::distinct:
            break;
    }
    return costs.alone + e.one_by_one();
}

double cost_of_counting(CountingMethod method, const ScanSize& work, const CostConstants& costs) {
    const Estimate e{work, costs};
    return method == CountingMethod::split_planes ? e.by_planes(work.occupied) : e.by_columns(1);
}

double cost_of_numbering(const ScanSize& work, const CostConstants& costs) {
    if (work.variables == 1) return 0;
    const double a_row = costs.strata_row + (work.variables - 1) * costs.key_digit;
    return costs.strata + work.rows * a_row + work.configurations * costs.strata_set;
}

}  // namespace mnlearn
