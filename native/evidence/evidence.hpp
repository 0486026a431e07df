// Local evidence: how well x is explained by a set of neighbours, parameters integrated out.
//
//   F(x | S)  the full table, Jeffreys prior in every configuration of S
//   P(x | S)  the pairwise log-linear conditional (evidence/pairwise_model.hpp), plus k_x so that P(x | {}) = F(x | {})
//
// P has wide priors and three-way terms where they pay for themselves (evidence/extra_terms.hpp).
//
//   H(x | {}) = F(x | {}),   H(x | S) = max(F(x | S) - gift_x, P(x | S)) for any other S
//
//   ev(x, y | S) = [ H(x | S + y) - H(x | S) + H(y | S + x) - H(y | S) ] / 2
//
// A scan (one x, one S, many y) is counted once; the table of (S, x, y) then serves both directions. States that never
// occur do not count as states. Where P cannot be fitted it is F - gift_x, and the fallback is reported.
//
// The gift of x: a table of so many configurations that each has a row or none predicts all r states of x equally well,
// whatever the rows; where they nearly are equally frequent, that beats F(x | {}), which has to learn how frequent they
// are. So F of a set that is not empty pays by how much x is better explained by a distribution that is nearly uniform
// a priori: the largest of ln DM(n; a, ..., a) over a = 1, 2, 4, ..., 2^14 and of -N ln r, less F(x | {}), if that is
// more than 0. (DM: Dirichlet-multinomial; F(x | {}) has a = 1/2.)
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "store/store.hpp"

namespace mnlearn {

// Of every variable: how many states occur, k_x, and the gift.
struct VariableFacts {
    std::span<const double> n_states, offset, gift;
};
struct FactsOutput {
    double *n_states, *offset, *gift;
};
void evidence_facts(const Store& store, int n_threads, const FactsOutput& out);

struct GroupedTable;
// Of a variable whose states occur as often as the one group of the table says; full_table: F(x | {}).
double gift_of(const GroupedTable& margin, double full_table);

struct EvidenceScan {
    std::int32_t x;
    std::span<const std::int32_t> z, ys;  // z ascending
};

// Rows of numbers, one column per answer. Full tables of sets that are not empty are less the gift.
struct AdditionsOutput {  // x given z + y; `exact`: 0 where P is the one-step estimate
    double *full_table, *pairwise, *exact, *fell_back;
};
struct PairsOutput {  // `exact`: 0 where the evidence is an estimate
    double *evidence, *exact, *fell_back;
};

// Many questions of evidence at once, spread over threads: each scan is one piece of work.

// Scan k: xs[k] given zs[z_starts[k] .. z_starts[k + 1]), about ys[y_starts[k] .. y_starts[k + 1]).
struct EvidenceBatch {
    std::span<const std::int32_t> xs;
    std::span<const std::int64_t> z_starts;
    std::span<const std::int32_t> zs;
    std::span<const std::int64_t> y_starts;
    std::span<const std::int32_t> ys;

    EvidenceScan operator[](std::size_t k) const;
};

//   local        x given z: F, P, fell back
//   estimates    x given z + y, to first order: F, P, exact, fell back
//   additions    x given z + y, fitted
//   leaders      H(x | z + y), exact, fell back: estimates, but what is largest and exceeds the scan's threshold is
//                fitted, until the largest is a fit
//   pairs        ev(x, y | z), exact, fell back: fitted where the estimate exceeds the scan's threshold
//   removals     H(x | z - y) for each y in z, exact, fell back: fitted where it may exceed the scan's threshold
//   full_tables  F(x | z + y), the gift not taken away
enum class EvidenceKind { local, estimates, additions, leaders, pairs, removals, full_tables };
struct EvidenceRequest {
    EvidenceKind kind;
    bool three_way;
    std::span<const double> thresholds;  // one for each scan
};
EvidenceKind parse_evidence(const std::string& name);
std::size_t evidence_rows(EvidenceKind kind);
std::size_t evidence_columns(EvidenceKind kind, const EvidenceBatch& batch);  // one per scan, per y, per member of z

// Throw std::invalid_argument with a full sentence when the starts, or a scan, break a rule.
void check_starts(const EvidenceBatch& batch);
void check_batch(const Store& store, const EvidenceBatch& batch);

// out[row * columns + column]; rows in the order of the kind's list above.
void run_evidence(const Store& store, const VariableFacts& facts, const EvidenceBatch& batch,
                  const EvidenceRequest& request, int n_threads, double* out);

}  // namespace mnlearn
