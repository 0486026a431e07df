// Columns of tables in Python on their way into codes: blocks of NumPy arrays, and batches of Arrow columns.
#include <nanobind/nanobind.h>

#include <cstring>
#include <utility>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "store/distinct_values.hpp"

namespace mnlearn {

namespace {

// The Arrow C data interface, as its specification declares it.
struct ArrowSchema {
    const char *format, *name, *metadata;
    std::int64_t flags, n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    std::int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

// A structure that was moved here.
template <class Struct> struct Own {
    Struct content{};
    Own() = default;
    Own(const Own&) = delete;
    ~Own() {
        if (content.release) content.release(&content);
    }
};

using CodeRows = nb::ndarray<std::uint8_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyBlock = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

PyObject* decoded(std::string_view text) {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
}

// Labels of one column after another; the codes that a byte does not hold, and the categories that came along.
class CodedColumns {
public:
    explicit CodedColumns(const CodeRows& codes) : codes_(codes.data()), n_rows_(codes.shape(1)) {}

    // A column that is not coded: another type, too many values, or strings that are not UTF-8.
    void leave() { labels_.append(nb::none()); }

    void add(const Cells& cells, bool flags) {
        if (!code(cells)) return leave();
        add_found(cells.type, flags);
    }

    // A column of strings that were added to the coder one by one.
    ValueCoder& coder() { return coder_; }
    void add_strings() {
        coder_.finish_strings(place());
        add_found(CellType::string, false);
    }

    // A column of positions among categories.
    void add(const Cells& cells, const nb::object& categories) {
        if (!categories.is_valid() || !code(cells)) return leave();
        const DistinctValues& found = coder_.found();
        const auto size = static_cast<std::uint64_t>(PyTuple_Size(categories.ptr()));
        for (const std::uint64_t position : found.numbers)
            if (position >= size) return leave();
        nb::object labels = new_labels();
        Py_ssize_t place = found.any_missing;
        for (const std::uint64_t position : found.numbers)
            PyTuple_SetItem(labels.ptr(), place++,
                            Py_NewRef(PyTuple_GetItem(categories.ptr(), static_cast<Py_ssize_t>(position))));
        categories_[nb::int_(labels_.size())] = categories;
        keep(std::move(labels));
    }

    nb::tuple result() { return nb::make_tuple(std::move(labels_), std::move(wide_), std::move(categories_)); }

private:
    std::uint8_t* place() const { return codes_ + labels_.size() * n_rows_; }
    bool code(const Cells& cells) {
        std::uint8_t* to = place();
        nb::gil_scoped_release unlocked;
        return coder_.code(cells, to);
    }
    void add_found(CellType type, bool flags) {
        const DistinctValues& found = coder_.found();
        nb::object labels = new_labels();
        Py_ssize_t place = found.any_missing;
        for (const std::uint64_t number : found.numbers) {
            PyObject* label = flags                      ? PyBool_FromLong(static_cast<long>(number))
                              : type == CellType::uint64 ? PyLong_FromUnsignedLongLong(number)
                                                         : PyLong_FromLongLong(static_cast<std::int64_t>(number));
            if (!label) throw nb::python_error();
            PyTuple_SetItem(labels.ptr(), place++, label);
        }
        for (const std::string_view text : found.strings) {
            PyObject* label = decoded(text);
            if (!label) {
                PyErr_Clear();
                return leave();
            }
            PyTuple_SetItem(labels.ptr(), place++, label);
        }
        keep(std::move(labels));
    }

    nb::object new_labels() const {
        nb::object labels = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(coder_.found().n_codes())));
        if (!labels.is_valid()) throw nb::python_error();
        if (coder_.found().any_missing) PyTuple_SetItem(labels.ptr(), 0, Py_NewRef(Py_None));
        return labels;
    }
    void keep(nb::object labels) {
        const std::vector<std::uint16_t>& wide = coder_.found().wide;
        if (!wide.empty()) {
            auto own = std::make_unique_for_overwrite<std::uint16_t[]>(wide.size());
            std::copy(wide.begin(), wide.end(), own.get());
            wide_[nb::int_(labels_.size())] =
                give<nb::ndarray<nb::numpy, std::uint16_t, nb::ndim<1>>>(std::move(own), {wide.size()});
        }
        labels_.append(std::move(labels));
    }

