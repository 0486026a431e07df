// The ways of counting in Python: forcing one, and the cost model, for fitting it (benchmarks/plan_fit.py).
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "scan/scan.hpp"
#include "scan/scan_runner.hpp"

namespace mnlearn {
namespace {

constexpr const char* kWayNames[kWays] = {"",        "tree",    "split_planes", "split_columns", "sorted_columns",
                                          "planes",  "columns", "keys",         "lanes",         "alone",
                                          "distinct"};

void py_force(PyStore& data, const std::string& way) {
    for (std::size_t k = 0; k < kWays; ++k)
        if (way == kWayNames[k]) return data.store->force(static_cast<Way>(k));
    throw std::invalid_argument("way must name a way of counting, or be empty; got '" + way + "'.");
}

std::string py_way_of(const PyStore& data, nb::object x, nb::object ys, nb::object z) {
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    std::vector<double> out(candidates.size());
    return kWayNames[static_cast<std::size_t>(
        reduce(*data.store, {KernelName::first_cell, {}}, first, candidates, given, 1, out.data()))];
}

std::string py_probe_choice(const PyStore& data, nb::object x, nb::object ys, nb::object z, std::size_t rounds) {
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    const Candidates seen(*data.store, candidates);
    Way way = Way::any;
    for (std::size_t k = 0; k < rounds; ++k) way = choose_way(*data.store, first, seen, given);
    return kWayNames[static_cast<std::size_t>(way)];
}

struct Constant {
    const char* name;
    double Costs::* value;
};
constexpr Constant kConstants[] = {
    {"tree", &Costs::tree},
    {"split_planes", &Costs::split_planes},
    {"split_columns", &Costs::split_columns},
    {"sorted_columns", &Costs::sorted_columns},
    {"planes", &Costs::planes},
    {"columns", &Costs::columns},
    {"keys", &Costs::keys},
    {"lanes", &Costs::lanes},
    {"alone", &Costs::alone},
    {"load_word", &Costs::load_word},
    {"split_word", &Costs::split_word},
    {"split_set", &Costs::split_set},
    {"group_word", &Costs::group_word},
    {"group_set", &Costs::group_set},
    {"list_word", &Costs::list_word},
    {"list_row", &Costs::list_row},
    {"sorted_row", &Costs::sorted_row},
    {"strung_row", &Costs::strung_row},
    {"list_set", &Costs::list_set},
    {"column_row", &Costs::column_row},
    {"far_row", &Costs::far_row},
    {"column_set", &Costs::column_set},
    {"column_digit", &Costs::column_digit},
    {"key_digit", &Costs::key_digit},
    {"key_row", &Costs::key_row},
    {"key_set", &Costs::key_set},
    {"whole_set", &Costs::whole_set},
    {"lane_row", &Costs::lane_row},
    {"lane_set", &Costs::lane_set},
    {"table_row", &Costs::table_row},
    {"table_cell", &Costs::table_cell},
    {"strata", &Costs::strata},
    {"strata_row", &Costs::strata_row},
    {"strata_set", &Costs::strata_set},
    {"listed_row", &Costs::listed_row},
    {"bitset_row", &Costs::bitset_row},
    {"bitset_word", &Costs::bitset_word},
    {"tree_word", &Costs::tree_word},
    {"tree_split", &Costs::tree_split},
    {"tree_set", &Costs::tree_set},
    {"tree_state", &Costs::tree_state},
    {"alone_y", &Costs::alone_y},
    {"alone_row", &Costs::alone_row},
    {"alone_cell", &Costs::alone_cell},
    {"table", &Costs::table},
    {"few_table", &Costs::few_table},
    {"cell", &Costs::cell},
};
static_assert(std::size(kConstants) * sizeof(double) == sizeof(Costs));

nb::dict py_cost_constants(const std::string& level) {
    nb::dict found;
    for (const Constant& constant : kConstants) found[constant.name] = choose_level(level).costs.*constant.value;
    return found;
}

nb::dict py_costs_of(const PyStore& data, nb::object x, nb::object ys, nb::object z,
                     const std::map<std::string, double>& constants) {
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    Costs costs{};
    for (const Constant& constant : kConstants)
        if (const auto found = constants.find(constant.name); found != constants.end())
            costs.*constant.value = found->second;
    const WayCosts ways = costs_of_ways(*data.store, first, Candidates(*data.store, candidates), given, costs);
    nb::dict result;
    for (std::size_t k = 1; k < kWays; ++k)
        if (ways.of[k] < std::numeric_limits<double>::infinity()) result[kWayNames[k]] = ways.of[k];
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
