#include "evidence/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "evidence/evidence_tables.hpp"
#include "scan/scan.hpp"
#include "scan/scan_runner.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

constexpr double kLargestTable = 1 << 24;          // cells of one (z, x, y); beyond, P is not tried
constexpr double kCellsTogether = 1 << 22;         // of all y whose tables are held at once
constexpr double kLargestConcentration = 1 << 14;  // beyond, a distribution is as good as uniform

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

// ln DM(counts; a, ..., a).
double log_dirichlet(const GroupedTable& table, double a) {
    const double states = static_cast<double>(table.card);
    double sum = std::lgamma(states * a) - std::lgamma(states * a + table.sizes[0]);
    for (std::size_t s = 0; s < table.card; ++s) sum += std::lgamma(a + table.counts[s]) - std::lgamma(a);
    return sum;
}

double gift_of(const GroupedTable& table, double full_table) {
    double best = -table.sizes[0] * std::log(static_cast<double>(table.card));
    for (double a = 1.0; a <= kLargestConcentration; a *= 2.0) best = std::max(best, log_dirichlet(table, a));
    return std::max(0.0, best - full_table);
}

struct Value {
    double full_table, pairwise;  // the full table less the gift
    bool fell_back;
    double hybrid() const { return std::max(full_table, pairwise); }
};

// The evidence of x given z, and of x given z + y for tables handed over one by one.
class Around {
public:
    Around(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, bool three_way)
        : store_(store),
          facts_(facts),
          scan_(scan),
          three_way_(three_way),
          full_(store),
          strata_(find_strata(store, scan.z)),
          plain_(design_of(store, scan.z, strata_, contrasts_)),
          of_x_(groups_of(store, scan.x, strata_)) {
        base_ = fit(of_x_, model_, design_ = plain_, {scan.x, scan.z.empty()}, nullptr);
    }

    const Value& base() const { return base_; }

    template <class Small, class Large> void visit(Small small, Large large) {
        std::vector<std::int32_t> ys;
        std::vector<std::size_t> places;
        double cells = 0.0;
        for (std::size_t j = 0; j < scan_.ys.size(); ++j) {
            const double mine = cells_of(scan_.ys[j]);
            if (mine > kLargestTable) {
                large(j);
                continue;
            }
            if (!ys.empty() && cells + mine > kCellsTogether) collect(ys, places, cells, small);
            ys.push_back(scan_.ys[j]);
            places.push_back(j);
            cells += mine;
        }
        if (!ys.empty()) collect(ys, places, cells, small);
    }

    // F(x | z + y) and F(y | z + x) alone, less the gifts, when the table is too large for more.
    std::pair<double, double> full_only(std::int32_t y) const { return {full_only(scan_.x, y), full_only(y, scan_.x)}; }

    // x given z + y: the one-step estimate, or fitted.
    Value added(const PairTable& pair, bool exact) {
        return exact ? fitted(pair.seen_from_x(), pair.card_x, pair.card_y, scan_.x, model_)
                     : estimated(pair.seen_from_x(), pair.card_x, pair.card_y, scan_.x, design_, model_, base_);
    }

    struct Pair {
        double evidence;
        bool exact;
        int fell_back;
    };
    Pair pair(const PairTable& table, std::int32_t y, double fit_above) {
        if (table.card_x < 2 || table.card_y < 2) return {0.0, true, 0};
        sum_out_x(table, of_y_);
        const Value base_y = fit(of_y_, model_y_, design_y_ = plain_, {y, scan_.z.empty()}, nullptr);
        Value x = estimated(table.seen_from_x(), table.card_x, table.card_y, scan_.x, design_, model_, base_);
        Value v = estimated(table.seen_from_y(), table.card_y, table.card_x, y, design_y_, model_y_, base_y);
        const auto evidence = [&] { return 0.5 * (x.hybrid() - base_.hybrid() + v.hybrid() - base_y.hybrid()); };
        const bool exact = evidence() > fit_above;
        if (exact) {
            x = fitted(table.seen_from_x(), table.card_x, table.card_y, scan_.x, model_);
            v = fitted(table.seen_from_y(), table.card_y, table.card_x, y, model_y_);
        }
        return {evidence(), exact, base_y.fell_back + x.fell_back + v.fell_back};
    }

    double full_table_of(std::int32_t y) const {
        return full_(groups_of(store_, y, strata_)) - (scan_.z.empty() ? 0.0 : gift(y));
    }

private:
    double states(std::int32_t v) const { return facts_.n_states[static_cast<std::size_t>(v)]; }
    double offset(std::int32_t v) const { return facts_.offset[static_cast<std::size_t>(v)]; }
    double gift(std::int32_t v) const { return facts_.gift[static_cast<std::size_t>(v)]; }
    const Column& column(std::int32_t v) const { return store_.column(static_cast<std::size_t>(v)); }
    double cells_of(std::int32_t y) const {
        return static_cast<double>(strata_.count) * column(scan_.x).card * static_cast<double>(column(y).card);
    }

