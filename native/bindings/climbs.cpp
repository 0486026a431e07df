// Climbs by a local score in Python: lists of variables as arrays, one call for many variables.
#include <algorithm>
#include <string>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "blankets/blanket_climb.hpp"
#include "blankets/edge_flips.hpp"
#include "blankets/strongest_additions.hpp"

namespace mnlearn {

namespace {

using Ints = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using Longs = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using Flags = nb::ndarray<nb::numpy, std::int8_t, nb::ndim<1>>;
using Numbers = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

template <class Array, class T> Array array_from(const std::vector<T>& values) {
    auto copy = std::make_unique_for_overwrite<T[]>(values.size());
    std::copy(values.begin(), values.end(), copy.get());
    return give<Array>(std::move(copy), {values.size()});
}

// The score borrows the store, so it keeps it.
struct PyLocalScore {
    nb::object store;
    LocalScore score;
    int n_threads;
};

void make_score(PyLocalScore* self, const PyStore& data, const std::string& kernel, std::vector<double> settings,
                double scale, std::vector<double> weights, std::vector<double> cards, std::vector<double> log_prior,
                int n_threads) {
    const std::size_t n = data.store->n_variables();
    KernelSpec spec = parse_kernel(kernel, std::move(settings));
    if (n_outputs(spec) != 1)
        throw std::invalid_argument("kernel must have one output; got " + kernel + ". Use dirichlet or entropy.");
    if ((!weights.empty() && (weights.size() != n || cards.size() != n)) || log_prior.size() < n)
        throw std::invalid_argument("weights, cards and log_prior must have a number for each variable.");
    new (self) PyLocalScore{
        nb::find(data),
        {data.store.get(), std::move(spec), scale, std::move(weights), std::move(cards), std::move(log_prior)},
        n_threads};
}

void check_variable(const PyLocalScore& self, std::int32_t v) {
    const std::size_t n = self.score.n_variables();
    if (v < 0 || static_cast<std::size_t>(v) >= n)
        throw std::invalid_argument("every variable must be the index of a variable, 0 to " + std::to_string(n - 1) +
                                    "; got " + std::to_string(v) + ".");
}

// Other variables than x, each once; ascending where the core relies on it.
void check_list(const PyLocalScore& self, const char* name, std::int32_t x, std::span<const std::int32_t> list,
                bool ascending) {
    check_variable(self, x);
    std::vector<std::int32_t> sorted(list.begin(), list.end());
    if (!ascending) std::sort(sorted.begin(), sorted.end());
    for (const std::int32_t v : sorted) check_variable(self, v);
    const bool once = std::adjacent_find(sorted.begin(), sorted.end(), std::greater_equal<>()) == sorted.end();
    if (!once || std::binary_search(sorted.begin(), sorted.end(), x))
        throw std::invalid_argument(std::string(name) + " must list other variables, each once" +
                                    (ascending ? ", ascending" : "") + "; got another list for x=" + std::to_string(x) +
                                    ". Correct it.");
}

void check_starts(const char* name, const Lists& lists, std::size_t n) {
    const bool fit = lists.starts.size() == n + 1 && lists.starts.front() == 0 &&
                     lists.starts.back() == static_cast<std::int64_t>(lists.members.size()) &&
                     std::is_sorted(lists.starts.begin(), lists.starts.end());
    if (!fit)
        throw std::invalid_argument(std::string(name) + " must have a list for each x; got " +
                                    std::to_string(lists.starts.size()) + " starts for " + std::to_string(n) +
                                    " variables. Give the start of each list and the end of the last.");
}

// One list for each x.
Lists lists_of(const PyLocalScore& self, const char* name, const Vector<std::int64_t>& starts,
               const Vector<std::int32_t>& members, std::span<const std::int32_t> xs, bool ascending) {
    const Lists lists{span_of(starts), span_of(members)};
    check_starts(name, lists, xs.size());
    for (std::size_t k = 0; k < xs.size(); ++k) check_list(self, name, xs[k], lists[k], ascending);
    return lists;
}

void check_numbers(const char* name, std::size_t got, std::size_t wanted) {
    if (got != wanted)
        throw std::invalid_argument(std::string(name) + " must have a number for each x; got " + std::to_string(got) +
                                    " for " + std::to_string(wanted) + ". Give each its own.");
}

Numbers py_locals(const PyLocalScore& self, Vector<std::int32_t> xs, Vector<std::int64_t> starts,
                  Vector<std::int32_t> members) {
    const Lists blankets = lists_of(self, "blankets", starts, members, span_of(xs), false);
    std::vector<double> found;
    {
        nb::gil_scoped_release unlocked;
        found = local_scores(self.score, span_of(xs), blankets, self.n_threads);
    }
    return array_from<Numbers>(found);
}

nb::tuple py_climb(const PyLocalScore& self, Vector<std::int32_t> xs, Vector<std::int64_t> starts,
                   Vector<std::int32_t> members, Vector<double> scores, Vector<std::int8_t> leaving,
                   Vector<std::int64_t> list_starts, Vector<std::int32_t> partners, Vector<std::int64_t> required,
                   std::size_t limit, double rounding) {
    const Lists blankets = lists_of(self, "blankets", starts, members, span_of(xs), false);
    const Lists lists{span_of(list_starts), span_of(partners)};
    check_starts("partners", lists, self.score.n_variables());
    for (const std::int32_t x : span_of(xs)) check_list(self, "partners", x, lists[static_cast<std::size_t>(x)], true);
    check_numbers("scores", scores.shape(0), xs.shape(0));
    check_numbers("leaving", leaving.shape(0), xs.shape(0));
    Climbs found;
    {
        nb::gil_scoped_release unlocked;
        found = climb_blankets(self.score, span_of(xs), blankets, span_of(scores), span_of(leaving), lists,
                               {limit, rounding, span_of(required)}, self.n_threads);
    }
    return nb::make_tuple(array_from<Longs>(found.blankets.starts), array_from<Ints>(found.blankets.members),
                          array_from<Numbers>(found.scores), array_from<Flags>(found.states),
                          array_from<Ints>(found.rounds), found.scored);
}

nb::tuple py_strongest(const PyLocalScore& self, Vector<std::int32_t> xs, Vector<std::int64_t> starts,
                       Vector<std::int32_t> members, Vector<double> now, std::size_t k,
                       std::optional<Vector<std::int64_t>> list_starts, std::optional<Vector<std::int32_t>> ys) {
    const Lists blankets = lists_of(self, "blankets", starts, members, span_of(xs), false);
    check_numbers("now", now.shape(0), xs.shape(0));
    if (k == 0) throw std::invalid_argument("k must be at least 1; got 0. Keep at least one partner.");
    Lists among;
    if (list_starts && ys) among = lists_of(self, "ys", *list_starts, *ys, span_of(xs), true);
    StrongestAdditions found;
    {
        nb::gil_scoped_release unlocked;
        found = strongest_additions(self.score, span_of(xs), blankets, span_of(now), ys ? &among : nullptr, k,
                                    self.n_threads);
    }
    return nb::make_tuple(array_from<Longs>(found.partners.starts), array_from<Ints>(found.partners.members),
                          array_from<Numbers>(found.scores));
}

Pairs pairs_of(const PyLocalScore& self, const Vector<std::int32_t>& us, const Vector<std::int32_t>& vs) {
    check_numbers("vs", vs.shape(0), us.shape(0));
    const Pairs pairs{span_of(us), span_of(vs)};
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        check_variable(self, pairs.us[k]);
        check_variable(self, pairs.vs[k]);
        const bool later = k == 0 || pairs.us[k - 1] < pairs.us[k] ||
                           (pairs.us[k - 1] == pairs.us[k] && pairs.vs[k - 1] < pairs.vs[k]);
        if (pairs.us[k] >= pairs.vs[k] || !later)
            throw std::invalid_argument("pairs must have u < v and be in lexicographic order, each once; got (" +
                                        std::to_string(pairs.us[k]) + ", " + std::to_string(pairs.vs[k]) +
                                        "). Sort them.");
    }
    return pairs;
}

Numbers py_removal_gains(const PyLocalScore& self, Vector<std::int32_t> us, Vector<std::int32_t> vs,
                         Vector<double> local) {
    const Pairs graph = pairs_of(self, us, vs);
    check_numbers("local", local.shape(0), self.score.n_variables());
    std::vector<double> found;
    {
        nb::gil_scoped_release unlocked;
        found = removal_gains(self.score, graph, span_of(local), self.n_threads);
    }
    return array_from<Numbers>(found);
}

// The flips borrow the score, so they keep it.
struct PyEdgeFlips {
    nb::object score;
    std::unique_ptr<EdgeFlips> flips;

