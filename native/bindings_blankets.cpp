// Blankets in Python: questions asked in turns, and the knowledge that may answer some of them.
#include <algorithm>

#include "bindings.hpp"
#include "bindings_args.hpp"
#include "grow_shrink.hpp"

namespace mnlearn {

namespace {

void check_known(const PyStore& data, const Knowledge* known) {
    if (known && known->n_variables() != data.store->n_variables())
        throw std::invalid_argument("known must be about the variables of the data; got " +
                                    std::to_string(known->n_variables()) + " variables. Make it by knowledge().");
}

// Plain lists: a search looks at every answer once, and there are a few dozen.
nb::tuple given_back(const Turns& turns) {
    nb::list independent, support, rules;
    for (std::size_t k = 0; k < turns.size(); ++k) {
        independent.append(nb::bool_(turns.independent[k] != 0));
        if (turns.sources[k] == AnsweredBy::data)
            support.append(nb::float_(turns.support[k]));
        else
            support.append(nb::none());
        rules.append(static_cast<int>(turns.sources[k]));
    }
    return nb::make_tuple(std::move(independent), std::move(support), std::move(rules), turns.asked, turns.weighted,
                          turns.largest_z, turns.scanned);
}

nb::tuple py_grow(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                  nb::object x, nb::object ys, nb::object z, bool to_first, std::size_t in_a_row, std::size_t ahead,
                  int n_threads, Knowledge* known) {
    const Decision test = make_decision(kernel, std::move(settings), level);
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    check_turns(candidates);
    check_known(data, known);
    Turns turns;
    {
        nb::gil_scoped_release unlocked;
        turns = grow(*data.store, test, first, candidates, given, {to_first, in_a_row, ahead, n_threads}, known);
    }
    return given_back(turns);
}

nb::tuple py_shrink(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                    nb::object x, nb::object ys, nb::object z, Knowledge* known) {
    const Decision test = make_decision(kernel, std::move(settings), level);
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> members, given;
    append_indices(ys, members);
    append_set(z, given);
    check_query(*data.store, first, {}, given);
    check_turns(members);
    check_known(data, known);
    for (const std::int32_t y : members)
        if (!std::binary_search(given.begin(), given.end(), y))
            throw std::invalid_argument("ys must be members of z; got y=" + std::to_string(y) + ". Add it to z.");
    Turns turns;
    {
        nb::gil_scoped_release unlocked;
        turns = shrink(*data.store, test, first, members, given, known);
    }
    return given_back(turns);
}

void check_variable(const Knowledge& known, std::int32_t v) {
    const auto n = static_cast<std::int32_t>(known.n_variables());
    if (v < 0 || v >= n)
        throw std::invalid_argument("x, y and z must be variables from 0 to " + std::to_string(n - 1) + "; got " +
                                    std::to_string(v) + ". Count them from 0.");
}

// One question, checked, as the rules take it.
struct PyQuestion {
    std::int32_t x, y;
    Bits z;

