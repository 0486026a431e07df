#include "evidence/evidence_tables.hpp"

#include <algorithm>

#include "scan/scan_runner.hpp"
#include "scan/stratum_table.hpp"

namespace mnlearn {
namespace {

// Ranks of the codes that occur among 0 .. card - 1.
std::vector<std::uint32_t> ranks(const std::vector<char>& occurs, std::size_t& n_states) {
    std::vector<std::uint32_t> rank(occurs.size(), 0);
    std::uint32_t next = 0;
    for (std::size_t code = 0; code < occurs.size(); ++code) rank[code] = occurs[code] ? next++ : 0;
    n_states = next;
    return rank;
}

using Take = std::function<void(std::size_t, const std::vector<double>&)>;

void by_planes(const Query& q, const Plan& plan, const Take& take) {
    const AlignedWords sets = aligned_words(q.strata.count * q.card_x() * q.store.planes().words);
    const SetSizes x = q.strata.count == 1 ? bitsets_of_states(q.store, q.x, sets.get())
                                           : bitsets_of_strata(q.store, q.x, q.strata, sets.get());
    std::vector<std::uint32_t> counts;
    std::vector<double> cells;
    std::int64_t table[kMaxPlaneCard * kMaxPlaneCard];
    for (const auto& [begin, end] : split_blocks(q.store, plan.ys)) {
        const PlaneColumns columns = plane_columns(q.store, plan.ys.subspan(begin, end - begin));
        count_by_planes(q.store, sets.get(), x.n_sets(), columns, counts);
        for (std::size_t k = begin; k < end; ++k) {
            const std::size_t j = plan.place(k), size = std::size_t{q.card_x()} * q.card(j);
            CountedY y{counts.data() + columns.column[k - begin], columns.width(),
                       q.store.planes().totals.data() + q.store.first_plane(plan.ys[k]), q.card(j)};
            cells.clear();
            for (std::size_t s = 0; s < q.strata.count; ++s, y.counts += x.card_x * y.stride) {
                fill_table(x, s, y, table);
                cells.insert(cells.end(), table, table + size);
            }
            take(j, cells);
        }
    }
}

void row_by_row(const Query& q, std::span<const std::size_t> places, const Take& take) {
    std::vector<std::size_t> group(q.store.n_records());
    with_codes(column_of(q.store, q.x), [&](auto code) {
        for (std::size_t row = 0; row < group.size(); ++row) group[row] = q.strata[row] * q.card_x() + code(row);
    });
    std::vector<double> cells;
    for (const std::size_t j : places) {
        const std::size_t ry = q.card(j);
        cells.assign(q.strata.count * q.card_x() * ry, 0.0);
        with_codes(column_of(q.store, q.ys[j]), [&](auto code) {
            for (std::size_t row = 0; row < group.size(); ++row)
                cells[group[row] * ry + code(row)] +=
                    q.store.repeats() ? static_cast<double>(q.store.repeats()[row]) : 1.0;
        });
        take(j, cells);
    }
}

}  // namespace

// Where planes do not pay there are many configurations, and then counting is little beside what follows.
void visit_tables(const Store& store, std::int32_t x, std::span<const std::int32_t> ys, const Strata& strata,
                  const std::function<void(std::size_t, const std::vector<double>&)>& take) {
    const Query q{store, x, ys, strata, 1, nullptr};
    Plan plan = make_plan(q, Candidates(store, ys));
    for (std::size_t k = 0; k < plan.ys.size() && plan.by_columns; ++k) plan.alone.push_back(plan.place(k));
    if (!plan.ys.empty() && !plan.by_columns) by_planes(q, plan, take);
    row_by_row(q, plan.alone, take);
}

PairTable compacted(const std::vector<double>& cells, std::size_t n_groups, std::size_t card_x, std::size_t card_y) {
    std::vector<char> in_x(card_x, 0), in_y(card_y, 0);
    const std::size_t plane = card_x * card_y;
    for (std::size_t k = 0; k < cells.size(); ++k)
        if (cells[k] != 0.0) in_x[k % plane / card_y] = in_y[k % card_y] = 1;
    PairTable table{{}, n_groups, 0, 0};
    const auto rank_x = ranks(in_x, table.card_x), rank_y = ranks(in_y, table.card_y);
    if (table.card_x == card_x && table.card_y == card_y) {
        table.cells = cells;
        return table;
    }
    table.cells.assign(n_groups * table.card_x * table.card_y, 0.0);
    for (std::size_t k = 0; k < cells.size(); ++k)
        if (cells[k] != 0.0)
            table.cells[(k / plane * table.card_x + rank_x[k % plane / card_y]) * table.card_y + rank_y[k % card_y]] =
                cells[k];
    return table;
}

GroupedTable groups_of(const Store& store, std::int32_t x, const Strata& strata) {
    const Column& column = store.column(static_cast<std::size_t>(x));
    std::vector<char> occurs(column.card, 0);
    with_codes(column, [&](auto code) {
        for (std::size_t row = 0; row < store.n_records(); ++row) occurs[code(row)] = 1;
    });
    GroupedTable groups;
    const auto rank = ranks(occurs, groups.card);
    groups.n_groups = strata.count;
    groups.counts.assign(strata.count * groups.card, 0.0);
    with_codes(column, [&](auto code) {
        for (std::size_t row = 0; row < store.n_records(); ++row)
            groups.counts[strata[row] * groups.card + rank[code(row)]] +=
                store.repeats() ? static_cast<double>(store.repeats()[row]) : 1.0;
    });
    groups.sizes.assign(strata.sizes.begin(), strata.sizes.end());
    return groups;
}

void sum_out_x(const PairTable& pair, GroupedTable& groups) {
    groups.clear(pair.card_y);
    std::vector<double> sums(pair.card_y);
    for (std::size_t u = 0; u < pair.n_groups; ++u) {
        std::fill(sums.begin(), sums.end(), 0.0);
        const double* cell = pair.cells.data() + u * pair.card_x * pair.card_y;
        for (std::size_t a = 0; a < pair.card_x; ++a)
            for (std::size_t b = 0; b < pair.card_y; ++b) sums[b] += *cell++;
        groups.add_group(sums.data(), 1);
    }
}

const Contrasts& contrasts_of(std::size_t card, std::map<std::size_t, Contrasts>& known) {
    const auto found = known.find(card);
    return found != known.end() ? found->second : known.emplace(card, Contrasts(card)).first->second;
}

Design design_of(const Store& store, std::span<const std::int32_t> z, const Strata& strata,
                 std::map<std::size_t, Contrasts>& contrasts) {
    std::vector<std::size_t> row_of(strata.count, 0);
    for (std::size_t row = store.n_records(); row-- > 0;) row_of[strata[row]] = row;
    Design design;
    std::vector<std::vector<std::uint32_t>> states;
    for (const std::int32_t variable : z) {
        const Column& column = store.column(static_cast<std::size_t>(variable));
        std::vector<char> occurs(column.card, 0);
        for (const std::size_t row : row_of) occurs[column[row]] = 1;
        std::size_t card = 0;
        const auto rank = ranks(occurs, card);
        std::vector<std::uint32_t>& state = states.emplace_back();
        for (const std::size_t row : row_of) state.push_back(rank[column[row]]);
        const std::size_t width = std::max<std::size_t>(card, 1) - 1;
        design.members.push_back({design.n_features, width});
        design.n_features += width;
    }
    if (design.n_features > kMaxParameters) return design;  // no model of this design will be fitted
    design.features.reserve(strata.count * design.n_features);
    for (std::size_t u = 0; u < strata.count; ++u) {
        design.features.push_back(1.0);
        for (std::size_t k = 0; k < z.size(); ++k) {
            const std::size_t width = design.members[k].width;
            const double* of_state = contrasts_of(width + 1, contrasts)[states[k][u]];
            design.states.push_back(states[k][u]);
            design.features.insert(design.features.end(), of_state, of_state + width);
        }
    }
    return design;
}

void add_neighbour(const Design& of_z, std::size_t n_groups, const PairCells& cells, std::size_t card_x,
                   const Contrasts& of_y, GroupedTable& table, Design& design) {
    table.clear(card_x);
    design.n_features = of_z.n_features + of_y.width();
    design.members = of_z.members;
    design.members.push_back({of_z.n_features, of_y.width()});
    design.features.clear();
    design.states.clear();
    const std::size_t n_before = of_z.members.size();
    for (std::size_t u = 0; u < n_groups; ++u) {
        for (std::size_t b = 0; b < of_y.card(); ++b) {
            const std::size_t before = table.n_groups;
            table.add_group(cells.cells + u * cells.stride_group + b * cells.stride_y, cells.stride_x);
            if (table.n_groups == before) continue;
            design.features.insert(design.features.end(), of_z[u], of_z[u] + of_z.n_features);
            design.features.insert(design.features.end(), of_y[b], of_y[b] + of_y.width());
            for (std::size_t i = 0; i < n_before; ++i) design.states.push_back(of_z.states[u * n_before + i]);
            design.states.push_back(static_cast<std::uint32_t>(b));
        }
    }
}

double FullTable::operator()(const GroupedTable& table) const {
    const auto total = tables_->rising_log_gamma(0.5 * static_cast<double>(table.card));
    double score = 0.0;
    for (std::size_t u = 0; u < table.n_groups; ++u) {
        double cells = 0.0;
        for (std::size_t a = 0; a < table.card; ++a)
            cells += (*half_)(static_cast<std::int64_t>(table.counts[u * table.card + a]));
        score += cells - (*total)(static_cast<std::int64_t>(table.sizes[u]));
    }
    return score;
}

double FullTable::operator()(const PairCells& cells, std::size_t n_groups, std::size_t card_x,
                             std::size_t card_y) const {
    const auto total = tables_->rising_log_gamma(0.5 * static_cast<double>(card_x));
    double score = 0.0;
    for (std::size_t u = 0; u < n_groups; ++u) {
        for (std::size_t b = 0; b < card_y; ++b) {
            double sum = 0.0, size = 0.0;
            for (std::size_t a = 0; a < card_x; ++a) {
                sum += (*half_)(static_cast<std::int64_t>(cells.at(u, a, b)));
                size += cells.at(u, a, b);
            }
            score += sum - (*total)(static_cast<std::int64_t>(size));
        }
    }
    return score;
}

}  // namespace mnlearn