    template <class Small>
    void collect(std::vector<std::int32_t>& ys, std::vector<std::size_t>& places, double& cells, Small small) {
        const std::size_t rx = column(scan_.x).card;
        visit_tables(store_, scan_.x, ys, strata_, [&](std::size_t k, const std::vector<double>& counts) {
            small(places[k], compacted(counts, strata_.count, rx, column(ys[k]).card));
        });
        ys.clear();
        places.clear();
        cells = 0.0;
    }

    double full_only(std::int32_t v, std::int32_t other) const {
        const ObservedDirichlet scorer(store_, strata_, states(v));
        const Column& added = column(other);
        const RowScan rows(store_, column(v), strata_, std::span(&added, 1));
        return rows.score(scorer, scorer.prepare(0, 0, {}), added).first - gift(v);
    }

    struct Explained {
        std::int32_t variable;
        bool by_nothing;  // given the empty set
    };
    Value fit(const GroupedTable& table, Model& model, Design& design, Explained of, const Model* warm) {
        if (table.card < 2) return {0.0, 0.0, false};
        const double full = full_(table) - (of.by_nothing ? 0.0 : gift(of.variable));
        if (!model.fit(table, design, contrasts_of(table.card, contrasts_), three_way_, warm))
            return {full, full, true};
        return {full, model.log_evidence() + offset(of.variable), false};
    }

    Value estimated(const PairCells& cells, std::size_t card, std::size_t card_other, std::int32_t v,
                    const Design& design, Model& model, const Value& base) {
        if (card < 2) return {0.0, 0.0, false};
        const double full = full_(cells, strata_.count, card, card_other) - gift(v);
        if (!model.fitted() || (design.n_features + card_other - 1) * (card - 1) > kMaxParameters)
            return {full, full, true};
        if (card_other < 2) return {full, base.pairwise, false};
        const double gain = model.neighbour_gain(design, cells, contrasts_of(card, contrasts_),
                                                 contrasts_of(card_other, contrasts_), strata_.count);
        return {full, model.log_evidence() + offset(v) + gain, false};
    }

    Value fitted(const PairCells& cells, std::size_t card, std::size_t card_other, std::int32_t v,
                 const Model& before) {
        if (card < 2) return {0.0, 0.0, false};
        const Contrasts& of_other = contrasts_of(card_other, contrasts_);
        if ((plain_.n_features + of_other.width()) * (card - 1) > kMaxParameters) {
            const double full = full_(cells, strata_.count, card, card_other) - gift(v);
            return {full, full, true};
        }
        add_neighbour(plain_, strata_.count, cells, card, of_other, table_added_, design_added_);
        return fit(table_added_, model_added_, design_added_, {v, false}, &before);
    }

    const Store& store_;
    VariableFacts facts_;
    EvidenceScan scan_;
    bool three_way_;
    FullTable full_;
    std::map<std::size_t, Contrasts> contrasts_;
    Strata strata_;
    Design plain_, design_, design_y_, design_added_;  // plain_: without three-way terms
    GroupedTable of_x_, of_y_, table_added_;
    Model model_, model_y_, model_added_;
    Value base_{};
};

}  // namespace

void evidence_facts(const Store& store, int n_threads, const FactsOutput& out) {
    const Strata everything = find_strata(store, {});
    parallel_for(store.n_variables(), n_threads, [&](std::size_t v) {
        const GroupedTable table = groups_of(store, static_cast<std::int32_t>(v), everything);
        out.n_states[v] = static_cast<double>(table.card);
        out.offset[v] = out.gift[v] = 0.0;
        if (table.card < 2) return;
        const double full_table = FullTable(store)(table);
        out.gift[v] = gift_of(table, full_table);
        Fit fit;
        const Design intercept{1, std::vector<double>(table.n_groups, 1.0), {}, {}};
        if (table.card <= kMaxParameters && fit.run(table, intercept, Contrasts(table.card)))
            out.offset[v] = full_table - fit.log_evidence();
    });
}

void local_evidence(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, bool three_way,
                    const LocalOutput& out) {
    const Around around(store, facts, {scan.x, scan.z, {}}, three_way);
    *out.full_table = around.base().full_table;
    *out.pairwise = around.base().pairwise;
    *out.fell_back = around.base().fell_back;
}

void evidence_of_additions(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, bool three_way,
                           bool exact, const AdditionsOutput& out) {
    Around around(store, facts, scan, three_way);
    const auto put = [&](std::size_t j, const Value& value) {
        out.full_table[j] = value.full_table;
        out.pairwise[j] = value.pairwise;
        out.exact[j] = exact;
        out.fell_back[j] = value.fell_back;
    };
    around.visit([&](std::size_t j, const PairTable& table) { put(j, around.added(table, exact)); },
                 [&](std::size_t j) {
                     const double full = around.full_only(scan.ys[j]).first;
                     put(j, {full, full, true});
                 });
}