    PyQuestion(const Knowledge& known, nb::handle x_, nb::handle y_, nb::handle z_)
        : x(read_index(x_.ptr())), y(read_index(y_.ptr())), z(known.no_variables()) {
        std::vector<std::int32_t> given;
        append_set(z_, given);
        check_variable(known, x), check_variable(known, y);
        for (const std::int32_t v : given) check_variable(known, v), put(z, v);
        if (x == y || std::binary_search(given.begin(), given.end(), x) ||
            std::binary_search(given.begin(), given.end(), y))
            throw std::invalid_argument("x and y must be two variables outside of z; got x=" + std::to_string(x) +
                                        ", y=" + std::to_string(y) + ". Leave them out of z.");
    }
};

int py_implied(Knowledge& known, nb::object x, nb::object y, nb::object z) {
    const PyQuestion q(known, x, y, z);
    return static_cast<int>(known.implied(q.x, q.y, q.z));
}

int py_infer(Knowledge& known, nb::object x, nb::object y, nb::object z) {
    const PyQuestion q(known, x, y, z);
    return static_cast<int>(known.infer(q.x, q.y, q.z));
}

void py_learn(Knowledge& known, nb::object x, nb::object y, nb::object z, bool independent) {
    const PyQuestion q(known, x, y, z);
    known.learn(q.x, q.y, q.z, independent);
}

// Sets are read beforehand, so that a clock around this sees the rules.
nb::bytes py_replay(Knowledge& known, Vector<std::int32_t> xs, Vector<std::int32_t> ys, Matrix<std::uint64_t> zs,
                    Vector<bool> independent) {
    Bits z = known.no_variables();
    const std::size_t n = xs.shape(0);
    if (ys.shape(0) != n || zs.shape(0) != n || independent.shape(0) != n || zs.shape(1) != z.size())
        throw std::invalid_argument("xs, ys, zs and independent must have a place for each question.");
    for (const std::int32_t v : span_of(xs)) check_variable(known, v);
    for (const std::int32_t v : span_of(ys)) check_variable(known, v);
    for (std::size_t k = 0; k < n; ++k)
        if (xs.data()[k] == ys.data()[k]) throw std::invalid_argument("xs and ys must differ; got a pair of equals.");
    std::vector<AnsweredBy> sources(n);
    for (std::size_t k = 0; k < n; ++k) {
        std::copy_n(zs.data() + k * z.size(), z.size(), z.begin());
        sources[k] = known.infer(xs.data()[k], ys.data()[k], z);
        if (sources[k] == AnsweredBy::data) known.learn(xs.data()[k], ys.data()[k], z, independent.data()[k]);
    }
    return nb::bytes(sources.data(), n);
}

}  // namespace

void bind_blankets(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Knowledge>(m, "Knowledge", "What answers already given imply, by the rules of Algorithm 5 of [JAIR09].")
        .def(nb::init<std::size_t, bool>(), "n_variables"_a, "mirrored"_a)
        .def_prop_ro("n_variables", &Knowledge::n_variables)
        .def("implied", &py_implied, nb::sig("def implied(self, x: int, y: int, z: Iterable[int]) -> int"), "x"_a,
             "y"_a, "z"_a, "The number of the first rule that answers, from 1; 0 where none does.")
        .def("infer", &py_infer, nb::sig("def infer(self, x: int, y: int, z: Iterable[int]) -> int"), "x"_a, "y"_a,
             "z"_a, "The same; what the rule says is known from now on.")
        .def("learn", &py_learn,
             nb::sig("def learn(self, x: int, y: int, z: Iterable[int], independent: bool) -> None"), "x"_a, "y"_a,
             "z"_a, "independent"_a, "Enter what the data said.")
        .def("replay", &py_replay, "xs"_a, "ys"_a, "zs"_a, "independent"_a,
             "Infer, or else learn, question after question; zs in words of 64 bits. The rule of each.");
    m.def(
        "grow", &py_grow,
        nb::sig("def grow(store: Store, kernel: str, settings: Sequence[float], level: float, x: int, ys: "
                "Iterable[int], z: Iterable[int], to_first: bool, in_a_row: int, ahead: int, n_threads: int, known: "
                "Knowledge | None) -> tuple[list[bool], list[float | None], list[int], int, int, int, int]"),
        "store"_a, "kernel"_a, "settings"_a, "level"_a, "x"_a, "ys"_a, "z"_a, "to_first"_a, "in_a_row"_a, "ahead"_a,
        "n_threads"_a, "known"_a.none(),
        "Each y in turn, given z and the dependent ones before it, as far as it goes: independent or not, the support "
        "of independence, the rule that answered; and how many tests were computed.");
    m.def("shrink", &py_shrink,
          nb::sig("def shrink(store: Store, kernel: str, settings: Sequence[float], level: float, x: int, ys: "
                  "Iterable[int], z: Iterable[int], known: Knowledge | None) "
                  "-> tuple[list[bool], list[float | None], list[int], int, int, int, int]"),
          "store"_a, "kernel"_a, "settings"_a, "level"_a, "x"_a, "ys"_a, "z"_a, "known"_a.none(),
          "The same for members of z, given the rest of it without the independent ones before it.");
}

}  // namespace mnlearn
