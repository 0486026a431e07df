#include "evidence/evidence.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "evidence/scan_evidence.hpp"
#include "numbers/elementary.hpp"
#include "scan/scan.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

constexpr std::size_t kScansTogether = 8;          // one piece of work: they share their memory
constexpr double kLargestConcentration = 1 << 14;  // beyond, a distribution is as good as uniform

// ln DM(counts; a, ..., a).
double log_dirichlet(const GroupedTable& table, double a) {
    const double states = static_cast<double>(table.card);
    double sum = elementary::log_gamma(states * a) - elementary::log_gamma(states * a + table.sizes[0]);
    for (std::size_t s = 0; s < table.card; ++s)
        sum += elementary::log_gamma(a + table.counts[s]) - elementary::log_gamma(a);
    return sum;
}

// How often each state that occurs does.
GroupedTable margin_of(const Store& store, std::size_t v) {
    std::vector<double> counts(store.column(v).card, 0.0);
    with_codes(store.column(v), [&](auto code) {
        for (std::size_t row = 0; row < store.n_records(); ++row)
            counts[code(row)] += store.repeats() ? static_cast<double>(store.repeats()[row]) : 1.0;
    });
    std::erase(counts, 0.0);
    GroupedTable table;
    table.clear(counts.size());
    table.add_group(counts.data(), 1);
    return table;
}

}  // namespace

double gift_of(const GroupedTable& table, double full_table) {
    double best = -table.sizes[0] * elementary::log(static_cast<double>(table.card));
    for (double a = 1.0; a <= kLargestConcentration; a *= 2.0) best = std::max(best, log_dirichlet(table, a));
    return std::max(0.0, best - full_table);
}

void evidence_facts(const Store& store, int n_threads, const FactsOutput& out) {
    const FullTable full(store);
    parallel_for(store.n_variables(), n_threads, [&](std::size_t v) {
        const GroupedTable table = margin_of(store, v);
        out.n_states[v] = static_cast<double>(table.card);
        out.offset[v] = out.gift[v] = 0.0;
        if (table.card < 2) return;
        const double full_table = full(table);
        out.gift[v] = gift_of(table, full_table);
        Fit fit;
        Design intercept;
        intercept.n_groups = 1;
        if (table.card <= kMaxParameters &&
            fit.run(*store.level().conditional, table, intercept, Contrasts::of(table.card)))
            out.offset[v] = full_table - fit.log_evidence();
    });
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
                                {"leaders", EvidenceKind::leaders, 3},
                                {"pairs", EvidenceKind::pairs, 3},
                                {"removals", EvidenceKind::removals, 3},
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
    throw std::invalid_argument(
        "evidence must be local, estimates, additions, leaders, pairs, removals or full_tables; got '" + name + "'.");
}

std::size_t evidence_rows(EvidenceKind kind) {
    for (const KnownKind& known : kKinds)
        if (known.kind == kind) return known.n_rows;
    return 0;
}

std::size_t evidence_columns(EvidenceKind kind, const EvidenceBatch& batch) {
    if (kind == EvidenceKind::local) return batch.xs.size();
    return kind == EvidenceKind::removals ? batch.zs.size() : batch.ys.size();
}

void check_starts(const EvidenceBatch& batch) {
    if (!rises_to(batch.z_starts, batch.xs.size(), batch.zs.size()) ||
        !rises_to(batch.y_starts, batch.xs.size(), batch.ys.size()))
        throw std::invalid_argument(
            "starts must rise from 0 to the number of members, one for each scan and one more.");
}

void check_batch(const Store& store, const EvidenceBatch& batch) {
    check_starts(batch);
    for (std::size_t k = 0; k < batch.xs.size(); ++k) {
        const EvidenceScan scan = batch[k];
        check_query(store, scan.x, scan.ys, scan.z);
    }
}

void run_evidence(const Store& whole, const VariableFacts& facts, const EvidenceBatch& batch,
                  const EvidenceRequest& request, int n_threads, double* out) {
    const Store& store = whole.distinct();
    const std::size_t columns = evidence_columns(request.kind, batch);
    const auto answer = [&](ScanEvidence& evidence, std::size_t k) {
        const EvidenceScan scan = batch[k];
        const auto first = request.kind == EvidenceKind::local      ? k
                           : request.kind == EvidenceKind::removals ? static_cast<std::size_t>(batch.z_starts[k])
                                                                    : static_cast<std::size_t>(batch.y_starts[k]);
        const auto row = [&](std::size_t r) { return out + first + r * columns; };
        if (request.kind == EvidenceKind::full_tables) return full_tables(store, facts, scan, row(0));
        evidence.begin(scan);
        const PairsOutput three{row(0), row(1), row(2)};
        switch (request.kind) {
            case EvidenceKind::local:
                *row(0) = evidence.base().full_table;
                *row(1) = evidence.base().pairwise;
                *row(2) = evidence.base().fell_back;
                return;
            case EvidenceKind::leaders:
                return evidence.leaders(request.thresholds[k], three);
            case EvidenceKind::pairs:
                return evidence.pairs(request.thresholds[k], three);
            case EvidenceKind::removals:
                return evidence.removals(request.thresholds[k], three);
            default:
                return evidence.additions(request.kind == EvidenceKind::additions, {row(0), row(1), row(2), row(3)});
        }
    };
    const std::size_t n_pieces = (batch.xs.size() + kScansTogether - 1) / kScansTogether;
    parallel_for(n_pieces, n_threads, [&](std::size_t piece) {
        ScanEvidence evidence(store, facts, request.three_way);
        const std::size_t end = std::min((piece + 1) * kScansTogether, batch.xs.size());
        for (std::size_t k = piece * kScansTogether; k < end; ++k) answer(evidence, k);
    });
}

}  // namespace mnlearn
