// The face of the core in Python: arrays in, arrays out, the interpreter's lock released while counting.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

#include "bindings_args.hpp"
#include "cells.hpp"
#include "coding.hpp"
#include "evidence_batch.hpp"
#include "gibbs.hpp"
#include "grow_shrink.hpp"
#include "logistic.hpp"
#include "markovian.hpp"
#include "reduce.hpp"
#include "tables.hpp"
#include "tails.hpp"

namespace nb = nanobind;
using namespace mnlearn;

namespace {

template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Writable = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using Configurations = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;
using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>>;
using Cube = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<3>>;

template <class T> std::span<const T> span_of(const Vector<T>& v) { return {v.data(), v.shape(0)}; }

CodeTable table_of(const Vector<std::uint8_t>& table) {
    if (table.shape(0) != 256) throw std::invalid_argument("a table of codes must have 256 places.");
    return CodeTable(table.data(), 256);
}

template <class Number> bool code_as(const AnyVector& values, std::int64_t low, std::uint8_t* codes) {
    const std::span<const Number> numbers(static_cast<const Number*>(values.data()), values.shape(0));
    nb::gil_scoped_release release;
    return code_near(numbers, low, codes);
}

bool py_code_near(const AnyVector& values, std::int64_t low, Writable<std::uint8_t> codes) {
    if (codes.shape(0) != values.shape(0)) throw std::invalid_argument("values and codes must have the same length.");
    std::uint8_t* to = codes.data();
    const nb::dlpack::dtype type = values.dtype();
    if (type == nb::dtype<std::int8_t>()) return code_as<std::int8_t>(values, low, to);
    if (type == nb::dtype<std::int16_t>()) return code_as<std::int16_t>(values, low, to);
    if (type == nb::dtype<std::int32_t>()) return code_as<std::int32_t>(values, low, to);
    if (type == nb::dtype<std::int64_t>()) return code_as<std::int64_t>(values, low, to);
    if (type == nb::dtype<std::uint8_t>()) return code_as<std::uint8_t>(values, low, to);
    if (type == nb::dtype<std::uint16_t>()) return code_as<std::uint16_t>(values, low, to);
    if (type == nb::dtype<std::uint32_t>()) return code_as<std::uint32_t>(values, low, to);
    return false;
}

void py_recode(Writable<std::uint8_t> codes, const Vector<std::uint8_t>& table) {
    const CodeTable known = table_of(table);
    const std::span<std::uint8_t> all(codes.data(), codes.shape(0));
    nb::gil_scoped_release release;
    recode(all, known);
}

void py_add_planes(const Vector<std::uint8_t>& codes, std::uint8_t first, std::size_t n, Writable<std::uint64_t> words,
                   std::size_t lane, Writable<std::int64_t> totals) {
    const std::size_t n_words = (codes.shape(0) + 63) / 64;
    if (words.shape(0) != n_words * 8 || totals.shape(0) != 8 || lane + n > 8)
        throw std::invalid_argument("words must be eight for every 64 codes, totals eight, and the lanes below eight.");
    const std::span<const std::uint8_t> all = span_of(codes);
    std::uint64_t* to = words.data();
    std::int64_t* sums = totals.data();
    nb::gil_scoped_release release;
    add_planes(all, first, n, to, lane, sums);
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

void make_store(PyStore* self, std::vector<AnyVector> columns, const std::vector<std::uint32_t>& cards,
                std::optional<Vector<std::int64_t>> repeats, std::size_t n_records, const std::string& level,
                std::optional<Vector<std::uint64_t>> planes, const std::vector<std::uint32_t>& first_planes,
                const std::vector<std::uint32_t>& plane_totals, std::size_t max_bytes, const PyStore* share) {
    if (columns.size() != cards.size()) throw std::invalid_argument("columns and cards must have the same length.");
    std::vector<Column> views;
    for (std::size_t v = 0; v < columns.size(); ++v) {
        Column column;
        column.card = cards[v];
        if (columns[v].dtype() == nb::dtype<std::uint8_t>())
            column.narrow = static_cast<const std::uint8_t*>(columns[v].data());
        else if (columns[v].dtype() == nb::dtype<std::uint16_t>())
            column.wide = static_cast<const std::uint16_t*>(columns[v].data());
        else
            throw std::invalid_argument("columns must hold codes of type uint8 or uint16.");
        if (columns[v].shape(0) != n_records || (repeats && repeats->shape(0) != n_records))
            throw std::invalid_argument("columns and repeats must have the same number of rows.");
        views.push_back(column);
    }
    const std::int64_t* weights = repeats ? repeats->data() : nullptr;
    GivenPlanes given;
    if (planes) given = {span_of(*planes), first_planes, plane_totals};
    std::unique_ptr<Store> store;
    LogTables* tables = share ? &share->store->log_tables() : nullptr;
    {
        nb::gil_scoped_release unlocked;
        store = std::make_unique<Store>(std::move(views), n_records, weights, choose_level(level), given, max_bytes,
                                        tables);
    }
    if (share && share->store->n_rows() != store->n_rows())
        throw std::invalid_argument("share must be a store of as many rows; got another number.");
    nb::object kept = share ? nb::find(*share) : nb::object();
    new (self) PyStore{std::move(columns), std::move(repeats), std::move(planes), std::move(kept), std::move(store)};
}

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
        reduce(*data.store, spec, first, candidates, given, n_threads, out.values);
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
        reduce(*data.store, spec, first, std::span(&kConstant, 1), given, 1, out.values);
    }
    return std::move(out.array);
}

