// Columns of several kinds with gaps, and the evidence of models of them.
#include "bindings/arrays.hpp"

#include "mixed/likelihoods.hpp"
#include "mixed/mixed_evidence.hpp"

namespace mnlearn {

namespace {

// The data borrow the repeats only, so they keep them; columns are standardised copies.
struct PyMixedData {
    std::optional<Vector<std::int64_t>> repeats;
    std::unique_ptr<MixedData> data;
    std::unique_ptr<PairReadings> pairs;
};

VariableKind parse_kind(const std::string& kind) {
    if (kind == "nominal") return VariableKind::nominal;
    if (kind == "ordinal") return VariableKind::ordinal;
    if (kind == "numeric") return VariableKind::numeric;
    throw std::invalid_argument("kinds must be nominal, ordinal or numeric; got '" + kind + "'.");
}

void make_mixed_data(PyMixedData* self, const std::vector<AnyVector>& columns, const std::vector<std::string>& kinds,
                     const std::vector<std::uint32_t>& cards, const std::vector<Vector<double>>& scores,
                     std::optional<Vector<std::int64_t>> repeats, const std::string& level) {
    const std::size_t n = columns.size();
    if (n == 0 || kinds.size() != n || cards.size() != n || scores.size() != n)
        throw std::invalid_argument("columns, kinds, cards and scores must have the same length, at least 1.");
    const std::size_t n_records = columns[0].shape(0);
    std::vector<MixedInput> inputs(n);
    for (std::size_t v = 0; v < n; ++v) {
        MixedInput& input = inputs[v];
        input.kind = parse_kind(kinds[v]);
        input.card = cards[v];
        input.scores = span_of(scores[v]);
        if (columns[v].shape(0) != n_records || (repeats && repeats->shape(0) != n_records))
            throw std::invalid_argument("columns and repeats must have the same number of rows.");
        if (!input.scores.empty() && input.scores.size() != input.card)
            throw std::invalid_argument("scores must be empty, or one for each state.");
        const bool numbers = columns[v].dtype() == nb::dtype<double>();
        if (numbers != (input.kind == VariableKind::numeric))
            throw std::invalid_argument("numeric columns must hold doubles, others codes of type uint8 or uint16.");
        if (numbers)
            input.numbers = static_cast<const double*>(columns[v].data());
        else if (columns[v].dtype() == nb::dtype<std::uint8_t>())
            input.narrow = static_cast<const std::uint8_t*>(columns[v].data());
        else if (columns[v].dtype() == nb::dtype<std::uint16_t>())
            input.wide = static_cast<const std::uint16_t*>(columns[v].data());
        else
            throw std::invalid_argument("columns must hold doubles, or codes of type uint8 or uint16.");
        for (std::size_t row = 0; !numbers && row < n_records; ++row)
            if ((input.narrow ? input.narrow[row] : input.wide[row]) > input.card)
                throw std::invalid_argument("codes must be from 0 to the number of states, which marks a missing one.");
    }
    const std::int64_t* weights = repeats ? repeats->data() : nullptr;
    std::unique_ptr<MixedData> data;
    {
        nb::gil_scoped_release unlocked;
        data = std::make_unique<MixedData>(inputs, n_records, weights, choose_instruction_set(level));
    }
    auto pairs = std::make_unique<PairReadings>(*data);
    new (self) PyMixedData{std::move(repeats), std::move(data), std::move(pairs)};
}

Doubles py_mixed_evidence(const PyMixedData& self, const std::string& question, Vector<std::int32_t> xs,
                          Vector<std::int64_t> z_starts, Vector<std::int32_t> zs, Vector<std::int64_t> y_starts,
                          Vector<std::int32_t> ys, bool three_way, Vector<double> thresholds, bool relative,
                          int n_threads) {
    const EvidenceBatch batch{span_of(xs), span_of(z_starts), span_of(zs), span_of(y_starts), span_of(ys)};
    const MixedQuestion asked = parse_mixed(question);
    check_mixed(*self.data, batch);
    if (thresholds.shape(0) != batch.xs.size())
        throw std::invalid_argument("thresholds must have one number for each scan.");
    const std::size_t columns = mixed_columns(asked, batch);
    auto out = std::make_unique<double[]>(4 * columns + 1);
    {
        nb::gil_scoped_release unlocked;
        run_mixed(*self.data, *self.pairs, batch, asked, {three_way, relative, span_of(thresholds)}, n_threads,
                  out.get());
    }
    return give<Doubles>(std::move(out), {4, columns});
}

Doubles py_mixed_likelihoods(const PyMixedData& self, const std::string& question, Vector<std::int32_t> xs,
                             Vector<std::int64_t> z_starts, Vector<std::int32_t> zs, Vector<std::int64_t> y_starts,
                             Vector<std::int32_t> ys, int n_threads) {
    const EvidenceBatch batch{span_of(xs), span_of(z_starts), span_of(zs), span_of(y_starts), span_of(ys)};
    const LikelihoodQuestion asked = parse_likelihood(question);
    check_mixed(*self.data, batch);
    const std::size_t columns = asked == LikelihoodQuestion::local ? batch.xs.size() : batch.ys.size();
    auto out = std::make_unique<double[]>(4 * columns + 1);
    {
        nb::gil_scoped_release unlocked;
        run_likelihoods(*self.data, batch, asked, n_threads, out.get());
    }
    return give<Doubles>(std::move(out), {4, columns});
}

}  // namespace

void bind_mixed(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PyMixedData>(m, "MixedData", "Columns of several kinds, standardised; gaps are kept.")
        .def("__init__", &make_mixed_data,
             nb::sig("def __init__(self, columns: Sequence[NDArray[Any]], kinds: Sequence[str], cards: Sequence[int], "
                     "scores: Sequence[NDArray[np.float64]], repeats: NDArray[np.int64] | None, level: str = '') "
                     "-> None"),
             "columns"_a, "kinds"_a, "cards"_a, "scores"_a, "repeats"_a.none(), "level"_a = "")
        .def_prop_ro("n_variables", [](const PyMixedData& self) { return self.data->n_variables(); });
    m.def("mixed_evidence", &py_mixed_evidence, "data"_a, "question"_a, "xs"_a, "z_starts"_a, "zs"_a, "y_starts"_a,
          "ys"_a, "three_way"_a, "thresholds"_a, "relative"_a, "n_threads"_a,
          "Evidence of models of mixed variables for many scans: see native/mixed/mixed_evidence.hpp for the rows.");
    m.def(
        "mixed_likelihoods", &py_mixed_likelihoods, "data"_a, "question"_a, "xs"_a, "z_starts"_a, "zs"_a, "y_starts"_a,
        "ys"_a, "n_threads"_a,
        "Likelihoods of regressions of mixed variables for many scans: see native/mixed/likelihoods.hpp for the rows.");
}

}  // namespace mnlearn