    std::uint8_t* codes_;
    std::size_t n_rows_;
    ValueCoder coder_;
    nb::list labels_;
    nb::dict wide_, categories_;
};

// A column of Python objects: a list, or an array of objects.
class ObjectColumn {
public:
    explicit ObjectColumn(nb::handle column) {
        if (PyList_CheckExact(column.ptr())) {
            list_ = unshared_list(column);
            if (!list_.is_valid()) throw nb::python_error();
            n_ = static_cast<std::size_t>(PyList_Size(list_.ptr()));
        } else if (PyObject_GetBuffer(column.ptr(), &view_, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0) {
            lent_ = true;
            if (view_.ndim != 1 || !view_.format || std::strcmp(view_.format, "O") != 0)
                throw std::invalid_argument("columns must be lists or 1-D arrays of objects.");
            n_ = static_cast<std::size_t>(view_.shape[0]);
            items_ = static_cast<const char*>(view_.buf);
            step_ = view_.strides[0];
        } else {
            throw nb::python_error();
        }
    }
    ObjectColumn(const ObjectColumn&) = delete;
    ~ObjectColumn() {
        if (lent_) PyBuffer_Release(&view_);
    }
    std::size_t size() const { return n_; }
    PyObject* operator[](std::size_t row) const {
        if (!lent_) return PyList_GetItem(list_.ptr(), static_cast<Py_ssize_t>(row));
        PyObject* item;
        std::memcpy(&item, items_ + static_cast<std::ptrdiff_t>(row) * step_, sizeof item);
        return item ? item : Py_None;  // an array may leave out what was never set
    }

private:
    Py_buffer view_;
    bool lent_ = false;
    nb::object list_;
    std::size_t n_ = 0;
    const char* items_ = nullptr;
    std::ptrdiff_t step_ = sizeof(PyObject*);
};

// None, and what pandas has for missing values of any type.
bool is_none(PyObject* item) {
    if (item == Py_None) return true;
    const nb::object name = nb::steal(PyType_GetName(Py_TYPE(item)));
    if (!name.is_valid()) throw nb::python_error();
    const auto is = [&](const char* other) { return PyUnicode_CompareWithASCIIString(name.ptr(), other) == 0; };
    return is("NAType") || is("NaTType");
}

bool is_nan(PyObject* item) {
    if (!PyFloat_CheckExact(item)) return false;
    const double number = PyFloat_AsDouble(item);
    return number != number;
}

// Strings, None and NaN. Usually few objects stand for all equal strings: one that was seen is not looked at again.
bool add_string_objects(const ObjectColumn& column, ValueCoder& coder) {
    constexpr std::size_t kSeen = 256;
    std::pair<PyObject*, std::size_t> seen[kSeen] = {};
    coder.start(column.size());
    for (std::size_t row = 0; row < column.size(); ++row) {
        PyObject* item = column[row];
        const std::uint64_t address = reinterpret_cast<std::uintptr_t>(item) >> 4;
        auto& [known, earlier] = seen[(address ^ address >> 8) % kSeen];
        if (known == item) {
            coder.add_again(row, earlier);
            continue;
        }
        if (PyUnicode_CheckExact(item)) {
            Py_ssize_t length = 0;
            const char* text = PyUnicode_AsUTF8AndSize(item, &length);
            if (!text) PyErr_Clear();  // half of a pair of surrogates
            if (!text || !coder.add_string(row, {text, static_cast<std::size_t>(length)})) return false;
        } else if (is_nan(item) || is_none(item)) {
            coder.add_missing(row);
        } else {
            return false;
        }
        known = item;
        earlier = row;
    }
    return true;
}

// Whole numbers that fit 64 bits, or booleans, and None.
bool whole_numbers(const ObjectColumn& column, PyTypeObject* type, std::vector<std::int64_t>& numbers,
                   std::vector<std::uint8_t>& valid) {
    numbers.resize(column.size());
    valid.assign((column.size() + 7) / 8, 0);
    PyObject* missing = Py_None;  // the object found last: usually all gaps of a column share one
    for (std::size_t row = 0; row < column.size(); ++row) {
        PyObject* item = column[row];
        if (Py_TYPE(item) == type) {
            int overflow = 0;
            numbers[row] = PyLong_AsLongLongAndOverflow(item, &overflow);
            if (overflow) return false;
            valid[row / 8] = static_cast<std::uint8_t>(valid[row / 8] | 1u << row % 8);
        } else if (item == missing || is_none(item)) {
            missing = item;
        } else {
            return false;
        }
    }
    return true;
}

nb::tuple py_code_lists(const nb::list& columns, const CodeRows& codes) {
    if (codes.shape(0) != columns.size()) throw std::invalid_argument("codes must have a row for each column.");
    CodedColumns coded(codes);
    std::vector<std::int64_t> numbers;
    std::vector<std::uint8_t> valid;
    for (nb::handle given : columns) {
        const ObjectColumn column(given);
        if (column.size() != codes.shape(1)) throw std::invalid_argument("columns must have as many rows as codes.");
        std::size_t first = 0;
        while (first < column.size() && (is_nan(column[first]) || is_none(column[first]))) ++first;
        PyTypeObject* type = first < column.size() ? Py_TYPE(column[first]) : nullptr;
        if (type == &PyUnicode_Type && add_string_objects(column, coded.coder()))
            coded.add_strings();
        else if ((type == &PyLong_Type || type == &PyBool_Type) && whole_numbers(column, type, numbers, valid))
            coded.add(
                {.type = CellType::int64, .values = numbers.data(), .valid = valid.data(), .n_rows = numbers.size()},
                type == &PyBool_Type);
        else
            coded.leave();
    }
    return coded.result();
}

std::optional<CellType> number_type(nb::dlpack::dtype type) {
    if (type == nb::dtype<bool>()) return CellType::uint8;
    if (type == nb::dtype<std::int8_t>()) return CellType::int8;
    if (type == nb::dtype<std::int16_t>()) return CellType::int16;
    if (type == nb::dtype<std::int32_t>()) return CellType::int32;
    if (type == nb::dtype<std::int64_t>()) return CellType::int64;
    if (type == nb::dtype<std::uint8_t>()) return CellType::uint8;
    if (type == nb::dtype<std::uint16_t>()) return CellType::uint16;
    if (type == nb::dtype<std::uint32_t>()) return CellType::uint32;
    if (type == nb::dtype<std::uint64_t>()) return CellType::uint64;
    return std::nullopt;
}

nb::tuple py_code_block(const AnyBlock& values, const CodeRows& codes) {
    const std::optional<CellType> type = number_type(values.dtype());
    if (!type) throw std::invalid_argument("values must be whole numbers or booleans.");
    const std::size_t n_rows = values.shape(0), n_columns = values.shape(1);
    if (codes.shape(0) != n_columns || codes.shape(1) != n_rows)
        throw std::invalid_argument("codes must have a row for each column of values.");
    const std::size_t bytes = values.itemsize();
    const NumberBlock block{values.data(),
                            bytes,
                            n_rows,
                            n_columns,
                            static_cast<std::ptrdiff_t>(values.stride(0) * static_cast<std::int64_t>(bytes)),
                            static_cast<std::ptrdiff_t>(values.stride(1) * static_cast<std::int64_t>(bytes))};
    const bool flags = values.dtype() == nb::dtype<bool>();
    const bool in_place = block.row_step == static_cast<std::ptrdiff_t>(bytes);
    constexpr std::size_t kCacheLine = 64;
    const std::size_t together = in_place ? 1 : kCacheLine / bytes;
    std::vector<std::uint64_t> copy(in_place ? 0 : (together * n_rows * bytes + 7) / 8);
    CodedColumns coded(codes);
    for (std::size_t first = 0; first < n_columns; first += together) {
        const std::size_t n = std::min(together, n_columns - first);
        if (!in_place) gather_columns(block, first, n, copy.data());
        const char* from =
            in_place ? static_cast<const char*>(block.values) + static_cast<std::ptrdiff_t>(first) * block.column_step
                     : reinterpret_cast<const char*>(copy.data());
        for (std::size_t k = 0; k < n; ++k)
            coded.add({.type = *type, .values = from + k * n_rows * bytes, .n_rows = n_rows}, flags);
    }
    return coded.result();
}

// The type of Arrow cells by their format; of a dictionary, that of the positions in it.
std::optional<CellType> cell_type(const char* format) {
    if (std::strcmp(format, "vu") == 0) return CellType::view;
    if (format[0] == '\0' || format[1] != '\0') return std::nullopt;
    switch (format[0]) {
        case 'b':
            return CellType::bits;
        case 'c':
            return CellType::int8;
        case 'C':
            return CellType::uint8;
        case 's':
            return CellType::int16;
        case 'S':
            return CellType::uint16;
        case 'i':
            return CellType::int32;
        case 'I':
            return CellType::uint32;
        case 'l':
            return CellType::int64;
        case 'L':
            return CellType::uint64;
        case 'u':
            return CellType::string;
        case 'U':
            return CellType::large_string;
        default:
            return std::nullopt;
    }
}

template <class Struct> Struct& from_capsule(nb::handle capsule, const char* name) {
    auto* content = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (!content) throw nb::python_error();
    if (!content->release) throw std::invalid_argument("an Arrow structure must not be released yet.");
    return *content;
}

Cells cells_of(const ArrowArray& array, CellType type, std::int64_t offset, std::int64_t n_rows) {
    Cells cells;
    cells.type = type;
    cells.values = array.buffers[1];
    cells.bytes = array.n_buffers > 2 ? array.buffers + 2 : nullptr;
    cells.valid = array.null_count ? static_cast<const std::uint8_t*>(array.buffers[0]) : nullptr;
    cells.offset = static_cast<std::size_t>(array.offset + offset);
    cells.n_rows = static_cast<std::size_t>(n_rows);
    return cells;
}

// The strings of a dictionary, None where one is missing; no object for other or too many values.
nb::object categories_of(const ArrowSchema& schema, const ArrowArray& dictionary) {
    const std::optional<CellType> type = cell_type(schema.format);
    const bool strings = type == CellType::string || type == CellType::large_string || type == CellType::view;
    if (!strings || dictionary.length > static_cast<std::int64_t>(ValueCoder::kMostValues)) return {};
    const Cells cells = cells_of(dictionary, *type, 0, dictionary.length);
    nb::object categories = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(dictionary.length)));
    if (!categories.is_valid()) throw nb::python_error();
    for (std::size_t k = 0; k < cells.n_rows; ++k) {
        const std::optional<std::string_view> text = string_at(cells, k);
        PyObject* label = text ? decoded(*text) : Py_NewRef(Py_None);
        if (!label) {
            PyErr_Clear();
            return {};
        }
        PyTuple_SetItem(categories.ptr(), static_cast<Py_ssize_t>(k), label);
    }
    return categories;
}