nb::list ask(const PyStore& data, Form form, const std::string& kernel, std::vector<double> settings, nb::handle xs,
             nb::handle yss, nb::handle zs, int n_threads) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    Questions questions(*data.store, n_outputs(spec), xs, yss, zs);
    {
        nb::gil_scoped_release unlocked;
        ask_many(*data.store, spec, form, questions.all(), n_threads);
    }
    return questions.answers();
}

nb::list py_reduce_many(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object xs,
                        nb::object yss, nb::object zs, int n_threads) {
    return ask(data, Form::reduce, kernel, std::move(settings), xs, yss, zs, n_threads);
}

nb::list py_members(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object xs,
                    nb::object zs, int n_threads) {
    return ask(data, Form::members, kernel, std::move(settings), xs, nb::handle(), zs, n_threads);
}

nb::list py_without(const PyStore& data, const std::string& kernel, std::vector<double> settings, nb::object xs,
                    nb::object zs, int n_threads) {
    return ask(data, Form::without, kernel, std::move(settings), xs, nb::handle(), zs, n_threads);
}

// Each once: what a search tries in turn.
void check_turns(std::vector<std::int32_t> ys) {
    std::sort(ys.begin(), ys.end());
    if (std::adjacent_find(ys.begin(), ys.end()) != ys.end())
        throw std::invalid_argument("ys must name each variable once; got one twice. Leave out the second.");
}

nb::object given_back(const std::vector<double>& values, std::size_t n) {
    NewArray out = new_array(n);
    std::copy_n(values.begin(), n, out.values);
    return std::move(out.array);
}

nb::object py_grow(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                   nb::object x, nb::object ys, nb::object z, bool to_first, std::size_t in_a_row) {
    const Decision test = make_decision(kernel, std::move(settings), level);
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    check_turns(candidates);
    std::vector<double> out(candidates.size());
    std::size_t decided = 0;
    {
        nb::gil_scoped_release unlocked;
        decided = grow(*data.store, test, first, candidates, given, {to_first, in_a_row}, out.data());
    }
    return given_back(out, decided);
}

