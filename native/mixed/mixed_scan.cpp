#include "mixed/mixed_scan.hpp"

#include <algorithm>
#include <cmath>

namespace mnlearn {
namespace {

std::vector<std::int32_t> joined(std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> all(z.begin(), z.end());
    all.push_back(x);
    return all;
}

}  // namespace

MixedScan::MixedScan(const MixedData& data, bool three_way)
    : data_(data),
      three_way_(three_way),
      kernels_(*data.level().conditional),
      full_(data.log_tables(), data.n_rows()),
      readings_{Regression(data), Regression(data)},
      refit_(data) {}

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
    tables_made_ = made_[0] = made_[1] = false;
}

bool MixedScan::categorical(std::int32_t x, std::span<const std::int32_t> members) const {
    return !numeric(x) && std::ranges::none_of(members, [&](std::int32_t v) { return numeric(v); });
}

bool MixedScan::any_ordinal(std::int32_t x, std::span<const std::int32_t> members) const {
    return data_[x].ordered() || std::ranges::any_of(members, [&](std::int32_t v) { return data_[v].ordered(); });
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
    tables.empty_pairwise = empty_evidence(kernels_, margin);
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

MixedScan::Values MixedScan::local(std::int32_t x, std::span<const std::int32_t> members, const Frame& frame,
                                   bool with_moment, bool need_ordered, bool warm) {
    Values found;
    if (members.empty() || data_[x].constant) {
        found.ordered = 0.0;
        return found;
    }
    const bool tables = categorical(x, members), ordinal = any_ordinal(x, members);
    if (tables) {
        make_tables(x, members, frame, other_);
        found.full = full_(other_.of_x) - other_.empty_full - other_.gift;
        if (fit_pairwise(other_, nullptr, three_way_))
            found.pairwise = other_.model.log_evidence() - other_.empty_pairwise;
        else
            ++fell_back_;
    }
    for (const Reading reading : {Reading::ordered, Reading::nominal}) {
        const bool ordered = reading == Reading::ordered;
        if (tables ? !ordered || !(ordinal || need_ordered) : !ordered && !ordinal) continue;
        const Regression* start = warm && made_[!ordered] ? &readings_[!ordered] : nullptr;
        if (refit_.fit(x, members, reading, frame, start))
            (ordered ? found.ordered : found.nominal) =
                refit_.log_evidence() + (with_moment ? refit_.moment_of_last() : 0.0);
        else
            ++fell_back_;
    }
    return found;
}

double MixedScan::base() {
    if (!base_) {
        const Values found = local(x_, z_, frame_, false, false, false);
        base_ = found.best() > -HUGE_VAL ? found.best() : 0.0;
    }
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
        before = local(x_, z_, frame, false, false, false).best();
    }
    members_.push_back(y);
    group_rows(data_, members_, frame);
    const double after = local(x_, members_, frame, with_moment, false, true).best();
    if (!(before > -HUGE_VAL) || !(after > -HUGE_VAL)) return {};
    return {after - before, true};
}

double MixedScan::without(std::size_t i) {
    members_.assign(z_.begin(), z_.end());
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
    Frame frame;
    frame.rows = frame_.rows;
    group_rows(data_, members_, frame);
    const double found = local(x_, members_, frame, false, false, false).best();
    return found > -HUGE_VAL ? found - base() : 0.0;
}

// ---- estimates

Regression* MixedScan::regression(Reading reading) {
    const std::size_t k = reading == Reading::nominal;
    if (!made_[k]) {
        if (!readings_[k].fit(x_, z_, reading, frame_)) ++fell_back_;
        made_[k] = true;
    }
    return readings_[k].fitted() ? &readings_[k] : nullptr;
}

MixedScan::Tables* MixedScan::base_tables() {
    if (!tables_made_) {
        make_tables(x_, z_, frame_, tables_);
        fit_pairwise(tables_, nullptr, false);
        tables_made_ = true;
    }
    return &tables_;
}

// F and P of x given z and y to first order, and given z, on the rows in which y is observed.
void MixedScan::estimate_tables(std::int32_t y, Values& without, Values& with) {
    Tables& base = *base_tables();
    const MixedColumn &column = data_[x_], &other = data_[y];
    const std::size_t card_x = column.card, card_y = other.card, n = frame_.rows.size();
    number_.assign(frame_.n_groups * card_y, 0);
    bool lacks = false;
    for (std::size_t k = 0; k < n; ++k) {
        const std::uint16_t b = other.states[frame_.rows[k]];
        if (b == kMissingState)
            lacks = true;
        else
            number_[frame_.group_at(k) * card_y + b] = 1;
    }
    pair_.clear(card_x, card_y);
    for (std::size_t key = 0; key < number_.size(); ++key) {
        if (!number_[key]) continue;
        number_[key] = static_cast<std::uint32_t>(pair_.group.size());
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
        const std::size_t t = number_[frame_.group_at(k) * card_y + b];
        of_x.counts[t * of_x.stride() + column.states[row]] += data_.weight(row);
        of_x.sizes[t] += data_.weight(row);
    }
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
        if (base.model.fitted()) fit_pairwise(other_, &base.model, false);
        mine = &other_;
    }
    without.full = z_.empty() ? 0.0 : full_(mine->of_x) - mine->empty_full - mine->gift;
    with.full = full_(of_x) - mine->empty_full - mine->gift;
    if (!mine->model.fitted()) return;
    without.pairwise = mine->model.log_evidence() - mine->empty_pairwise;
    if (mine->design.n_features * (card_x - 1) + (card_y - 1) * (card_x - 1) > kMaxParameters) return;
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
    members_.assign(z_.begin(), z_.end());
    members_.push_back(y);
    const bool tables_before = categorical(x_, z_), tables_after = tables_before && !numeric(y);
    const bool ordinal = any_ordinal(x_, members_);
    Values before, after;
    if (tables_after) estimate_tables(y, before, after);
    if (!tables_after || ordinal) {
        for (const Reading reading : {Reading::ordered, Reading::nominal}) {
            const bool ordered = reading == Reading::ordered;
            if (!ordered && (tables_after || !ordinal)) continue;
            Regression* model = regression(reading);
            if (!model) continue;
            const Rise rise = model->rise(y);
            if (rise.without == 0.0 && rise.with == 0.0 && !rise.fitted) continue;
            (ordered ? before.ordered : before.nominal) = rise.without;
            if (rise.fitted) (ordered ? after.ordered : after.nominal) = rise.with + (with_moment ? rise.moment : 0.0);
        }
    }
    if (tables_before && !tables_after && !z_.empty() && !data_[y].gaps) {
        before.pairwise = std::max(before.pairwise, base());  // the tables of z may explain x better
    }
    if (!(before.best() > -HUGE_VAL) || !(after.best() > -HUGE_VAL)) return {0.0, false};
    return {after.best() - before.best(), numeric(x_)};
}

}  // namespace mnlearn
