// Elementary functions of arrays, products of matrices and Cholesky factors, each with the same bits everywhere.
#include <array>
#include <string_view>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "numbers/elementary.hpp"
#include "numbers/products.hpp"
#include "numbers/small_matrices.hpp"

namespace mnlearn {

namespace {

using Function = double (*)(double);
struct Named {
    std::string_view name;
    Function function;
};
constexpr std::array kFunctions = {
    Named{"exp", &elementary::exp},   Named{"expm1", &elementary::expm1},
    Named{"log", &elementary::log},   Named{"log1p", &elementary::log1p},
    Named{"log2", &elementary::log2}, Named{"atanh", &elementary::atanh},
    Named{"cbrt", &elementary::cbrt}, Named{"erf", &elementary::erf},
    Named{"erfc", &elementary::erfc}, Named{"log_gamma", &elementary::log_gamma},
};

Function function_named(std::string_view name) {
    for (const Named& each : kFunctions)
        if (each.name == name) return each.function;
    throw std::invalid_argument("function must be the name of an elementary function; got " + std::string(name) + ".");
}

nb::object py_elementary(const std::string& function, Vector<double> numbers) {
    const Function apply = function_named(function);
    const NewArray out = new_array(numbers.shape(0));
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t k = 0; k < numbers.shape(0); ++k) out.values[k] = apply(numbers.data()[k]);
    }
    return out.array;
}

double py_elementary_of_one(const std::string& function, double number) { return function_named(function)(number); }

nb::object py_products(Matrix<double> a, Matrix<double> b, const std::string& level, int n_threads) {
    if (a.shape(1) != b.shape(1)) throw std::invalid_argument("a and b must have rows of the same length.");
    const NewArray out = new_array(a.shape(0), b.shape(0));
    {
        nb::gil_scoped_release unlocked;
        const Rows left{a.data(), a.shape(0), a.shape(1)}, right{b.data(), b.shape(0), b.shape(1)};
        products(left, right, out.values, level, n_threads);
    }
    return out.array;
}

nb::tuple py_pivoted_cholesky(Matrix<double> matrix, double least) {
    const std::size_t n = matrix.shape(0);
    if (matrix.shape(1) != n) throw std::invalid_argument("matrix must be square.");
    const NewArray factor = new_array(n, n);
    std::copy_n(matrix.data(), n * n, factor.values);
    auto order = std::make_unique<std::int64_t[]>(n);
    const std::size_t rank = pivoted_cholesky(factor.values, n, least, order.get());
    return nb::make_tuple(factor.array, give<nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>>(std::move(order), {n}),
                          rank);
}

nb::object py_solve_lower(Matrix<double> lower, Matrix<double> block) {
    const std::size_t n = lower.shape(0), width = block.shape(1);
    if (lower.shape(1) != n || block.shape(0) != n)
        throw std::invalid_argument("lower must be square, with a row for each row of block.");
    const NewArray out = new_array(n, width);
    std::copy_n(block.data(), n * width, out.values);
    {
        nb::gil_scoped_release unlocked;
        solve_lower(lower.data(), n, out.values, width);
    }
    return out.array;
}

nb::object py_invert_positive(nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> matrices) {
    const std::size_t count = matrices.shape(0), n = matrices.shape(1);
    if (matrices.shape(2) != n) throw std::invalid_argument("matrices must be square.");
    const NewArray out = new_array(nb::make_tuple(count, n, n));
    std::copy_n(matrices.data(), count * n * n, out.values);
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t k = 0; k < count; ++k) invert_positive(out.values + k * n * n, n);
    }
    return out.array;
}

}  // namespace

void bind_numbers(nb::module_& m) {
    using namespace nb::literals;
    m.def("elementary", &py_elementary,
          nb::sig("def elementary(function: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]"), "function"_a,
          "numbers"_a, "The values of an elementary function, with the same bits on every machine.");
    m.def("elementary_of_one", &py_elementary_of_one, "function"_a, "number"_a,
          "The value of an elementary function, with the same bits on every machine.");
    m.def("products", &py_products,
          nb::sig("def products(a: NDArray[np.float64], b: NDArray[np.float64], level: str, n_threads: int) -> "
                  "NDArray[np.float64]"),
          "a"_a, "b"_a, "level"_a, "n_threads"_a, "The products of each row of a with each row of b.");
    m.def("pivoted_cholesky", &py_pivoted_cholesky,
          nb::sig("def pivoted_cholesky(matrix: NDArray[np.float64], least: float) -> tuple[NDArray[np.float64], "
                  "NDArray[np.int64], int]"),
          "matrix"_a, "least"_a, "The lower factor, the order of the variables and the rank of a symmetric matrix.");
    m.def("solve_lower", &py_solve_lower,
          nb::sig("def solve_lower(lower: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]"),
          "lower"_a, "block"_a, "Solve a lower triangular system for each column.");
    m.def("invert_positive", &py_invert_positive,
          nb::sig("def invert_positive(matrices: NDArray[np.float64]) -> NDArray[np.float64]"), "matrices"_a,
          "The inverse of each positive definite matrix; NaN for any other.");
}

}  // namespace mnlearn
