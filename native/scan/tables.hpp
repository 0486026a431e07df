// Whole contingency tables, for those who want the counts themselves: to look at, or to add up over several machines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scan/count_bitsets.hpp"
#include "store/store.hpp"

namespace mnlearn {

struct Plan;

// Where the tables of one y go: those of stratum s begin at cells + s * stride, x before y.
struct TableTarget {
    std::int64_t* cells;
    std::size_t stride;
};

// A scan whose tables are handed over instead of scored; counted in the ways of scan/scan_runner.hpp. Like there, a y
// may be kConstant.
class TableScan {
public:
    TableScan(const Store& store, std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z,
              int n_threads);

    std::size_t n_strata() const { return strata_->count; }
    double n_cells() const;                                  // of all tables together
    void configurations(std::int64_t* out) const;            // [s * z.size() + k]: the state of z[k] in stratum s
    void count(std::span<const TableTarget> targets) const;  // into zeroed memory, one target for each y

private:
    void count_in_bitsets(const Plan& plan, std::span<const TableTarget> targets) const;
    void count_in_lists(const Plan& plan, std::span<const TableTarget> targets) const;
    void count_alone(std::size_t j, const TableTarget& target) const;

    const Store& store_;
    std::int32_t x_;
    std::span<const std::int32_t> ys_, z_;
    int n_threads_;
    CountingMethod method_;
    std::optional<PlaneSets> ready_;  // for split_planes and split_columns
    std::shared_ptr<const Strata> kept_;
    const Strata* strata_;
};

// Throws std::invalid_argument when all tables of a scan together would have more than max_cells.
void check_cells(const TableScan& scan, std::int32_t x, double max_cells);

}  // namespace mnlearn
