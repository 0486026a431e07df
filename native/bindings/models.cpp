// What is made of data beside tables: codes and planes, chains, evidence, regressions.
#include <algorithm>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "evidence/evidence.hpp"
#include "evidence/logistic_path.hpp"
#include "evidence/promising.hpp"
#include "sampling/gibbs.hpp"
#include "sampling/markovian.hpp"
#include "store/coding.hpp"

namespace mnlearn {

namespace {

CodeTable table_of(const Vector<std::uint8_t>& table) {
    if (table.shape(0) != 256) throw std::invalid_argument("a table of codes must have 256 places.");
    return CodeTable(table.data(), 256);
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
                    Vector<double> thresholds, int n_threads) {
    const EvidenceBatch batch{span_of(xs), span_of(z_starts), span_of(zs), span_of(y_starts), span_of(ys)};
    const EvidenceRequest request{parse_evidence(kind), three_way, span_of(thresholds)};
    const VariableFacts facts{span_of(n_states), span_of(offset), span_of(gift)};
    check_batch(*data.store, batch);
    for (const auto& fact : {facts.n_states, facts.offset, facts.gift})
        if (fact.size() != data.store->n_variables())
            throw std::invalid_argument("n_states, offset and gift must have one number for each variable.");
    if (thresholds.shape(0) != batch.xs.size())
        throw std::invalid_argument("thresholds must have one number for each scan.");
    const std::size_t rows = evidence_rows(request.kind), columns = evidence_columns(request.kind, batch);
    auto out = std::make_unique<double[]>(rows * columns + 1);
    {
        nb::gil_scoped_release unlocked;
        run_evidence(*data.store, facts, batch, request, n_threads, out.get());
    }
    return give<Doubles>(std::move(out), {rows, columns});
}

nb::tuple py_most_promising(const PyStore& data, Vector<std::int32_t> xs, Vector<std::int64_t> z_starts,
                            Vector<std::int32_t> zs, std::size_t k, double above, int n_threads) {
    const std::vector<std::int64_t> none(xs.shape(0) + 1);
    const EvidenceBatch batch{span_of(xs), span_of(z_starts), span_of(zs), none, {}};
    check_batch(*data.store, batch);
    if (k == 0 || !has_promising(*data.store))
        throw std::invalid_argument("a ranking needs k from 1, and complete binary variables without repeats.");
    for (std::size_t s = 0; s < batch.xs.size(); ++s)
        if (batch[s].z.size() > kMostGiven)
            throw std::invalid_argument("z must have at most " + std::to_string(kMostGiven) + " members.");
    std::vector<std::vector<std::int32_t>> found;
    {
        nb::gil_scoped_release unlocked;
        found = most_promising(*data.store, batch, k, static_cast<float>(above), n_threads);
    }
    std::size_t size = 0;
    auto starts = std::make_unique<std::int64_t[]>(found.size() + 1);
    for (std::size_t s = 0; s < found.size(); ++s) starts[s + 1] = static_cast<std::int64_t>(size += found[s].size());
    auto ys = std::make_unique_for_overwrite<std::int32_t[]>(size);
    for (std::size_t s = 0; s < found.size(); ++s) std::copy(found[s].begin(), found[s].end(), ys.get() + starts[s]);
    using Starts = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
    using Members = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
    return nb::make_tuple(give<Starts>(std::move(starts), {found.size() + 1}), give<Members>(std::move(ys), {size}));
}

nb::tuple py_fit_logistic(Matrix<double> design, Vector<double> total, Vector<double> ones, Vector<double> penalty,
                          double ridge, double tolerance, Vector<double> start, const std::string& level) {
    const std::size_t n_rows = design.shape(0), n_columns = design.shape(1);
    if (total.shape(0) != n_rows || ones.shape(0) != n_rows || penalty.shape(0) != n_columns ||
        start.shape(0) != n_columns + 1)
        throw std::invalid_argument(
            "total and ones must have a number for each row, penalty and start for each column.");
    const KernelTable& kernels = choose_instruction_set(level);
    NewArray out = new_array(n_columns + 1);
    std::copy_n(start.data(), n_columns + 1, out.values);
    double loss = 0;
    {
        nb::gil_scoped_release unlocked;
        GroupedRows rows(n_rows, n_columns);
        for (std::size_t j = 0; j < n_columns; ++j)
            for (std::size_t i = 0; i < n_rows; ++i) rows.column(j)[i] = design.data()[i * n_columns + j];
        std::copy_n(total.data(), n_rows, rows.total());
        std::copy_n(ones.data(), n_rows, rows.ones());
        loss = fit_logistic(kernels, rows, span_of(penalty), ridge, tolerance, {out.values, n_columns + 1});
    }
    return nb::make_tuple(std::move(out.array), loss);
}

// The path borrows the caller's arrays, so it keeps them.
struct PyLogisticPath {
    Matrix<std::uint64_t> planes;
    Vector<double> weights;
    LogisticPath path;
};

void make_logistic_path(PyLogisticPath* self, Matrix<std::uint64_t> planes, Vector<double> weights,
                        Vector<std::uint64_t> target, Vector<bool> barred, Vector<bool> free, double ridge,
                        const std::string& level) {
    const BinaryColumns columns{weights.shape(0), planes.shape(0), planes.data(), weights.data()};
    if (planes.shape(1) != columns.n_words() || target.shape(0) != columns.n_words())
        throw std::invalid_argument("planes and target must have a bit for each weight, in words of 64.");
    if (barred.shape(0) != columns.n_columns || free.shape(0) != columns.n_columns)
        throw std::invalid_argument("barred and free must have a value for each column.");
    const std::vector<std::uint8_t> out(barred.data(), barred.data() + columns.n_columns);
    const std::vector<std::uint8_t> in(free.data(), free.data() + columns.n_columns);
    LogisticPath path(choose_instruction_set(level), columns, target.data(), out, in, ridge);
    new (self) PyLogisticPath{std::move(planes), std::move(weights), std::move(path)};
}

double py_refit(PyLogisticPath& self, const std::vector<std::uint32_t>& chosen) {
    if (std::ranges::any_of(chosen, [&](std::uint32_t j) { return j >= self.planes.shape(0); }))
        throw std::invalid_argument("columns must be among those of the path.");
    nb::gil_scoped_release unlocked;
    return self.path.refit(chosen);
}

}  // namespace

void bind_models(nb::module_& m) {
    using namespace nb::literals;
    m.def("recode", &py_recode, "codes"_a, "table"_a, "Codes through a table, in place.");
    m.def("add_planes", &py_add_planes, "codes"_a, "first"_a, "n"_a, "words"_a, "lane"_a, "totals"_a,
          "The bits of some states in words of eight lanes, and how many rows have each.");
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
          "zs"_a, "y_starts"_a, "ys"_a, "three_way"_a, "thresholds"_a, "n_threads"_a,
          "Local evidence of many scans at once: see native/evidence/evidence.hpp for the rows of each kind.");
    m.def(
        "has_promising", [](const PyStore& data) { return has_promising(*data.store); }, "store"_a,
        "Whether most_promising can be asked: all variables are binary, without gaps, and rows are not repeated.");
    m.def("most_promising", &py_most_promising,
          nb::sig("def most_promising(store: Store, xs: NDArray[np.int32], z_starts: NDArray[np.int64], "
                  "zs: NDArray[np.int32], k: int, above: float, n_threads: int) -> "
                  "tuple[NDArray[np.int64], NDArray[np.int32]]"),
          "store"_a, "xs"_a, "z_starts"_a, "zs"_a, "k"_a, "above"_a, "n_threads"_a,
          "The k variables of all that promise most for each x given its z, one x after the other, and where they "
          "begin.");
    m.def(
        "fit_logistic", &py_fit_logistic,
        nb::sig("def fit_logistic(design: NDArray[np.float64], total: NDArray[np.float64], ones: NDArray[np.float64], "
                "penalty: NDArray[np.float64], ridge: float, tolerance: float, start: NDArray[np.float64], "
                "level: str = '') -> tuple[NDArray[np.float64], float]"),
        "design"_a, "total"_a, "ones"_a, "penalty"_a, "ridge"_a, "tolerance"_a, "start"_a, "level"_a = "",
        "The coefficients of a logistic regression on grouped rows, the intercept last, and -log L there.");
    nb::class_<PyLogisticPath>(m, "LogisticPath", "A path of l1-penalised logistic regressions on binary columns.")
        .def("__init__", &make_logistic_path,
             nb::sig("def __init__(self, planes: NDArray[np.uint64], weights: NDArray[np.float64], target: "
                     "NDArray[np.uint64], barred: NDArray[np.bool_], free: NDArray[np.bool_], ridge: float, "
                     "level: str = '') -> None"),
             "planes"_a, "weights"_a, "target"_a, "barred"_a, "free"_a, "ridge"_a, "level"_a = "")
        .def(
            "first_penalty",
            [](PyLogisticPath& self) {
                nb::gil_scoped_release unlocked;
                return self.path.first_penalty();
            },
            "The smallest penalty at which no penalised column is in.")
        .def(
            "step",
            [](PyLogisticPath& self, double penalty) {
                nb::gil_scoped_release unlocked;
                return self.path.step(penalty);
            },
            "penalty"_a, "Move on to a smaller penalty; return how many fits it took.")
        .def(
            "active", [](const PyLogisticPath& self) { return self.path.active(); },
            nb::sig("def active(self) -> list[int]"), "Columns whose coefficient is not 0, ascending.")
        .def("refit", &py_refit, nb::sig("def refit(self, columns: Sequence[int]) -> float"), "columns"_a,
             "-log L at its minimum over these columns, without a penalty.");
}

}  // namespace mnlearn
