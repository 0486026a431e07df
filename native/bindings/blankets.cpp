// Blankets in Python: questions asked in answers, and the knowledge that may answer some of them.
#include <algorithm>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "blankets/grow_shrink.hpp"

namespace mnlearn {

namespace {

void check_known(const PyStore& data, const KnowledgeBase* known) {
    if (known && known->n_variables() != data.store->n_variables())
        throw std::invalid_argument("known must be about the variables of the data; got " +
                                    std::to_string(known->n_variables()) + " variables. Make it by knowledge().");
}

// Plain lists: a search looks at every answer once, and there are a few dozen.
nb::tuple given_back(const PhaseAnswers& answers) {
    nb::list independent, support, rules;
    for (std::size_t k = 0; k < answers.size(); ++k) {
        independent.append(nb::bool_(answers.independent[k] != 0));
        if (answers.sources[k] == AnsweredBy::data)
            support.append(nb::float_(answers.support[k]));
        else
            support.append(nb::none());
        rules.append(static_cast<int>(answers.sources[k]));
    }
    return nb::make_tuple(std::move(independent), std::move(support), std::move(rules), answers.asked, answers.weighted,
                          answers.largest_z, answers.scanned);
}

nb::tuple py_grow(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                  nb::object x, nb::object ys, nb::object z, bool to_first, std::size_t in_a_row, std::size_t ahead,
                  int n_threads, KnowledgeBase* known) {
    const TestSpec test = make_test(kernel, std::move(settings), level);
    const std::int32_t first = read_index(x.ptr());
    std::vector<std::int32_t> candidates, given;
    append_indices(ys, candidates);
    append_set(z, given);
    check_query(*data.store, first, candidates, given);
    check_turns(candidates);
    check_known(data, known);
    if (ahead == 0)
        throw std::invalid_argument("ahead must be at least 1; got 0. Use 1 to ask one question at a time.");
    PhaseAnswers answers;
    {
        nb::gil_scoped_release unlocked;
        answers = grow(*data.store, test, first, candidates, given, {to_first, in_a_row, ahead, n_threads}, known);
    }
    return given_back(answers);
}

nb::tuple py_shrink(const PyStore& data, const std::string& kernel, std::vector<double> settings, double level,
                    nb::object x, nb::object ys, nb::object z, KnowledgeBase* known) {
    const TestSpec test = make_test(kernel, std::move(settings), level);
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
    PhaseAnswers answers;
    {
        nb::gil_scoped_release unlocked;
        answers = shrink(*data.store, test, first, members, given, known);
    }
    return given_back(answers);
}

// Users call this class directly, so arguments are checked here with full error messages.
std::int32_t read_variable(const KnowledgeBase& known, const char* name, nb::handle given) {
    const std::size_t n = known.n_variables();
    try {
        const std::int32_t v = read_index(given.ptr());
        if (v >= 0 && static_cast<std::size_t>(v) < n) return v;
    } catch (const nb::builtin_exception&) {
    } catch (const nb::python_error&) {
    }
    throw std::invalid_argument(std::string(name) + " must be the index of a variable, 0 to " + std::to_string(n - 1) +
                                "; got " + shown(given) + ". Use dataset.index(name).");
}

Bits read_variables(const KnowledgeBase& known, nb::handle given) {
    Bits z = known.no_variables();
    const nb::object members = nb::steal(PyObject_GetIter(given.ptr()));
    if (!members) {
        PyErr_Clear();
        throw std::invalid_argument("z must be a set of indices of variables; got " + shown(given) +
                                    ". Use frozenset() for none.");
    }
    while (const nb::object v = nb::steal(PyIter_Next(members.ptr())))
        put(z, read_variable(known, "every member of z", v));
    if (PyErr_Occurred()) throw nb::python_error();
    return z;
}

bool has(const Bits& set, std::int32_t v) { return set[static_cast<std::size_t>(v) / 64] >> v % 64 & 1; }

void check_apart(std::int32_t x, std::int32_t y, const Bits& z) {
    if (x == y || has(z, x) || has(z, y))
        throw std::invalid_argument("x and y must be two variables outside of z; got x=" + std::to_string(x) +
                                    ", y=" + std::to_string(y) + ". Leave them out of z.");
}

// One question, checked, as the rules take it.
struct PyQuestion {
    std::int32_t x, y;
    Bits z;

