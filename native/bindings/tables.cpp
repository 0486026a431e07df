// Tables in Python, counted or given, and the tails of their statistics.
#include <algorithm>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "blankets/joint_table.hpp"
#include "scan/chi_square_tail.hpp"
#include "scan/gaps.hpp"
#include "scan/scan.hpp"
#include "scan/tables.hpp"

namespace mnlearn {

namespace {

std::tuple<Configurations, std::vector<Cube>> py_tables(const PyStore& data, std::int32_t x, Vector<std::int32_t> ys,
                                                        Vector<std::int32_t> z, double max_cells, int n_threads) {
    const Store& store = *data.store;
    check_query(store, x, span_of(ys), span_of(z));
    std::vector<std::unique_ptr<std::int64_t[]>> counts;
    std::unique_ptr<std::int64_t[]> configurations;
    const std::size_t rx = store.column(static_cast<std::size_t>(x)).card;
    const auto card = [&](std::size_t k) { return store.column(static_cast<std::size_t>(ys.data()[k])).card; };
    std::size_t n_strata = 0;
    {
        nb::gil_scoped_release unlocked;
        const TableScan scan(store, x, span_of(ys), span_of(z), n_threads);
        check_cells(scan, x, max_cells);
        n_strata = scan.n_strata();
        configurations = std::make_unique<std::int64_t[]>(n_strata * z.shape(0) + 1);
        scan.configurations(configurations.get());
        std::vector<TableTarget> targets;
        for (std::size_t k = 0; k < ys.shape(0); ++k) {
            counts.push_back(std::make_unique<std::int64_t[]>(n_strata * rx * card(k) + 1));
            targets.push_back({counts.back().get(), rx * card(k)});
        }
        scan.count(targets);
    }
    std::vector<Cube> cubes;
    for (std::size_t k = 0; k < ys.shape(0); ++k)
        cubes.push_back(give<Cube>(std::move(counts[k]), {n_strata, rx, card(k)}));
    return {give<Configurations>(std::move(configurations), {n_strata, z.shape(0)}), std::move(cubes)};
}

std::tuple<Configurations, Configurations> py_flat_tables(const PyStore& data, std::int32_t x, Vector<std::int32_t> ys,
                                                          Vector<std::int32_t> z, double max_cells, int n_threads) {
    const Store& store = *data.store;
    check_query(store, x, span_of(ys), span_of(z));
    const std::size_t rx = store.column(static_cast<std::size_t>(x)).card;
    std::unique_ptr<std::int64_t[]> configurations, counts;
    std::size_t n_strata = 0, width = 0;
    for (const std::int32_t y : span_of(ys)) width += rx * store.column(static_cast<std::size_t>(y)).card;
    {
        nb::gil_scoped_release unlocked;
        const TableScan scan(store, x, span_of(ys), span_of(z), n_threads);
        check_cells(scan, x, max_cells);
        n_strata = scan.n_strata();
        configurations = std::make_unique<std::int64_t[]>(n_strata * z.shape(0) + 1);
        scan.configurations(configurations.get());
        counts = std::make_unique<std::int64_t[]>(n_strata * width + 1);
        std::vector<TableTarget> targets;
        std::int64_t* place = counts.get();
        for (const std::int32_t y : span_of(ys)) {
            targets.push_back({place, width});
            place += rx * store.column(static_cast<std::size_t>(y)).card;
        }
        scan.count(targets);
    }
    return {give<Configurations>(std::move(configurations), {n_strata, z.shape(0)}),
            give<Configurations>(std::move(counts), {n_strata, width})};
}

std::tuple<Configurations, Configurations> py_cells(const PyStore& data, std::int32_t x, Vector<std::int32_t> z) {
    const Store& store = *data.store;
    check_query(store, x, {}, span_of(z));
    std::unique_ptr<std::int64_t[]> states, sizes;
    std::size_t count = 0;
    const std::size_t n = z.shape(0) + 1;
    {
        nb::gil_scoped_release unlocked;
        const JointTable cells = occupied_cells(store, x, span_of(z));
        count = cells.count();
        states = std::make_unique<std::int64_t[]>(count * n + 1);
        sizes = std::make_unique<std::int64_t[]>(count + 1);
        std::copy(cells.states.begin(), cells.states.end(), states.get());
        std::copy(cells.sizes.begin(), cells.sizes.end(), sizes.get());
    }
    return {give<Configurations>(std::move(states), {n, count}), give<Configurations>(std::move(sizes), {1, count})};
}

Doubles py_score_tables(const PyStore& data, const std::string& kernel, std::vector<double> settings,
                        nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> counts,
                        std::uint32_t rx, Vector<std::int32_t> rys, double n_configurations,
                        double log_n_configurations) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    std::size_t width = 0;
    for (const std::int32_t ry : span_of(rys)) width += rx * static_cast<std::size_t>(std::max(ry, 1));
    if (width != counts.shape(1)) throw std::invalid_argument("counts must have rx * ry columns for each y.");
    const auto rows = static_cast<std::size_t>(n_outputs(spec));
    auto out = std::make_unique<double[]>(rows * rys.shape(0) + 1);
    {
        nb::gil_scoped_release unlocked;
        score_tables(spec,
                     {counts.data(), counts.shape(0), width, rx, span_of(rys), data.store->n_rows(), n_configurations,
                      log_n_configurations},
                     data.store->log_tables(), out.get());
    }
    return give<Doubles>(std::move(out), {rows, rys.shape(0)});
}

Doubles py_score_gap_tables(const PyStore& data, const std::string& kernel, std::vector<double> settings,
                            nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> counts,
                            Vector<std::uint8_t> complete, std::uint32_t rx, bool gaps_x,
                            const std::vector<std::uint32_t>& rys, const std::vector<bool>& gaps_y,
                            double n_configurations, double log_n_configurations) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    if (rys.size() != gaps_y.size() || complete.shape(0) != counts.shape(0))
        throw std::invalid_argument("gaps_y must have an entry for each y, and complete one for each stratum.");
    std::vector<CountedStates> ys;
    const CountedStates x{rx, gaps_x};
    std::size_t width = 0;
    for (std::size_t j = 0; j < rys.size(); ++j) {
        ys.push_back({rys[j], gaps_y[j]});
        width += static_cast<std::size_t>(x.counted()) * ys.back().counted();
    }
    if (width != counts.shape(1)) throw std::invalid_argument("counts must have rx * ry columns for each y.");
    const auto rows = static_cast<std::size_t>(n_outputs(spec));
    auto out = std::make_unique<double[]>(rows * rys.size() + 1);
    {
        nb::gil_scoped_release unlocked;
        data.store->note_without_rows(score_gap_tables(
            spec, {counts.data(), width, span_of(complete), x, ys, n_configurations, log_n_configurations},
            data.store->log_tables(), 1, out.get()));
    }
    return give<Doubles>(std::move(out), {rows, rys.size()});
}

