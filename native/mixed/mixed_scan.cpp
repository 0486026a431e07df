#include "mixed/mixed_scan.hpp"

#include <algorithm>
#include <cmath>

namespace mnlearn {
namespace {

constexpr std::size_t kMostRemembered = 2048;  // variables: 34 MB
constexpr float kUnknown = 1e30f;
constexpr std::size_t kCellsARow = 8;  // tables of more cells are counted by the configurations that occur
constexpr std::size_t kFewRows = 20;   // rows that lack y are few, if they are at most a twentieth of all
constexpr double kNearFit = 3.0;       // how far apart the estimate without a member and its fit may lie
constexpr double kNearlyAsGood = 6.0;  // of log evidence

std::vector<std::int32_t> joined(std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> all(z.begin(), z.end());
    all.push_back(x);
    return all;
}

}  // namespace

PairReadings::PairReadings(const MixedData& data)
    : data_(data), known_(data.n_variables() <= kMostRemembered ? 2 * data.n_variables() * data.n_variables() : 0) {
    for (std::atomic<float>& each : known_) each.store(kUnknown, std::memory_order_relaxed);
}

PairReadings::Evidence PairReadings::compare(std::int32_t x, std::int32_t z, Regression& room) const {
    Frame frame;
    const std::int32_t both[] = {x, z};
    frame.rows = observed_rows(data_, both);
    group_rows(data_, {&z, 1}, frame);
    Evidence found;
    const double ordered = room.fit(x, {&z, 1}, Reading::ordered, frame) ? room.log_evidence() : 0.0;
    for (const Reading reading : {Reading::curved, Reading::nominal})
        found.of[static_cast<std::size_t>(reading)] =
            room.fit(x, {&z, 1}, reading, frame) ? room.log_evidence() - ordered : -kUnknown;
    return found;
}

PairReadings::Evidence PairReadings::operator()(std::int32_t x, std::int32_t z, Regression& room) {
    if (!data_[x].ordered() && !data_[z].ordered()) return {};  // the readings are the same
    if (known_.empty()) return compare(x, z, room);
    std::atomic<float>* known =
        known_.data() + 2 * (static_cast<std::size_t>(x) * data_.n_variables() + static_cast<std::size_t>(z));
    if (known[0].load(std::memory_order_acquire) == kUnknown) {
        const Evidence found = compare(x, z, room);
        known[1].store(static_cast<float>(found.of[2]), std::memory_order_relaxed);
        known[0].store(static_cast<float>(found.of[1]), std::memory_order_release);
    }
    return {{0.0, known[0].load(std::memory_order_relaxed), known[1].load(std::memory_order_relaxed)}};
}

MixedScan::MixedScan(const MixedData& data, PairReadings& pairs, bool three_way)
    : data_(data),
      pairs_(pairs),
      three_way_(three_way),
      kernels_(*data.level().conditional),
      full_(data.log_tables(), data.n_rows()),
      readings_{Regression(data), Regression(data), Regression(data)},
      refit_(data),
      pair_room_(data) {}

void MixedScan::begin(std::int32_t x, std::span<const std::int32_t> z) {
    begin(x, z, observed_rows(data_, joined(x, z)));
}

void MixedScan::begin(std::int32_t x, std::span<const std::int32_t> z, std::vector<std::uint32_t> rows) {
    x_ = x;
    z_.assign(z.begin(), z.end());
    frame_.rows = std::move(rows);
    group_rows(data_, z_, frame_);
    base_.reset();
    fell_back_ = 0;
    cells_.clear();
    tables_made_ = pairwise_made_ = made_[0] = made_[1] = made_[2] = false;
}

bool MixedScan::categorical(std::int32_t x, std::span<const std::int32_t> members) const {
    return !numeric(x) && std::ranges::none_of(members, [&](std::int32_t v) { return numeric(v); });
}

bool MixedScan::any_ordinal(std::int32_t x, std::span<const std::int32_t> members) const {
    return data_[x].ordered() || std::ranges::any_of(members, [&](std::int32_t v) { return data_[v].ordered(); });
}

MixedScan::Use MixedScan::models_for(std::int32_t x, std::span<const std::int32_t> members) {
    Use use;
    use.tables = categorical(x, members);
    if (!any_ordinal(x, members)) {
        use.reading[0] = !use.tables;
        use.pairwise = use.tables;
        return use;
    }
    double sums[3] = {};
    for (const std::int32_t v : members) {
        const PairReadings::Evidence found = pairs_(x, v, pair_room_);
        for (std::size_t k = 0; k < 3; ++k) sums[k] += found.of[k];
    }
    const double best = std::max({sums[0], sums[1], sums[2]});
    for (std::size_t k = 0; k < 3; ++k) use.reading[k] = sums[k] > best - kNearlyAsGood;
    use.pairwise = use.tables && use.reading[2];
    if (use.tables) use.reading[2] = false;
    return use;
}

std::size_t MixedScan::lacking(std::int32_t y) const {
    if (!data_[y].gaps) return 0;
    const auto lacks = [&](std::uint32_t row) { return !data_[y].observed(row); };
    return static_cast<std::size_t>(std::ranges::count_if(frame_.rows, lacks));
}

std::vector<std::uint32_t> MixedScan::rows_with(std::int32_t y) const {
    std::vector<std::uint32_t> rows = frame_.rows;
    if (data_[y].gaps) std::erase_if(rows, [&](std::uint32_t row) { return !data_[y].observed(row); });
    return rows;
}

// ---- tables of categorical variables

void MixedScan::set_margin(std::int32_t x, std::span<const double> margin, Tables& tables) const {
    GroupedTable alone;
    alone.clear(data_[x].card);
    if (!alone.add_group(margin.data(), 1)) return;
    tables.empty_full = full_(alone);
    tables.gift = gift_of(alone, tables.empty_full);
    tables.empty_pairwise = margin.size() <= kMaxParameters ? empty_evidence(kernels_, margin) : 0.0;  // else no P
}

void MixedScan::make_tables(std::int32_t x, std::span<const std::int32_t> members, const Frame& frame,
                            Tables& tables) const {
    const MixedColumn& column = data_[x];
    GroupedTable& of_x = tables.of_x;
    of_x.clear(column.card);
    of_x.n_groups = frame.n_groups;
    of_x.counts.assign(frame.n_groups * of_x.stride(), 0.0);
    of_x.sizes.assign(frame.n_groups, 0.0);
    std::vector<double> margin(column.card, 0.0);
    for (std::size_t k = 0; k < frame.rows.size(); ++k) {
        const std::size_t row = frame.rows[k], u = frame.group_at(k), a = column.states[row];
        const double weight = data_.weight(row);
        of_x.counts[u * of_x.stride() + a] += weight;
        of_x.sizes[u] += weight;
        margin[a] += weight;
    }
    Design& design = tables.design;
    design.n_groups = frame.n_groups;
    design.n_features = 1;
    design.n_neighbours = 0;
    design.members.clear();
    design.codings.clear();
    design.states.resize(members.size() * frame.n_groups);
    for (std::size_t i = 0; i < members.size(); ++i) {
        design.add_neighbour(std::max<std::size_t>(data_[members[i]].card, 1));
        for (std::size_t u = 0; u < frame.n_groups; ++u)
            design.states[i * frame.n_groups + u] = data_[members[i]].states[frame.first[u]];
    }
    tables.model.clear();
    set_margin(x, margin, tables);
}

bool MixedScan::fit_pairwise(Tables& tables, const Model* warm, bool three_way) const {
    const std::size_t card = tables.of_x.card;
    if (card > kMaxParameters || tables.design.n_features * (card - 1) > kMaxParameters) return false;
    for (Design::Member& member : tables.design.members) member.precision = 1.0;
    if (!tables.model.fit(kernels_, tables.of_x, tables.design, Contrasts::of(card), warm)) return false;
    if (three_way) tables.model.add_three_way();
    return true;
}

// ---- exact values

// H(x | members) by model, fitted. Warm: the members are those of the scan, and maybe more, in the same order.
MixedScan::Values MixedScan::local(std::span<const std::int32_t> members, const Frame& frame, bool with_moment,
                                   bool warm) {
    Values found;
    if (members.empty() || data_[x_].constant) {
        found.full = 0.0;
        return found;
    }
    const Use use = models_for(x_, members);
    if (use.tables && (use.pairwise || !frame.single())) {
        make_tables(x_, members, frame, other_);
        if (!frame.single()) found.full = full_(other_.of_x) - other_.empty_full - other_.gift;
        if (use.pairwise && fit_pairwise(other_, warm && pairwise_made_ ? &tables_.model : nullptr, three_way_))
            found.pairwise = other_.model.log_evidence() - other_.empty_pairwise;
        else if (use.pairwise)
            ++fell_back_;
    }
    for (std::size_t k = 0; k < 3; ++k) {
        if (!use.reading[k]) continue;
        if (refit_.fit(x_, members, kReadings[k], frame, warm && made_[k] ? &readings_[k] : nullptr))
            found.of[k] = refit_.log_evidence() + (with_moment ? refit_.moment_of_last() : 0.0);
        else
            ++fell_back_;
    }
    return found;
}

double MixedScan::base() {
    if (base_) return *base_;
    Values found;
    if (z_.empty() || data_[x_].constant) {
        found.full = 0.0;
    } else {
        const Use use = models_for(x_, z_);
        if (use.tables && (use.pairwise || !frame_.single())) {
            Tables& tables = base_tables(use.pairwise);
            if (!frame_.single()) found.full = full_(tables.of_x) - tables.empty_full - tables.gift;
            if (use.pairwise && three_way_) {
                make_tables(x_, z_, frame_, other_);
                if (fit_pairwise(other_, &tables.model, true))
                    found.pairwise = other_.model.log_evidence() - other_.empty_pairwise;
            } else if (use.pairwise && tables.model.fitted()) {
                found.pairwise = tables.model.log_evidence() - tables.empty_pairwise;
            }
        }
        for (std::size_t k = 0; k < 3; ++k)
            if (use.reading[k])
                if (const Regression* model = regression(kReadings[k])) found.of[k] = model->log_evidence();
    }
    base_ = found.best() > -HUGE_VAL ? found.best() : 0.0;
    return *base_;
}

MixedScan::Added MixedScan::fitted(std::int32_t y, bool with_moment) {
    if (data_[x_].constant || data_[y].constant) return {};
    Frame frame;
    frame.rows = rows_with(y);
    if (frame.rows.size() < 2) return {};
    const bool same = frame.rows.size() == frame_.rows.size();
    members_.assign(z_.begin(), z_.end());
    double before = 0.0;
    if (same) {
        before = base();
    } else if (!z_.empty()) {
        group_rows(data_, z_, frame);
        before = local(z_, frame, false).best();
    }
    members_.assign(z_.begin(), z_.end());
    members_.push_back(y);
    group_rows(data_, members_, frame);
    const double after = local(members_, frame, with_moment).best();
    if (!(before > -HUGE_VAL) || !(after > -HUGE_VAL)) return {0.0, true, false};
    return {after - before, true};
}

MixedScan::Added MixedScan::without(std::size_t i, double fit_above) {
    if (data_[x_].constant) return {};
    const double before = base();
    const Use use = models_for(x_, z_);
    members_.assign(z_.begin(), z_.end());
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
    Frame frame;
    frame.rows = frame_.rows;
    group_rows(data_, members_, frame);
    const Use rest = models_for(x_, members_);
    bool alike = !use.pairwise && !rest.pairwise && use.tables == rest.tables;  // no model that was not there before
    for (std::size_t k = 0; k < 3; ++k) alike &= use.reading[k] || !rest.reading[k];
    if (z_.size() > 1 && alike) {
        double best = -HUGE_VAL, estimate = 0.0;
        for (std::size_t k = 0; k < 3; ++k)
            if (use.reading[k] && made_[k] && readings_[k].fitted() && readings_[k].log_evidence() > best) {
                best = readings_[k].log_evidence();
                estimate = -readings_[k].member_evidence(i);
            }
        if (rest.tables && !frame.single()) {
            make_tables(x_, members_, frame, other_);
            estimate = std::max(estimate, full_(other_.of_x) - other_.empty_full - other_.gift - before);
        }
        if (best == before && estimate < fit_above - kNearFit) return {estimate, false};
    }
    const double found = local(members_, frame, false, false).best();
    return {found > -HUGE_VAL ? found - before : 0.0, true};
}

double MixedScan::guess(std::int32_t y) {
    if (z_.empty() || numeric(x_) || data_[x_].constant || data_[y].constant) return HUGE_VAL;
    if (lacking(y) * kFewRows > frame_.rows.size()) return HUGE_VAL;
    members_.assign(z_.begin(), z_.end());
    const Use use_before = models_for(x_, members_);
    members_.push_back(y);
    const Use use = models_for(x_, members_);
    if (use.pairwise || use_before.pairwise) return HUGE_VAL;
    double best = -HUGE_VAL;
    for (std::size_t k = 0; k < 3; ++k) {
        if (!use.reading[k]) continue;
        Regression* model = regression(kReadings[k]);
        if (!model || (best = std::max(best, model->log_evidence() + model->guess(y))) == HUGE_VAL) return HUGE_VAL;
    }
    return best - base();
}

double MixedScan::cost(std::int32_t x, std::int32_t y) {
    if (numeric(x) || (categorical(x, z_) && !numeric(y) && !any_ordinal(x, z_) && !data_[y].ordered())) return 0.0;
    const auto width = [&](std::int32_t v) {
        return data_[v].numeric() || data_[v].ordered() ? 1.0 : static_cast<double>(data_[v].card) - 1.0;
    };
    double features = width(y);
    for (const std::int32_t v : z_) features += width(v);
    const double size = static_cast<double>(data_[x].card) - 1.0 + features * width(x);
    return size * size * static_cast<double>(frame_.rows.size());
}

// ---- estimates

Regression* MixedScan::regression(Reading reading) {
    const auto k = static_cast<std::size_t>(reading);
    if (!made_[k]) {
        if (!readings_[k].fit(x_, z_, reading, frame_)) ++fell_back_;
        made_[k] = true;
    }
    return readings_[k].fitted() ? &readings_[k] : nullptr;
}

MixedScan::Tables& MixedScan::base_tables(bool pairwise) {
    if (!tables_made_) make_tables(x_, z_, frame_, tables_);
    tables_made_ = true;
    if (pairwise && !pairwise_made_) {
        fell_back_ += !fit_pairwise(tables_, nullptr, false);
        pairwise_made_ = true;
    }
    return tables_;
}

// The table of (z, x, y) into pair_; returns whether y is missing in some rows, which are left out.
bool MixedScan::count_pair(std::int32_t y) {
    const std::size_t card_x = data_[x_].card, line = data_[y].card + 1;
    pair_.clear(card_x, data_[y].card);
    return frame_.n_groups * card_x * line > kCellsARow * frame_.rows.size() ? count_entries(y) : count_cells(y);
}

// Few cells: all of them, in one pass over the rows.
bool MixedScan::count_cells(std::int32_t y) {
    const MixedColumn &column = data_[x_], &other = data_[y];
    const std::size_t card_x = column.card, card_y = other.card, n = frame_.rows.size(), line = card_y + 1;
    if (cells_.empty()) {
        cells_.resize(n);
        for (std::size_t k = 0; k < n; ++k)
            cells_[k] = static_cast<std::uint32_t>(frame_.group_at(k) * card_x + column.states[frame_.rows[k]]);
    }
    counts_.assign(frame_.n_groups * card_x * line, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t row = frame_.rows[k], b = std::min<std::size_t>(other.states[row], card_y);
        counts_[cells_[k] * line + b] += data_.weight(row);
    }
    bool lacks = false;
    for (std::size_t u = 0; u < frame_.n_groups; ++u) {
        const double* mine = counts_.data() + u * card_x * line;
        for (std::size_t a = 0; a < card_x; ++a) lacks |= mine[a * line + card_y] > 0.0;
        for (std::size_t b = 0; b < card_y; ++b) {
            if (!pair_.of_x.add_group(mine + b, line)) continue;
            pair_.group.push_back(static_cast<std::uint32_t>(u));
            pair_.state.push_back(static_cast<std::uint32_t>(b));
        }
    }
    return lacks;
}

// Many cells, most of them empty: only the configurations of z and y that occur.
bool MixedScan::count_entries(std::int32_t y) {
    const MixedColumn &column = data_[x_], &other = data_[y];
    const std::size_t card_y = other.card, n = frame_.rows.size();
    bool lacks = false;
    numbers_.assign(frame_.n_groups * card_y, 0);
    for (std::size_t k = 0; k < n; ++k) {
        const std::uint16_t b = other.states[frame_.rows[k]];
        if (b == kMissingState)
            lacks = true;
        else
            numbers_[frame_.group_at(k) * card_y + b] = 1;
    }
    for (std::size_t key = 0; key < numbers_.size(); ++key) {
        if (!numbers_[key]) continue;
        numbers_[key] = static_cast<std::uint32_t>(pair_.group.size());
        pair_.group.push_back(static_cast<std::uint32_t>(key / card_y));
        pair_.state.push_back(static_cast<std::uint32_t>(key % card_y));
    }
    GroupedTable& of_x = pair_.of_x;
    of_x.n_groups = pair_.group.size();
    of_x.counts.assign(of_x.n_groups * of_x.stride(), 0.0);
    of_x.sizes.assign(of_x.n_groups, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t row = frame_.rows[k], b = other.states[row];
        if (b == kMissingState) continue;
        const std::size_t t = numbers_[frame_.group_at(k) * card_y + b];
        of_x.counts[t * of_x.stride() + column.states[row]] += data_.weight(row);
        of_x.sizes[t] += data_.weight(row);
    }
    return lacks;
}

// F and P of x given z and y to first order, and given z, on the rows in which y is observed.
void MixedScan::estimate_tables(std::int32_t y, bool pairwise, Values& without, Values& with) {
    Tables& base = base_tables(pairwise);
    const std::size_t card_x = data_[x_].card;
    const bool lacks = count_pair(y);
    const GroupedTable& of_x = pair_.of_x;
    const std::size_t card_y = data_[y].card;
    Tables* mine = &base;
    if (lacks) {
        other_.of_x.clear(card_x);
        other_.of_x.n_groups = frame_.n_groups;
        other_.of_x.counts.assign(frame_.n_groups * of_x.stride(), 0.0);
        other_.of_x.sizes.assign(frame_.n_groups, 0.0);
        std::vector<double> margin(card_x, 0.0);
        for (std::size_t t = 0; t < of_x.n_groups; ++t) {
            const std::size_t u = pair_.group[t];
            other_.of_x.sizes[u] += of_x.sizes[t];
            for (std::size_t a = 0; a < card_x; ++a) {
                other_.of_x.counts[u * of_x.stride() + a] += of_x[t][a];
                margin[a] += of_x[t][a];
            }
        }
        other_.design = base.design;
        set_margin(x_, margin, other_);
        other_.model.clear();
        if (pairwise && base.model.fitted()) fell_back_ += !fit_pairwise(other_, &base.model, false);
        mine = &other_;
    }
    if (z_.empty()) without.full = 0.0;
    if (!frame_.single()) {
        if (!z_.empty()) without.full = full_(mine->of_x) - mine->empty_full - mine->gift;
        with.full = full_(of_x) - mine->empty_full - mine->gift;
    }
    if (!pairwise || !mine->model.fitted()) return;
    without.pairwise = mine->model.log_evidence() - mine->empty_pairwise;
    if (mine->design.n_features * (card_x - 1) + (card_y - 1) * (card_x - 1) > kMaxParameters) {
        ++fell_back_;
        return;
    }
    const std::size_t line = in_lanes(card_x - 1);
    surplus_.resize(pair_.group.size() * line);
    for (std::size_t t = 0; t < pair_.group.size(); ++t)
        mine->model.mode().surplus_of(pair_.group[t], of_x[t], surplus_.data() + t * line);
    const Entries entries{pair_.group.size(), pair_.group.data(), pair_.state.data(), of_x.sizes.data(),
                          surplus_.data()};
    with.pairwise = without.pairwise + mine->model.mode().gain(entries, {card_y, card_y - 1, Contrasts::of(card_y)[0]});
}

MixedScan::Added MixedScan::estimate(std::int32_t y, bool with_moment) {
    if (data_[x_].constant || data_[y].constant) return {};
    const std::size_t n_lacking = lacking(y), n_rows = frame_.rows.size();
    if (n_lacking + 2 > n_rows) return {};
    members_.assign(z_.begin(), z_.end());
    const Use use_before = models_for(x_, members_);
    members_.push_back(y);
    const Use use = models_for(x_, members_);
    const bool lacks = data_[y].gaps, pairwise = use.pairwise || (lacks && use_before.pairwise);
    Values before, after;
    if (use.tables && (pairwise || !frame_.single())) estimate_tables(y, pairwise, before, after);
    if (!use.pairwise) after.pairwise = -HUGE_VAL;
    for (std::size_t k = 0; k < 3; ++k) {
        if (!use.reading[k] && !(lacks && use_before.reading[k])) continue;
        Regression* model = regression(kReadings[k]);
        if (!model) continue;
        const Rise rise = model->rise(y);
        if (rise.without == 0.0 && rise.with == 0.0 && !rise.fitted) continue;
        before.of[k] = rise.without;
        fell_back_ += !rise.fitted;
        if (rise.fitted && use.reading[k]) after.of[k] = rise.with + (with_moment ? rise.moment : 0.0);
    }
    const double without = lacks ? before.best() : base();
    if (!(without > -HUGE_VAL) || !(after.best() > -HUGE_VAL)) return {0.0, false, false};
    return {after.best() - without, numeric(x_), true, !numeric(x_) && n_lacking * kFewRows > n_rows};
}

}  // namespace mnlearn
