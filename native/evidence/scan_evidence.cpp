#include "evidence/scan_evidence.hpp"

#include <cmath>

#include "scan/scan.hpp"
#include "scan/scan_runner.hpp"
#include "scan/ties.hpp"

namespace mnlearn {
namespace {

// How far apart the gains of the two ends may lie: both come from one table, and differ by their models only.
constexpr double kOtherEnd = 1.5;
// How much more than an estimate, which has none, three-way terms may find.
constexpr double kThreeWay = 5.0;
// How much less than its price a product may gain in the model without y, and still pay with y in it.
constexpr double kMasked = 2.0;
// How far apart an estimate of x without a member and its fit may lie.
constexpr double kNearFit = 3.0;

// F as a score of scans: the Dirichlet score by the states of x that occur.
class ObservedDirichlet : public Dirichlet {
public:
    ObservedDirichlet(const Store& store, const Strata& strata, double n_states)
        : Dirichlet(0.5, false, {store.n_rows(), strata.count, 0.0, 0.0}, store.log_tables()),
          n_states_(static_cast<std::uint32_t>(n_states)) {}
    Prepared prepare(std::uint32_t, std::uint32_t ry, std::span<const std::int64_t> sizes) const {
        return Dirichlet::prepare(n_states_, ry, sizes);
    }

private:
    std::uint32_t n_states_;
};

}  // namespace

ScanEvidence::ScanEvidence(const Store& store, const VariableFacts& facts, bool three_way)
    : store_(store),
      facts_(facts),
      three_way_(three_way),
      kernels_(*store.level().conditional),
      full_(store),
      tables_(store, facts) {}

void ScanEvidence::begin(const EvidenceScan& scan) {
    scan_ = scan;
    tables_.begin(scan);
    design_ = tables_.design();
    model_.clear();
    base_ = fit(tables_.of_x(), design_, scan.x, scan.z.empty(), model_, nullptr);
    if (three_way_ && model_.fitted()) {
        model_.add_three_way();
        base_.pairwise = model_.log_evidence() + offset(scan.x);
    }
    tables_matter_ = !model_.fitted() || full_.bound(tables_.of_x()) - gift(scan.x) > base_.pairwise;
}

bool ScanEvidence::too_wide(std::int32_t v, std::int32_t other) const {
    const std::size_t width = std::max<std::size_t>(states(v), 1) - 1;
    return (tables_.design().n_features + std::max<std::size_t>(states(other), 1) - 1) * width > kMaxParameters;
}

bool ScanEvidence::side_by_side(std::int32_t y) const { return states(scan_.x) == 2 && states(y) == 2; }

// F(v | z + other) less the gift.
double ScanEvidence::full_only(std::int32_t v, std::int32_t other) const {
    const Strata strata = find_strata(store_, scan_.z);
    const ObservedDirichlet scorer(store_, strata, static_cast<double>(states(v)));
    const Column& added = column_of(store_, other);
    const RowScan rows(store_, column_of(store_, v), strata, std::span(&added, 1));
    return rows.score(scorer, scorer.prepare(0, 0, {}), added).first - gift(v);
}

// Both ends by their full tables: no model of z and the other end is narrow enough. That of z alone may be.
ScanEvidence::Weighed ScanEvidence::weigh_tables(std::int32_t y) const {
    ScanEvidence of_y(store_, facts_, three_way_);
    of_y.begin({y, scan_.z, {}});
    const double there = full_only(scan_.x, y) - base_.hybrid(), back = full_only(y, scan_.x) - of_y.base().hybrid();
    return {0.5 * (there + back), true, 2 + of_y.base().fell_back};
}

ScanEvidence::Value ScanEvidence::fit(const GroupedTable& table, Design& design, std::int32_t v, bool given_nothing,
                                      Model& model, const Model* warm) const {
    if (table.card < 2) return {};
    const double full = full_(table) - (given_nothing ? 0.0 : gift(v));
    if (table.card > kMaxParameters || !model.fit(kernels_, table, design, Contrasts::of(table.card), warm))
        return {full, full, true};
    return {full, model.log_evidence() + offset(v), false};
}

// v given z and the other variable of the table, whose configurations are its entries.
void ScanEvidence::fit_joined(const PairTable& pair, std::int32_t v, const Model& before, Joined& joined) const {
    const Design& of_z = tables_.design();
    const std::size_t n = pair.group.size(), m = of_z.members.size();
    Design& design = joined.design;
    design.n_groups = n;
    design.n_features = of_z.n_features;
    design.n_neighbours = of_z.n_neighbours;
    design.members = of_z.members;
    design.codings.clear();
    design.add_neighbour(std::max<std::size_t>(pair.card_y, 1));
    design.states.resize((m + 1) * n);
    joined.model.clear();
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t t = 0; t < n; ++t) design.states[i * n + t] = of_z.states_of(i)[pair.group[t]];
    std::copy(pair.state.begin(), pair.state.end(), design.states.begin() + static_cast<std::ptrdiff_t>(m * n));
    joined.value = fit(pair.of_x, design, v, false, joined.model, &before);
}