nb::tuple code_children(const ArrowSchema& schema, const ArrowArray& rows, const std::vector<std::size_t>& columns,
                        const CodeRows& codes) {
    if (std::strcmp(schema.format, "+s") != 0 || schema.n_children != rows.n_children)
        throw std::invalid_argument("batch must be a batch of Arrow columns.");
    if (codes.shape(0) != columns.size() || codes.shape(1) != static_cast<std::size_t>(rows.length))
        throw std::invalid_argument("codes must have a row for each column of the batch.");
    CodedColumns coded(codes);
    for (const std::size_t column : columns) {
        if (column >= static_cast<std::size_t>(rows.n_children))
            throw std::invalid_argument("columns must be positions in the batch.");
        const ArrowSchema& field = *schema.children[column];
        const ArrowArray& array = *rows.children[column];
        const std::optional<CellType> type = cell_type(field.format);
        if (!type) {
            coded.leave();
            continue;
        }
        const Cells cells = cells_of(array, *type, rows.offset, rows.length);
        if (field.dictionary)
            coded.add(cells, categories_of(*field.dictionary, *array.dictionary));
        else
            coded.add(cells, *type == CellType::bits);
    }
    return coded.result();
}

nb::tuple py_code_arrow(const nb::tuple& batch, const std::vector<std::size_t>& columns, const CodeRows& codes) {
    return code_children(from_capsule<ArrowSchema>(batch[0], "arrow_schema"),
                         from_capsule<ArrowArray>(batch[1], "arrow_array"), columns, codes);
}