std::vector<double> py_score_table(const std::string& kernel, std::vector<double> settings,
                                   nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> counts,
                                   std::int64_t n_rows, double n_configurations, double log_n_configurations) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    std::vector<double> out(static_cast<std::size_t>(n_outputs(spec)));
    const auto ry = static_cast<std::int32_t>(counts.shape(2));
    LogTables tables(n_rows);
    score_tables(
        spec,
        {counts.data(), counts.shape(0), counts.shape(1) * counts.shape(2), static_cast<std::uint32_t>(counts.shape(1)),
         std::span(&ry, 1), n_rows, n_configurations, log_n_configurations},
        tables, out.data());
    return out;
}

nb::tuple py_log_chi2_tails(Vector<double> statistic, Vector<double> dof) {
    if (statistic.shape(0) != dof.shape(0)) throw std::invalid_argument("statistic and dof must have the same length.");
    NewArray out = new_array(statistic.shape(0));
    const bool all = log_chi2_tails(statistic.data(), dof.data(), statistic.shape(0), out.values);
    return nb::make_tuple(std::move(out.array), all);
}

}  // namespace

void bind_tables(nb::module_& m) {
    using namespace nb::literals;
    m.def("tables", &py_tables, "store"_a, "x"_a, "ys"_a, "z"_a, "max_cells"_a, "n_threads"_a,
          "Observed configurations of z, and counts[stratum, x, y] per y.");
    m.def("flat_tables", &py_flat_tables, "store"_a, "x"_a, "ys"_a, "z"_a, "max_cells"_a, "n_threads"_a,
          "The same in one array: a row per stratum, the tables of all y one after the other.");
    m.def("cells", &py_cells, "store"_a, "x"_a, "z"_a,
          "The table of z and x, occupied cells only: the states of each variable, x last, and how often each occurs.");
    m.def("score_tables", &py_score_tables, "store"_a, "kernel"_a, "settings"_a, "counts"_a, "rx"_a, "rys"_a,
          "n_configurations"_a, "log_n_configurations"_a, "The outputs for tables as flat_tables gives them.");
    m.def("score_gap_tables", &py_score_gap_tables, "store"_a, "kernel"_a, "settings"_a, "counts"_a, "complete"_a,
          "rx"_a, "gaps_x"_a, "rys"_a, "gaps_y"_a, "n_configurations"_a, "log_n_configurations"_a,
          "The same where gaps were counted after the states: the complete rows of each y.");
    m.def("score_table", &py_score_table, "kernel"_a, "settings"_a, "counts"_a, "n_rows"_a, "n_configurations"_a,
          "log_n_configurations"_a, "The outputs for one given table.");
    m.def("log_chi2_tails", &py_log_chi2_tails,
          nb::sig("def log_chi2_tails(statistic: NDArray[np.float64], dof: NDArray[np.float64]) "
                  "-> tuple[NDArray[np.float64], bool]"),
          "statistic"_a, "dof"_a, "log p of each, NaN where the core has no short way to it; whether there is none.");
}

}  // namespace mnlearn
