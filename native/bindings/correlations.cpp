// Partial correlations, residual variances, and their tests.
#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "correlation/partial_correlations.hpp"

namespace mnlearn {

namespace {

// A question about a correlation matrix, read and checked.
struct CorrelationQuery {
    CorrelationQuery(const Matrix<double>& matrix, nb::handle first, nb::handle candidates, nb::handle given)
        : correlations(correlation_of(matrix)), x(read_index(first.ptr())) {
        append_indices(candidates, ys);
        append_set(given, z);
        check_query(matrix.shape(0), x, ys, z);
    }
    PartialCorrelations correlations;
    std::int32_t x;
    std::vector<std::int32_t> ys, z;
};

nb::object copied(std::span<const double> found) {
    NewArray out = new_array(found.size());
    std::copy(found.begin(), found.end(), out.values);
    return std::move(out.array);
}

nb::object py_partial_correlations(const Matrix<double>& matrix, nb::object x, nb::object ys, nb::object z) {
    CorrelationQuery query(matrix, x, ys, z);
    return copied(query.correlations(query.x, query.ys, query.z));
}

nb::object py_member_correlations(const Matrix<double>& matrix, nb::object x, nb::object z) {
    CorrelationQuery query(matrix, x, nb::make_tuple(), z);
    return copied(query.correlations.members(query.x, query.z));
}

nb::object py_residual_shares(const Matrix<double>& matrix, nb::object x, nb::object ys, nb::object z,
                              double explained) {
    CorrelationQuery query(matrix, x, ys, z);
    return copied(query.correlations.shares(query.x, query.ys, query.z, explained));
}

nb::object py_exchanged_shares(const Matrix<double>& matrix, nb::object x, nb::object ys, nb::object z,
                               double explained) {
    CorrelationQuery query(matrix, x, ys, z);
    const std::span<const double> found = query.correlations.exchanged(query.x, query.ys, query.z, explained);
    NewArray out = new_array(found.size() / (query.ys.size() + 1), query.ys.size() + 1);
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
    m.def("member_correlations", &py_member_correlations,
          nb::sig("def member_correlations(correlation: NDArray[np.float64], x: int, z: Iterable[int]) -> "
                  "NDArray[np.float64]"),
          "correlation"_a.noconvert(), "x"_a, "z"_a,
          "Of x with each member of z given the others; empty where a correlation matrix does not have the digits.");
    m.def("residual_shares", &py_residual_shares,
          nb::sig("def residual_shares(correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: Iterable[int], "
                  "explained: float) -> NDArray[np.float64]"),
          "correlation"_a.noconvert(), "x"_a, "ys"_a, "z"_a, "explained"_a,
          "Of the variance of x what z and each y leave, at the end what z alone leaves.");
    m.def("exchanged_shares", &py_exchanged_shares,
          nb::sig("def exchanged_shares(correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: Iterable[int], "
                  "explained: float) -> NDArray[np.float64]"),
          "correlation"_a.noconvert(), "x"_a, "ys"_a, "z"_a, "explained"_a,
          "The same without each member of z, a row each, and with each y in its place; no rows where not clear.");
    m.def("fisher_tails", &py_fisher_tails,
          nb::sig("def fisher_tails(r: NDArray[np.float64], dof: float) -> tuple[NDArray[np.float64], "
                  "NDArray[np.float64]]"),
          "r"_a, "dof"_a, "Fisher's z in units of its standard error, and the log of its two-sided p-value.");
}

}  // namespace mnlearn
