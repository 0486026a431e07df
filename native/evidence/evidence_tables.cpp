#include "evidence/evidence_tables.hpp"

#include <numeric>

#include "scan/candidates.hpp"
#include "scan/stratum_table.hpp"

namespace mnlearn {
namespace {

constexpr double kRowNanoseconds = 0.8;           // one y, row by row, a row
constexpr std::size_t kMostSets = 1 << 12;        // of bits, of (z, x)
constexpr std::size_t kCountsTogether = 1 << 18;  // of the y that are counted together

}  // namespace

void PairTable::clear(std::size_t states_x, std::size_t states_y) {
    of_x.clear(states_x);
    group.clear();
    state.clear();
    card_y = states_y;
}

void turn(const PairTable& pair, PairTable& turned) {
    const std::size_t card_x = pair.of_x.card, card_y = pair.card_y;
    turned.clear(card_y, card_x);
    std::vector<double> cells(card_x * card_y);
    for (std::size_t t = 0; t < pair.group.size();) {
        const std::uint32_t u = pair.group[t];
        std::fill(cells.begin(), cells.end(), 0.0);
        for (; t < pair.group.size() && pair.group[t] == u; ++t)
            for (std::size_t a = 0; a < card_x; ++a) cells[a * card_y + pair.state[t]] = pair.of_x[t][a];
        for (std::size_t a = 0; a < card_x; ++a) {
            if (!turned.of_x.add_group(cells.data() + a * card_y, 1)) continue;
            turned.group.push_back(u);
            turned.state.push_back(static_cast<std::uint32_t>(a));
        }
    }
}

void sum_out_x(const PairTable& pair, GroupedTable& of_y) {
    of_y.clear(pair.card_y);
    std::vector<double> sums(pair.card_y);
    for (std::size_t t = 0; t < pair.group.size();) {
        const std::uint32_t u = pair.group[t];
        std::fill(sums.begin(), sums.end(), 0.0);
        for (; t < pair.group.size() && pair.group[t] == u; ++t) sums[pair.state[t]] = pair.of_x.sizes[t];
        of_y.add_group(sums.data(), 1);
    }
}

void zero_lane(const PairTable& pair, std::vector<double>& zero) {
    zero.assign(2 * kFitLanes * (pair.group.empty() ? 0 : pair.group.back() + 1), 0.0);
    for (std::size_t t = 0; t < pair.group.size(); ++t)
        for (std::size_t a = 0; a < 2 && pair.state[t] == 0; ++a)
            zero[(2 * pair.group[t] + a) * kFitLanes] = pair.of_x[t][a];
}

void ScanTables::begin(const EvidenceScan& scan) {
    scan_ = scan;
    planes_.reset();
    strata_.count = 0;
    design_.n_features = 1;
    design_.n_neighbours = 0;
    design_.members.clear();
    if (by_planes())
        number_by_planes();
    else
        number_rows();
}

// Bit-planes, where splitting them by every configuration of z and x takes less time than a look at every row.
bool ScanTables::by_planes() const {
    if (!store_.has_planes(static_cast<std::size_t>(scan_.x))) return false;
    double sets = column(scan_.x).card;
    for (const std::int32_t v : scan_.z) {
        if (!store_.has_planes(static_cast<std::size_t>(v))) return false;
        sets *= column(v).card;
    }
    const double planes = column(scan_.x).card - 1;  // of a y like x
    return sets <= kMostSets &&
           sets * planes * store_.level().tree_word / 64.0 < kRowNanoseconds * std::min(planes, 2.0);
}

std::vector<std::uint32_t> ScanTables::ranks(std::int32_t variable) const {
    if (complete(variable)) return {};
    std::vector<std::uint32_t> rank(card(variable), 0);
    with_codes(column(variable), [&](auto code) {
        for (std::size_t row = 0; row < store_.n_records(); ++row) rank[code(row)] = 1;
    });
    std::uint32_t next = 0;
    for (std::uint32_t& each : rank) each = each ? next++ : 0;
    return rank;
}

void ScanTables::number_by_planes() {
    planes_.emplace(sets_from_planes(store_, scan_.x, scan_.z));
    const std::size_t n_groups = planes_->strata.count, card_x = card(scan_.x);
    rank_x_ = ranks(scan_.x);
    of_x_.clear(states(scan_.x));
    sums_.resize(card_x);
    for (std::size_t u = 0; u < n_groups; ++u) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        for (std::size_t a = 0; a < card_x; ++a)
            if (const std::int64_t size = planes_->x.sizes[u * card_x + a])
                sums_[rank_x_.empty() ? a : rank_x_[a]] = static_cast<double>(size);
        of_x_.add_group(sums_.data(), 1);
    }
    design_.n_groups = n_groups;
    for (const std::int32_t v : scan_.z) design_.add_neighbour(std::max<std::size_t>(states(v), 1));
    design_.states.resize(n_groups * scan_.z.size());
    std::vector<std::uint32_t> code(n_groups), rest = planes_->numbers;  // the last variable is the fastest digit
    for (std::size_t i = scan_.z.size(); i-- > 0;) {
        const auto base = static_cast<std::uint32_t>(card(scan_.z[i]));
        for (std::size_t u = 0; u < n_groups; ++u) {
            code[u] = rest[u] % base;
            rest[u] /= base;
        }
        read_states(code, scan_.z[i], i);
    }
}

