"""Contract of every learner by scores; a learner in `LEARNERS` is checked by all of these tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from mnlearn.algorithms import IBMAPHC, L1LR, MBS, Exhaustive, HillClimb, SeparatorEvidence, TwoPhase
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn.independence import BayesianTest
from mnlearn.protocols import FloatArray, Indices, Result, VarSet
from mnlearn.scores import MPL, PIC, BJPScore, ExtendedBIC, HybridEvidence, IBScore, L1Logistic
from mnlearn.simulate import PairwiseNetwork, sample_exact
from mnlearn.statistics import Counts, MixedLikelihoods

Judge = Callable[[Dataset, int], Any]
SCORES: dict[str, Judge] = {
    "ib": lambda data, jobs: IBScore(BayesianTest(Counts(data, n_jobs=jobs))),
    "bjp": lambda data, jobs: BJPScore(BayesianTest(Counts(data, n_jobs=jobs))),
    "mpl": lambda data, jobs: MPL(Counts(data, n_jobs=jobs)),
    "pic": lambda data, jobs: PIC(Counts(data, n_jobs=jobs)),
    "ebic": lambda data, jobs: ExtendedBIC(Counts(data, n_jobs=jobs)),
    "ebic-mixed": lambda data, jobs: ExtendedBIC(MixedLikelihoods(data, n_jobs=jobs)),
}
# A learner with the scores it is meant for. Values: dataclasses with learn(judge, monitor), and a maker of judges.
LEARNERS: dict[str, tuple[Any, Judge]] = {
    "ibmap-ib": (IBMAPHC(), SCORES["ib"]),
    "ibmap-bjp": (IBMAPHC(), SCORES["bjp"]),
    "ibmap-better": (IBMAPHC(proposals="steepest", tabu=2, patience=3), SCORES["bjp"]),
    "hillclimb-mpl": (HillClimb(), SCORES["mpl"]),
    "hillclimb-tabu": (HillClimb(tabu=3, patience=4), SCORES["ib"]),
    "mpl": (TwoPhase(), SCORES["mpl"]),
    "mpl-and": (TwoPhase(combine="and"), SCORES["mpl"]),
    "mpl-or": (TwoPhase(combine="or"), SCORES["mpl"]),
    "pic-conflict": (TwoPhase(combine="conflict"), SCORES["pic"]),
    "mbs-ebic": (MBS(), SCORES["ebic"]),
    "mbs-mixed": (MBS(), SCORES["ebic-mixed"]),
    "mbs-mpl": (MBS(k_hard=4), SCORES["mpl"]),
    "mbs-and": (MBS(combine="and"), SCORES["pic"]),
    "mbs-or": (MBS(combine="or"), SCORES["mpl"]),
    "l1lr": (L1LR(), lambda data, _: L1Logistic(data, n_penalties=20, smallest=0.01, patience=3)),
    "sep": (SeparatorEvidence(), lambda data, jobs: HybridEvidence(Counts(data, n_jobs=jobs))),
    "sep-fast": (SeparatorEvidence(effort="fast"), lambda data, jobs: HybridEvidence(Counts(data, n_jobs=jobs))),
    "exhaustive-ib": (Exhaustive(), SCORES["ib"]),
    "exhaustive-bjp": (Exhaustive(averaging=True), SCORES["bjp"]),
    "exhaustive-mpl": (Exhaustive(), SCORES["mpl"]),
    "exhaustive-pic": (Exhaustive(alternatives=0), SCORES["pic"]),
}
BY_SCORE = [name for name in LEARNERS if not name.startswith(("l1lr", "sep"))]
BY_NAME = pytest.mark.parametrize("name", LEARNERS)
TRUTH = Graph(6, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)])  # a ring of four, a tail, and one alone


def codes(n_rows: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Rows from a network on the true graph, so strong that every learner sees it in some thousand rows."""
    signs = dict(zip(TRUTH.edges, (1.6, -1.6, 1.6, 1.5, 1.7), strict=True))
    return sample_exact(PairwiseNetwork(TRUTH, signs, (0.1, -0.2, 0.3, -0.1, 0.2, 0.4)), n_rows, seed)


def data(n_rows: int = 600, seed: int = 1) -> Dataset:
    return Dataset.from_codes(codes(n_rows, seed), cards=[2] * 6)


def learned(name: str, dataset: Dataset, *, n_jobs: int = 1, **changes: Any) -> Result:
    learner, judge = LEARNERS[name]
    found: Result = replace(learner, **changes).learn(judge(dataset, n_jobs))
    return found


def same(one: Result, other: Result) -> bool:
    """Equal in all but the time it took."""
    costs = [{key: value for key, value in r.cost.items() if key != "seconds"} for r in (one, other)]
    return costs[0] == costs[1] and all(
        getattr(one, f.name) == getattr(other, f.name) for f in fields(one) if f.name not in ("cost", "all_graphs")
    )


@BY_NAME
def test_enough_rows_give_the_true_graph(name: str) -> None:
    result = learned(name, data(20_000))
    assert result.graph == TRUTH
    assert result.converged


@BY_NAME
def test_the_result_is_whole(name: str) -> None:
    for seed in range(2):
        dataset = data(150, seed)
        result = learned(name, dataset)
        if name in BY_SCORE:
            score = LEARNERS[name][1](dataset, 1)
            assert result.score == pytest.approx(score(result.graph), abs=1e-8)
        else:
            assert result.score is None
        assert set(result.support) == set(result.graph.edges)
        assert result.support_scale == "log_odds"
        assert all(np.isfinite(value) for value in result.support.values())
        assert result.cost["seconds"] >= 0


