// Searches in graphs: separating sets in a graph that changes.
#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "graph/separating_sets.hpp"
#include "graph/strongest_partners.hpp"

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
    return nb::make_tuple(array_from(change.around), array_from(change.side), change.joins);
}

void make_strongest_partners(StrongestPartners* self, std::size_t n, std::size_t k) {
    if (k == 0) throw std::invalid_argument("k must be at least 1; got 0. Keep at least one partner.");
    new (self) StrongestPartners(n, k);
}

void py_add(StrongestPartners& self, std::int32_t x, Vector<double> row) {
    const auto n = static_cast<std::int64_t>(self.n_variables());
    if (x < 0 || x >= n || static_cast<std::int64_t>(row.shape(0)) != n - 1 - x)
        throw std::invalid_argument("row must have a number for each variable after x; got " +
                                    std::to_string(row.shape(0)) + " for x=" + std::to_string(x) + " of " +
                                    std::to_string(n) + ". Give the rest of the row.");
    self.add(x, span_of(row));
}

nb::tuple py_pairs(StrongestPartners& self) {
    using Keys = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
    const std::vector<StrongestPartners::Pair> found = self.pairs();
    auto keys = std::make_unique_for_overwrite<std::int64_t[]>(found.size());
    NewArray evidence = new_array(found.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
        keys[k] = found[k].key;
        evidence.values[k] = found[k].evidence;
    }
    return nb::make_tuple(give<Keys>(std::move(keys), {found.size()}), evidence.array);
}

nb::bytes py_varies(const StrongestPartners& self) { return nb::bytes(self.varies().data(), self.varies().size()); }

nb::tuple py_against(const StrongestPartners& self) { return nb::make_tuple(self.n_against(), self.odds_against()); }

}  // namespace

void bind_graphs(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<SeparatingSets>(m, "SeparatingSets", "sep(x; y) in a graph that changes flip by flip.")
        .def("__init__", &make_separating_sets,
             nb::sig("def __init__(self, n_variables: int, us: NDArray[np.int32], vs: NDArray[np.int32]) -> None"),
             "n_variables"_a, "us"_a, "vs"_a)
        .def_prop_ro("n_variables", &SeparatingSets::n_variables)
        .def("numbers", &py_numbers, nb::lock_self(),
             nb::sig("def numbers(self, xs: NDArray[np.int32], ys: NDArray[np.int32]) -> NDArray[np.int32]"), "xs"_a,
             "ys"_a, "The number of sep(x; y) of each pair; equal sets have equal numbers.")
        .def("set", &SeparatingSets::set, nb::lock_self(), nb::sig("def set(self, number: int) -> list[int]"),
             "number"_a, "The set of a number, in ascending order.")
        .def("flip", &py_flip, nb::lock_self(),
             nb::sig("def flip(self, u: int, v: int) -> tuple[NDArray[np.int32], NDArray[np.int32], bool]"), "u"_a,
             "v"_a,
             "Flip a pair. sep(x; y) may have changed for x among the first, and for x and y of which exactly one is "
             "among the second. The last says whether the pair is joined now.");
    nb::class_<StrongestPartners>(m, "StrongestPartners", "The strongest partners of each variable, row by row.")
        .def("__init__", &make_strongest_partners, nb::sig("def __init__(self, n_variables: int, k: int) -> None"),
             "n_variables"_a, "k"_a)
        .def("add", &py_add, nb::lock_self(), nb::sig("def add(self, x: int, row: NDArray[np.float64]) -> None"), "x"_a,
             "row"_a, "Enter the evidence of x with each later variable; rows in the order of x.")
        .def("pairs", &py_pairs, nb::lock_self(),
             nb::sig("def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]"),
             "The keys u n + v of the pairs that are among the strongest of an end, ascending, and their evidence.")
        .def("varies", &py_varies, nb::lock_self(), nb::sig("def varies(self) -> bytes"),
             "Of each variable, whether any evidence with another was not 0.")
        .def("against", &py_against, nb::lock_self(), nb::sig("def against(self) -> tuple[int, float]"),
             "How many pairs have negative evidence, and the sum of its exponentials.");
}

}  // namespace mnlearn
