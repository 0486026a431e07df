// Walks over sets in Python: the interpreter's lock is taken again only to ask whether to go on.
#include <algorithm>
#include <string_view>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "subsets/subset_search.hpp"

namespace mnlearn {

namespace {

template <class T> using Square = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T> void check_shape(const Store& store, const char* name, const Square<T>& matrix) {
    const std::size_t n = store.n_variables();
    if (matrix.shape(0) != n || matrix.shape(1) != n)
        throw std::invalid_argument(std::string(name) + " must have a row and a column for each of " +
                                    std::to_string(n) + " variables; got " + std::to_string(matrix.shape(0)) + " by " +
                                    std::to_string(matrix.shape(1)) + ". Give all variables their place.");
}

// A comparison of numpy's numbers says its own True. What says neither, None above all, was hardly meant as "stop".
GoOn asking(const nb::callable& go_on) {
    return [&go_on](std::int32_t x) {
        nb::gil_scoped_acquire locked;
        const nb::object said = go_on(x);
        if (PyBool_Check(said.ptr()) || std::string_view(Py_TYPE(said.ptr())->tp_name).starts_with("numpy.bool"))
            return PyObject_IsTrue(said.ptr()) == 1;
        throw std::invalid_argument("go_on must return true or false; got " + shown(said) +
                                    ". Return True for as long as the search may go on.");
    };
}

nb::object py_separate(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                       std::size_t first_x, std::size_t last_x, int n_threads, std::size_t size,
                       Square<const bool> around, Square<bool> left, Square<double> weakest, nb::callable go_on) {
    const Store& store = *data.store;
    const TestSpec test = make_test(kernel, std::move(settings), level);
    check_shape(store, "around", around);
    check_shape(store, "left", left);
    check_shape(store, "weakest", weakest);
    std::optional<PcLevelResult> answer;
    {
        nb::gil_scoped_release unlocked;
        answer = separate(store, test, {size, first_x, last_x, around.data(), left.data(), weakest.data()}, n_threads,
                          asking(go_on));
    }
    if (!answer) return nb::none();
    const PcLevelResult& found = *answer;
    auto sets = std::make_unique_for_overwrite<std::int32_t[]>(found.sets.size());
    std::copy(found.sets.begin(), found.sets.end(), sets.get());
    NewArray support = new_array(found.support.size());
    std::copy(found.support.begin(), found.support.end(), support.values);
    using Sets = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>;
    return nb::make_tuple(give<Sets>(std::move(sets), {found.support.size(), size + 2}), support.array, found.asked,
                          found.finished);
}

nb::object py_explain_away(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                           std::int32_t x, nb::object candidates, std::size_t limit, nb::callable go_on) {
    const TestSpec test = make_test(kernel, std::move(settings), level);
    std::vector<std::int32_t> ys;
    append_indices(candidates, ys);
    check_query(*data.store, x, ys, {});
    check_turns(ys);
    std::optional<HitonResult> found;
    {
        nb::gil_scoped_release unlocked;
        found = hiton_pc(*data.store, test, x, ys, limit, asking(go_on));
    }
    if (!found) return nb::none();
    return nb::make_tuple(found->members, found->weakest, found->asked, found->finished);
}

nb::object py_count_separating(const PyStore& data, const std::string& kernel, std::vector<double> settings,
                               double level, std::int32_t x, nb::object ys, Square<const bool> around,
                               std::size_t limit, nb::callable go_on) {
    const Store& store = *data.store;
    const TestSpec test = make_test(kernel, std::move(settings), level);
    check_shape(store, "around", around);
    std::vector<std::int32_t> apart, members;
    append_indices(ys, apart);
    const Neighbors neighbors{x, store.n_variables(), around.data()};
    for (std::int32_t v = 0; x >= 0 && static_cast<std::size_t>(std::max(v, x)) < neighbors.n; ++v)
        if (neighbors(x, v)) members.push_back(v);
    check_query(store, x, apart, members);
    std::optional<SeparatingSetCounts> found;
    {
        nb::gil_scoped_release unlocked;
        found = count_separating(store, test, neighbors, apart, limit, asking(go_on));
    }
    if (!found) return nb::none();
    auto counts = std::make_unique_for_overwrite<std::int64_t[]>(found->counts.size());
    std::copy(found->counts.begin(), found->counts.end(), counts.get());
    return nb::make_tuple(give<Configurations>(std::move(counts), {apart.size(), members.size() + 1}), found->asked,
                          found->finished);
}

}  // namespace

void bind_subsets(nb::module_& m) {
    using namespace nb::literals;
    m.def("separate", &py_separate,
          nb::sig("def separate(store: Store, kernel: str, settings: Sequence[float], level: float, first_x: int, "
                  "last_x: int, n_threads: int, size: int, around: "
                  "NDArray[np.bool_], left: NDArray[np.bool_], weakest: NDArray[np.float64], go_on: Callable[[int], "
                  "bool]) -> tuple[NDArray[np.int32], NDArray[np.float64], int, bool] | None"),
          "store"_a, "kernel"_a, "settings"_a, "level"_a, "first_x"_a, "last_x"_a, "n_threads"_a, "size"_a,
          "around"_a.noconvert(), "left"_a.noconvert(), "weakest"_a.noconvert(), "go_on"_a,
          "A level of PC-stable; left and weakest are brought up to date. None where log p is not known here.");
    m.def("explain_away", &py_explain_away,
          nb::sig("def explain_away(store: Store, kernel: str, settings: Sequence[float], level: float, x: int, "
                  "candidates: Iterable[int], limit: int, go_on: Callable[[int], bool]) -> tuple[list[int], "
                  "list[float], list[int], bool] | None"),
          "store"_a, "kernel"_a, "settings"_a, "level"_a, "x"_a, "candidates"_a, "limit"_a, "go_on"_a,
          "Interleaved HITON-PC: who is left around x, its weakest evidence, the questions by size of the set.");
    m.def(
        "count_separating", &py_count_separating,
        nb::sig("def count_separating(store: Store, kernel: str, settings: Sequence[float], level: float, x: int, ys: "
                "Iterable[int], around: NDArray[np.bool_], limit: int, go_on: Callable[[int], bool]) -> "
                "tuple[NDArray[np.int64], list[int], bool] | None"),
        "store"_a, "kernel"_a, "settings"_a, "level"_a, "x"_a, "ys"_a, "around"_a.noconvert(), "limit"_a, "go_on"_a,
        "Of each y: the sets of neighbours that separate it from x, and those of them that have each neighbour.");
}

}  // namespace mnlearn