void ScanEvidence::add_three_way(Joined& joined, std::int32_t v) const {
    if (!three_way_ || joined.value.fell_back || joined.design.members.empty() || states(v) < 2) return;
    joined.model.add_three_way();
    joined.value.pairwise = joined.model.log_evidence() + offset(v);
}

ScanEvidence::Value ScanEvidence::fitted_addition(const PairTable& pair) {
    fit_joined(pair, scan_.x, model_, with_y_);
    add_three_way(with_y_, scan_.x);
    return with_y_.value;
}

// ---- estimates

template <class Put> void ScanEvidence::estimate_lanes(std::span<const std::size_t> places, Put put) {
    tables_.count_binary(places, [&](std::span<const std::size_t> some, const double* zero) {
        double full[kFitLanes], gain[kFitLanes];
        std::fill_n(full, kFitLanes, -HUGE_VAL);
        if (tables_matter_) full_.binary(kernels_, tables_.of_x(), zero, full);
        model_.mode().binary_gains(zero, gain);
        for (std::size_t k = 0; k < some.size(); ++k)
            put(some[k], Value{full[k] - gift(scan_.x), base_.pairwise + gain[k], false});
    });
}

Entries ScanEvidence::entries_of(const Model& model, const PairTable& pair) {
    const std::size_t line = in_lanes(pair.of_x.card - 1), n = pair.group.size();
    surplus_.resize(n * line);
    for (std::size_t t = 0; t < n; ++t)
        model.mode().surplus_of(pair.group[t], pair.of_x[t], surplus_.data() + t * line);
    return {n, pair.group.data(), pair.state.data(), pair.of_x.sizes.data(), surplus_.data()};
}

// One Newton step from the model of v given z.
ScanEvidence::Value ScanEvidence::estimate(Model& model, const PairTable& pair, std::int32_t v, bool tables_matter) {
    if (pair.of_x.card < 2) return {};
    const double full = tables_matter ? full_(pair.of_x) - gift(v) : -HUGE_VAL;
    if (!model.fitted()) return {full, full, true};
    const double before = model.log_evidence() + offset(v);
    if (pair.card_y < 2) return {full, before, false};
    const CodedBlock block{pair.card_y, pair.card_y - 1, Contrasts::of(pair.card_y)[0]};
    return {full, before + model.mode().gain(entries_of(model, pair), block), false};
}

// A range for the estimate of x's end.
ScanEvidence::Guess ScanEvidence::guess(const PairTable& pair) {
    const double full = tables_matter_ ? full_(pair.of_x) - gift(scan_.x) : -HUGE_VAL;
    if (pair.card_y < 2) return {{full, base_.pairwise, false}, {full, base_.pairwise, false}};
    const CodedBlock block{pair.card_y, pair.card_y - 1, Contrasts::of(pair.card_y)[0]};
    const Fit::Range range = model_.mode().gain_range(entries_of(model_, pair), block);
    return {{full, base_.pairwise + range.lower, false}, {full, base_.pairwise + range.upper, false}};
}

// H(y | z + x) to first order.
double ScanEvidence::estimate_turned(const PairTable& turned, std::int32_t y) {
    if (!side_by_side(y)) return estimate(model_y_, turned, y, true).hybrid();
    double gain[kFitLanes];
    zero_lane(turned, zero_);
    model_y_.mode().binary_gains(zero_.data(), gain);
    return std::max(full_(turned.of_x) - gift(y), model_y_.log_evidence() + offset(y) + gain[0]);
}