void ScanTables::read_states(const std::vector<std::uint32_t>& code_of_group, std::int32_t variable, std::size_t i) {
    const std::vector<std::uint32_t> rank = ranks(variable);
    std::uint32_t* mine = design_.states.data() + i * design_.n_groups;
    for (std::size_t u = 0; u < design_.n_groups; ++u)
        mine[u] = rank.empty() ? code_of_group[u] : rank[code_of_group[u]];
}

void ScanTables::number_rows() {
    strata_ = find_strata(store_, scan_.z);
    lists_ = list_rows(store_, strata_);
    if (planes_) return;  // the groups are known; only their rows were missing
    const std::size_t n_groups = strata_.count, n_rows = store_.n_records();
    rank_x_ = ranks(scan_.x);
    of_x_.clear(states(scan_.x));
    of_x_.n_groups = n_groups;
    of_x_.counts.assign(n_groups * of_x_.stride(), 0.0);
    of_x_.sizes.assign(strata_.sizes.begin(), strata_.sizes.end());
    keys_.resize(n_rows);
    with_codes(column(scan_.x), [&](auto code) {
        for (std::size_t row = 0; row < n_rows; ++row) {
            const std::uint32_t a = rank_x_.empty() ? code(row) : rank_x_[code(row)];
            of_x_.counts[strata_[row] * of_x_.stride() + a] +=
                store_.repeats() ? static_cast<double>(store_.repeats()[row]) : 1.0;
            keys_[row] = 2 * strata_[row] + a;
        }
    });
    design_.n_groups = n_groups;
    for (const std::int32_t v : scan_.z) design_.add_neighbour(std::max<std::size_t>(states(v), 1));
    design_.states.resize(n_groups * scan_.z.size());
    std::vector<std::uint32_t> code(n_groups);
    for (std::size_t i = 0; i < scan_.z.size(); ++i) {
        for (std::size_t u = 0; u < n_groups; ++u) code[u] = column(scan_.z[i])[lists_.rows[lists_.begin[u]]];
        read_states(code, scan_.z[i], i);
    }
}

std::vector<ScanTables::Counted> ScanTables::count_blocks(std::span<const std::size_t> places) const {
    std::vector<std::size_t> sorted(places.begin(), places.end());
    const auto plane = [&](std::size_t j) { return store_.first_plane(scan_.ys[j]); };
    const auto before = [&](std::size_t i, std::size_t j) { return plane(i) < plane(j); };
    if (!std::is_sorted(sorted.begin(), sorted.end(), before)) std::sort(sorted.begin(), sorted.end(), before);
    const std::size_t together =
        std::max<std::size_t>(kFitLanes, kCountsTogether / std::max<std::size_t>(1, planes_->x.n_sets()));
    std::vector<Counted> blocks;
    std::vector<std::int32_t> ys;
    for (std::size_t k = 0; k < sorted.size(); k += together) {
        Counted& block = blocks.emplace_back();
        block.places.assign(sorted.begin() + static_cast<std::ptrdiff_t>(k),
                            sorted.begin() + static_cast<std::ptrdiff_t>(std::min(k + together, sorted.size())));
        ys.clear();
        for (const std::size_t j : block.places) ys.push_back(scan_.ys[j]);
        block.columns = plane_columns(store_, ys);
    }
    return blocks;
}

void ScanTables::fill_lane(std::size_t lane, std::int32_t y) {
    rank_y_ = ranks(y);
    std::vector<double> one(card(y), 0.0);  // for the first state; a look-up, since a branch would be mispredicted
    for (std::size_t b = 0; b < one.size(); ++b) one[b] = rank_y_.empty() ? b == 0 : rank_y_[b] == 0;
    double* zero = zero_.data() + lane;
    const std::int64_t* repeats = store_.repeats();
    with_codes(column(y), [&](auto code) {
        if (repeats)
            for (std::size_t row = 0; row < keys_.size(); ++row)
                zero[keys_[row] * kFitLanes] += one[code(row)] * static_cast<double>(repeats[row]);
        else
            for (std::size_t row = 0; row < keys_.size(); ++row) zero[keys_[row] * kFitLanes] += one[code(row)];
    });
}

void ScanTables::fill_pair(std::int32_t y, const CountedY& counted) {
    const std::size_t card_x = card(scan_.x), card_y = card(y), sets = card_x * counted.stride;
    rank_y_ = ranks(y);
    pair_.clear(states(scan_.x), states(y));
    cells_.resize(card_x * card_y);
    CountedY at = counted;
    for (std::size_t u = 0; u < planes_->strata.count; ++u, at.counts += sets) {
        fill_table(planes_->x, u, at, cells_.data());
        emit(u, cells_.data(), y);
    }
}

