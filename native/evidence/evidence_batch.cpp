#include "evidence/evidence_batch.hpp"

#include <stdexcept>

#include "scan/scan.hpp"
#include "threads/parallel.hpp"

namespace mnlearn {
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