// To first order, of the product of y and member i in the model of x.
double ScanEvidence::product_gain(const PairTable& pair, const Entries& entries, std::size_t i) {
    const Design::Member& z = design_.members[i];
    Design both;
    both.add_neighbour(pair.card_y);
    both.add_neighbour(z.card);
    const std::vector<double> coding = both.products(0, 1);
    std::vector<std::uint32_t> states(entries.n_entries);
    for (std::size_t t = 0; t < states.size(); ++t)
        states[t] = entries.state[t] * static_cast<std::uint32_t>(z.card) + design_.states_of(i)[entries.group[t]];
    return model_.mode().gain({entries.n_entries, entries.group, states.data(), entries.rows, entries.surplus},
                              {pair.card_y * z.card, (pair.card_y - 1) * z.width, coding.data()});
}

// Whether y may have a three-way term with a member of z in the model of x; such a term is seen from all three ends.
bool ScanEvidence::may_interact(const PairTable& pair) {
    const std::size_t m = scan_.z.size();
    const double least = three_way_price(m + 1) - kMasked;
    if (!three_way_ || m == 0 || m + 1 > kMostWithProducts || !model_.fitted()) return false;
    const Entries entries = entries_of(model_, pair);
    for (std::size_t i = 0; i < m; ++i) {
        const std::size_t block = (pair.card_y - 1) * design_.members[i].width;
        if (block == 0 || block * (pair.of_x.card - 1) > kWidestProducts) continue;
        if (model_.mode().product_guess(entries, pair.card_y, i) <= least) continue;
        if (product_gain(pair, entries, i) > least) return true;
    }
    return false;
}

// Eight at a time, where y, x and all members of z are binary: the product of y and a member is a binary variable.
template <class Put> void ScanEvidence::interact_lanes(std::span<const std::size_t> places, Put put) {
    const std::size_t m = scan_.z.size();
    tables_.count_binary(places, [&](std::span<const std::size_t> some, const double* zero) {
        double best[kFitLanes], gain[kFitLanes];
        std::fill_n(best, kFitLanes, -HUGE_VAL);
        zero_.resize(2 * kFitLanes * tables_.n_groups());
        for (std::size_t i = 0; i < m; ++i) {
            const std::uint32_t* states = design_.states_of(i);
            for (std::size_t cell = 0; cell < 2 * tables_.n_groups(); ++cell) {
                const double rows = tables_.of_x()[cell / 2][cell % 2];
                for (std::size_t k = 0; k < kFitLanes; ++k) {
                    const double count = zero[cell * kFitLanes + k];
                    zero_[cell * kFitLanes + k] = states[cell / 2] == 0 ? count : rows - count;
                }
            }
            model_.mode().binary_gains(zero_.data(), gain);
            for (std::size_t k = 0; k < kFitLanes; ++k) best[k] = std::max(best[k], gain[k]);
        }
        for (std::size_t k = 0; k < some.size(); ++k) put(some[k], best[k] > three_way_price(m + 1) - kMasked);
    });
}

// ---- questions

void ScanEvidence::additions(bool exact, const AdditionsOutput& out) {
    std::vector<std::size_t> lanes, others;
    const auto put = [&](std::size_t j, const Value& value) {
        out.full_table[j] = value.full_table;
        out.pairwise[j] = value.pairwise;
        out.exact[j] = exact;
        out.fell_back[j] = value.fell_back;
    };
    tables_matter_ = true;
    for (std::size_t j = 0; j < scan_.ys.size(); ++j) {
        const std::int32_t y = scan_.ys[j];
        if (states(scan_.x) > 1 && too_wide(scan_.x, y)) {
            const double full = full_only(scan_.x, y);
            put(j, {full, full, true});
        } else {
            (!exact && side_by_side(y) && model_.fitted() ? lanes : others).push_back(j);
        }
    }
    if (!lanes.empty()) estimate_lanes(lanes, put);
    tables_.count_pairs(others, [&](std::size_t j, const PairTable& pair) {
        put(j, exact ? fitted_addition(pair) : estimate(model_, pair, scan_.x, true));
    });
}

void ScanEvidence::estimate_leaders(std::span<const std::size_t> places, bool guesses, Leading& leading) {
    tables_.count_pairs(places, [&](std::size_t j, const PairTable& pair) {
        leading.status[j] = guesses ? Status::guessed : Status::estimated;
        leading.out.evidence[j] =
            (guesses ? guess(pair).upper : estimate(model_, pair, scan_.x, tables_matter_)).hybrid();
    });
}