nb::object py_shrink(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                     nb::object x, nb::object ys, nb::object z) {
    const Decision test = make_decision(kernel, std::move(settings), level);
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> members, given;
    append_indices(ys, members);
    append_set(z, given);
    check_query(*data.store, first, {}, given);
    check_turns(members);
    for (const std::int32_t y : members)
        if (!std::binary_search(given.begin(), given.end(), y))
            throw std::invalid_argument("ys must be members of z; got y=" + std::to_string(y) + ". Add it to z.");
    std::vector<double> out(members.size());
    std::size_t decided = 0;
    {
        nb::gil_scoped_release unlocked;
        decided = shrink(*data.store, test, first, members, given, out.data());
    }
    return given_back(out, decided);
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
                        std::size_t first_x, std::size_t last_x, int n_threads) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    const std::size_t last = std::min(last_x, data.store->n_variables());
    const std::size_t n_pairs = pairs_between(data.store->n_variables(), first_x, last);
    const auto rows = static_cast<std::size_t>(n_outputs(spec));
    const LargeMemory out = large_memory(rows * n_pairs + 1);
    nb::capsule owner(out.whole, [](void* p) noexcept { std::free(p); });
    {
        nb::gil_scoped_release unlocked;
        if (n_pairs) reduce_pairs(*data.store, spec, first_x, last, n_threads, out.numbers);
    }
    return Doubles(out.numbers, {rows, n_pairs}, owner);
}

std::tuple<Configurations, std::vector<Cube>> py_tables(const PyStore& data, std::int32_t x, Vector<std::int32_t> ys,
                                                        Vector<std::int32_t> z, double max_cells, int n_threads) {
    const Store& store = *data.store;
    check_query(store, x, span_of(ys), span_of(z));
    std::vector<std::unique_ptr<std::int64_t[]>> counts;
    std::unique_ptr<std::int64_t[]> configurations;
    const std::size_t rx = store.column(static_cast<std::size_t>(x)).card;
    const auto card = [&](std::size_t k) { return store.column(static_cast<std::size_t>(ys.data()[k])).card; };
    std::size_t n_strata = 0;
    {
        nb::gil_scoped_release unlocked;
        const TableScan scan(store, x, span_of(ys), span_of(z), n_threads);
        check_cells(scan, x, max_cells);
        n_strata = scan.n_strata();
        configurations = std::make_unique<std::int64_t[]>(n_strata * z.shape(0) + 1);
        scan.configurations(configurations.get());
        std::vector<TableTarget> targets;
        for (std::size_t k = 0; k < ys.shape(0); ++k) {
            counts.push_back(std::make_unique<std::int64_t[]>(n_strata * rx * card(k) + 1));
            targets.push_back({counts.back().get(), rx * card(k)});
        }
        scan.count(targets);
    }
    std::vector<Cube> cubes;
    for (std::size_t k = 0; k < ys.shape(0); ++k)
        cubes.push_back(give<Cube>(std::move(counts[k]), {n_strata, rx, card(k)}));
    return {give<Configurations>(std::move(configurations), {n_strata, z.shape(0)}), std::move(cubes)};
}

std::tuple<Configurations, Configurations> py_flat_tables(const PyStore& data, std::int32_t x, Vector<std::int32_t> ys,
                                                          Vector<std::int32_t> z, double max_cells, int n_threads) {
    const Store& store = *data.store;
    check_query(store, x, span_of(ys), span_of(z));
    const std::size_t rx = store.column(static_cast<std::size_t>(x)).card;
    std::unique_ptr<std::int64_t[]> configurations, counts;
    std::size_t n_strata = 0, width = 0;
    for (const std::int32_t y : span_of(ys)) width += rx * store.column(static_cast<std::size_t>(y)).card;
    {
        nb::gil_scoped_release unlocked;
        const TableScan scan(store, x, span_of(ys), span_of(z), n_threads);
        check_cells(scan, x, max_cells);
        n_strata = scan.n_strata();
        configurations = std::make_unique<std::int64_t[]>(n_strata * z.shape(0) + 1);
        scan.configurations(configurations.get());
        counts = std::make_unique<std::int64_t[]>(n_strata * width + 1);
        std::vector<TableTarget> targets;
        std::int64_t* place = counts.get();
        for (const std::int32_t y : span_of(ys)) {
            targets.push_back({place, width});
            place += rx * store.column(static_cast<std::size_t>(y)).card;
        }
        scan.count(targets);
    }
    return {give<Configurations>(std::move(configurations), {n_strata, z.shape(0)}),
            give<Configurations>(std::move(counts), {n_strata, width})};
}

