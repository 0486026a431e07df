// Scans of variables with gaps. The code after the last state marks a missing value and is counted like a state; what
// is scored for each y are its complete rows: tables without that code, in the strata in which no member of z has it.
#pragma once

#include <cstdint>
#include <span>

#include "scan/scan.hpp"

namespace mnlearn {

// Whether a variable of the question has gaps; then only the functions here know its complete rows.
bool concerns_gaps(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                   std::span<const std::int32_t> z);

// As run_scan, each y by its own complete rows.
void run_gap_scan(const Store& store, const KernelSpec& kernel, std::int32_t x, std::span<const std::int32_t> ys,
                  std::span<const std::int32_t> z, int n_threads, double* out);

// As scan_leave_one_out and scan_without_member: one scan for each member of z.
void gap_scan_members(const Store& store, const KernelSpec& kernel, const ScanRequest& question, bool leave_one_out);

// As scan_pairs: one scan for each x.
void gap_scan_pairs(const Store& store, const KernelSpec& kernel, std::size_t first_x, std::size_t last_x,
                    int n_threads, double* out);

// A variable of tables that were counted: its states, and whether its gaps were counted after them.
struct CountedStates {
    std::uint32_t states;
    bool gaps;
    std::uint32_t counted() const { return states + (gaps ? 1 : 0); }
};
struct GapTables {
    const std::int64_t* counts;              // stratum by stratum the tables [x][y] of each y, one after the other
    std::size_t width;                       // counts of a stratum
    std::span<const std::uint8_t> complete;  // of each stratum: whether no member of z is missing
    CountedStates x;
    std::span<const CountedStates> ys;
    double n_configurations, log_n_configurations;
};
// A y without complete rows has the numbers of an empty table, but for bayes: there its tie counts as independent.
// Returns how many there are.
std::int64_t score_gap_tables(const KernelSpec& kernel, const GapTables& given, LogTables& tables, int n_threads,
                              double* out);

}  // namespace mnlearn