// Guesses, estimates, fits: whatever is largest goes on to the next, until the largest is a fit or below the bar.
void ScanEvidence::leaders(double above, const PairsOutput& out) {
    const std::size_t n = scan_.ys.size();
    Leading leading{std::vector<Status>(n, Status::final), out};
    std::vector<std::size_t> lanes, others;
    for (std::size_t j = 0; j < n; ++j) {
        const std::int32_t y = scan_.ys[j];
        const bool constant = states(scan_.x) < 2;
        out.exact[j] = constant || !model_.fitted() || too_wide(scan_.x, y);
        out.evidence[j] = 0.0;
        out.fell_back[j] = !constant && out.exact[j] != 0.0;
        if (out.fell_back[j] != 0.0)
            out.evidence[j] = full_only(scan_.x, y);
        else if (!constant)
            (side_by_side(y) ? lanes : others).push_back(j);
    }
    if (!lanes.empty())
        estimate_lanes(lanes, [&](std::size_t j, const Value& value) {
            out.evidence[j] = value.hybrid();
            leading.status[j] = Status::estimated;
        });
    estimate_leaders(others, !scan_.z.empty(), leading);
    for (std::vector<std::size_t> first; n > 0;) {
        const double best = *std::max_element(out.evidence, out.evidence + n);
        if (!(best > above)) return;
        first.clear();
        Status least = Status::final;
        for (std::size_t j = 0; j < n; ++j)
            if (!exceeds(best, out.evidence[j])) least = std::min(least, leading.status[j]);
        if (least == Status::final) return;
        for (std::size_t j = 0; j < n; ++j)
            if (!exceeds(best, out.evidence[j]) && leading.status[j] == least) first.push_back(j);
        if (least == Status::guessed) {
            estimate_leaders(first, false, leading);
            continue;
        }
        tables_.count_pairs(first, [&](std::size_t j, const PairTable& pair) {
            const Value value = fitted_addition(pair);
            out.evidence[j] = value.hybrid();
            out.exact[j] = 1.0;
            out.fell_back[j] = value.fell_back;
            leading.status[j] = Status::final;
        });
    }
}

void ScanEvidence::pairs(double fit_above, const PairsOutput& out) {
    std::vector<std::size_t> lanes, others, near, doubtful;
    const std::size_t m = scan_.z.size();
    const bool products = three_way_ && m > 0 && m + 1 <= kMostWithProducts && model_.fitted();
    std::vector<double> own_gain(scan_.ys.size(), HUGE_VAL);
    const auto put = [&](std::size_t j, const Weighed& weighed) {
        out.evidence[j] = weighed.evidence;
        out.exact[j] = weighed.exact;
        out.fell_back[j] = weighed.fell_back;
    };
    const auto sort_out = [&](std::size_t j, double gain) {
        own_gain[j] = gain;
        if (gain > fit_above - kOtherEnd)
            near.push_back(j);
        else if (products && gain > fit_above - kOtherEnd - kThreeWay)
            doubtful.push_back(j);
        else
            put(j, {gain, false, 0});
    };
    for (std::size_t j = 0; j < scan_.ys.size(); ++j) {
        const std::int32_t y = scan_.ys[j];
        if (states(scan_.x) < 2 || states(y) < 2)
            put(j, {0.0, true, 0});
        else if (too_wide(scan_.x, y) && too_wide(y, scan_.x))
            put(j, weigh_tables(y));
        else if (fit_above == -HUGE_VAL || !model_.fitted() || too_wide(scan_.x, y))
            near.push_back(j);
        else
            (side_by_side(y) ? lanes : others).push_back(j);
    }
    if (!lanes.empty())
        estimate_lanes(lanes, [&](std::size_t j, const Value& value) { sort_out(j, value.hybrid() - base_.hybrid()); });
    tables_.count_pairs(others, [&](std::size_t j, const PairTable& pair) {
        const Guess range = guess(pair);
        const double least = fit_above - kOtherEnd - (products ? kThreeWay : 0.0);
        if (m > 0 && range.upper.hybrid() - base_.hybrid() <= least)
            put(j, {range.lower.hybrid() - base_.hybrid(), false, 0});
        else
            sort_out(j, estimate(model_, pair, scan_.x, tables_matter_).hybrid() - base_.hybrid());
    });
    const auto decide = [&](std::size_t j, bool interacts) {
        if (interacts)
            near.push_back(j);
        else
            put(j, {own_gain[j], false, 0});
    };
    const bool all_binary = std::ranges::all_of(design_.members, [](const auto& member) { return member.card == 2; });
    std::vector<std::size_t> in_lanes_too, singly;
    for (const std::size_t j : doubtful) (all_binary && side_by_side(scan_.ys[j]) ? in_lanes_too : singly).push_back(j);
    if (!in_lanes_too.empty()) interact_lanes(in_lanes_too, decide);
    tables_.count_pairs(singly, [&](std::size_t j, const PairTable& pair) { decide(j, may_interact(pair)); });
    tables_.count_pairs(
        near, [&](std::size_t j, const PairTable& pair) { put(j, weigh(pair, scan_.ys[j], own_gain[j], fit_above)); });
}

