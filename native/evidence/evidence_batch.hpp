// Many questions of evidence at once, spread over threads: each scan is one piece of work.
#pragma once

#include <string>

#include "evidence/evidence.hpp"

namespace mnlearn {

// Scan k: xs[k] given zs[z_starts[k] .. z_starts[k + 1]), about ys[y_starts[k] .. y_starts[k + 1]).
struct EvidenceBatch {
    std::span<const std::int32_t> xs;
    std::span<const std::int64_t> z_starts;
    std::span<const std::int32_t> zs;
    std::span<const std::int64_t> y_starts;
    std::span<const std::int32_t> ys;

    EvidenceScan operator[](std::size_t k) const;
};

enum class EvidenceKind { local, estimates, additions, pairs, full_tables };
struct EvidenceRequest {
    EvidenceKind kind;
    bool three_way;
    double fit_above;  // for pairs
};
EvidenceKind parse_evidence(const std::string& name);
std::size_t evidence_rows(EvidenceKind kind);
std::size_t evidence_columns(EvidenceKind kind, const EvidenceBatch& batch);  // one per scan, or one per y

// Throws std::invalid_argument with a full sentence when a scan breaks a rule.
void check_batch(const Store& store, const EvidenceBatch& batch);

// out[row * columns + column]; rows in the order of the kind's output in evidence/evidence.hpp.
void run_evidence(const Store& store, const VariableFacts& facts, const EvidenceBatch& batch,
                  const EvidenceRequest& request, int n_threads, double* out);

}  // namespace mnlearn