std::tuple<Configurations, Configurations> py_cells(const PyStore& data, std::int32_t x, Vector<std::int32_t> z) {
    const Store& store = *data.store;
    check_query(store, x, {}, span_of(z));
    std::unique_ptr<std::int64_t[]> states, sizes;
    std::size_t count = 0;
    const std::size_t n = z.shape(0) + 1;
    {
        nb::gil_scoped_release unlocked;
        const Cells cells = occupied_cells(store, x, span_of(z));
        count = cells.count();
        states = std::make_unique<std::int64_t[]>(count * n + 1);
        sizes = std::make_unique<std::int64_t[]>(count + 1);
        std::copy(cells.states.begin(), cells.states.end(), states.get());
        std::copy(cells.sizes.begin(), cells.sizes.end(), sizes.get());
    }
    return {give<Configurations>(std::move(states), {n, count}), give<Configurations>(std::move(sizes), {1, count})};
}

Doubles py_score_tables(const PyStore& data, const std::string& kernel, std::vector<double> settings,
                        nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> counts,
                        std::uint32_t rx, Vector<std::int32_t> rys, double n_configurations,
                        double log_n_configurations) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    std::size_t width = 0;
    for (const std::int32_t ry : span_of(rys)) width += rx * static_cast<std::size_t>(std::max(ry, 1));
    if (width != counts.shape(1)) throw std::invalid_argument("counts must have rx * ry columns for each y.");
    const auto rows = static_cast<std::size_t>(n_outputs(spec));
    auto out = std::make_unique<double[]>(rows * rys.shape(0) + 1);
    {
        nb::gil_scoped_release unlocked;
        score_tables(spec,
                     {counts.data(), counts.shape(0), width, rx, span_of(rys), data.store->n_rows(), n_configurations,
                      log_n_configurations},
                     data.store->log_tables(), out.get());
    }
    return give<Doubles>(std::move(out), {rows, rys.shape(0)});
}

std::vector<double> py_score_table(const std::string& kernel, std::vector<double> settings,
                                   nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> counts,
                                   std::int64_t n_rows, double n_configurations, double log_n_configurations) {
    const KernelSpec spec = parse_kernel(kernel, std::move(settings));
    std::vector<double> out(static_cast<std::size_t>(n_outputs(spec)));
    const auto ry = static_cast<std::int32_t>(counts.shape(2));
    LogTables tables(n_rows);
    score_tables(
        spec,
        {counts.data(), counts.shape(0), counts.shape(1) * counts.shape(2), static_cast<std::uint32_t>(counts.shape(1)),
         std::span(&ry, 1), n_rows, n_configurations, log_n_configurations},
        tables, out.data());
    return out;
}

std::uint64_t py_probe_popcount(const std::string& level, std::size_t rounds) {
    return choose_level(level).probe_popcount(rounds);
}

std::uint64_t py_probe_loads(const std::string& level, Vector<std::uint64_t> rows) {
    return choose_level(level).probe_loads(rows.data(), rows.shape(0) / kRowWords);
}

Bytes py_gibbs(Vector<std::int32_t> cards, Vector<std::int64_t> term_start, Vector<std::uint8_t> tabled,
               Vector<std::int64_t> table_start, Vector<std::int64_t> other_start, Vector<std::int32_t> others,
               Vector<std::int64_t> strides, Vector<double> tables, std::uint64_t key, std::size_t n_chains,
               std::size_t n_draws, std::size_t burn_in, std::size_t thin, int n_threads) {
    const GibbsModel model{span_of(cards),       span_of(term_start), span_of(tabled),  span_of(table_start),
                           span_of(other_start), span_of(others),     span_of(strides), span_of(tables)};
    const GibbsPlan plan{key, n_chains, n_draws, burn_in, thin, n_threads};
    check_gibbs(model, plan);
    auto codes = std::make_unique_for_overwrite<std::uint8_t[]>(n_draws * n_chains * cards.shape(0) + 1);
    {
        nb::gil_scoped_release unlocked;
        gibbs(model, plan, codes.get());
    }
    return give<Bytes>(std::move(codes), {n_draws * n_chains, cards.shape(0)});
}