// Both ends. `own_gain`: x's end to first order; infinite where everything is to be fitted.
ScanEvidence::Weighed ScanEvidence::weigh(const PairTable& pair, std::int32_t y, double own_gain, double fit_above) {
    sum_out_x(pair, of_y_);
    turn(pair, turned_);
    design_y_ = tables_.design();
    model_y_.clear();
    Value base_y = fit(of_y_, design_y_, y, scan_.z.empty(), model_y_, nullptr);
    if (three_way_ && !base_y.fell_back) {
        model_y_.add_three_way();
        base_y.pairwise = model_y_.log_evidence() + offset(y);
    }
    const auto mean = [](double x, double base_x, double v, double base_v) { return 0.5 * (x - base_x + v - base_v); };
    if (own_gain < HUGE_VAL && model_y_.fitted() && !too_wide(y, scan_.x)) {
        const double estimate = mean(own_gain, 0.0, estimate_turned(turned_, y), base_y.hybrid());
        if (!(estimate > fit_above) && !(estimate > fit_above - kThreeWay && may_interact(pair)))
            return {estimate, false, base_y.fell_back};
    }
    fit_joined(pair, scan_.x, model_, with_y_);
    fit_joined(turned_, y, model_y_, with_x_);
    const int fell_back = base_y.fell_back + with_y_.value.fell_back + with_x_.value.fell_back;
    add_three_way(with_y_, scan_.x);
    add_three_way(with_x_, y);
    return {mean(with_y_.value.hybrid(), base_.hybrid(), with_x_.value.hybrid(), base_y.hybrid()), true, fell_back};
}

// x given z without each member.
void ScanEvidence::removals(double fit_above, const PairsOutput& out) {
    std::vector<std::int32_t> rest;
    ScanTables tables(store_, facts_);
    ScanEvidence without(store_, facts_, three_way_);
    const bool alike = !three_way_ || scan_.z.size() > kMostWithProducts + 1 || (model_.fitted() && model_.had_room());
    for (std::size_t i = 0; i < scan_.z.size(); ++i) {
        rest.assign(scan_.z.begin(), scan_.z.end());
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        const EvidenceScan smaller{scan_.x, rest, {}};
        if (model_.fitted() && alike && !model_.has_extras() && !rest.empty() && fit_above > -HUGE_VAL) {
            tables.begin(smaller);
            const double full = full_(tables.of_x()) - gift(scan_.x);
            const double estimate = std::max(full, base_.pairwise - model_.mode().member_evidence(i));
            if (estimate <= fit_above - kNearFit) {
                out.evidence[i] = estimate;
                out.exact[i] = out.fell_back[i] = 0.0;
                continue;
            }
        }
        without.begin(smaller);
        const Value& value = without.base();
        out.evidence[i] = value.hybrid();
        out.exact[i] = 1.0;
        out.fell_back[i] = value.fell_back;
    }
}

void full_tables(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, double* out) {
    if (facts.n_states[static_cast<std::size_t>(scan.x)] == column_of(store, scan.x).card) {  // all states occur
        run_scan(store, {KernelName::dirichlet, {0.5, 0.0}}, scan.x, scan.ys, scan.z, 1, out);
        return;
    }
    const Strata strata = find_strata(store, scan.z);
    const ObservedDirichlet scorer(store, strata, facts.n_states[static_cast<std::size_t>(scan.x)]);
    const Query query{store, scan.x, scan.ys, strata, 1, out};
    Scan(query, scorer).run(make_plan(query, Candidates(store, scan.ys)));
}

}  // namespace mnlearn
