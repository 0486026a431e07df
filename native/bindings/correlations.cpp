// Partial correlations, residual variances and their tests; lasso paths.
#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "correlation/lasso_path.hpp"
#include "correlation/partial_correlations.hpp"
#include "threads/thread_pool.hpp"

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

nb::tuple py_testwise_correlations(const Matrix<double>& columns, std::optional<Vector<double>> weights,
                                   Vector<std::int64_t> rows, Vector<std::int64_t> missing, nb::object x, nb::object ys,
                                   nb::object z) {
    TestwiseCorrelations correlations(gap_columns(columns, weights, rows, missing));
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(columns.shape(0), first, candidates, given);
    std::span<const double> found;
    {
        nb::gil_scoped_release unlocked;
        found = correlations(first, candidates, given);
    }
    return nb::make_tuple(copied(found), copied(correlations.rows()));
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

nb::tuple py_best_pair(const Matrix<double>& matrix, nb::object x, nb::object ys, nb::object z, double explained,
                       double rounding) {
    CorrelationQuery query(matrix, x, ys, z);
    if (query.ys.size() < 2) throw std::invalid_argument("ys must hold at least two variables.");
    const PartialCorrelations::Pair best =
        query.correlations.best_pair(query.x, query.ys, query.z, explained, rounding);
    return nb::make_tuple(query.ys[best.first], query.ys[best.second], best.explained);
}

std::vector<std::int32_t> allowed_of(nb::handle given, std::size_t n) {
    std::vector<std::int32_t> allowed;
    append_set(given, allowed);
    if (!allowed.empty() && (allowed.front() < 0 || static_cast<std::size_t>(allowed.back()) >= n))
        throw std::invalid_argument("allowed must hold places in the matrix.");
    return allowed;
}

nb::tuple py_lasso_path(Matrix<double> gram, Vector<double> shared, nb::object allowed, double smallest,
                        std::size_t max_steps) {
    const std::size_t n = correlation_of(gram).n;
    if (shared.shape(0) != n) throw std::invalid_argument("shared must have a number for each row of gram.");
    const std::vector<std::int32_t> variables = allowed_of(allowed, n);
    LassoPath path(n, gram.data(), shared.data(), variables);
    std::vector<double> penalties{path.penalty()}, weights(n, 0.0);
    {
        nb::gil_scoped_release unlocked;
        while (penalties.size() <= max_steps && path.next(smallest)) {
            penalties.push_back(path.penalty());
            weights.resize(weights.size() + n, 0.0);
            double* const row = weights.data() + weights.size() - n;
            for (std::size_t i = 0; i < path.active().size(); ++i) row[path.active()[i]] = path.weight(i);
        }
    }
    NewArray out = new_array(penalties.size(), n);
    std::copy(weights.begin(), weights.end(), out.values);
    return nb::make_tuple(copied(penalties), std::move(out.array));
}

nb::list py_lasso_by_criterion(Matrix<double> matrix, nb::object xs, nb::object alloweds, double n_rows, double price,
                               std::size_t most, std::size_t patience, double explained, int n_threads) {
    const CorrelationMatrix correlation = correlation_of(matrix);
    std::vector<std::int32_t> targets;
    append_indices(xs, targets);
    std::vector<std::vector<std::int32_t>> variables;
    for (const nb::handle allowed : alloweds) variables.push_back(allowed_of(allowed, correlation.n));
    if (variables.size() != targets.size()) throw std::invalid_argument("xs and alloweds must have the same length.");
    for (std::size_t k = 0; k < targets.size(); ++k) check_query(correlation.n, targets[k], variables[k], {});
    std::vector<LassoChoice> found(targets.size());
    {
        nb::gil_scoped_release unlocked;
        parallel_for(targets.size(), n_threads, [&](std::size_t k) {
            found[k] = best_on_path(correlation.n, correlation.values, targets[k], variables[k],
                                    {n_rows, price, most, patience, explained});
        });
    }
    nb::list answers;
    for (const LassoChoice& choice : found) answers.append(nb::make_tuple(choice.members, choice.n_sets));
    return answers;
}

}  // namespace

void bind_correlations(nb::module_& m) {
    using namespace nb::literals;
    m.def("partial_correlations", &py_partial_correlations,
          nb::sig("def partial_correlations(correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: "
                  "Iterable[int]) -> NDArray[np.float64]"),
          "correlation"_a.noconvert(), "x"_a, "ys"_a, "z"_a,
          "Of x with each y given z; NaN where a correlation matrix does not have the digits.");
    m.def("testwise_correlations", &py_testwise_correlations,
          nb::sig("def testwise_correlations(columns: NDArray[np.float64], weights: NDArray[np.float64] | None, first: "
                  "NDArray[np.int64], missing: NDArray[np.int64], x: int, ys: Iterable[int], z: Iterable[int]) -> "
                  "tuple[NDArray[np.float64], NDArray[np.float64]]"),
          "columns"_a.noconvert(), "weights"_a.none(), "first"_a, "missing"_a, "x"_a, "ys"_a, "z"_a,
          "The same from columns with 0 for gaps, each y by the rows that x, y and z have; and these rows.");
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
          "Shares of the variance of x with each y in place of each member of z, a row each; no rows where not clear.");
    m.def("best_pair", &py_best_pair,
          nb::sig("def best_pair(correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: Iterable[int], "
                  "explained: float, rounding: float) -> tuple[int, int, float]"),
          "correlation"_a.noconvert(), "x"_a, "ys"_a, "z"_a, "explained"_a, "rounding"_a,
          "The two of ys that explain most of x given z together, and the share of what z leaves of x.");
    m.def("lasso_path", &py_lasso_path,
          nb::sig("def lasso_path(gram: NDArray[np.float64], shared: NDArray[np.float64], allowed: Iterable[int], "
                  "smallest: float, max_steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]"),
          "gram"_a, "shared"_a, "allowed"_a, "smallest"_a, "max_steps"_a,
          "The penalties at which the path bends, descending, and the weights there, a row each.");
    m.def("lasso_by_criterion", &py_lasso_by_criterion,
          nb::sig("def lasso_by_criterion(correlation: NDArray[np.float64], xs: Iterable[int], alloweds: "
                  "Iterable[Iterable[int]], n_rows: float, price: float, most: int, patience: int, explained: float, "
                  "n_threads: int) -> list[tuple[list[int], int]]"),
          "correlation"_a, "xs"_a, "alloweds"_a, "n_rows"_a, "price"_a, "most"_a, "patience"_a, "explained"_a,
          "n_threads"_a, "The set along the path of each x with the least criterion, and how many sets were fitted.");
    m.def("fisher_tails", &py_fisher_tails,
          nb::sig("def fisher_tails(r: NDArray[np.float64], dof: float) -> tuple[NDArray[np.float64], "
                  "NDArray[np.float64]]"),
          "r"_a, "dof"_a, "Fisher's z in units of its standard error, and the log of its two-sided p-value.");
}

}  // namespace mnlearn
