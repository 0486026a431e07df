"""Contract of every learner by tests; a learner in `LEARNERS` is checked by all of these tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import GSIMN, GSIMNFCH, GSMN, HHCMN, PC, GSMNStar
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, cycle, grid, random_graph, random_tree, star
from mnlearn.independence import BayesianTest, ChiSquare, GTest, PartialCorrelation, SeparationOracle
from mnlearn.protocols import IndependenceTest, Indices, Result, VarSet, Verdict, Verdicts
from mnlearn.statistics import Counts, Moments
from monitors import Budget
from profiles import few

from references import counts as reference
from references.judges import Audited

# A learner with settings of its own choice has a line for each. Values: dataclasses with learn(judge, monitor).
LEARNERS: dict[str, Any] = {
    "gsmn": GSMN(),
    "gsmn*": GSMNStar(),
    "gsmn*-plain": GSMNStar(propagation=False, skip_marginal=False),
    "gsimn": GSIMN(),
    "gsimn-mirrored": GSIMN(mirrored=True, seed_dependences=True, skip_marginal=False),
    "gsimn-fch": GSIMNFCH(),
    "hhc-mn": HHCMN(),
    "hhc-mn-or": HHCMN(combine="or"),
    "pc": PC(),
    "pc-moral": PC(output="moral"),
    "pc-sepset": PC(output="moral", colliders="sepset"),
}
SMALL_ONLY = {"gsimn-fch"}  # 2^n by definition: refuses more than 16 variables
SUBSETS = {name for name in LEARNERS if name.startswith(("hhc", "pc"))}  # exponential in the degrees
COST = {
    *("asked", "weighted", "initial_asked", "initial_weighted", "main_asked", "main_weighted"),
    *("inferred", "recalled", "largest_z", "scanned", "seconds"),
}


def strict(learner: Any) -> Any:
    """Return the learner set to one question at a time; one without `ahead` asks nothing ahead of need."""
    return replace(learner, ahead=1) if any(f.name == "ahead" for f in fields(learner)) else learner


def same(one: Result, other: Result) -> bool:
    """Equal in all but the time it took."""
    costs = [{key: value for key, value in r.cost.items() if key != "seconds"} for r in (one, other)]
    return costs[0] == costs[1] and all(
        getattr(one, f.name) == getattr(other, f.name) for f in fields(one) if f.name != "cost"
    )


class Stop:
    """A monitor that cancels at the k-th time it is asked."""

    def __init__(self, after: int) -> None:
        self.left, self.heard = after, list[tuple[float, float | None, str]]()

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        self.heard.append((done, total, message))

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


# ---- sound: exact answers give the true graph


@pytest.mark.parametrize("name", LEARNERS)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 8), share=st.floats(0, 1))
@settings(max_examples=40)
def test_the_oracle_gives_the_true_graph(name: str, seed: int, n: int, share: float) -> None:
    truth = random_graph(n, share * (n - 1), seed)
    result = LEARNERS[name].learn(SeparationOracle(truth))
    assert result.graph == truth
    assert result.converged
    assert result.score is None
    assert set(result.support) == set(truth.edges)
    assert set(result.support.values()) <= {-np.inf}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("n", "degree"), few([(12, 4), (12, 1), (12, 2), (10, 8)], 1))
def test_the_oracle_gives_the_true_graph_with_a_dozen_variables(name: str, n: int, degree: int) -> None:
    truth = random_graph(n, degree, seed=n + degree)
    assert LEARNERS[name].learn(SeparationOracle(truth)).graph == truth


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - SMALL_ONLY))
@pytest.mark.parametrize(
    "truth",
    few([random_graph(60, 1, seed=5), random_tree(30, seed=6), cycle(30), grid(2, 8), random_graph(30, 2, seed=7)], 2),
    ids=lambda graph: f"{graph.n_variables} variables, {graph.n_edges} edges",
)
def test_the_oracle_gives_larger_sparse_graphs(name: str, truth: Graph) -> None:
    assert LEARNERS[name].learn(SeparationOracle(truth)).graph == truth


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - SMALL_ONLY - SUBSETS))
@pytest.mark.parametrize(("n", "degree"), few([(30, 8), (60, 2), (60, 4), (60, 8)], 1))
def test_the_oracle_gives_larger_dense_graphs(name: str, n: int, degree: int) -> None:
    truth = random_graph(n, degree, seed=n + degree)
    assert LEARNERS[name].learn(SeparationOracle(truth)).graph == truth


# ---- the account


@pytest.mark.parametrize("name", LEARNERS)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 8), degree=st.floats(0, 4))
@settings(max_examples=20)
def test_the_account_is_the_oracles_own(name: str, seed: int, n: int, degree: float) -> None:
    oracle = SeparationOracle(random_graph(n, min(degree, n - 1), seed), monotone=False)  # every question is put
    judge = Audited(oracle)
    cost = strict(LEARNERS[name]).learn(judge).cost
    assert set(cost) >= COST
    assert cost["asked"] == cost["scanned"] == judge.asked
    assert cost["weighted"] == judge.weighted
    assert cost["largest_z"] == judge.largest_z
    assert cost["initial_asked"] + cost["main_asked"] == cost["asked"]
    assert cost["initial_weighted"] + cost["main_weighted"] == cost["weighted"]
    assert cost["initial_asked"] in (0, comb(n, 2))
    assert cost["seconds"] >= 0
    ahead = LEARNERS[name].learn(oracle)
    assert {**ahead.cost, "scanned": 0, "seconds": 0} == {**cost, "scanned": 0, "seconds": 0}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_trace_is_the_account_question_by_question(name: str) -> None:
    learner = replace(LEARNERS[name], keep_trace=True)
    result = learner.learn(SeparationOracle(grid(2, 4)))
    assert result.trace is not None
    asked = [q for q in result.trace if q.source == "data"]
    assert len(asked) == result.cost["asked"]
    assert sum(2 + len(q.z) for q in asked) == result.cost["weighted"]
    assert sum(q.phase == "initial" for q in asked) == result.cost["initial_asked"]
    assert all(q.independent == grid(2, 4).separates(q.x, q.y, q.z) for q in result.trace)
    assert LEARNERS[name].learn(SeparationOracle(grid(2, 4))).trace is None


# ---- deterministic, and enough to run it again


@pytest.mark.parametrize("name", LEARNERS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_the_same_twice_however_many_threads(name: str, seed: int) -> None:
    data = reference.random_dataset(np.random.default_rng(seed), n_rows=200, cards=[2, 3, 2, 2, 3, 2])
    learner = replace(LEARNERS[name], keep_trace=True)
    first = learner.learn(ChiSquare(Counts(data, n_jobs=1)))
    assert same(first, learner.learn(ChiSquare(Counts(data, n_jobs=1))))
    assert same(first, learner.learn(ChiSquare(Counts(data, n_jobs=2))))


@pytest.mark.parametrize("name", LEARNERS)
def test_the_settings_make_the_learner_again(name: str) -> None:
    learner = LEARNERS[name]
    result = learner.learn(SeparationOracle(star(4)))
    assert type(learner)(**result.settings) == learner
    assert hash(learner) == hash(type(learner)(**result.settings))
    with pytest.raises(TypeError):
        type(learner)(1)  # settings go by name
    with pytest.raises(AttributeError):
        learner.keep_trace = True


# ---- any judge


def judges() -> dict[str, Callable[[], IndependenceTest]]:
    rng = np.random.default_rng(11)
    data = reference.random_dataset(rng, n_rows=400, cards=[2, 3, 2, 4, 2, 2])
    rows = rng.standard_normal((400, 6)) @ (np.eye(6) + 0.6 * np.eye(6, k=1))
    return {
        "chi2": lambda: ChiSquare(Counts(data)),
        "g2": lambda: GTest(Counts(data), alpha=0.01),
        "bayes": lambda: BayesianTest(Counts(data)),
        "pcor": lambda: PartialCorrelation(Moments.from_covariance(np.cov(rows.T), n_rows=400)),
    }


@pytest.mark.parametrize("judge", judges())
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_works_with_every_test(name: str, judge: str) -> None:
    result = LEARNERS[name].learn(judges()[judge]())
    assert result.converged
    assert result.graph.n_variables == 6
    # The columns follow one another, so there is something to find, and not everything is an edge.
    assert {(0, 1), (4, 5)} & set(result.graph.edges)
    assert result.graph.n_edges < 15
    assert set(result.support) == set(result.graph.edges)
    assert all(np.isfinite(value) and value <= 0 for value in result.support.values())


# ---- bad input, and an early end


class Unasked:
    """A judge that must not be asked anything."""

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        raise AssertionError(f"asked about {x}, {y} given {z}")

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        raise AssertionError(f"asked about {x}, {ys} given {z}")


@pytest.mark.parametrize("name", LEARNERS)
def test_fewer_than_two_variables_are_refused_before_any_question(name: str) -> None:
    for n in (0, 1):
        with pytest.raises(InputError, match=f"at least 2 variables; got {n}"):
            LEARNERS[name].learn(Unasked(n))


@pytest.mark.parametrize("name", LEARNERS)
def test_what_a_judge_refuses_is_not_swallowed(name: str) -> None:
    with pytest.raises(AssertionError, match="asked"):
        LEARNERS[name].learn(Unasked(2))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_monitor_that_counts_tests_is_a_budget(name: str) -> None:
    oracle = SeparationOracle(grid(2, 4), monotone=False)
    learner = LEARNERS[name]
    needed = int(strict(learner).learn(oracle).cost["asked"])
    for budget in (0, 1, 5, 28, 30, needed // 2):
        judge = Audited(oracle)
        result = learner.learn(judge, Budget(judge, min(budget, needed // 2)))
        assert result.cost["asked"] <= result.cost["scanned"] == judge.asked < budget + 8
        assert not result.converged
        assert result.graph.n_variables == 8
        assert set(result.support) <= set(result.graph.edges)
        assert type(learner)(**result.settings) == learner
    judge = Audited(oracle)
    enough = strict(learner).learn(judge, Budget(judge, needed + 1))
    assert enough.converged
    assert enough.graph == grid(2, 4)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_monitor_can_stop_it_and_hears_how_far_it_is(name: str) -> None:
    oracle = SeparationOracle(grid(2, 4))
    for after in (0, 1, 9):
        monitor, judge = Stop(after), Audited(oracle)
        result = LEARNERS[name].learn(judge, monitor)
        assert not result.converged
        assert result.graph.n_variables == 8
        assert judge.asked <= 8 * after
    calm = Stop(10**9)
    assert LEARNERS[name].learn(oracle, calm).converged
    assert calm.heard
    assert all(done >= 0 and (total is None or done <= total) for done, total, _ in calm.heard)


@pytest.mark.parametrize("name", LEARNERS)
def test_constant_columns_stand_alone(name: str) -> None:
    data = Dataset.from_codes([[0, 1] * 40, [0, 1] * 40, [0] * 80, [0, 0, 1, 1] * 20], cards=[2, 2, 2, 2])
    result = LEARNERS[name].learn(ChiSquare(Counts(data)))
    assert result.graph == Graph(4, [(0, 1)])