    std::size_t place(std::size_t given) const {
        if (given >= flips->n_eligible())
            throw std::invalid_argument("place must be that of an eligible pair, 0 to " +
                                        std::to_string(flips->n_eligible()) + " - 1; got " + std::to_string(given) +
                                        ".");
        return given;
    }
};

void make_flips(PyEdgeFlips* self, const PyLocalScore& score, Vector<std::int32_t> us, Vector<std::int32_t> vs,
                Vector<std::int32_t> eligible_us, Vector<std::int32_t> eligible_vs, std::size_t limit,
                double rounding) {
    const Pairs graph = pairs_of(score, us, vs), eligible = pairs_of(score, eligible_us, eligible_vs);
    std::unique_ptr<EdgeFlips> flips;
    {
        nb::gil_scoped_release unlocked;
        flips = std::make_unique<EdgeFlips>(score.score, graph, eligible, limit, rounding, score.n_threads);
    }
    new (self) PyEdgeFlips{nb::find(score), std::move(flips)};
}

Ints py_run(PyEdgeFlips& self, std::size_t most) {
    std::vector<std::int32_t> tied;
    {
        nb::gil_scoped_release unlocked;
        tied = self.flips->run(most);
    }
    return array_from<Ints>(tied);
}

nb::tuple py_edges(const PyEdgeFlips& self) {
    std::vector<std::int32_t> us, vs;
    const auto& neighbors = self.flips->neighbors();
    for (std::size_t x = 0; x < neighbors.size(); ++x)
        for (const std::int32_t y : neighbors[x])
            if (static_cast<std::size_t>(y) > x) {
                us.push_back(static_cast<std::int32_t>(x));
                vs.push_back(y);
            }
    return nb::make_tuple(array_from<Ints>(us), array_from<Ints>(vs));
}

}  // namespace

