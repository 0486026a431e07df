// The scan: one x, one conditioning set z, many y, one row of numbers per output of a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scan/candidates.hpp"
#include "scan/scores.hpp"
#include "store/store.hpp"
#include "store/strata.hpp"

namespace mnlearn {

enum class KernelName { chi2, g2, mi, bayes, bayes_dependent, dirichlet, entropy, first_cell };

// Which kernel, and its numbers: chi2, g2, mi [dof rule]; bayes, bayes_dependent [alpha, beta, gamma, log prior];
// dirichlet [prior, 1 if it is an equivalent sample size]; entropy [];
// first_cell [], which only counts.
struct KernelSpec {
    KernelName name;
    std::vector<double> settings;
};
KernelSpec parse_kernel(const std::string& name, std::vector<double> settings);
int n_outputs(const KernelSpec& kernel);

// Throws std::invalid_argument with a full sentence when x, ys, z break a rule. z ascending.
void check_query(std::size_t n_variables, std::int32_t x, std::span<const std::int32_t> ys,
                 std::span<const std::int32_t> z);
inline void check_query(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                        std::span<const std::int32_t> z) {
    check_query(store.n_variables(), x, ys, z);
}

// out[k * ys.size() + j]: output k for ys[j]. z ascending. Says which way (most of) ys were counted.
CountingMethod run_scan(const Store& store, const KernelSpec& kernel, std::int32_t x, std::span<const std::int32_t> ys,
                        std::span<const std::int32_t> z, int n_threads, double* out);

// One of many: a scan; or x and z alone, for those that leave out each member of z in turn.
struct ScanRequest {
    std::int32_t x;
    std::span<const std::int32_t> ys, z;
    double* out;  // [k * columns + j]: output k for the j-th y, or the j-th member of z
};

// Every y in z given the rest of z: what reduce gives for each, from one table of x and z.
void scan_leave_one_out(const Store& store, const KernelSpec& kernel, const ScanRequest& question);

// The same for the constant stand-in: x given z without one member.
void scan_without_member(const Store& store, const KernelSpec& kernel, const ScanRequest& question);

// Many questions of one kind, over threads.
enum class BatchKind { scan, leave_one_out, without_member };
void scan_batch(const Store& store, const KernelSpec& kernel, BatchKind form, std::span<const ScanRequest> questions,
                int n_threads);

// How many pairs x < y there are with x in [first_x, last_x).
std::size_t pairs_between(std::size_t n_variables, std::size_t first_x, std::size_t last_x);

// Those pairs, with z empty; out[k * n_pairs + pair], pairs in lexicographic order. Where all variables are binary, the
// rows of each pair with both states 0 may be counted before, as by a GPU: they are then only scored.
void scan_pairs(const Store& store, const KernelSpec& kernel, std::size_t first_x, std::size_t last_x, int n_threads,
                double* out, const std::uint32_t* counted = nullptr);

// The same numbers from tables that were counted elsewhere, say on several machines and added up.
struct GivenTables {
    const std::int64_t* counts;  // stratum by stratum the tables [x][y] of each y, one after the other
    std::size_t n_strata, width;
    std::uint32_t rx;
    std::span<const std::int32_t> rys;
    std::int64_t n_rows;
    double n_configurations, log_n_configurations;
};
void score_tables(const KernelSpec& kernel, const GivenTables& given, LogTables& tables, double* out);

}  // namespace mnlearn