    PyQuestion(const KnowledgeBase& known, nb::handle x_, nb::handle y_, nb::handle z_)
        : x(read_variable(known, "x", x_)), y(read_variable(known, "y", y_)), z(read_variables(known, z_)) {
        check_apart(x, y, z);
    }
};

int py_implied(KnowledgeBase& known, nb::object x, nb::object y, nb::object z) {
    const PyQuestion q(known, x, y, z);
    return static_cast<int>(known.implied(q.x, q.y, q.z));
}

int py_infer(KnowledgeBase& known, nb::object x, nb::object y, nb::object z) {
    const PyQuestion q(known, x, y, z);
    return static_cast<int>(known.infer(q.x, q.y, q.z));
}

void py_learn(KnowledgeBase& known, nb::object x, nb::object y, nb::object z, nb::object independent) {
    const PyQuestion q(known, x, y, z);
    if (!PyBool_Check(independent.ptr()))
        throw std::invalid_argument("independent must be true or false; got " + shown(independent) +
                                    ". Say what the data said.");
    known.learn(q.x, q.y, q.z, independent.ptr() == Py_True);
}

// Questions in arrays, sets in words of 64 bits: all checked before the first is entered.
struct PyQuestions {
    Vector<std::int32_t> xs, ys;
    Matrix<std::uint64_t> zs;
    Vector<bool> independent;
    Bits z;

    PyQuestions(const KnowledgeBase& known, nb::handle xs_, nb::handle ys_, nb::handle zs_, nb::handle independent_)
        : xs(array_of<Vector<std::int32_t>>("xs", "a flat array of int32", xs_)),
          ys(array_of<Vector<std::int32_t>>("ys", "a flat array of int32", ys_)),
          zs(array_of<Matrix<std::uint64_t>>("zs", "a matrix of uint64", zs_)),
          independent(array_of<Vector<bool>>("independent", "a flat array of bool", independent_)),
          z(known.no_variables()) {
        if (ys.shape(0) != size() || zs.shape(0) != size() || independent.shape(0) != size() || zs.shape(1) != z.size())
            throw std::invalid_argument("xs, ys, zs and independent must have a place for each question, and zs " +
                                        std::to_string(z.size()) + " words; got " + std::to_string(size()) + ", " +
                                        std::to_string(ys.shape(0)) + ", " + std::to_string(zs.shape(0)) + " by " +
                                        std::to_string(zs.shape(1)) + " and " + std::to_string(independent.shape(0)) +
                                        ". Give each question its own.");
        for (std::size_t k = 0; k < size(); ++k) check(known, k);
    }
    std::size_t size() const { return xs.shape(0); }
    const Bits& z_of(std::size_t k) {
        std::copy_n(zs.data() + k * z.size(), z.size(), z.begin());
        return z;
    }

private:
    void check(const KnowledgeBase& known, std::size_t k) {
        const std::size_t n = known.n_variables(), beyond = n % 64;
        read_variable(known, "every x", nb::int_(xs.data()[k]));
        read_variable(known, "every y", nb::int_(ys.data()[k]));
        if (beyond && z_of(k).back() >> beyond)
            throw std::invalid_argument("zs must have bits for the variables 0 to " + std::to_string(n - 1) +
                                        " only; got others at place " + std::to_string(k) + ". Clear them.");
        check_apart(xs.data()[k], ys.data()[k], z_of(k));
    }
};

// Sets are read beforehand, so that a clock around this sees the rules.
nb::bytes py_replay(KnowledgeBase& known, nb::object xs, nb::object ys, nb::object zs, nb::object independent) {
    PyQuestions given(known, xs, ys, zs, independent);
    std::vector<AnsweredBy> sources(given.size());
    for (std::size_t k = 0; k < given.size(); ++k) {
        const std::int32_t x = given.xs.data()[k], y = given.ys.data()[k];
        const Bits& z = given.z_of(k);
        sources[k] = known.infer(x, y, z);
        if (sources[k] == AnsweredBy::data) known.learn(x, y, z, given.independent.data()[k]);
    }
    return nb::bytes(sources.data(), given.size());
}

}  // namespace

void bind_blankets(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<KnowledgeBase>(m, "Knowledge",
                              "What answers already given imply, by the rules of Algorithm 5 of [JAIR09].")
        .def(nb::init<std::size_t, bool>(), "n_variables"_a, "mirrored"_a)
        .def_prop_ro("n_variables", &KnowledgeBase::n_variables)
        .def("implied", &py_implied, nb::lock_self(),
             nb::sig("def implied(self, x: int, y: int, z: Iterable[int]) -> int"), "x"_a.none(), "y"_a.none(),
             "z"_a.none(), "The number of the first rule that answers, from 1; 0 where none does.")
        .def("infer", &py_infer, nb::lock_self(), nb::sig("def infer(self, x: int, y: int, z: Iterable[int]) -> int"),
             "x"_a.none(), "y"_a.none(), "z"_a.none(), "The same; what the rule says is known from now on.")
        .def("learn", &py_learn, nb::lock_self(),
             nb::sig("def learn(self, x: int, y: int, z: Iterable[int], independent: bool) -> None"), "x"_a.none(),
             "y"_a.none(), "z"_a.none(), "independent"_a.none(), "Enter what the data said.")
        .def("replay", &py_replay, nb::lock_self(),
             nb::sig("def replay(self, xs: NDArray[np.int32], ys: NDArray[np.int32], zs: NDArray[np.uint64], "
                     "independent: NDArray[np.bool]) -> bytes"),
             "xs"_a.none(), "ys"_a.none(), "zs"_a.none(), "independent"_a.none(),
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
