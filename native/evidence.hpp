// Local evidence: how well x is explained by a set of neighbours, parameters integrated out.
//
//   F(x | S)  the full table, Jeffreys prior in every configuration of S
//   P(x | S)  the pairwise log-linear conditional (evidence_model.hpp), shifted by k_x so that P(x | {}) = F(x | {})
//   H = max(F, P);   ev(x, y | S) = [ H(x | S + y) - H(x | S) + H(y | S + x) - H(y | S) ] / 2
//
// A scan (one x, one S, many y) is counted once; the table of (S, x, y) then serves both directions. States that never
// occur do not count as states. Where P cannot be fitted it is F, and the fact is told.
#pragma once

#include <cstdint>
#include <span>

#include "storage.hpp"

namespace mnlearn {

// Of every variable: how many states occur, and k_x.
struct VariableFacts {
    std::span<const double> n_states, offset;
};
void evidence_facts(const Store& store, int n_threads, double* n_states, double* offset);

struct EvidenceScan {
    std::int32_t x;
    std::span<const std::int32_t> z, ys;  // z ascending
};

// Rows of numbers, one column per answer.
struct LocalOutput {
    double *full_table, *pairwise, *fell_back;
};
struct AdditionsOutput {  // x given z + y; `exact`: 0 where P is the one-step estimate
    double *full_table, *pairwise, *exact, *fell_back;
};
struct PairsOutput {
    double *evidence, *exact, *fell_back;
};

void local_evidence(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, bool three_way,
                    const LocalOutput& out);
void evidence_of_additions(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, bool three_way,
                           bool exact, const AdditionsOutput& out);
// Models of z + y are fitted where the one-step estimate of the evidence exceeds `fit_above`.
void evidence_of_pairs(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, bool three_way,
                       double fit_above, const PairsOutput& out);

// F(x | z + y) alone, for each y.
void full_tables(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, double* out);

}  // namespace mnlearn
