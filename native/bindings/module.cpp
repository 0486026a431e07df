// The face of the core in Python: the module, its stores, and which way they count.
#include "bindings/arrays.hpp"

#include <atomic>
#include <limits>

#include "bindings/arguments.hpp"
#include "scan/scan.hpp"
#include "threads/thread_pool.hpp"

using namespace mnlearn;

namespace {

void make_store(PyStore* self, std::vector<AnyVector> columns, const std::vector<std::uint32_t>& cards,
                std::optional<Vector<std::int64_t>> repeats, std::size_t n_records, const std::string& level,
                std::optional<Vector<std::uint64_t>> planes, const std::vector<std::uint32_t>& first_planes,
                const std::vector<std::uint32_t>& plane_totals, std::size_t max_bytes, const PyStore* share,
                const std::vector<bool>& gaps) {
    if (columns.size() != cards.size()) throw std::invalid_argument("columns and cards must have the same length.");
    if (repeats && repeats->shape(0) != n_records)
        throw std::invalid_argument("columns and repeats must have the same number of rows.");
    if (!gaps.empty() && gaps.size() != cards.size())
        throw std::invalid_argument("gaps must have an entry for each column, or none at all.");
    std::vector<Column> views;
    for (std::size_t v = 0; v < columns.size(); ++v) {
        Column column;
        column.gaps = !gaps.empty() && gaps[v];
        column.card = cards[v] + (column.gaps ? 1 : 0);
        if (columns[v].dtype() == nb::dtype<std::uint8_t>())
            column.narrow = static_cast<const std::uint8_t*>(columns[v].data());
        else if (columns[v].dtype() == nb::dtype<std::uint16_t>())
            column.wide = static_cast<const std::uint16_t*>(columns[v].data());
        else
            throw std::invalid_argument("columns must hold codes of type uint8 or uint16.");
        if (columns[v].shape(0) != n_records)
            throw std::invalid_argument("columns and repeats must have the same number of rows.");
        views.push_back(column);
    }
    const std::int64_t* weights = repeats ? repeats->data() : nullptr;
    GivenPlanes given;
    if (planes) given = {span_of(*planes), first_planes, plane_totals};
    std::unique_ptr<Store> store;
    LogTables* tables = share ? &share->store->log_tables() : nullptr;
    {
        nb::gil_scoped_release unlocked;
        store = std::make_unique<Store>(std::move(views), n_records, weights, choose_instruction_set(level), given,
                                        max_bytes, tables);
    }
    if (share && share->store->n_rows() != store->n_rows())
        throw std::invalid_argument("share must be a store of as many rows; got another number.");
    nb::object kept = share ? nb::find(*share) : nb::object();
    new (self) PyStore{std::move(columns), std::move(repeats), std::move(planes), std::move(kept), std::move(store)};
}

std::uint64_t py_probe_popcount(const std::string& level, std::size_t rounds, int n_threads) {
    const InstructionSet& chosen = choose_instruction_set(level);
    std::atomic<std::uint64_t> counted = 0;
    nb::gil_scoped_release unlocked;
    parallel_for(static_cast<std::size_t>(n_threads), n_threads,
                 [&](std::size_t) { counted += chosen.probe_popcount(rounds); });
    return counted;
}

std::uint64_t py_probe_loads(const std::string& level, Vector<std::uint64_t> rows) {
    return choose_instruction_set(level).probe_loads(rows.data(), rows.shape(0) / kRowWords);
}

// What the core refuses is refused in the library's own name. Which indices there are, the core knows; how a user finds
// them is a matter of Python.
void refuse(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::invalid_argument& error) {
        std::string text = error.what();
        if (text.find("must be the index of a variable") != std::string::npos && text.back() == '.' &&
            text.find(". ") == std::string::npos)
            text += " Use dataset.index(name).";
        PyErr_SetString(nb::module_::import_("mnlearn.errors").attr("InputError").ptr(), text.c_str());
    }
}

std::vector<std::string> py_levels() {
    std::vector<std::string> names;
    for (const InstructionSet& level : available_instruction_sets()) names.emplace_back(level.name);
    return names;
}

}  // namespace

NB_MODULE(_core, m) {
    using namespace nb::literals;
    m.doc() = "The native core: counting and scoring contingency tables. Use mnlearn.statistics.Counts.";
    nb::class_<PyStore>(m, "Store", "Coded columns and what is built from them; borrows the arrays it is given.")
        .def("__init__", &make_store, "columns"_a, "cards"_a, "repeats"_a.none(), "n_records"_a, "level"_a = "",
             "planes"_a.none() = nb::none(), "first_planes"_a = std::vector<std::uint32_t>(),
             "plane_totals"_a = std::vector<std::uint32_t>(), "max_bytes"_a = std::numeric_limits<std::size_t>::max(),
             "share"_a.none() = nb::none(), "gaps"_a = std::vector<bool>(),
             "Codes of each column lie below its number of states; the code after the last state marks a gap.")
        .def_prop_ro("n_variables", [](const PyStore& s) { return s.store->n_variables(); })
        .def_prop_ro("n_rows", [](const PyStore& s) { return s.store->n_rows(); })
        .def_prop_ro("without_rows", [](const PyStore& s) { return s.store->without_rows(); })
        .def_prop_ro("level", [](const PyStore& s) { return std::string(s.store->level().name); })
        .def_prop_ro("extra_bytes", [](const PyStore& s) { return s.store->extra_bytes(); });
    m.def("levels", &py_levels, "Code paths this processor can run, fastest first.");
    m.def("probe_popcount", &py_probe_popcount, "level"_a, "rounds"_a, "n_threads"_a,
          "AND and count 8,192 bits a round, on each thread.");
    m.def("probe_loads", &py_probe_loads, "level"_a, "rows"_a, "Load 512 bits after 512 bits.");
    nb::register_exception_translator(&refuse);
    bind_scans(m);
    bind_blankets(m);
    bind_tables(m);
    bind_models(m);
    bind_mixed(m);
    bind_subsets(m);
    bind_graphs(m);
    bind_screens(m);
    bind_correlations(m);
    bind_plan(m);
    bind_columns(m);
    bind_climbs(m);
    bind_numbers(m);
}
