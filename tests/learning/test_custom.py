"""Scores and tests of the caller: twins of built-in ones give the same networks, and faults are named."""

from __future__ import annotations

from functools import partial
from math import inf, log, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import erfc, gammaln

import mnlearn as mn
from mnlearn.data import Dataset
from mnlearn.protocols import ExplainedTest, VarSet
from mnlearn.simulate import example

from references import counts as reference

SURVEY = example(400, seed=1).columns()
FEW = {name: SURVEY[name] for name in list(SURVEY)[:5]}


class OwnMPL(mn.CustomScore):
    """Twin of mpl."""

    def __init__(self, data: Dataset, *, prior_cell: float = 0.5) -> None:
        super().__init__(data)
        self.prior_cell = prior_cell

    def local(self, x: int, blanket: VarSet) -> float:
        counts, prior = self.table(x, blanket), self.prior_cell
        total = self.cards[x] * prior
        rows = (
            gammaln(total) - gammaln(counts.sum(1) + total) + np.sum(gammaln(counts + prior) - gammaln(prior), axis=1)
        )
        return float(rows.sum()) - len(blanket) / 2 * log(self.n_variables)


class OwnChiSquare(mn.CustomTest):
    """Twin of chi2 with dof="adjusted"."""

    def __init__(self, data: Dataset, *, alpha: float = 0.01) -> None:
        super().__init__(data)
        self.alpha = alpha

    def __call__(self, x: int, y: int, z: VarSet) -> mn.Verdict:
        counts = self.table(x, y, z)
        rows, columns = counts.sum(2, keepdims=True), counts.sum(1, keepdims=True)
        expected = rows * columns / counts.sum((1, 2), keepdims=True)
        cells = expected > 0
        statistic = np.sum((counts - expected)[cells] ** 2 / expected[cells])
        dof = np.sum(((rows > 0).sum((1, 2)) - 1) * ((columns > 0).sum((1, 2)) - 1))
        log_p = self.chi_square_log_p(statistic, dof)
        return mn.Verdict(log_p > log(self.alpha), log_p)


def by_regression(x: Any, y: Any, z: Any) -> float:
    """Return the p-value of the partial correlation of two columns given the columns of z."""
    around = np.column_stack([np.ones(len(x)), z])
    one, two = (v - around @ np.linalg.lstsq(around, v, rcond=None)[0] for v in (x, y))
    r = one @ two / np.sqrt((one @ one) * (two @ two))
    statistic = np.sqrt(len(x) - z.shape[1] - 3) * np.arctanh(r)
    return float(erfc(abs(statistic) / np.sqrt(2)))


@pytest.mark.parametrize("method", ["hillclimb", "mbs"])
def test_a_twin_of_mpl_gives_its_network(method: str) -> None:
    own, built_in = mn.learn(SURVEY, method, score=OwnMPL), mn.learn(SURVEY, method, score="mpl")
    assert own.graph == built_in.graph
    assert own.score == pytest.approx(built_in.score)
    assert own.settings["score"] == "OwnMPL"


def test_exhaustive_search_by_a_twin_of_mpl_with_a_setting() -> None:
    own = mn.learn(FEW, "exhaustive", score=OwnMPL, prior_cell=1.0)
    built_in = mn.learn(FEW, "exhaustive", score="mpl", prior_cell=1.0)
    assert own.graph == built_in.graph
    assert own.score == pytest.approx(built_in.score)
    assert own.settings["prior_cell"] == 1.0


@pytest.mark.parametrize("method", ["gsmn", "gsmn*", "gsimn", "pc", "hhc-mn"])
def test_a_twin_of_chi2_gives_its_network_and_cost(method: str) -> None:
    own = mn.learn(SURVEY, method, test=OwnChiSquare, alpha=0.05)
    built_in = mn.learn(SURVEY, method, test="chi2", alpha=0.05, dof="adjusted")
    assert own.graph == built_in.graph
    assert own.cost["asked"] == built_in.cost["asked"]
    assert own.result.support == pytest.approx(built_in.result.support)


def test_its_own_defaults_count() -> None:
    assert "alpha" not in mn.learn(FEW, "pc", test=OwnChiSquare).settings
    assert mn.learn(FEW, "pc", test=OwnChiSquare).graph == mn.learn(FEW, "pc", test="chi2", alpha=0.01).graph


