// The ways of counting in Python: forcing one, and the cost model, for fitting it (`papers/benchmarks plan-fit`).
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "scan/scan.hpp"
#include "scan/scan_runner.hpp"

namespace mnlearn {
namespace {

constexpr const char* kMethodNames[kCountingMethods] = {
    "", "split_planes", "split_columns", "sorted_columns", "keys", "planes", "columns", "alone", "distinct"};

void py_force(PyStore& data, const std::string& method) {
    for (std::size_t k = 0; k < kCountingMethods; ++k)
        if (method == kMethodNames[k]) return data.store->force(static_cast<CountingMethod>(k));
    throw std::invalid_argument("way must name a way of counting, or be empty; got '" + method + "'.");
}

std::string py_way_of(const PyStore& data, nb::object x, nb::object ys, nb::object z) {
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    std::vector<double> out(candidates.size());
    return kMethodNames[static_cast<std::size_t>(
        run_scan(*data.store, {KernelName::first_cell, {}}, first, candidates, given, 1, out.data()))];
}

std::string py_probe_choice(const PyStore& data, nb::object x, nb::object ys, nb::object z, std::size_t rounds) {
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    const Candidates seen(*data.store, candidates);
    CountingMethod method = CountingMethod::any;
    for (std::size_t k = 0; k < rounds; ++k) method = choose_method(*data.store, first, seen, given);
    return kMethodNames[static_cast<std::size_t>(method)];
}

struct Constant {
    const char* name;
    double CostConstants::* value;
};
constexpr Constant kConstants[] = {
    {"split_planes", &CostConstants::split_planes},
    {"split_columns", &CostConstants::split_columns},
    {"sorted_columns", &CostConstants::sorted_columns},
    {"planes", &CostConstants::planes},
    {"columns", &CostConstants::columns},
    {"keys", &CostConstants::keys},
    {"alone", &CostConstants::alone},
    {"load_word", &CostConstants::load_word},
    {"split_word", &CostConstants::split_word},
    {"split_set", &CostConstants::split_set},
    {"group_word", &CostConstants::group_word},
    {"group_set", &CostConstants::group_set},
    {"list_word", &CostConstants::list_word},
    {"list_row", &CostConstants::list_row},
    {"sorted_row", &CostConstants::sorted_row},
    {"strung_row", &CostConstants::strung_row},
    {"list_set", &CostConstants::list_set},
    {"column_row", &CostConstants::column_row},
    {"far_row", &CostConstants::far_row},
    {"column_set", &CostConstants::column_set},
    {"column_digit", &CostConstants::column_digit},
    {"key_digit", &CostConstants::key_digit},
    {"key_row", &CostConstants::key_row},
    {"key_set", &CostConstants::key_set},
    {"whole_set", &CostConstants::whole_set},
    {"lane_row", &CostConstants::lane_row},
    {"lane_set", &CostConstants::lane_set},
    {"table_row", &CostConstants::table_row},
    {"table_cell", &CostConstants::table_cell},
    {"strata", &CostConstants::strata},
    {"strata_row", &CostConstants::strata_row},
    {"strata_set", &CostConstants::strata_set},
    {"listed_row", &CostConstants::listed_row},
    {"bitset_row", &CostConstants::bitset_row},
    {"bitset_word", &CostConstants::bitset_word},
    {"alone_y", &CostConstants::alone_y},
    {"alone_row", &CostConstants::alone_row},
    {"alone_cell", &CostConstants::alone_cell},
    {"table", &CostConstants::table},
    {"few_table", &CostConstants::few_table},
    {"cell", &CostConstants::cell},
};
static_assert(std::size(kConstants) * sizeof(double) == sizeof(CostConstants));

nb::dict py_cost_constants(const std::string& level) {
    nb::dict found;
    for (const Constant& constant : kConstants)
        found[constant.name] = choose_instruction_set(level).costs.*constant.value;
    return found;
}

nb::dict py_costs_of(const PyStore& data, nb::object x, nb::object ys, nb::object z,
                     const std::map<std::string, double>& constants) {
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    CostConstants costs{};
    for (const Constant& constant : kConstants)
        if (const auto found = constants.find(constant.name); found != constants.end())
            costs.*constant.value = found->second;
    const MethodCosts ways = costs_of_methods(*data.store, first, Candidates(*data.store, candidates), given, costs);
    nb::dict result;
    for (std::size_t k = 1; k < kCountingMethods; ++k)
        if (ways.of[k] < std::numeric_limits<double>::infinity()) result[kMethodNames[k]] = ways.of[k];
    return result;
}

}  // namespace

void bind_plan(nb::module_& m) {
    using namespace nb::literals;
    m.def("force", &py_force, "store"_a, "way"_a, "Count scans this way where it is possible; empty for the cheapest.");
    m.def("way_of", &py_way_of, nb::sig("def way_of(store: Store, x: int, ys: Iterable[int], z: Iterable[int]) -> str"),
          "store"_a, "x"_a, "ys"_a, "z"_a, "The way in which (most of) ys are counted.");
    m.def("probe_choice", &py_probe_choice,
          nb::sig("def probe_choice(store: Store, x: int, ys: Iterable[int], z: Iterable[int], rounds: int) -> str"),
          "store"_a, "x"_a, "ys"_a, "z"_a, "rounds"_a, "What is chosen, so many times; nothing is counted.");
    m.def("cost_constants", &py_cost_constants, nb::sig("def cost_constants(level: str) -> dict[str, float]"),
          "level"_a, "The constants of the cost model for a code path, in nanoseconds.");
    m.def("costs_of", &py_costs_of,
          nb::sig("def costs_of(store: Store, x: int, ys: Iterable[int], z: Iterable[int], constants: Mapping[str, "
                  "float]) -> dict[str, float]"),
          "store"_a, "x"_a, "ys"_a, "z"_a, "constants"_a,
          "What the cost model says about each way that is possible; constants that are not given are 0.");
}

}  // namespace mnlearn