void bind_climbs(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PyLocalScore>(m, "LocalScore", "A local score of blankets: a kernel less the price of a blanket.")
        .def("__init__", &make_score,
             nb::sig("def __init__(self, store: Store, kernel: str, settings: Sequence[float], scale: float, weights: "
                     "Sequence[float], cards: Sequence[float], log_prior: Sequence[float], n_threads: int) -> None"),
             "store"_a, "kernel"_a, "settings"_a, "scale"_a, "weights"_a, "cards"_a, "log_prior"_a, "n_threads"_a)
        .def("locals", &py_locals,
             nb::sig("def locals(self, xs: NDArray[np.int32], starts: NDArray[np.int64], members: NDArray[np.int32]) "
                     "-> NDArray[np.float64]"),
             "xs"_a, "starts"_a, "members"_a, "The score of each x with its blanket.")
        .def("climb", &py_climb,
             nb::sig("def climb(self, xs: NDArray[np.int32], starts: NDArray[np.int64], members: NDArray[np.int32], "
                     "scores: NDArray[np.float64], leaving: NDArray[np.int8], list_starts: NDArray[np.int64], "
                     "partners: NDArray[np.int32], required: NDArray[np.int64], limit: int, rounding: float) "
                     "-> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int8], "
                     "NDArray[np.int32], int]"),
             "xs"_a, "starts"_a, "members"_a, "scores"_a, "leaving"_a, "list_starts"_a, "partners"_a, "required"_a,
             "limit"_a, "rounding"_a, "The best blanket of each x among its partners, from a given one.")
        .def("strongest", &py_strongest,
             nb::sig("def strongest(self, xs: NDArray[np.int32], starts: NDArray[np.int64], members: "
                     "NDArray[np.int32], now: NDArray[np.float64], k: int, list_starts: NDArray[np.int64] | None = "
                     "None, ys: NDArray[np.int32] | None = None) "
                     "-> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]"),
             "xs"_a, "starts"_a, "members"_a, "now"_a, "k"_a, "list_starts"_a.none() = nb::none(),
             "ys"_a.none() = nb::none(), "The k variables that improve each blanket most, among all or its ys.")
        .def("removal_gains", &py_removal_gains,
             nb::sig("def removal_gains(self, us: NDArray[np.int32], vs: NDArray[np.int32], local: "
                     "NDArray[np.float64]) -> NDArray[np.float64]"),
             "us"_a, "vs"_a, "local"_a, "The change of the score without each edge of a graph.");
    nb::class_<PyEdgeFlips>(m, "EdgeFlips", "A graph, and the gains of flipping some pairs.")
        .def("__init__", &make_flips,
             nb::sig("def __init__(self, score: LocalScore, us: NDArray[np.int32], vs: NDArray[np.int32], eligible_us: "
                     "NDArray[np.int32], eligible_vs: NDArray[np.int32], limit: int, rounding: float) -> None"),
             "score"_a, "us"_a, "vs"_a, "eligible_us"_a, "eligible_vs"_a, "limit"_a, "rounding"_a)
        .def_prop_ro("done", [](const PyEdgeFlips& f) { return f.flips->done(); })
        .def_prop_ro("made", [](const PyEdgeFlips& f) { return f.flips->made(); })
        .def_prop_ro("scored", [](const PyEdgeFlips& f) { return f.flips->scored(); })
        .def("run", &py_run, nb::lock_self(), nb::sig("def run(self, most: int) -> NDArray[np.int32]"), "most"_a,
             "Make the best flips; stop where several are equally good, and return their places.")
        .def(
            "flip", [](PyEdgeFlips& f, std::size_t place) { f.flips->flip(f.place(place)); }, nb::lock_self(),
            nb::sig("def flip(self, place: int) -> None"), "place"_a)
        .def(
            "present", [](const PyEdgeFlips& f, std::size_t place) { return f.flips->present(f.place(place)); },
            nb::lock_self(), nb::sig("def present(self, place: int) -> bool"), "place"_a)
        .def(
            "degree",
            [](const PyEdgeFlips& f, std::size_t x) {
                if (x >= f.flips->neighbors().size()) throw std::invalid_argument("x must be a variable.");
                return f.flips->degree(x);
            },
            nb::lock_self(), nb::sig("def degree(self, x: int) -> int"), "x"_a)
        .def("edges", &py_edges, nb::lock_self(),
             nb::sig("def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]"),
             "The edges of the graph, in lexicographic order.")
        .def(
            "scores", [](const PyEdgeFlips& f) { return array_from<Numbers>(f.flips->scores()); }, nb::lock_self(),
            nb::sig("def scores(self) -> NDArray[np.float64]"), "The local score of each variable.");
}

}  // namespace mnlearn
