// What Python hands over, as plain vectors; and arrays to hand back.
//
// A search asks for a few microseconds of counting at a time, so the usual forms (lists, tuples, sets of ints, arrays
// of 32 or 64 bits) are read directly. What cannot be read raises TypeError; Counts says it in words.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "scan/scan.hpp"

namespace mnlearn {

namespace nb = nanobind;

inline std::int32_t read_index(PyObject* item) {
    if (PyBool_Check(item)) throw nb::type_error("an index must be a whole number.");
    const nb::object number = PyLong_CheckExact(item) ? nb::object() : nb::steal(PyNumber_Index(item));
    if (!number && PyErr_Occurred()) throw nb::python_error();
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number ? number.ptr() : item, &overflow);
    if (overflow || value != static_cast<std::int32_t>(value)) throw nb::type_error("an index must fit 32 bits.");
    return static_cast<std::int32_t>(value);
}

// What an array lends while it is looked at.
class Lent {
public:
    explicit Lent(nb::handle array) : lent_(PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FORMAT | PyBUF_ND) == 0) {
        if (!lent_) PyErr_Clear();  // not contiguous, or of a kind that is not lent: read item by item
    }
    Lent(const Lent&) = delete;
    ~Lent() {
        if (lent_) PyBuffer_Release(&view_);
    }
    bool is_vector() const { return lent_ && view_.ndim == 1 && view_.format && view_.format[1] == '\0'; }
    template <class T> bool holds() const {
        return static_cast<std::size_t>(view_.itemsize) == sizeof(T) && std::strchr("ilq", view_.format[0]);
    }
    template <class T> std::span<const T> numbers() const {
        return {static_cast<const T*>(view_.buf), static_cast<std::size_t>(view_.shape[0])};
    }

private:
    Py_buffer view_;
    bool lent_;
};

template <class T> void append_numbers(std::span<const T> from, std::vector<std::int32_t>& to) {
    bool fits = true;
    const std::size_t before = to.size();
    to.resize(before + from.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
        to[before + k] = static_cast<std::int32_t>(from[k]);
        fits &= from[k] == static_cast<std::int32_t>(from[k]);
    }
    if (!fits) throw nb::type_error("an index must fit 32 bits.");
}

// Whether it is an array of 32 or 64 bits, which is then read.
inline bool append_array(nb::handle given, std::vector<std::int32_t>& to) {
    if (!PyObject_CheckBuffer(given.ptr())) return false;
    const Lent lent(given);
    if (!lent.is_vector()) return false;
    if (lent.holds<std::int32_t>())
        append_numbers(lent.numbers<std::int32_t>(), to);
    else if (lent.holds<std::int64_t>())
        append_numbers(lent.numbers<std::int64_t>(), to);
    else
        return false;
    return true;
}

// A tuple of its own: neither another thread nor the code of an item can change it.
inline nb::object listed(nb::handle given) {
    nb::object list = nb::steal(PySequence_Tuple(given.ptr()));
    if (!list) throw nb::python_error();
    return list;
}

// An item of a list. Without a global lock another thread may drop the list's own reference to it.
#ifdef Py_GIL_DISABLED
inline nb::object list_item(PyObject* list, Py_ssize_t k) { return nb::steal(PyList_GetItemRef(list, k)); }
#else
inline nb::handle list_item(PyObject* list, Py_ssize_t k) { return PyList_GetItem(list, k); }
#endif

// A list that nothing else changes, as long as no code of Python runs: a copy where there is no global lock.
inline nb::object unshared_list(nb::handle list) {
#ifdef Py_GIL_DISABLED
    return nb::steal(PySequence_List(list.ptr()));
#else
    return nb::borrow(list);
#endif
}

