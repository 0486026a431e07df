// Partial correlations and their tests.
#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "scan/partial_correlations.hpp"

namespace mnlearn {

namespace {

nb::object py_partial_correlations(const Matrix<double>& matrix, nb::object x, nb::object ys, nb::object z) {
    const CorrelationMatrix correlation = correlation_of(matrix);
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(correlation.n, first, candidates, given);
    NewArray out = new_array(candidates.size());
    PartialCorrelations correlations(correlation);
    const std::span<const double> found = correlations(first, candidates, given);
    std::copy(found.begin(), found.end(), out.values);
    return std::move(out.array);
}

nb::tuple py_fisher_tails(Vector<double> r, double dof) {
    NewArray statistic = new_array(r.shape(0)), log_p = new_array(r.shape(0));
    fisher_tails(span_of(r), dof, statistic.values, log_p.values);
    return nb::make_tuple(std::move(statistic.array), std::move(log_p.array));
}

}  // namespace

void bind_correlations(nb::module_& m) {
    using namespace nb::literals;
    m.def("partial_correlations", &py_partial_correlations,
          nb::sig("def partial_correlations(correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: "
                  "Iterable[int]) -> NDArray[np.float64]"),
          "correlation"_a.noconvert(), "x"_a, "ys"_a, "z"_a,
          "Of x with each y given z; NaN where a correlation matrix does not have the digits.");
    m.def("fisher_tails", &py_fisher_tails,
          nb::sig("def fisher_tails(r: NDArray[np.float64], dof: float) -> tuple[NDArray[np.float64], "
                  "NDArray[np.float64]]"),
          "r"_a, "dof"_a, "Fisher's z in units of its standard error, and the log of its two-sided p-value.");
}

}  // namespace mnlearn
