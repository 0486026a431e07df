// Walks over sets in Python: the interpreter's lock is taken again only to ask whether to go on.
#include <algorithm>
#include <string_view>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "subsets/subset_search.hpp"

namespace mnlearn {

namespace {

template <class T> using Row = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Square = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Tests for a search, with what they read.
struct PySubsetTests {
    SubsetTests tests;
    nb::object source, from_rows;
};

template <class T> void check_shape(std::size_t n, const char* name, const Square<T>& matrix) {
    if (matrix.shape(0) != n || matrix.shape(1) != n)
        throw std::invalid_argument(std::string(name) + " must have a row and a column for each of " +
                                    std::to_string(n) + " variables; got " + std::to_string(matrix.shape(0)) + " by " +
                                    std::to_string(matrix.shape(1)) + ". Give all variables their place.");
}

bool is_truth_of_numpy(nb::handle value) {  // bool_ until NumPy 2, bool from it on
    const nb::handle type = value.type();
    return nb::cast<std::string>(type.attr("__module__")) == "numpy" &&
           nb::cast<std::string>(type.attr("__name__")).starts_with("bool");
}

// A comparison of numpy's numbers says its own True. What says neither, None above all, was hardly meant as "stop".
GoOn asking(const nb::callable& go_on) {
    return [&go_on](std::int32_t x) {
        nb::gil_scoped_acquire locked;
        const nb::object said = go_on(x);
        if (PyBool_Check(said.ptr()) || is_truth_of_numpy(said)) return PyObject_IsTrue(said.ptr()) == 1;
        throw std::invalid_argument("go_on must return true or false; got " + shown(said) +
                                    ". Return True for as long as the search may go on.");
    };
}

PySubsetTests py_count_tests(nb::object source, const std::string& kernel, std::vector<double> settings, double level) {
    const auto& data = nb::cast<const PyStore&>(source);
    return {count_tests(*data.store, make_test(kernel, std::move(settings), level)), source, nb::none()};
}

// The caller's function is kept with the tests.
FromRows asking_for_rows(const nb::callable& from_rows) {
    return [call = from_rows.ptr()](std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z,
                                    double* r) {
        nb::gil_scoped_acquire locked;
        const std::vector<std::int32_t> others(ys.begin(), ys.end()), given(z.begin(), z.end());
        const auto found = nb::cast<Vector<double>>(nb::handle(call)(x, others, given), false);
        if (found.shape(0) != ys.size()) throw std::invalid_argument("from_rows must return a number for each y.");
        std::copy_n(found.data(), ys.size(), r);
    };
}

PySubsetTests py_correlation_tests(nb::object source, double n_rows, double level, nb::callable from_rows) {
    const CorrelationMatrix correlation = correlation_of(nb::cast<Matrix<double>>(source, false));
    return {correlation_tests({correlation, n_rows, level, asking_for_rows(from_rows)}), source, from_rows};
}

PySubsetTests py_testwise_tests(nb::object source, nb::object weights, nb::object first, nb::object missing,
                                double level, nb::callable from_rows) {
    std::optional<Vector<double>> of_rows;
    if (!weights.is_none()) of_rows = nb::cast<Vector<double>>(weights, false);
    const GapColumns columns =
        gap_columns(nb::cast<Matrix<double>>(source, false), of_rows, nb::cast<Vector<std::int64_t>>(first, false),
                    nb::cast<Vector<std::int64_t>>(missing, false));
    return {testwise_tests({columns, level, asking_for_rows(from_rows)}),
            nb::make_tuple(source, weights, first, missing), from_rows};
}

// Lists of the partners of each variable; raises unless the core can follow them.
PairPlaces listed_places(std::size_t n, const Vector<std::int64_t>& starts, const Vector<std::int32_t>& partners) {
    const auto fail = [](const char* why) {
        throw std::invalid_argument(
            std::string("lists must hold the partners of each variable, ascending, every pair ") + "from both ends; " +
            why + ". Use Candidates.lists().");
    };
    if (starts.shape(0) != n + 1) fail("there is not one list for each variable");
    const std::int64_t* const first = starts.data();
    if (first[0] != 0 || first[n] != static_cast<std::int64_t>(partners.shape(0))) fail("they end elsewhere");
    for (std::size_t x = 0; x < n; ++x)
        if (first[x] > first[x + 1]) fail("one ends before it starts");
    const PairPlaces places{n, first, partners.data()};
    for (std::size_t x = 0; x < n; ++x) {
        std::int32_t last = -1;
        places.each(static_cast<std::int32_t>(x), [&](std::int32_t y, std::size_t) {
            if (y <= last || static_cast<std::size_t>(y) >= n || static_cast<std::size_t>(y) == x)
                fail("a partner is out of order");
            last = y;
        });
    }
    for (std::size_t x = 0; x < n; ++x)
        places.each(static_cast<std::int32_t>(x), [&](std::int32_t y, std::size_t) {
            if (places.at(y, static_cast<std::int32_t>(x)) == PairPlaces::none) fail("one is listed from one end only");
        });
    return places;
}

template <class T> void check_length(const PairPlaces& places, const char* name, const T& array) {
    if (array.shape(0) != static_cast<std::size_t>(places.starts[places.n]))
        throw std::invalid_argument(std::string(name) + " must have an entry for each partner in the lists.");
}

nb::object level_found(const SubsetTests& tests, const PcLevel& level, int n_threads, const nb::callable& go_on) {
    std::optional<PcLevelResult> answer;
    {
        nb::gil_scoped_release unlocked;
        answer = separate(tests, level, n_threads, asking(go_on));
    }
    if (!answer) return nb::none();
    const PcLevelResult& found = *answer;
    auto sets = std::make_unique_for_overwrite<std::int32_t[]>(found.sets.size());
    std::copy(found.sets.begin(), found.sets.end(), sets.get());
    NewArray support = new_array(found.support.size());
    std::copy(found.support.begin(), found.support.end(), support.values);
    using Sets = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>;
    return nb::make_tuple(give<Sets>(std::move(sets), {found.support.size(), level.size + 2}), support.array,
                          found.asked, found.finished);
}

nb::object py_separate(const PySubsetTests& data, std::size_t first_x, std::size_t last_x, int n_threads,
                       std::size_t size, Square<const bool> around, Square<bool> left, Square<double> weakest,
                       nb::callable go_on) {
    const SubsetTests& tests = data.tests;
    check_shape(tests.n_variables, "around", around);
    check_shape(tests.n_variables, "left", left);
    check_shape(tests.n_variables, "weakest", weakest);
    const PairPlaces places{tests.n_variables};
    return level_found(tests, {size, first_x, last_x, places, around.data(), left.data(), weakest.data()}, n_threads,
                       go_on);
}

nb::object py_separate_listed(const PySubsetTests& data, std::size_t first_x, std::size_t last_x, int n_threads,
                              std::size_t size, Row<const bool> around, Row<bool> left, Row<double> weakest,
                              Vector<std::int64_t> starts, Vector<std::int32_t> partners, nb::callable go_on) {
    const PairPlaces places = listed_places(data.tests.n_variables, starts, partners);
    check_length(places, "around", around);
    check_length(places, "left", left);
    check_length(places, "weakest", weakest);
    return level_found(data.tests, {size, first_x, last_x, places, around.data(), left.data(), weakest.data()},
                       n_threads, go_on);
}

nb::object py_explain_away(const PySubsetTests& data, std::int32_t x, nb::object candidates, std::size_t limit,
                           nb::callable go_on) {
    std::vector<std::int32_t> ys;
    append_indices(candidates, ys);
    check_query(data.tests.n_variables, x, ys, {});
    check_turns(ys);
    std::optional<HitonResult> found;
    {
        nb::gil_scoped_release unlocked;
        found = hiton_pc(data.tests, x, ys, limit, asking(go_on));
    }
    if (!found) return nb::none();
    return nb::make_tuple(found->members, found->weakest, found->asked, found->finished);
}

nb::object sets_counted(const PySubsetTests& data, const nb::object& ys, const Neighbors& around, std::size_t limit,
                        const nb::callable& go_on) {
    const std::size_t n = data.tests.n_variables;
    std::vector<std::int32_t> apart, members;
    append_indices(ys, apart);
    if (around.x >= 0 && static_cast<std::size_t>(around.x) < n) members = around.of_x();
    check_query(n, around.x, apart, members);
    std::optional<SeparatingSetCounts> found;
    {
        nb::gil_scoped_release unlocked;
        found = count_separating(data.tests, around, apart, limit, asking(go_on));
    }
    if (!found) return nb::none();
    auto counts = std::make_unique_for_overwrite<std::int64_t[]>(found->counts.size());
    std::copy(found->counts.begin(), found->counts.end(), counts.get());
    return nb::make_tuple(give<Configurations>(std::move(counts), {apart.size(), members.size() + 1}), found->asked,
                          found->finished);
}

nb::object py_count_separating(const PySubsetTests& data, std::int32_t x, nb::object ys, Square<const bool> around,
                               std::size_t limit, nb::callable go_on) {
    check_shape(data.tests.n_variables, "around", around);
    return sets_counted(data, ys, {x, {data.tests.n_variables}, around.data()}, limit, go_on);
}

nb::object py_count_separating_listed(const PySubsetTests& data, std::int32_t x, nb::object ys,
                                      Vector<std::int64_t> starts, Vector<std::int32_t> partners, std::size_t limit,
                                      nb::callable go_on) {
    const std::size_t n = data.tests.n_variables;
    if (starts.shape(0) != n + 1 || starts.data()[n] != static_cast<std::int64_t>(partners.shape(0)))
        throw std::invalid_argument("around must list the neighbours of every variable. Use Candidates.lists().");
    return sets_counted(data, ys, {x, {n, starts.data(), partners.data()}, nullptr}, limit, go_on);
}

}  // namespace

void bind_subsets(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PySubsetTests>(m, "SubsetTests", "Tests for searches over conditioning sets.")
        .def_prop_ro("n_variables", [](const PySubsetTests& data) { return data.tests.n_variables; });
    m.def("count_tests", &py_count_tests,
          nb::sig("def count_tests(store: Store, kernel: str, settings: Sequence[float], level: float) -> SubsetTests"),
          "store"_a, "kernel"_a, "settings"_a, "level"_a, "Tests by the tables of a store.");
    m.def("correlation_tests", &py_correlation_tests,
          nb::sig("def correlation_tests(correlation: NDArray[np.float64], n_rows: float, level: float, from_rows: "
                  "Callable[[int, list[int], list[int]], NDArray[np.float64]]) -> SubsetTests"),
          "correlation"_a, "n_rows"_a, "level"_a, "from_rows"_a,
          "Tests by Fisher's z; from_rows(x, ys, z) answers where a correlation matrix does not have the digits.");
    m.def("testwise_tests", &py_testwise_tests,
          nb::sig("def testwise_tests(columns: NDArray[np.float64], weights: NDArray[np.float64] | None, first: "
                  "NDArray[np.int64], missing: NDArray[np.int64], level: float, from_rows: Callable[[int, list[int], "
                  "list[int]], NDArray[np.float64]]) -> SubsetTests"),
          "columns"_a, "weights"_a.none(), "first"_a, "missing"_a, "level"_a, "from_rows"_a,
          "Tests of columns with 0 for gaps, each y by the rows in which x, y and z are observed.");
    m.def("separate", &py_separate,
          nb::sig("def separate(tests: SubsetTests, first_x: int, last_x: int, n_threads: int, size: int, around: "
                  "NDArray[np.bool_], left: NDArray[np.bool_], weakest: NDArray[np.float64], go_on: Callable[[int], "
                  "bool]) -> tuple[NDArray[np.int32], NDArray[np.float64], int, bool] | None"),
          "tests"_a, "first_x"_a, "last_x"_a, "n_threads"_a, "size"_a, "around"_a.noconvert(), "left"_a.noconvert(),
          "weakest"_a.noconvert(), "go_on"_a,
          "A level of PC-stable; left and weakest are brought up to date. None where log p is not known here.");
    m.def("separate_listed", &py_separate_listed,
          nb::sig("def separate_listed(tests: SubsetTests, first_x: int, last_x: int, n_threads: int, size: int, "
                  "around: NDArray[np.bool_], left: NDArray[np.bool_], weakest: NDArray[np.float64], starts: "
                  "NDArray[np.int64], partners: NDArray[np.int32], go_on: Callable[[int], bool]) -> "
                  "tuple[NDArray[np.int32], NDArray[np.float64], int, bool] | None"),
          "tests"_a, "first_x"_a, "last_x"_a, "n_threads"_a, "size"_a, "around"_a.noconvert(), "left"_a.noconvert(),
          "weakest"_a.noconvert(), "starts"_a.noconvert(), "partners"_a.noconvert(), "go_on"_a,
          "A level of PC-stable with an entry for each partner in the lists instead of matrices.");
    m.def("explain_away", &py_explain_away,
          nb::sig("def explain_away(tests: SubsetTests, x: int, candidates: Iterable[int], limit: int, go_on: "
                  "Callable[[int], bool]) -> tuple[list[int], list[float], list[int], bool] | None"),
          "tests"_a, "x"_a, "candidates"_a, "limit"_a, "go_on"_a,
          "Interleaved HITON-PC: who is left around x, its weakest evidence, the questions by size of the set.");
    m.def("count_separating", &py_count_separating,
          nb::sig("def count_separating(tests: SubsetTests, x: int, ys: Iterable[int], around: NDArray[np.bool_], "
                  "limit: int, go_on: Callable[[int], bool]) -> tuple[NDArray[np.int64], list[int], bool] | None"),
          "tests"_a, "x"_a, "ys"_a, "around"_a.noconvert(), "limit"_a, "go_on"_a,
          "Of each y: the sets of neighbours that separate it from x, and those of them that have each neighbour.");
    m.def("count_separating_listed", &py_count_separating_listed,
          nb::sig("def count_separating_listed(tests: SubsetTests, x: int, ys: Iterable[int], starts: "
                  "NDArray[np.int64], partners: NDArray[np.int32], limit: int, go_on: Callable[[int], bool]) -> "
                  "tuple[NDArray[np.int64], list[int], bool] | None"),
          "tests"_a, "x"_a, "ys"_a, "starts"_a.noconvert(), "partners"_a.noconvert(), "limit"_a, "go_on"_a,
          "The sets of count_separating, with lists of all neighbours instead of a matrix.");
}

}  // namespace mnlearn
