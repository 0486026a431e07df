#include "scan/gaps.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "scan/scan_runner.hpp"
#include "scan/scorer_dispatch.hpp"
#include "scan/tables.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

constexpr double kCellsTogether = 0x1p21;                      // of the tables of some y: 16 MB
constexpr double kLeastDense = 65'536.0, kDensePerRow = 16.0;  // larger tables have far more cells than rows

// Above the tolerance of mnlearn/numbers.py: a posterior of one half that no row stands for means independent.
constexpr double kTieBroken = 2e-9;

CountedStates states_of(const Store& store, std::int32_t v) {
    const Column& column = column_of(store, v);
    return {column.states(), column.gaps};
}

// The complete part of the tables of one y, strata without complete rows left out.
struct CompleteTables {
    std::vector<std::int64_t> counts;
    std::size_t n_strata = 0;
    std::int64_t n_rows = 0;

    CompleteTables(const GapTables& given, std::size_t place, const CountedStates& y) {
        for (std::size_t s = 0; s < given.complete.size(); ++s)
            if (given.complete[s]) add(given.counts + s * given.width + place, given.x.states, y);
    }

private:
    void add(const std::int64_t* table, std::uint32_t rx, const CountedStates& y) {
        const auto begin = static_cast<std::ptrdiff_t>(counts.size());
        for (std::uint32_t a = 0; a < rx; ++a)
            counts.insert(counts.end(), table + a * y.counted(), table + a * y.counted() + y.states);
        const std::int64_t rows = std::accumulate(counts.begin() + begin, counts.end(), std::int64_t{0});
        if (rows == 0) counts.resize(static_cast<std::size_t>(begin));
        n_strata += rows != 0;
        n_rows += rows;
    }
};

// One scan: its tables, counted for some y at a time.
struct GapScan {
    const Store& store;
    const KernelSpec& kernel;
    std::int32_t x;
    std::span<const std::int32_t> z;
    int n_threads;

    // Cells of the tables of one y, at most.
    double cells(std::int32_t y) const {
        double strata = 1.0;
        for (const std::int32_t v : z) strata *= column_of(store, v).card;
        strata = std::min(strata, static_cast<double>(store.n_records()));
        return strata * column_of(store, x).card * column_of(store, y).card;
    }
    bool dense(std::int32_t y) const {
        return cells(y) <= std::max(kLeastDense, kDensePerRow * static_cast<double>(store.n_records()));
    }

    void count_and_score(std::span<const std::int32_t> ys, double* out) const {
        const bool few = distinct_rows_pay(store, x, Candidates(store, ys), z);
        const TableScan scan(few ? store.distinct() : store, x, ys, z, n_threads);
        const std::uint32_t rx = column_of(store, x).card;
        std::size_t width = 0;
        for (const std::int32_t y : ys) width += rx * column_of(store, y).card;
        std::vector<std::int64_t> counts(scan.n_strata() * width, 0);
        std::vector<TableTarget> targets;
        std::int64_t* place = counts.data();
        for (const std::int32_t y : ys) {
            targets.push_back({place, width});
            place += rx * column_of(store, y).card;
        }
        scan.count(targets);
        score(counts, width, complete_strata(scan), ys, out);
    }
    void score(std::span<const std::int64_t> counts, std::size_t width, const std::vector<std::uint8_t>& complete,
               std::span<const std::int32_t> ys, double* out) const {
        std::vector<CountedStates> states;
        for (const std::int32_t y : ys) states.push_back(states_of(store, y));
        const ScanFacts facts = facts_of(store, z, complete.size());
        store.note_without_rows(score_gap_tables(kernel,
                                                 {counts.data(), width, complete, states_of(store, x), states,
                                                  facts.n_configurations, facts.log_n_configurations},
                                                 store.log_tables(), n_threads, out));
    }
    std::vector<std::uint8_t> complete_strata(const TableScan& scan) const {
        std::vector<std::int64_t> configurations(scan.n_strata() * z.size());
        scan.configurations(configurations.data());
        std::vector<std::uint8_t> complete(scan.n_strata(), 1);
        for (std::size_t s = 0; s < complete.size(); ++s)
            for (std::size_t k = 0; k < z.size(); ++k)
                if (configurations[s * z.size() + k] >= column_of(store, z[k]).states()) complete[s] = 0;
        return complete;
    }