def test_scores_and_tests_of_single_questions() -> None:
    own, built_in = (mn.score(SURVEY, [("stress", "headaches")], score=score) for score in (OwnMPL, "mpl"))
    assert own.score == "OwnMPL"
    assert own.value == pytest.approx(built_in.value)
    assert [term.value for term in own.terms] == pytest.approx([term.value for term in built_in.terms])
    question: Any = ("fatigue", "stress", ["poor_sleep"])
    one, two = (mn.independence_test(SURVEY, *question, test=test) for test in (OwnChiSquare, "chi2"))
    assert one.log_p == pytest.approx(two.log_p)
    assert one.test == "OwnChiSquare"
    first, second = (mn.dependences(FEW, test=test) for test in (OwnChiSquare, "chi2"))
    assert [(pair.x, pair.y) for pair in first] == [(pair.x, pair.y) for pair in second]
    graph = mn.NamedGraph(mn.learn(FEW, "mpl").graph, tuple(FEW))
    by_own, by_chi2 = (mn.validate(graph, FEW, test=test, alpha=0.01, n_triplets=50) for test in (OwnChiSquare, "chi2"))
    assert by_own.accuracy == by_chi2.accuracy
    (line,) = mn.compare(mn.read(FEW), graph, ["pc"], test=OwnChiSquare, alpha=0.05)
    assert line.learned is not None
    assert line.learned.test == "OwnChiSquare (alpha 0.05)"
    array = np.array(list(FEW.values())).T
    learner = mn.MarkovNetworkLearner("hillclimb", settings={"score": OwnMPL}).fit(array)
    assert learner.graph_ == mn.learn(FEW, "hillclimb", score="mpl").graph


def test_repeats_count_in_tables() -> None:
    data = reference.random_dataset(np.random.default_rng(1), n_rows=60, cards=[2, 3, 2], repeats=True)
    assert data.repeats is not None
    spread = Dataset.from_codes([np.repeat(column, data.repeats) for column in data.columns], cards=data.cards)
    assert OwnMPL(data).local(0, frozenset({1, 2})) == pytest.approx(OwnMPL(spread).local(0, frozenset({1, 2})))
    one, two = OwnChiSquare(data), OwnChiSquare(spread)
    assert (one.table(1, 0, {2}) == two.table(1, 0, {2})).all()
    assert one.repeats.sum() == one.n_rows == len(two.repeats)
    assert OwnMPL(data).table(1).sum() == data.n_rows


def test_the_base_classes_work_without_learn() -> None:
    data = mn.read(FEW)
    assert mn.HillClimb().learn(OwnMPL(data)).graph == mn.HillClimb().learn(mn.MPL(mn.Counts(data))).graph
    test = OwnChiSquare(data)
    assert isinstance(test, ExplainedTest)
    assert mn.PC().learn(test).graph == mn.PC().learn(mn.ChiSquare(mn.Counts(data), alpha=0.01)).graph


class Regression(mn.CustomTest):
    """Test of variables of both types: does y explain x, given z, in a linear regression?"""

    def __call__(self, x: int, y: int, z: VarSet) -> mn.Verdict:
        x, y = sorted((x, y), key=lambda v: (self.cards[v] > 0, v))
        left = [np.linalg.lstsq(self._design(v), self.column(x), rcond=None)[1][0] for v in (z, z | {y})]
        log_p = self.chi_square_log_p(self.n_rows * log(left[0] / left[1]), max(1, self.cards[y] - 1))
        return mn.Verdict(log_p > log(0.01), log_p)

    def _design(self, variables: VarSet) -> Any:
        columns = [np.ones(self.data.n_records)]
        for v in sorted(variables):
            column = self.column(v)
            columns += [column == state for state in range(1, self.cards[v])] if self.cards[v] else [column]
        return np.column_stack(columns).astype(float)


