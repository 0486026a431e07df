// Searches in graphs: separating sets in a graph that changes.
#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "graph/separating_sets.hpp"

namespace mnlearn {

namespace {

using Ints = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;

Ints array_from(const std::vector<std::int32_t>& values) {
    auto copy = std::make_unique_for_overwrite<std::int32_t[]>(values.size());
    std::copy(values.begin(), values.end(), copy.get());
    return give<Ints>(std::move(copy), {values.size()});
}

void check_pairs(std::size_t n, const Vector<std::int32_t>& us, const Vector<std::int32_t>& vs) {
    if (us.shape(0) != vs.shape(0))
        throw std::invalid_argument("both ends must be given for each pair; got " + std::to_string(us.shape(0)) +
                                    " and " + std::to_string(vs.shape(0)) + ". Give each pair its two.");
    for (std::size_t k = 0; k < us.shape(0); ++k) {
        const std::int32_t u = us.data()[k], v = vs.data()[k];
        if (u == v || u < 0 || v < 0 || static_cast<std::size_t>(std::max(u, v)) >= n)
            throw std::invalid_argument("pairs must be of two different variables, 0 to " +
                                        std::to_string(static_cast<std::int64_t>(n) - 1) + "; got (" +
                                        std::to_string(u) + ", " + std::to_string(v) + "). Correct it.");
    }
}

void make_separating_sets(SeparatingSets* self, std::size_t n, Vector<std::int32_t> us, Vector<std::int32_t> vs) {
    check_pairs(n, us, vs);
    new (self) SeparatingSets(n, span_of(us), span_of(vs));
}

Ints py_numbers(SeparatingSets& self, Vector<std::int32_t> xs, Vector<std::int32_t> ys) {
    check_pairs(self.n_variables(), xs, ys);
    auto found = std::make_unique_for_overwrite<std::int32_t[]>(xs.shape(0));
    {
        nb::gil_scoped_release unlocked;
        self.numbers(span_of(xs), span_of(ys), found.get());
    }
    return give<Ints>(std::move(found), {xs.shape(0)});
}

nb::tuple py_flip(SeparatingSets& self, std::int32_t u, std::int32_t v) {
    const auto n = static_cast<std::int64_t>(self.n_variables());
    if (u == v || u < 0 || v < 0 || std::max(u, v) >= n)
        throw std::invalid_argument("u and v must be two different variables, 0 to " + std::to_string(n - 1) +
                                    "; got " + std::to_string(u) + " and " + std::to_string(v) + ". Correct them.");
    const SeparatingSets::Change change = self.flip(u, v);
    return nb::make_tuple(array_from(change.around), array_from(change.side));
}

}  // namespace

void bind_graphs(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<SeparatingSets>(m, "SeparatingSets", "sep(x; y) in a graph that changes flip by flip.")
        .def("__init__", &make_separating_sets,
             nb::sig("def __init__(self, n_variables: int, us: NDArray[np.int32], vs: NDArray[np.int32]) -> None"),
             "n_variables"_a, "us"_a, "vs"_a)
        .def_prop_ro("n_variables", &SeparatingSets::n_variables)
        .def("numbers", &py_numbers,
             nb::sig("def numbers(self, xs: NDArray[np.int32], ys: NDArray[np.int32]) -> NDArray[np.int32]"), "xs"_a,
             "ys"_a, "The number of sep(x; y) of each pair; equal sets have equal numbers.")
        .def("set", &SeparatingSets::set, nb::sig("def set(self, number: int) -> list[int]"), "number"_a,
             "The set of a number, in ascending order.")
        .def("flip", &py_flip, nb::sig("def flip(self, u: int, v: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]"),
             "u"_a, "v"_a,
             "Flip a pair. sep(x; y) may have changed for x among the first, and for x and y of which exactly one is "
             "among the second.");
}

}  // namespace mnlearn
