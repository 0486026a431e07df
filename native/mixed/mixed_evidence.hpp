// Many questions of mixed evidence at once, spread over threads: each scan is one piece of work.
#pragma once

#include "evidence/evidence.hpp"
#include "mixed/mixed_scan.hpp"

namespace mnlearn {

//   local      H(x | z)
//   estimates  what each y adds to x given z, to first order
//   additions  the same, fitted
//   leaders    estimates, but what is largest and exceeds the scan's threshold is fitted, until the largest is a fit
//   pairs      ev(x, y | z), fitted where the estimate exceeds the scan's threshold
//   removals   what x loses without each member of z: at most 0 where the member explains x
enum class MixedQuestion { local, estimates, additions, leaders, pairs, removals };
MixedQuestion parse_mixed(const std::string& name);
std::size_t mixed_columns(MixedQuestion question, const EvidenceBatch& batch);

void check_mixed(const MixedData& data, const EvidenceBatch& batch);

struct MixedOptions {
    bool three_way;
    bool relative;                       // thresholds of leaders and removals are of differences, not of H
    std::span<const double> thresholds;  // one for each scan
};
// Four rows: the value; whether it is exact; models that could not be fitted; H(x | z) on the rows of x and z (of
// `local`, `leaders`, `additions`, `estimates`, `removals`), or 0.
void run_mixed(const MixedData& data, PairReadings& pairs, const EvidenceBatch& batch, MixedQuestion question,
               const MixedOptions& options, int n_threads, double* out);

}  // namespace mnlearn