void ScanTables::fill_pair(std::int32_t y) {
    const std::size_t card_y = card(y);
    rank_y_ = ranks(y);
    pair_.clear(states(scan_.x), states(y));
    cells_.assign(card(scan_.x) * card_y, 0);
    with_codes(column(scan_.x), [&](auto code_x) {
        with_codes(column(y), [&](auto code_y) {
            for (std::size_t u = 0; u < strata_.count; ++u) {
                const std::span rows(lists_.rows.data() + lists_.begin[u], lists_.begin[u + 1] - lists_.begin[u]);
                for (const std::uint32_t row : rows)
                    cells_[code_x(row) * card_y + code_y(row)] += store_.repeats() ? store_.repeats()[row] : 1;
                if (rows.size() == 1)
                    emit_alone(u, code_x(rows[0]), code_y(rows[0]), cells_[code_x(rows[0]) * card_y + code_y(rows[0])]);
                else
                    emit(u, cells_.data(), y);
                for (const std::uint32_t row : rows) cells_[code_x(row) * card_y + code_y(row)] = 0;
            }
        });
    });
}

// A group of one row, however often it occurs.
void ScanTables::emit_alone(std::size_t u, std::uint32_t a, std::uint32_t b, std::int64_t count) {
    GroupedTable& table = pair_.of_x;
    table.counts.resize((table.n_groups + 1) * table.stride(), 0.0);
    table.counts[table.n_groups * table.stride() + (rank_x_.empty() ? a : rank_x_[a])] = static_cast<double>(count);
    table.sizes.push_back(static_cast<double>(count));
    ++table.n_groups;
    pair_.group.push_back(static_cast<std::uint32_t>(u));
    pair_.state.push_back(rank_y_.empty() ? b : rank_y_[b]);
}

void ScanTables::emit(std::size_t u, const std::int64_t* cells, std::int32_t y) {
    const std::size_t card_x = card(scan_.x), card_y = card(y), n_x = pair_.of_x.card;
    sums_.resize(std::max(n_x, sums_.size()));
    for (std::size_t b = 0; b < card_y; ++b) {
        std::fill_n(sums_.begin(), n_x, 0.0);
        for (std::size_t a = 0; a < card_x; ++a)
            if (const std::int64_t count = cells[a * card_y + b])
                sums_[rank_x_.empty() ? a : rank_x_[a]] = static_cast<double>(count);
        if (!pair_.of_x.add_group(sums_.data(), 1)) continue;
        pair_.group.push_back(static_cast<std::uint32_t>(u));
        pair_.state.push_back(rank_y_.empty() ? static_cast<std::uint32_t>(b) : rank_y_[b]);
    }
}

FullTable::FullTable(LogTables& tables, std::int64_t n_rows)
    : tables_(&tables), half_(tables_->rising_log_gamma(0.5)), one_(tables_->rising_log_gamma(1.0)), n_rows_(n_rows) {}

double FullTable::operator()(const GroupedTable& table) const {
    const auto total = tables_->rising_log_gamma(0.5 * static_cast<double>(table.card));
    double score = 0.0;
    for (std::size_t u = 0; u < table.n_groups; ++u) {
        double cells = 0.0;
        for (std::size_t a = 0; a < table.card; ++a) cells += (*half_)(static_cast<std::int64_t>(table[u][a]));
        score += cells - (*total)(static_cast<std::int64_t>(table.sizes[u]));
    }
    return score;
}

double FullTable::bound(const GroupedTable& table) const {
    const auto total = tables_->rising_log_gamma(0.5 * static_cast<double>(table.card));
    double score = 0.0;
    for (std::size_t u = 0; u < table.n_groups; ++u) {
        for (std::size_t a = 0; a < table.card; ++a) {
            const auto count = static_cast<std::int64_t>(table[u][a]);
            score += (*half_)(count) - (*total)(count);
        }
    }
    return score;
}

void FullTable::binary(const ConditionalKernels& kernels, const GroupedTable& of_x, const double* zero,
                       double* score) const {
    if (half_->covers(n_rows_) && one_->covers(n_rows_))
        return kernels.binary_tables({of_x.counts.data(), of_x.stride(), zero, of_x.n_groups, half_->unchecked().table,
                                      one_->unchecked().table, score});
    const auto of = [](const RisingLogGamma& table, double count) { return table(static_cast<std::int64_t>(count)); };
    std::fill_n(score, kFitLanes, 0.0);
    for (std::size_t u = 0; u < of_x.n_groups; ++u) {
        const double n0 = of_x[u][0], n1 = of_x[u][1];
        for (std::size_t k = 0; k < kFitLanes; ++k) {
            const double c0 = zero[16 * u + k], c1 = zero[16 * u + 8 + k];
            score[k] += (of(*half_, c0) + of(*half_, c1) - of(*one_, c0 + c1)) +
                        (of(*half_, n0 - c0) + of(*half_, n1 - c1) - of(*one_, n0 + n1 - c0 - c1));
        }
    }
}

}  // namespace mnlearn
