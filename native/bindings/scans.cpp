// Scans in Python: arrays in, arrays out, the interpreter's lock released while counting.
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <new>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "scan/scan.hpp"

namespace mnlearn {

namespace {

nb::object py_reduce(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object x,
                     nb::object ys, nb::object z, int n_threads) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    NewArray out = new_array(static_cast<std::size_t>(n_outputs(spec)), candidates.size());
    {
        nb::gil_scoped_release unlocked;
        run_scan(*data.store, spec, first, candidates, given, n_threads, out.values);
    }
    return std::move(out.array);
}

nb::object py_local(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object x,
                    nb::object z) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> given;
    append_set(z, given);
    check_query(*data.store, first, {}, given);
    NewArray out = new_array(static_cast<std::size_t>(n_outputs(spec)), 1);
    {
        nb::gil_scoped_release unlocked;
        run_scan(*data.store, spec, first, std::span(&kConstant, 1), given, 1, out.values);
    }
    return std::move(out.array);
}

nb::list ask(const PyStore& data, BatchKind kind, const std::string& kernel, std::vector<double> settings,
             nb::handle xs, nb::handle yss, nb::handle zs, int n_threads) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    Questions questions(*data.store, n_outputs(spec), xs, yss, zs);
    {
        nb::gil_scoped_release unlocked;
        scan_batch(*data.store, spec, kind, questions.all(), n_threads);
    }
    return questions.answers();
}

nb::list py_reduce_many(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object xs,
                        nb::object yss, nb::object zs, int n_threads) {
    return ask(data, BatchKind::scan, kernel, std::move(settings), xs, yss, zs, n_threads);
}

nb::list py_members(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object xs,
                    nb::object zs, int n_threads) {
    return ask(data, BatchKind::leave_one_out, kernel, std::move(settings), xs, nb::handle(), zs, n_threads);
}

nb::list py_without(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object xs,
                    nb::object zs, int n_threads) {
    return ask(data, BatchKind::without_member, kernel, std::move(settings), xs, nb::handle(), zs, n_threads);
}

// Memory for many numbers, in huge pages where the system has them: touching fresh pages of 4 KB for the first time
// takes longer than counting and scoring what goes into them. Taken by malloc and aligned here: what was freed is then
// taken again by the next of the same size (glibc gives back to the system what aligned_alloc took).
struct LargeMemory {
    void* whole;
    double* numbers;
};
LargeMemory large_memory(std::size_t count) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t bytes = count * sizeof(double), in_pages = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    const bool large = bytes >= kHugePage;
    void* whole = std::malloc(large ? in_pages + kHugePage : bytes);
    if (!whole) throw std::bad_alloc();
    if (!large) return {whole, static_cast<double*>(whole)};
    char* first = static_cast<char*>(whole);
    first += (kHugePage - reinterpret_cast<std::uintptr_t>(first) % kHugePage) % kHugePage;
#ifdef MADV_HUGEPAGE
    madvise(first, in_pages, MADV_HUGEPAGE);  // a wish
#endif
    return {whole, reinterpret_cast<double*>(first)};
}

Doubles py_reduce_pairs(const PyStore& data, const std::string& kernel, std::vector<double> settings,
                        std::size_t first_x, std::size_t last_x, int n_threads,
                        const std::optional<Vector<std::uint32_t>>& counted) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    const std::size_t last = std::min(last_x, data.store->n_variables());
    const std::size_t n_pairs = pairs_between(data.store->n_variables(), first_x, last);
    if (counted && (!data.store->plain() || data.store->repeats() || counted->shape(0) != n_pairs))
        throw std::invalid_argument("counted must have a number for each pair of binary variables without repeats.");
    const auto rows = static_cast<std::size_t>(n_outputs(spec));
    const LargeMemory out = large_memory(rows * n_pairs + 1);
    nb::capsule owner(out.whole, [](void* p) noexcept { std::free(p); });
    {
        nb::gil_scoped_release unlocked;
        if (n_pairs)
            scan_pairs(*data.store, spec, first_x, last, n_threads, out.numbers, counted ? counted->data() : nullptr);
    }
    return Doubles(out.numbers, {rows, n_pairs}, owner);
}

using PlaneGroups = nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<3>>;

std::optional<PlaneGroups> py_binary_planes(const PyStore& data) {
    const Store& store = *data.store;
    if (!store.plain() || store.repeats() || store.has_gaps() || !store.n_variables()) return std::nullopt;
    const Planes& planes = store.planes();
    return PlaneGroups(planes.bits, {(store.n_variables() + kLanes - 1) / kLanes, planes.words, kLanes},
                       nb::find(data));
}

}  // namespace

void bind_scans(nb::module_& m) {
    using namespace nb::literals;
    m.def("reduce", &py_reduce,
          nb::sig("def reduce(store: Store, kernel: str, settings: Sequence[float], x: int, ys: Iterable[int], z: "
                  "Iterable[int], n_threads: int) "
                  "-> NDArray[np.float64]"),
          "store"_a, "kernel"_a, "settings"_a, "x"_a, "ys"_a, "z"_a, "n_threads"_a,
          "One row per output, one column per y.");
    m.def("local", &py_local,
          nb::sig("def local(store: Store, kernel: str, settings: Sequence[float], x: int, z: Iterable[int]) "
                  "-> NDArray[np.float64]"),
          "store"_a, "kernel"_a, "settings"_a, "x"_a, "z"_a, "The outputs for x given z alone.");
    m.def("reduce_many", &py_reduce_many,
          nb::sig("def reduce_many(store: Store, kernel: str, settings: Sequence[float], xs: Iterable[int], yss: "
                  "Sequence[Iterable[int]], zs: Sequence[Iterable[int]], n_threads: int) "
                  "-> list[NDArray[np.float64]]"),
          "store"_a, "kernel"_a, "settings"_a, "xs"_a, "yss"_a, "zs"_a, "n_threads"_a,
          "Many scans: what reduce gives for each.");
    m.def("members", &py_members,
          nb::sig("def members(store: Store, kernel: str, settings: Sequence[float], xs: Iterable[int], zs: "
                  "Sequence[Iterable[int]], n_threads: int) "
                  "-> list[NDArray[np.float64]]"),
          "store"_a, "kernel"_a, "settings"_a, "xs"_a, "zs"_a, "n_threads"_a,
          "For each x and z: every member of z given the others, one column each.");
    m.def("without", &py_without,
          nb::sig("def without(store: Store, kernel: str, settings: Sequence[float], xs: Iterable[int], zs: "
                  "Sequence[Iterable[int]], n_threads: int) "
                  "-> list[NDArray[np.float64]]"),
          "store"_a, "kernel"_a, "settings"_a, "xs"_a, "zs"_a, "n_threads"_a,
          "For each x and z: x given z without one member, one column each.");
    m.def("reduce_pairs", &py_reduce_pairs, "store"_a, "kernel"_a, "settings"_a, "first_x"_a, "last_x"_a, "n_threads"_a,
          "counted"_a.none() = nb::none(),
          "All pairs x < y with x in a range, no conditioning; binary ones may have their rows with both states 0 "
          "counted before.");
    m.def("binary_planes", &py_binary_planes, nb::sig("def binary_planes(store: Store) -> NDArray[np.uint64] | None"),
          "store"_a,
          "The rows with state 0 of eight variables at a time, [variable / 8][word][variable % 8]; None "
          "unless all variables are binary, without gaps and repeats.");
}

}  // namespace mnlearn