Bytes py_markovian(nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> columns,
                   Vector<std::int32_t> cards, Vector<std::int64_t> starts, Vector<std::int32_t> neighbors,
                   const std::string& weighing, double inverse_temperature, std::size_t n_updates, std::size_t n_new,
                   std::uint64_t key, int n_threads, const std::string& level) {
    const MarkovianModel model{
        columns.shape(1), {columns.data(), columns.size()}, span_of(cards), span_of(starts), span_of(neighbors)};
    const MarkovianPlan plan{parse_weighing(weighing), inverse_temperature, n_updates, n_new, key, n_threads, level};
    check_markovian(model, plan);
    auto rows = std::make_unique_for_overwrite<std::uint8_t[]>(n_new * cards.shape(0) + 1);
    {
        nb::gil_scoped_release unlocked;
        markovian(model, plan, rows.get());
    }
    return give<Bytes>(std::move(rows), {n_new, cards.shape(0)});
}

Doubles py_evidence_facts(const PyStore& data, int n_threads) {
    const std::size_t n = data.store->n_variables();
    auto out = std::make_unique<double[]>(3 * n + 1);
    {
        nb::gil_scoped_release unlocked;
        evidence_facts(*data.store, n_threads, {out.get(), out.get() + n, out.get() + 2 * n});
    }
    return give<Doubles>(std::move(out), {3, n});
}

Doubles py_evidence(const PyStore& data, Vector<double> n_states, Vector<double> offset, Vector<double> gift,
                    const std::string& kind, Vector<std::int32_t> xs, Vector<std::int64_t> z_starts,
                    Vector<std::int32_t> zs, Vector<std::int64_t> y_starts, Vector<std::int32_t> ys, bool three_way,
                    double fit_above, int n_threads) {
    const EvidenceBatch batch{span_of(xs), span_of(z_starts), span_of(zs), span_of(y_starts), span_of(ys)};
    const EvidenceRequest request{parse_evidence(kind), three_way, fit_above};
    const VariableFacts facts{span_of(n_states), span_of(offset), span_of(gift)};
    check_batch(*data.store, batch);
    for (const auto& fact : {facts.n_states, facts.offset, facts.gift})
        if (fact.size() != data.store->n_variables())
            throw std::invalid_argument("n_states, offset and gift must have one number for each variable.");
    const std::size_t rows = evidence_rows(request.kind), columns = evidence_columns(request.kind, batch);
    auto out = std::make_unique<double[]>(rows * columns + 1);
    {
        nb::gil_scoped_release unlocked;
        run_evidence(*data.store, facts, batch, request, n_threads, out.get());
    }
    return give<Doubles>(std::move(out), {rows, columns});
}

nb::tuple py_log_chi2_tails(Vector<double> statistic, Vector<double> dof) {
    if (statistic.shape(0) != dof.shape(0)) throw std::invalid_argument("statistic and dof must have the same length.");
    NewArray out = new_array(statistic.shape(0));
    const bool all = log_chi2_tails(statistic.data(), dof.data(), statistic.shape(0), out.values);
    return nb::make_tuple(std::move(out.array), all);
}

nb::tuple py_fit_logistic(Matrix<double> design, Vector<double> total, Vector<double> ones, Vector<double> penalty,
                          double ridge, double tolerance, Vector<double> start) {
    const std::size_t n_rows = design.shape(0), n_columns = design.shape(1);
    if (total.shape(0) != n_rows || ones.shape(0) != n_rows || penalty.shape(0) != n_columns ||
        start.shape(0) != n_columns + 1)
        throw std::invalid_argument(
            "total and ones must have a number for each row, penalty and start for each column.");
    NewArray out = new_array(n_columns + 1);
    std::copy_n(start.data(), n_columns + 1, out.values);
    double loss = 0;
    {
        nb::gil_scoped_release unlocked;
        loss = fit_logistic({n_rows, n_columns, design.data(), total.data(), ones.data()}, span_of(penalty), ridge,
                            tolerance, {out.values, n_columns + 1});
    }
    return nb::make_tuple(std::move(out.array), loss);
}

