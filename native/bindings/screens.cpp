// Screens in Python: the strongest partners of each variable, from pairs scored here or elsewhere.
#include <algorithm>
#include <memory>
#include <string>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "correlation/row_dots.hpp"
#include "screen/evidence_scale.hpp"
#include "screen/partner_lists.hpp"

namespace mnlearn {

namespace {

template <class T> using NewVector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T> NewVector<T> vector_from(const std::vector<T>& values) {
    auto copy = std::make_unique_for_overwrite<T[]>(values.size());
    std::copy(values.begin(), values.end(), copy.get());
    return give<NewVector<T>>(std::move(copy), {values.size()});
}

void check_ends(std::size_t n, const Vector<std::int32_t>& xs, const Vector<std::int32_t>& ys, std::size_t n_values) {
    if (xs.shape(0) != ys.shape(0) || xs.shape(0) != n_values)
        throw std::invalid_argument("xs, ys and the numbers of their pairs must have the same length; got " +
                                    std::to_string(xs.shape(0)) + ", " + std::to_string(ys.shape(0)) + " and " +
                                    std::to_string(n_values) + ". Give each pair its own.");
    for (std::size_t k = 0; k < xs.shape(0); ++k) {
        const std::int32_t x = xs.data()[k], y = ys.data()[k];
        if (x == y || x < 0 || y < 0 || static_cast<std::size_t>(std::max(x, y)) >= n)
            throw std::invalid_argument("pairs must be of two different variables, 0 to " +
                                        std::to_string(static_cast<std::int64_t>(n) - 1) + "; got (" +
                                        std::to_string(x) + ", " + std::to_string(y) + "). Correct it.");
    }
}

void py_push(PartnerLists& self, Vector<std::int32_t> xs, Vector<std::int32_t> ys, Vector<float> values) {
    check_ends(self.n_variables(), xs, ys, values.shape(0));
    nb::gil_scoped_release unlocked;
    for (std::size_t k = 0; k < xs.shape(0); ++k) self.push(xs.data()[k], ys.data()[k], values.data()[k]);
}

NewVector<float> py_bars(const PartnerLists& self) {
    std::vector<float> bars(self.n_variables());
    for (std::size_t x = 0; x < bars.size(); ++x) bars[x] = self.bar(x);
    return vector_from(bars);
}

nb::tuple py_lists(PartnerLists& self) {
    PartnerLists::Lists found;
    {
        nb::gil_scoped_release unlocked;
        found = self.lists();
    }
    return nb::make_tuple(vector_from(found.starts), vector_from(found.partners), vector_from(found.values));
}

nb::object py_one_dof_equivalents(Vector<double> statistic, Vector<double> dof) {
    if (statistic.shape(0) != dof.shape(0))
        throw std::invalid_argument("statistic and dof must have the same length; got " +
                                    std::to_string(statistic.shape(0)) + " and " + std::to_string(dof.shape(0)) +
                                    ". Give each statistic its own.");
    NewArray out = new_array(statistic.shape(0));
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t k = 0; k < statistic.shape(0); ++k)
            out.values[k] = one_dof_equivalent(statistic.data()[k], dof.data()[k]);
    }
    return std::move(out.array);
}

void check_rows(const char* name, const Vector<std::int32_t>& rows, std::size_t n_rows) {
    for (const std::int32_t row : span_of(rows))
        if (row < 0 || static_cast<std::size_t>(row) >= n_rows)
            throw std::invalid_argument(std::string(name) + " must hold rows, 0 to " +
                                        std::to_string(static_cast<std::int64_t>(n_rows) - 1) + "; got " +
                                        std::to_string(row) + ". Correct it.");
}

nb::object py_row_dots(Matrix<double> a, Vector<std::int32_t> is, Matrix<double> b, Vector<std::int32_t> js) {
    if (a.shape(1) != b.shape(1) || is.shape(0) != js.shape(0))
        throw std::invalid_argument("a and b must have rows of one length, and as many rows must be named of each.");
    check_rows("is", is, a.shape(0));
    check_rows("js", js, b.shape(0));
    NewArray out = new_array(is.shape(0));
    {
        nb::gil_scoped_release unlocked;
        row_dots({a.data(), b.data(), a.shape(1), span_of(is), span_of(js)}, out.values);
    }
    return std::move(out.array);
}

}  // namespace

void bind_screens(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PartnerLists>(m, "PartnerLists", "The strongest partners of each variable, pair by pair in any order.")
        .def(nb::init<std::size_t, std::size_t, float, std::size_t>(),
             nb::sig("def __init__(self, n_variables: int, k: int, floor: float, most: int) -> None"), "n_variables"_a,
             "k"_a, "floor"_a, "most"_a, "k = 0: all at least the floor, up to `most` entries, two a pair.")
        .def("push", &py_push,
             nb::sig("def push(self, xs: NDArray[np.int32], ys: NDArray[np.int32], values: NDArray[np.float32]) -> "
                     "None"),
             "xs"_a, "ys"_a, "values"_a, "Enter pairs with their values, each pair once.")
        .def("bars", &py_bars, nb::sig("def bars(self) -> NDArray[np.float32]"),
             "For each variable, the value below which no partner is needed any more.")
        .def("lists", &py_lists,
             nb::sig("def lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]"),
             "Where the partners of each variable begin, the partners, and their values.");
    m.def("one_dof_equivalents", &py_one_dof_equivalents,
          nb::sig("def one_dof_equivalents(statistic: NDArray[np.float64], dof: NDArray[np.float64]) -> "
                  "NDArray[np.float64]"),
          "statistic"_a, "dof"_a, "Chi-squares with one degree of freedom and the same p-values.");
    m.def("row_dots", &py_row_dots,
          nb::sig("def row_dots(a: NDArray[np.float64], is_: NDArray[np.int32], b: NDArray[np.float64], js: "
                  "NDArray[np.int32]) -> NDArray[np.float64]"),
          "a"_a, "is_"_a, "b"_a, "js"_a, "Products of some rows of a with some of b, summed in one order.");
}

}  // namespace mnlearn