def mixed() -> dict[str, Any]:
    """Return a chain a - b - c of a label and two numbers."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 300)
    b = a + rng.normal(size=300)
    return {"a": [f"group {k}" for k in a], "b": b, "c": b + rng.normal(size=300)}


def test_data_of_both_types_can_be_judged(tmp_path: Path) -> None:
    learned = mn.learn(mixed(), "pc", test=Regression)
    assert [(edge.u, edge.v) for edge in learned.edge_list()] == [("b", "c"), ("a", "b")]
    assert [found.test for found in learned.why("a", "c").tests] == ["Regression"] * 2
    learned.report(tmp_path / "mixed.html")
    with pytest.raises(mn.UnsuitableError, match="table needs categorical variables; 'b' is continuous"):
        Regression(mn.read(mixed())).table(0, 1)
    with pytest.raises(mn.UnsuitableError, match="table needs categorical variables; 'c' is continuous"):
        Regression(mn.read(mixed()).select(["c", "b"])).table(0, 1)
    with pytest.raises(mn.InputError, match="table takes variables by index, 0 to 2; got 'a'"):
        Regression(mn.read(mixed())).table("a", 0)  # type: ignore[arg-type]


def test_results_name_the_class_and_can_be_saved_but_not_learned_again(tmp_path: Path) -> None:
    learned = mn.learn(FEW, "hillclimb", score=OwnMPL, prior_cell=1.0)
    assert learned.to_dict()["settings"]["score"] == "OwnMPL"  # type: ignore[index]
    why = learned.why(*list(FEW)[:2])
    assert why.score is not None
    assert why.score.name == "OwnMPL"
    learned.report(tmp_path / "own.html")
    assert "OwnMPL" in (tmp_path / "own.html").read_text(encoding="utf-8")
    for name, found in (("score", learned), ("test", mn.learn(FEW, test=OwnChiSquare))):
        found.save(tmp_path / f"{name}.json")
        loaded = mn.load(tmp_path / f"{name}.json")
        assert loaded.graph == found.graph
        assert loaded.settings[name] == found.settings[name]
        for call in (loaded.bootstrap, lambda loaded=loaded: loaded.with_data(FEW)):
            with pytest.raises(mn.InputError, match=rf"got a network by '\w+', {name}='Own.*cannot learn again"):
                call()
    assert "using gsimn with the test OwnChiSquare" in str(found.choice)


def test_a_class_is_made_again_for_each_data_set() -> None:
    by_class, by_name = (mn.learn(FEW, "hillclimb", score=score) for score in (OwnMPL, "mpl"))
    drawn = [learned.bootstrap(4, n_jobs=1).frequencies for learned in (by_class, by_name)]
    assert drawn[0] == drawn[1]
    groups = partial(mn.compare_groups, FEW, "stress", "hillclimb", n_permutations=2, n_jobs=1)
    assert groups(score=OwnMPL).statistics == groups(score="mpl").statistics


def test_an_object_is_for_a_learner() -> None:
    words = r"got an object of OwnMPL. Use a name \(ib, .*\), or give the object to a learner: mnlearn.HillClimb\(\)"
    made: Any = OwnMPL(mn.read(FEW))
    for call in (partial(mn.learn, method="hillclimb"), partial(mn.compare_groups, by="stress", method="hillclimb")):
        with pytest.raises(mn.InputError, match=words):
            call(FEW, score=made)
    oracle = mn.SeparationOracle(example(400, seed=1).graph)
    with pytest.raises(
        mn.InputError, match=r"test must be a name, or a class .* an object of SeparationOracle\. .*mnlearn\.PC\(\)"
    ):
        mn.independence_test(FEW, *list(FEW)[:2], test=oracle)
    assert mn.GSMNStar().learn(oracle).graph == example(400, seed=1).graph


def gaussian(n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n, 4))
    values[:, 1:] += 0.8 * values[:, :-1]
    return dict(zip("abcd", values.T, strict=True))


@pytest.mark.parametrize("method", ["gsmn*", "gsimn", "pc", "hhc-mn"])
def test_a_function_of_columns_is_a_test(method: str) -> None:
    own, built_in = (mn.learn(gaussian(), method, test=test) for test in (by_regression, "pcor"))
    assert own.graph == built_in.graph
    assert own.settings["test"] == "by_regression"
    assert own.settings["alpha"] == built_in.settings["alpha"]
    assert own.result.support == pytest.approx(built_in.result.support)
    assert mn.learn(gaussian(), method, test=by_regression, alpha=1e-300).graph.n_edges == 0


def test_functions_elsewhere() -> None:
    table = gaussian()
    found = mn.independence_test(table, "a", "c", ["b"], test=by_regression)
    assert found.log_p == pytest.approx(mn.independence_test(table, "a", "c", ["b"], test="pcor").log_p)
    assert found.test == "by_regression"
    learned = mn.learn(table, "pc", test=lambda x, y, z: by_regression(x, y, z))  # noqa: PLW0108 - as users write it
    one, two = (learned.bootstrap(4, n_jobs=n_jobs).frequencies for n_jobs in (1, 2))
    assert one == two
    bound = partial(mn.learn, table, "pc", test=partial(by_regression))
    assert bound().graph == learned.graph
    repeated = {name: np.append(column, column[:1]) for name, column in gaussian(99).items()}
    weighted = {name: column[:99] for name, column in repeated.items()} | {"n": [2] + [1] * 98}
    for test in (by_regression, "pcor"):
        spread, counted = mn.learn(repeated, "pc", test=test), mn.learn(weighted, "pc", test=test, repeats="n")
        assert spread.result.support == pytest.approx(counted.result.support)


def of(**methods: Any) -> type:
    """Make a score or test with these methods."""
    base = mn.CustomScore if "local" in methods else mn.CustomTest
    return type("Mine", (base,), methods)


class Nothing(mn.CustomScore):
    """Score without its method."""


class Forgets(OwnMPL):
    """Score that does not store its data."""

    def __init__(self, data: Dataset) -> None:
        self.rows = data


class Unborn(OwnMPL):
    """Score that cannot be made."""

    def __init__(self, data: Dataset) -> None:
        raise KeyError(data.names[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"score": Nothing},
            r"score must have a method local\(x, blanket\); Nothing has none. Add it.",
        ),
        ({"score": int}, r"a class derived from mnlearn.CustomScore; got <class 'int'>"),
        ({"score": OwnChiSquare}, "a class derived from mnlearn.CustomScore; got <class .*OwnChiSquare"),
        ({"score": lambda *_: 0.5}, "a class derived from mnlearn.CustomScore; got <function"),
        ({"score": Forgets}, r"Forgets.__init__ does not call super\(\).__init__\(data\)"),
        ({"score": 3}, r"score must be a name \(ib, .*\), a class derived .*; got 3"),
        ({"score": Unborn}, "Unborn, called with a Dataset, raised KeyError: .* Correct its __init__"),
        ({"score": OwnMPL, "prior": 2}, "has no setting 'prior'; .* its score OwnMPL accepts prior_cell"),
        ({"score": type("ib", (OwnMPL,), {})}, "must not have the name of a built-in score.* called 'ib'. Rename it"),
        ({"score": of(local=lambda *_: None)}, r"Mine.local\(x=0, blanket=\{\}\) returned None. Return -inf"),
        ({"score": of(local=lambda *_: nan)}, "score must give a number below infinity; .* returned nan"),
        ({"score": of(local=lambda *_: inf)}, "returned inf"),
        ({"score": OwnMPL, "proposals": "weakest"}, "sum over pairs; OwnMPL is not"),
        ({"score": OwnMPL, "method": "sep"}, "score must be evidence for the method sep; got 'OwnMPL'"),
        ({"score": OwnMPL, "method": "pc"}, "score is for methods that use a score"),
        ({"test": OwnMPL, "method": "pc"}, "a class derived from mnlearn.CustomTest, or a function .* got <class"),
        ({"test": mn.CustomTest, "method": "pc"}, r"test must have a method __call__\(x, y, z\); CustomTest has none"),
        ({"test": lambda data: data, "method": "pc"}, "a function of the columns x, y and z .* got <function"),
        ({"test": partial(OwnChiSquare, alpha=0.1), "method": "pc"}, "a class derived from mnlearn.CustomTest"),
        ({"test": lambda *_: 1.5, "method": "pc"}, r"p-value from 0 to 1; <lambda>\(x=0, y=1, z=\{\}\) returned 1.5"),
        ({"test": by_regression, "method": "pc", "span": 2}, "its test accepts alpha"),
        ({"test": by_regression, "method": "pc", "alpha": 2}, "alpha must be between 0 and 1"),
        ({"test": of(__call__=lambda *_: 0.5), "method": "pc"}, r"Mine\(x=0, y=1, z=\{\}\) returned 0.5. Return Verd"),
        ({"test": of(__call__=lambda *_: (False, nan)), "method": "pc"}, "test must return a mnlearn.Verdict"),
        ({"test": "chi3", "method": "pc"}, "test 'chi3' does not exist"),
    ],
)
def test_what_is_wrong_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mn.InputError, match=message):
        mn.learn(FEW, **{"method": "hillclimb", **options})


def test_an_error_of_the_code_itself_comes_with_the_question() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        mn.learn(FEW, "pc", test=of(__call__=lambda *_: 1 / 0))
    first, second = list(FEW)[:2]
    assert raised.value.__notes__ == [f"Mine was called with x={first!r}, y={second!r}, z=[]"]


def test_batched_forms_of_the_caller_are_used() -> None:
    class Batched(OwnMPL):
        calls = 0

        def removals(self, *question: Any) -> Any:
            Batched.calls += 1
            return super().removals(*question)

    assert mn.learn(FEW, "hillclimb", score=Batched).graph == mn.learn(FEW, "hillclimb", score="mpl").graph
    assert Batched.calls