    // For tables of far more cells than rows: the complete rows of one y as a store of their own. [k]: output k.
    std::vector<double> from_rows(std::int32_t y) const {
        std::vector<std::int32_t> variables(z.begin(), z.end());
        variables.insert(variables.end(), {x, y});
        std::vector<std::uint32_t> rows;
        for (std::size_t row = 0; row < store.n_records(); ++row)
            if (std::all_of(variables.begin(), variables.end(),
                            [&](std::int32_t v) { return column_of(store, v)[row] < column_of(store, v).states(); }))
                rows.push_back(static_cast<std::uint32_t>(row));
        std::vector<double> out(static_cast<std::size_t>(n_outputs(kernel)));
        if (rows.empty()) {
            score({}, 0, {}, std::span(&y, 1), out.data());
            return out;
        }
        std::vector<std::vector<std::uint16_t>> codes;
        std::vector<Column> columns;
        for (const std::int32_t v : variables) {
            std::vector<std::uint16_t>& kept = codes.emplace_back();
            for (const std::uint32_t row : rows) kept.push_back(static_cast<std::uint16_t>(column_of(store, v)[row]));
            columns.push_back({nullptr, kept.data(), column_of(store, v).states(), false});
        }
        std::vector<std::int64_t> repeats;
        for (const std::uint32_t row : rows) repeats.push_back(store.repeats() ? store.repeats()[row] : 1);
        const Store complete(std::move(columns), rows.size(), repeats.data(), store.level());
        std::vector<std::int32_t> places(z.size());
        std::iota(places.begin(), places.end(), 0);
        const auto first = static_cast<std::int32_t>(z.size()), second = first + 1;
        run_scan(complete, kernel, first, std::span(&second, 1), places, 1, out.data());
        return out;
    }
};

// Candidates of a question, and their places in its answer.
struct Asked {
    std::vector<std::int32_t> ys;
    std::vector<std::size_t> places;

    void add(std::int32_t y, std::size_t place) {
        ys.push_back(y);
        places.push_back(place);
    }
    // found[k * ys.size() + j] into the answer about `n_ys` candidates.
    void put(std::span<const double> found, std::size_t n_ys, double* out) const {
        for (std::size_t i = 0; i < found.size(); ++i) out[i / ys.size() * n_ys + places[i % ys.size()]] = found[i];
    }
};

}  // namespace

bool concerns_gaps(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                   std::span<const std::int32_t> z) {
    if (!store.has_gaps()) return false;
    const auto has = [&](std::int32_t v) { return column_of(store, v).gaps; };
    return has(x) || std::any_of(ys.begin(), ys.end(), has) || std::any_of(z.begin(), z.end(), has);
}