void evidence_of_pairs(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, bool three_way,
                       double fit_above, const PairsOutput& out) {
    Around around(store, facts, scan, three_way);
    around.visit(
        [&](std::size_t j, const PairTable& table) {
            const auto pair = around.pair(table, scan.ys[j], fit_above);
            out.evidence[j] = pair.evidence;
            out.exact[j] = pair.exact;
            out.fell_back[j] = pair.fell_back;
        },
        [&](std::size_t j) {
            const auto [x, y] = around.full_only(scan.ys[j]);
            out.evidence[j] = 0.5 * (x - around.base().hybrid() + y - around.full_table_of(scan.ys[j]));
            out.exact[j] = true;
            out.fell_back[j] = 3;
        });
}

void full_tables(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, double* out) {
    const Strata strata = find_strata(store, scan.z);
    const ObservedDirichlet scorer(store, strata, facts.n_states[static_cast<std::size_t>(scan.x)]);
    const Query query{store, scan.x, scan.ys, strata, 1, out};
    Scan(query, scorer).run(make_plan(query, Candidates(store, scan.ys)));
}

namespace {

struct KnownKind {
    const char* text;
    EvidenceKind kind;
    std::size_t n_rows;
};
constexpr KnownKind kKinds[] = {{"local", EvidenceKind::local, 3},
                                {"estimates", EvidenceKind::estimates, 4},
                                {"additions", EvidenceKind::additions, 4},
                                {"pairs", EvidenceKind::pairs, 3},
                                {"full_tables", EvidenceKind::full_tables, 1}};

bool rises_to(std::span<const std::int64_t> starts, std::size_t n_scans, std::size_t end) {
    if (starts.size() != n_scans + 1 || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(end))
        return false;
    for (std::size_t k = 0; k < n_scans; ++k)
        if (starts[k] > starts[k + 1]) return false;
    return true;
}

}  // namespace

EvidenceScan EvidenceBatch::operator[](std::size_t k) const {
    const auto part = [k](auto values, auto starts) {
        return values.subspan(static_cast<std::size_t>(starts[k]), static_cast<std::size_t>(starts[k + 1] - starts[k]));
    };
    return {xs[k], part(zs, z_starts), part(ys, y_starts)};
}

EvidenceKind parse_evidence(const std::string& name) {
    for (const KnownKind& known : kKinds)
        if (name == known.text) return known.kind;
    throw std::invalid_argument("evidence must be local, estimates, additions, pairs or full_tables; got '" + name +
                                "'.");
}

std::size_t evidence_rows(EvidenceKind kind) {
    for (const KnownKind& known : kKinds)
        if (known.kind == kind) return known.n_rows;
    return 0;
}

std::size_t evidence_columns(EvidenceKind kind, const EvidenceBatch& batch) {
    return kind == EvidenceKind::local ? batch.xs.size() : batch.ys.size();
}

void check_batch(const Store& store, const EvidenceBatch& batch) {
    if (!rises_to(batch.z_starts, batch.xs.size(), batch.zs.size()) ||
        !rises_to(batch.y_starts, batch.xs.size(), batch.ys.size()))
        throw std::invalid_argument(
            "starts must rise from 0 to the number of members, one for each scan and one more.");
    for (std::size_t k = 0; k < batch.xs.size(); ++k) {
        const EvidenceScan scan = batch[k];
        check_query(store, scan.x, scan.ys, scan.z);
    }
}

void run_evidence(const Store& whole, const VariableFacts& facts, const EvidenceBatch& batch,
                  const EvidenceRequest& request, int n_threads, double* out) {
    const Store& store = whole.distinct();
    const std::size_t columns = evidence_columns(request.kind, batch);
    parallel_for(batch.xs.size(), n_threads, [&](std::size_t k) {
        const EvidenceScan scan = batch[k];
        const bool by_scan = request.kind == EvidenceKind::local;
        double* first = out + (by_scan ? k : static_cast<std::size_t>(batch.y_starts[k]));
        const auto row = [&](std::size_t r) { return first + r * columns; };
        switch (request.kind) {
            case EvidenceKind::local:
                return local_evidence(store, facts, scan, request.three_way, {row(0), row(1), row(2)});
            case EvidenceKind::pairs:
                return evidence_of_pairs(store, facts, scan, request.three_way, request.fit_above,
                                         {row(0), row(1), row(2)});
            case EvidenceKind::full_tables:
                return full_tables(store, facts, scan, row(0));
            default:
                return evidence_of_additions(store, facts, scan, request.three_way,
                                             request.kind == EvidenceKind::additions, {row(0), row(1), row(2), row(3)});
        }
    });
}

}  // namespace mnlearn