@BY_NAME
def test_the_same_twice_however_many_threads(name: str) -> None:
    first = learned(name, data())
    assert same(first, learned(name, data()))
    assert same(first, learned(name, data(), n_jobs=2))


@BY_NAME
def test_rows_columns_labels_and_repeats_do_not_matter(name: str) -> None:
    rng, rows = np.random.default_rng(5), codes(700, seed=8)
    plain = learned(name, Dataset.from_codes(rows, cards=[2] * 6))
    shuffled = learned(name, Dataset.from_codes(rows[rng.permutation(700)], cards=[2] * 6))
    assert shuffled.graph == plain.graph
    assert shuffled.score == pytest.approx(plain.score)
    assert learned(name, Dataset.from_codes(1 - rows, cards=[2] * 6)).score == pytest.approx(plain.score)
    repeated = learned(name, Dataset.from_codes(rows, cards=[2] * 6).compact())
    assert repeated.graph == plain.graph
    assert repeated.score == pytest.approx(plain.score)
    # Restarts flip random pairs by their number, and MBS visits the variables in the order of the columns.
    if "better" not in name and not name.startswith("mbs"):
        turn = [4, 2, 0, 5, 1, 3]
        turned = learned(name, Dataset.from_codes(rows[:, np.argsort(turn)], cards=[2] * 6))
        assert turned.graph == plain.graph.relabel(turn)
        assert turned.score == pytest.approx(plain.score)


@BY_NAME
def test_the_settings_make_the_learner_again(name: str) -> None:
    learner = LEARNERS[name][0]
    result = learned(name, data(100))
    assert type(learner)(**result.settings) == learner
    with pytest.raises(TypeError):
        type(learner)(1)  # settings go by name
    with pytest.raises(AttributeError):
        learner.required = ()


@BY_NAME
def test_required_and_forbidden_edges_are_respected(name: str) -> None:
    for required, forbidden in [(((0, 5),), ((0, 1),)), (((2, 4), (5, 1)), ()), ((), TRUTH.edges)]:
        result = learned(name, data(2000), required=required, forbidden=forbidden)
        assert all(edge in result.graph for edge in required)
        assert not any(edge in result.graph for edge in forbidden)
    with pytest.raises(InputError, match="required and forbidden must not share an edge"):
        learned(name, data(100), required=((0, 1),), forbidden=((1, 0),))


@BY_NAME
def test_constant_columns_stand_alone(name: str) -> None:
    table = Dataset.from_codes([[0, 1] * 40, [0, 1] * 40, [0] * 80, [0, 0, 1, 1] * 20], cards=[2, 2, 2, 2])
    assert learned(name, table).graph == Graph(4, [(0, 1)])


class Unasked:
    """A judge that must not be asked."""

    cards: tuple[int, ...] = ()

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables

    def __call__(self, graph: Graph) -> float:
        raise AssertionError(f"asked about {graph}")

    def on(self, graph: Graph) -> Any:
        raise AssertionError(f"asked about {graph}")

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Any:
        raise AssertionError(f"asked about {x} among {candidates} and {required}")

    def with_three_way(self, use: bool) -> Any:
        raise AssertionError(f"asked to use three-way terms: {use}")

    def local(self, x: int, blanket: VarSet) -> float:
        raise AssertionError(f"asked about {x} with {blanket}")

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        raise AssertionError(f"asked about {xs} with {blankets} and {yss}")

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        raise AssertionError(f"asked about {xs} with {blankets}")


@BY_NAME
@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_variables_are_refused_before_any_question(name: str, n: int) -> None:
    with pytest.raises(InputError, match=f"at least 2 variables; got {n}"):
        LEARNERS[name][0].learn(Unasked(n))


class Stop:
    """A monitor that cancels at the k-th time it is asked."""

    def __init__(self, after: int) -> None:
        self.left, self.heard = after, list[tuple[float, float | None, str]]()

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        self.heard.append((done, total, message))

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


@BY_NAME
def test_a_monitor_can_stop_it_and_hears_how_far_it_is(name: str) -> None:
    learner, judge = LEARNERS[name]
    score = judge(data(), 1)
    for after in (0, 1):
        result = replace(learner, required=((4, 5),)).learn(score, Stop(after))
        assert not result.converged
        assert result.graph.n_variables == 6
        assert (4, 5) in result.graph
        assert set(result.support) <= set(result.graph.edges)
    calm = Stop(10**9)
    assert learner.learn(score, calm).converged
    assert calm.heard
    assert all(done >= 0 and (total is None or done <= total) for done, total, _ in calm.heard)


@pytest.mark.parametrize("name", BY_SCORE)
def test_no_search_finds_more_than_there_is(name: str) -> None:
    """Exhaustive search is the ceiling of every other."""
    for seed in range(2):
        learner, judge = LEARNERS[name]
        score = judge(data(200, seed), 1)
        optimum, found = Exhaustive().learn(score).score, learner.learn(score).score
        assert optimum is not None
        assert found is not None
        assert found <= optimum + 1e-9
        if name.startswith("exhaustive"):
            assert found == optimum