// Any iterable of whole numbers, appended.
inline void append_indices(nb::handle given, std::vector<std::int32_t>& to) {
    if (PyTuple_CheckExact(given.ptr())) {
        const Py_ssize_t n = PyTuple_Size(given.ptr());
        for (Py_ssize_t k = 0; k < n; ++k) to.push_back(read_index(PyTuple_GetItem(given.ptr(), k)));
        return;
    }
    if (PyList_CheckExact(given.ptr())) {
        Py_ssize_t n = PyList_Size(given.ptr());
        for (Py_ssize_t k = 0; k < n; ++k) {
            const auto item = list_item(given.ptr(), k);
            if (!item.ptr()) throw nb::python_error();
            const bool is_int = PyLong_CheckExact(item.ptr());
            to.push_back(read_index(item.ptr()));
            if (!is_int) n = PyList_Size(given.ptr());  // its own code has run, which may have changed the list
        }
        return;
    }
    if (append_array(given, to)) return;
    const nb::object items = nb::steal(PyObject_GetIter(given.ptr()));
    if (!items) throw nb::python_error();
    while (const nb::object item = nb::steal(PyIter_Next(items.ptr()))) to.push_back(read_index(item.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
}

// The same as a set: in ascending order, each once.
inline void append_set(nb::handle given, std::vector<std::int32_t>& to) {
    const auto begin = static_cast<std::ptrdiff_t>(to.size());
    append_indices(given, to);
    std::sort(to.begin() + begin, to.end());
    to.erase(std::unique(to.begin() + begin, to.end()), to.end());
}

// Each once: what a search tries in turn.
inline void check_turns(std::vector<std::int32_t> ys) {
    std::sort(ys.begin(), ys.end());
    if (std::adjacent_find(ys.begin(), ys.end()) != ys.end())
        throw std::invalid_argument("ys must name each variable once; got one twice. Leave out the second.");
}

// A value as a refusal shows it: no longer than a line.
inline std::string shown(nb::handle value) {
    constexpr std::size_t kMost = 60;
    std::string text = nb::repr(value).c_str();
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

// One of the many arguments that Python would convert, silently and not always to what was meant: taken as it is.
template <class Array> Array array_of(const char* name, const char* rule, nb::handle given) {
    Array array;
    if (!nb::try_cast(given, array, false))
        throw std::invalid_argument(std::string(name) + " must be " + rule + "; got " + shown(given) +
                                    ". Make one by numpy.ascontiguousarray(..., dtype=...).");
    return array;
}

// A new numpy array and where its numbers go.
struct NewArray {
    nb::object array;
    double* values;
};
inline PyObject* numpy_empty = nullptr;  // set once, by the initialisation of the module
inline NewArray new_array(const nb::object& shape) {
    PyObject* argument = shape.ptr();
    nb::object array = nb::steal(PyObject_Vectorcall(numpy_empty, &argument, 1, nullptr));
    if (!array) throw nb::python_error();
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
    auto* values = static_cast<double*>(view.buf);
    PyBuffer_Release(&view);  // the array does not move and is not shared yet
    return {std::move(array), values};
}
inline NewArray new_array(std::size_t n) { return new_array(nb::int_(n)); }
inline NewArray new_array(std::size_t rows, std::size_t columns) { return new_array(nb::make_tuple(rows, columns)); }

// Many questions, read and checked, each with the array for its answer.
class Questions {
public:
    // `yss` is null for questions about the members of z.
    Questions(const Store& store, int n_outputs, nb::handle xs, nb::handle yss, nb::handle zs) {
        const nb::object listed_zs = listed(zs), listed_yss = yss.is_valid() ? listed(yss) : nb::object();
        append_indices(xs, xs_);
        const auto n = static_cast<Py_ssize_t>(xs_.size());
        if (PyTuple_Size(listed_zs.ptr()) != n || (yss.is_valid() && PyTuple_Size(listed_yss.ptr()) != n))
            throw std::invalid_argument("xs, yss and zs must have the same length, a place for each question; got " +
                                        lengths(n, listed_yss, listed_zs) + ". Give each x its own.");
        std::vector<std::size_t> ends;
        for (Py_ssize_t k = 0; k < n; ++k) {
            if (yss.is_valid()) append_indices(PyTuple_GetItem(listed_yss.ptr(), k), flat_);
            ends.push_back(flat_.size());
            append_set(PyTuple_GetItem(listed_zs.ptr(), k), flat_);
            ends.push_back(flat_.size());
        }
        make(store, static_cast<std::size_t>(n_outputs), ends, yss.is_valid());
    }

    std::span<const ScanRequest> all() const { return questions_; }
    nb::list answers() { return std::move(answers_); }

private:
    static std::string lengths(Py_ssize_t n, const nb::object& yss, const nb::object& zs) {
        std::string text = std::to_string(n);
        if (yss.is_valid()) text += ", " + std::to_string(PyTuple_Size(yss.ptr()));
        return text + " and " + std::to_string(PyTuple_Size(zs.ptr()));
    }

    // All are checked before the first is counted.
    void make(const Store& store, std::size_t n_outputs, const std::vector<std::size_t>& ends, bool scans) {
        std::size_t begin = 0;
        for (std::size_t k = 0; k < xs_.size(); ++k) {
            const std::span<const std::int32_t> ys(flat_.data() + begin, ends[2 * k] - begin);
            const std::span<const std::int32_t> z(flat_.data() + ends[2 * k], ends[2 * k + 1] - ends[2 * k]);
            check_query(store, xs_[k], ys, z);
            questions_.push_back({xs_[k], ys, z, nullptr});
            begin = ends[2 * k + 1];
        }
        for (ScanRequest& q : questions_) {
            NewArray answer = new_array(n_outputs, scans ? q.ys.size() : q.z.size());
            q.out = answer.values;
            answers_.append(std::move(answer.array));
        }
    }

    std::vector<std::int32_t> xs_, flat_;
    std::vector<ScanRequest> questions_;
    nb::list answers_;
};

}  // namespace mnlearn