void run_gap_scan(const Store& store, const KernelSpec& kernel, std::int32_t x, std::span<const std::int32_t> ys,
                  std::span<const std::int32_t> z, int n_threads, double* out) {
    const GapScan scan{store, kernel, x, z, n_threads};
    const bool everywhere = concerns_gaps(store, x, {}, z);
    const auto outputs = static_cast<std::size_t>(n_outputs(kernel));
    Asked without_gaps, together;
    double cells = 0.0;
    const auto count_together = [&] {
        std::vector<double> found(outputs * together.ys.size());
        if (!together.ys.empty()) scan.count_and_score(together.ys, found.data());
        together.put(found, ys.size(), out);
        together = {};
        cells = 0.0;
    };
    for (std::size_t j = 0; j < ys.size(); ++j) {
        if (!everywhere && !column_of(store, ys[j]).gaps) {
            without_gaps.add(ys[j], j);
        } else if (!scan.dense(ys[j])) {
            const std::vector<double> found = scan.from_rows(ys[j]);
            for (std::size_t k = 0; k < outputs; ++k) out[k * ys.size() + j] = found[k];
        } else {
            if (cells + scan.cells(ys[j]) > kCellsTogether) count_together();
            together.add(ys[j], j);
            cells += scan.cells(ys[j]);
        }
    }
    count_together();
    std::vector<double> found(outputs * without_gaps.ys.size());
    run_scan(store, kernel, x, without_gaps.ys, z, n_threads, found.data());
    without_gaps.put(found, ys.size(), out);
}

void gap_scan_members(const Store& store, const KernelSpec& kernel, const ScanRequest& question, bool leave_one_out) {
    const auto outputs = static_cast<std::size_t>(n_outputs(kernel));
    std::vector<double> found(outputs);
    for (std::size_t j = 0; j < question.z.size(); ++j) {
        std::vector<std::int32_t> rest(question.z.begin(), question.z.end());
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
        const std::int32_t y = leave_one_out ? question.z[j] : kConstant;
        run_scan(store, kernel, question.x, std::span(&y, 1), rest, 1, found.data());
        for (std::size_t k = 0; k < outputs; ++k) question.out[k * question.z.size() + j] = found[k];
    }
}

void gap_scan_pairs(const Store& store, const KernelSpec& kernel, std::size_t first_x, std::size_t last_x,
                    int n_threads, double* out) {
    const std::size_t n = store.n_variables(), n_pairs = pairs_between(n, first_x, last_x);
    const auto outputs = static_cast<std::size_t>(n_outputs(kernel));
    parallel_for(last_x - first_x, n_threads, [&](std::size_t k) {
        std::vector<std::int32_t> ys(n - 1 - (first_x + k));
        std::iota(ys.begin(), ys.end(), static_cast<std::int32_t>(first_x + k) + 1);
        std::vector<double> found(outputs * ys.size());
        run_scan(store, kernel, static_cast<std::int32_t>(first_x + k), ys, {}, 1, found.data());
        for (std::size_t i = 0; i < outputs; ++i)
            std::copy_n(found.data() + i * ys.size(), ys.size(),
                        out + i * n_pairs + pairs_between(n, first_x, first_x + k));
    });
}

std::int64_t score_gap_tables(const KernelSpec& kernel, const GapTables& given, LogTables& tables, int n_threads,
                              double* out) {
    std::atomic<std::int64_t> without_rows = 0;
    std::vector<std::size_t> places;
    std::size_t width = 0;
    for (const CountedStates& y : given.ys) {
        places.push_back(width);
        width += given.x.counted() * y.counted();
    }
    const double cost = 2.0 * static_cast<double>(given.complete.size()) * static_cast<double>(width);
    parallel_for(given.ys.size(), threads_for(cost, n_threads), [&](std::size_t j) {
        const CompleteTables complete(given, places[j], given.ys[j]);
        const auto ry = static_cast<std::int32_t>(given.ys[j].states);
        std::vector<double> found(static_cast<std::size_t>(n_outputs(kernel)));
        score_tables(kernel,
                     {complete.counts.data(), complete.n_strata, given.x.states * given.ys[j].states, given.x.states,
                      std::span(&ry, 1), complete.n_rows, given.n_configurations, given.log_n_configurations},
                     tables, found.data());
        if (complete.n_rows == 0) {
            ++without_rows;
            if (kernel.name == KernelName::bayes) found[0] = std::min(0.0, found[0] + kTieBroken);
        }
        for (std::size_t k = 0; k < found.size(); ++k) out[k * given.ys.size() + j] = found[k];
    });
    return without_rows;
}

}  // namespace mnlearn