// None if the stream fails or has another number of batches than one.
std::optional<nb::tuple> py_code_stream(nb::handle capsule, const std::vector<std::size_t>& columns,
                                        const CodeRows& codes) {
    auto& stream = from_capsule<ArrowArrayStream>(capsule, "arrow_array_stream");
    Own<ArrowSchema> schema;
    Own<ArrowArray> rows, more;
    if (stream.get_schema(&stream, &schema.content) || stream.get_next(&stream, &rows.content)) return std::nullopt;
    if (!rows.content.release || stream.get_next(&stream, &more.content) || more.content.release) return std::nullopt;
    return code_children(schema.content, rows.content, columns, codes);
}

}  // namespace

void bind_columns(nb::module_& m) {
    using namespace nb::literals;
    m.def("code_block", &py_code_block,
          nb::sig("def code_block(values: NDArray[Any], codes: NDArray[np.uint8]) "
                  "-> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]]"),
          "values"_a, "codes"_a,
          "Code the columns of a 2-D array of whole numbers or booleans, each into a row of `codes`: their labels, and "
          "the codes of columns with more than 256 of them.");
    m.def("code_lists", &py_code_lists,
          nb::sig("def code_lists(columns: list[Any], codes: NDArray[np.uint8]) "
                  "-> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]]"),
          "columns"_a, "codes"_a, "Code columns of Python objects: strings, whole numbers or booleans, and None.");
    m.def("code_arrow", &py_code_arrow,
          nb::sig("def code_arrow(batch: tuple[object, object], columns: Sequence[int], codes: NDArray[np.uint8]) "
                  "-> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]]"),
          "batch"_a, "columns"_a, "codes"_a,
          "Code columns of an Arrow batch, given as the capsules of its schema and its array: their labels, the codes "
          "of columns with more than 256 of them, and the categories of those that have a dictionary of strings.");
    m.def("code_stream", &py_code_stream,
          nb::sig("def code_stream(stream: object, columns: Sequence[int], codes: NDArray[np.uint8]) "
                  "-> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]] "
                  "| None"),
          "stream"_a, "columns"_a, "codes"_a,
          "Code columns of an Arrow stream, given as its capsule; None unless it has one batch.");
}

}  // namespace mnlearn
