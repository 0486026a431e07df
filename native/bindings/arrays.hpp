// Arrays as Python hands them over and takes them back, and the store as Python sees it: what the bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "correlation/partial_correlations.hpp"
#include "correlation/testwise_correlations.hpp"
#include "store/store.hpp"

namespace mnlearn {

namespace nb = nanobind;

template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Writable = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using Configurations = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;
using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>>;
using Cube = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<3>>;

template <class T> std::span<const T> span_of(const Vector<T>& v) { return {v.data(), v.shape(0)}; }

inline CorrelationMatrix correlation_of(const Matrix<double>& matrix) {
    if (matrix.shape(0) != matrix.shape(1)) throw std::invalid_argument("correlation must be a square matrix.");
    return {matrix.shape(0), matrix.data()};
}

inline GapColumns gap_columns(const Matrix<double>& columns, const std::optional<Vector<double>>& weights,
                              const Vector<std::int64_t>& first, const Vector<std::int64_t>& missing) {
    const auto n_missing = static_cast<std::int64_t>(missing.shape(0)),
               n_records = static_cast<std::int64_t>(columns.shape(1));
    if (weights && weights->shape(0) != columns.shape(1))
        throw std::invalid_argument("weights must have a number for each row.");
    if (first.shape(0) != columns.shape(0) + 1 || first.data()[0] != 0 || first.data()[columns.shape(0)] != n_missing ||
        !std::is_sorted(first.data(), first.data() + first.shape(0)))
        throw std::invalid_argument("first must say where the missing rows of each column begin.");
    if (std::any_of(missing.data(), missing.data() + n_missing,
                    [&](std::int64_t row) { return row < 0 || row >= n_records; }))
        throw std::invalid_argument("missing must hold rows.");
    return {columns.shape(0), columns.shape(1), columns.data(), weights ? weights->data() : nullptr,
            first.data(),     missing.data()};
}

template <class Array, class T> Array give(std::unique_ptr<T[]> values, std::initializer_list<std::size_t> shape) {
    T* data = values.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array(data, shape, owner);
}

// The store borrows the caller's arrays, so it keeps them.
struct PyStore {
    std::vector<AnyVector> columns;
    std::optional<Vector<std::int64_t>> repeats;
    std::optional<Vector<std::uint64_t>> planes;
    nb::object share;
    std::unique_ptr<Store> store;
};

// One for each file of bindings: its functions become members of the module.
void bind_scans(nb::module_& m);
void bind_blankets(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_models(nb::module_& m);
void bind_mixed(nb::module_& m);
void bind_subsets(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_screens(nb::module_& m);
void bind_correlations(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_climbs(nb::module_& m);
void bind_numbers(nb::module_& m);

}  // namespace mnlearn