constexpr const char* kWays[] = {"",        "tree", "split_planes", "split_columns", "sorted_columns", "planes",
                                 "columns", "keys", "lanes",        "alone",         "distinct"};

void py_force(PyStore& data, const std::string& way) {
    for (std::size_t k = 0; k < std::size(kWays); ++k)
        if (way == kWays[k]) return data.store->force(static_cast<Way>(k));
    throw std::invalid_argument("way must name a way of counting, or be empty; got '" + way + "'.");
}

std::string py_way_of(const PyStore& data, nb::object x, nb::object ys, nb::object z) {
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    std::vector<double> out(candidates.size());
    return kWays[static_cast<std::size_t>(
        reduce(*data.store, {KernelName::first_cell, {}}, first, candidates, given, 1, out.data()))];
}

std::vector<std::string> py_levels() {
    std::vector<std::string> names;
    for (const Level& level : available_levels()) names.emplace_back(level.name);
    return names;
}

}  // namespace

NB_MODULE(_core, m) {
    using namespace nb::literals;
    m.doc() = "The native core: counting and scoring contingency tables. Use mnlearn.statistics.Counts.";
    nb::class_<PyStore>(m, "Store", "Coded columns and what is built from them; borrows the arrays it is given.")
        .def("__init__", &make_store, "columns"_a, "cards"_a, "repeats"_a.none(), "n_records"_a, "level"_a = "",
             "planes"_a.none() = nb::none(), "first_planes"_a = std::vector<std::uint32_t>(),
             "plane_totals"_a = std::vector<std::uint32_t>(), "max_bytes"_a = std::numeric_limits<std::size_t>::max(),
             "share"_a.none() = nb::none())
        .def_prop_ro("n_rows", [](const PyStore& s) { return s.store->n_rows(); })
        .def_prop_ro("level", [](const PyStore& s) { return std::string(s.store->level().name); })
        .def_prop_ro("extra_bytes", [](const PyStore& s) { return s.store->extra_bytes(); });
    m.def("force", &py_force, "store"_a, "way"_a, "Count scans this way where it is possible; empty for the cheapest.");
    m.def("way_of", &py_way_of, nb::sig("def way_of(store: Store, x: int, ys: Iterable[int], z: Iterable[int]) -> str"),
          "store"_a, "x"_a, "ys"_a, "z"_a, "The way in which (most of) ys are counted.");
    m.def("code_near", &py_code_near, "values"_a, "low"_a, "codes"_a,
          "Whole numbers as 1 + their distance from `low`; whether all of them are at most 254 away.");
    m.def("recode", &py_recode, "codes"_a, "table"_a, "Codes through a table, in place.");
    m.def("add_planes", &py_add_planes, "codes"_a, "first"_a, "n"_a, "words"_a, "lane"_a, "totals"_a,
          "The bits of some states in words of eight lanes, and how many rows have each.");
    m.def("levels", &py_levels, "Code paths this processor can run, fastest first.");
    m.def("probe_popcount", &py_probe_popcount, "level"_a, "rounds"_a, "AND and count 8,192 bits a round.");
    m.def("probe_loads", &py_probe_loads, "level"_a, "rows"_a, "Load 512 bits after 512 bits.");
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
    m.def(
        "grow", &py_grow,
        nb::sig("def grow(store: Store, kernel: str, settings: Sequence[float], level: float, x: int, ys: "
                "Iterable[int], z: Iterable[int], to_first: bool, in_a_row: int) -> NDArray[np.float64]"),
        "store"_a, "kernel"_a, "settings"_a, "level"_a, "x"_a, "ys"_a, "z"_a, "to_first"_a, "in_a_row"_a,
        "The support of independence of each y in turn, given z and the dependent ones before it; as far as it goes.");
    m.def("shrink", &py_shrink,
          nb::sig("def shrink(store: Store, kernel: str, settings: Sequence[float], level: float, x: int, ys: "
                  "Iterable[int], z: Iterable[int]) -> NDArray[np.float64]"),
          "store"_a, "kernel"_a, "settings"_a, "level"_a, "x"_a, "ys"_a, "z"_a,
          "The same for members of z, given the rest of it without the independent ones before it.");
    m.def("reduce_pairs", &py_reduce_pairs, "store"_a, "kernel"_a, "settings"_a, "first_x"_a, "last_x"_a, "n_threads"_a,
          "All pairs x < y with x in a range, no conditioning.");
    m.def("tables", &py_tables, "store"_a, "x"_a, "ys"_a, "z"_a, "max_cells"_a, "n_threads"_a,
          "Observed configurations of z, and counts[stratum, x, y] per y.");
    m.def("flat_tables", &py_flat_tables, "store"_a, "x"_a, "ys"_a, "z"_a, "max_cells"_a, "n_threads"_a,
          "The same in one array: a row per stratum, the tables of all y one after the other.");
    m.def("cells", &py_cells, "store"_a, "x"_a, "z"_a,
          "The table of z and x, occupied cells only: the states of each variable, x last, and how often each occurs.");
    m.def("log_chi2_tails", &py_log_chi2_tails,
          nb::sig("def log_chi2_tails(statistic: NDArray[np.float64], dof: NDArray[np.float64]) "
                  "-> tuple[NDArray[np.float64], bool]"),
          "statistic"_a, "dof"_a, "log p of each, NaN where the core has no short way to it; whether there is none.");
    m.def(
        "fit_logistic", &py_fit_logistic,
        nb::sig("def fit_logistic(design: NDArray[np.float64], total: NDArray[np.float64], ones: NDArray[np.float64], "
                "penalty: NDArray[np.float64], ridge: float, tolerance: float, start: NDArray[np.float64]) "
                "-> tuple[NDArray[np.float64], float]"),
        "design"_a, "total"_a, "ones"_a, "penalty"_a, "ridge"_a, "tolerance"_a, "start"_a,
        "The coefficients of a logistic regression on grouped rows, the intercept last, and -log L there.");
    m.def("score_tables", &py_score_tables, "store"_a, "kernel"_a, "settings"_a, "counts"_a, "rx"_a, "rys"_a,
          "n_configurations"_a, "log_n_configurations"_a, "The outputs for tables as flat_tables gives them.");
    m.def("score_table", &py_score_table, "kernel"_a, "settings"_a, "counts"_a, "n_rows"_a, "n_configurations"_a,
          "log_n_configurations"_a, "The outputs for one given table.");
    m.def("gibbs", &py_gibbs, "cards"_a, "term_start"_a, "tabled"_a, "table_start"_a, "other_start"_a, "others"_a,
          "strides"_a, "tables"_a, "key"_a, "n_chains"_a, "n_draws"_a, "burn_in"_a, "thin"_a, "n_threads"_a,
          "States kept by Gibbs chains: one row per draw and chain, the chains in turn.");
    m.def("markovian", &py_markovian, "columns"_a, "cards"_a, "starts"_a, "neighbors"_a, "weighing"_a,
          "inverse_temperature"_a, "n_updates"_a, "n_new"_a, "key"_a, "n_threads"_a, "level"_a = "",
          "New rows, value by value from the frequencies of old rows given the neighbours.");
    m.def(
        "evidence_facts", &py_evidence_facts, "store"_a, "n_threads"_a,
        "Three rows: of each variable the number of states that occur, the offset of its pairwise evidence, and what a "
        "table of empty configurations gives it for nothing.");
    m.def("evidence", &py_evidence, "store"_a, "n_states"_a, "offset"_a, "gift"_a, "kind"_a, "xs"_a, "z_starts"_a,
          "zs"_a, "y_starts"_a, "ys"_a, "three_way"_a, "fit_above"_a, "n_threads"_a,
          "Local evidence of many scans at once: see native/evidence.hpp for the rows of each kind.");
}
