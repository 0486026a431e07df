"""The two-phase search against its twin, which scores every graph from nothing and remembers nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import combinations
from math import log
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import climbs as module
from mnlearn.algorithms.base import Constraints
from mnlearn.algorithms.climbs import PhaseOne
from mnlearn.algorithms.hillclimb import HillClimb
from mnlearn.algorithms.mpl import Combine, TwoPhase
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import PairwiseNetwork, sample_exact
from mnlearn.errors import InputError, UnknownNameError, UnsuitableError
from mnlearn.graphs import Graph, path, random_tree, star
from mnlearn.graphs.graph import Edge
from mnlearn.independence import BayesianTest
from mnlearn.numbers import first_best, tolerance
from mnlearn.protocols import SILENT, FloatArray, Indices, Result, VarSet
from mnlearn.scores import MPL, PIC, Decomposed, IBScore
from mnlearn.statistics import Counts

from references import counts as reference
from references import mpl as reference_mpl

RULES: tuple[Combine, ...] = get_args(Combine)
every_rule = pytest.mark.parametrize("combine", RULES)


class Whim(Decomposed):
    """Local scores drawn from few whole numbers: exact ties everywhere, and blankets that never agree."""

    def __init__(self, n: int, seed: int, spread: int = 6) -> None:
        self._n, self._seed, self._spread = n, seed, spread

    @property
    def n_variables(self) -> int:
        return self._n

    def local(self, x: int, blanket: VarSet) -> float:
        rng = np.random.default_rng([self._seed, x, *sorted(blanket)])
        return float(rng.integers(self._spread))

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        return [np.array([self.local(x, b | {int(y)}) for y in ys]) for x, b, ys in zip(xs, blankets, yss, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        return [np.array([self.local(x, b - {y}) for y in sorted(b)]) for x, b in zip(xs, blankets, strict=True)]


class Forgetful:
    """A scored graph that knows nothing but how to score whole graphs, and calls every pair stale after a flip."""

    def __init__(self, score: Decomposed, graph: Graph) -> None:
        self._score, self.graph = score, graph

    @property
    def value(self) -> float:
        return self._score(self.graph)

    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        return np.array([self._score(self.graph.flip(u, v)) - self.value for u, v in edges])

    def flip(self, edge: Edge) -> None:
        self.graph = self.graph.flip(*edge)


class Uncached:
    """Score that forgets in phase 2."""

    def __init__(self, score: Decomposed) -> None:
        self.n_variables, self._score = score.n_variables, score
        self.local, self.additions, self.removals = score.local, score.additions, score.removals

    def __call__(self, graph: Graph) -> float:
        return self._score(graph)

    def on(self, graph: Graph) -> Forgetful:
        return Forgetful(self._score, graph)


def some_data(seed: int, *, n: int = 5, n_rows: int = 60, repeats: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, n).tolist()
    return reference.random_dataset(rng, n_rows=n_rows, cards=cards, repeats=repeats, dependence=0.7)


def known_edges(seed: int, n: int) -> dict[str, tuple[Edge, ...]]:
    """Some pairs required, some forbidden, some to start from."""
    rng = np.random.default_rng([seed, 1])
    fate = {pair: int(rng.integers(5)) for pair in combinations(range(n), 2)}
    return {
        "required": tuple(pair for pair in fate if fate[pair] == 0),
        "forbidden": tuple(pair for pair in fate if fate[pair] == 1),
        "start": tuple(pair for pair in fate if rng.random() < 0.4),
    }


# ---- the published search


@pytest.mark.parametrize("score", ["mpl", "pic", "whim"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_it_does_what_is_written(score: str, seed: int) -> None:
    data = some_data(seed)
    judge = {"mpl": MPL(Counts(data)), "pic": PIC(Counts(data)), "whim": Whim(6, seed)}[score]
    local = {"mpl": reference_mpl.mpl(data), "pic": reference_mpl.pic(data), "whim": judge.local}[score]
    n = judge.n_variables
    expected = reference_mpl.two_phases(local, n)
    for combine in RULES:
        result = TwoPhase(combine=combine).learn(judge)
        assert set(result.graph.edges) == expected[combine]
        assert result.converged
        assert result.score == pytest.approx(reference_mpl.total(local, n, expected[combine]), abs=1e-9)
        assert {name: set(graph.edges) for name, graph in result.stages.items()} == {
            name: expected[name] for name in ("and", "or", combine)
        }


@pytest.mark.parametrize("limit", [None, 3])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_it_does_what_is_written_with_all_that_is_known_beforehand(limit: int | None, seed: int) -> None:
    n, known = 6, known_edges(seed, 6)
    begin = Graph(n, [*known["start"], *known["required"]])
    if limit is not None and begin.remove([e for e in known["forbidden"] if e in begin]).degrees().max() > limit:
        return
    judge = Whim(n, seed, spread=50)
    expected = reference_mpl.two_phases(judge.local, n, limit=limit, **known)
    for combine in RULES:
        learner = TwoPhase(
            combine=combine,
            max_blanket=limit,
            required=known["required"],
            forbidden=known["forbidden"],
            start=Graph(n, known["start"]),
        )
        result = learner.learn(judge)
        assert set(result.graph.edges) == expected[combine]
        assert set(known["required"]) <= set(result.graph.edges)
        assert set(result.graph.edges).isdisjoint(known["forbidden"])
        assert limit is None or combine == "or" or result.graph.degrees().max() <= limit
        if combine == "phase2":
            allowed = begin.remove([e for e in known["forbidden"] if e in begin])
            assert result.score is not None
            assert result.score >= judge(allowed)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_remembering_changes_nothing(seed: int) -> None:
    for judge in (MPL(Counts(some_data(seed, n=6))), Whim(6, seed)):
        for combine in RULES:
            ours, theirs = (TwoPhase(combine=combine).learn(j) for j in (judge, Uncached(judge)))
            assert ours.graph == theirs.graph
            assert ours.score == pytest.approx(theirs.score, abs=1e-9)
            assert ours.support == pytest.approx(theirs.support, abs=1e-9)


@every_rule
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_support_is_what_the_score_loses_without_the_edge(combine: Combine, seed: int) -> None:
    judge = MPL(Counts(some_data(seed, n=6)))
    result = TwoPhase(combine=combine).learn(judge)
    assert result.support_scale == "log_odds"
    assert set(result.support) == set(result.graph.edges)
    for (u, v), support in result.support.items():
        assert support == pytest.approx(judge(result.graph) - judge(result.graph.flip(u, v)), abs=1e-9)
        assert combine != "phase2" or support > 0


def test_a_pseudo_bayes_factor_by_hand() -> None:
    """Two equal columns of 4 rows, α = 1/2: each end (1/2 · 3/4)² with the other against 9/384 without it."""
    equal = MPL(Counts(Dataset.from_codes([[0, 0, 1, 1], [0, 0, 1, 1]])))
    result = TwoPhase().learn(equal)
    assert result.graph == Graph.complete(2)
    factor = 2 * log((1 / 2 * 3 / 4) ** 2 / (9 / 384))
    assert result.support[0, 1] == pytest.approx(factor - log(2))  # less log d, the prior of an edge


# ---- cost


class Noting(Whim):
    """Score that counts its local scores."""

    asked = 0

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        self.asked += sum(map(len, yss))
        return super().additions(xs, blankets, yss)

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        self.asked += sum(map(len, blankets))
        return super().removals(xs, blankets)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_the_account(seed: int) -> None:
    judge = Noting(8, seed, spread=100)
    blankets = PhaseOne(judge, Constraints(8, forbidden=[(0, 1)]), Graph.empty(8), None)
    assert blankets.climb(SILENT)
    assert blankets.scored == judge.asked
    result = TwoPhase(forbidden=((0, 1),)).learn(judge)
    cost, eligible = result.cost, result.stages["or"]
    assert cost["phase1_scored"] == blankets.scored
    assert cost["rounds"] == blankets.rounds > 1
    assert cost["flips"] >= result.graph.n_edges
    # Every flip once, then after each flip those that share an end with it.
    assert cost["phase2_scored"] <= eligible.n_edges + cost["flips"] * 2 * eligible.degrees().max()
    assert cost["scored"] == cost["phase1_scored"] + cost["phase2_scored"]
    assert cost["seconds"] > 0


def test_the_settings_make_the_learner_again() -> None:
    learner = TwoPhase(combine="conflict", max_blanket=3, required=((0, 1),), start=Graph(5, [(1, 2)]))
    found = learner.learn(MPL(Counts(some_data(1)))).settings
    assert TwoPhase(**found) == learner  # type: ignore[arg-type]
    assert hash(TwoPhase(**found)) == hash(learner)  # type: ignore[arg-type]


def test_the_result_of_another_search_is_a_start() -> None:
    judge = MPL(Counts(some_data(1)))
    other = HillClimb().learn(judge)
    found = TwoPhase(start=other).learn(judge)
    assert found.graph == TwoPhase(start=other.graph).learn(judge).graph
    assert found.settings["start"] == other.graph


# ---- what changes nothing, and what a tie does


@every_rule
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_rows_columns_labels_and_repeats_change_nothing(combine: Combine, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = some_data(seed, n=6, n_rows=80)
    columns = [column.astype(np.int64) for column in data.columns]

    def learned(columns: list[Any], cards: Any, repeats: Any = None) -> Result:
        return TwoPhase(combine=combine).learn(MPL(Counts(Dataset.from_codes(columns, cards=cards, repeats=repeats))))

    truth = learned(columns, data.cards)
    order = rng.permutation(80)
    labels = [rng.permutation(card)[c][order] for c, card in zip(columns, data.cards, strict=True)]
    assert learned(labels, data.cards).graph == truth.graph
    new = rng.permutation(6).tolist()  # ties would show; random data have none
    moved = learned([columns[new.index(x)] for x in range(6)], [data.cards[new.index(x)] for x in range(6)])
    assert moved.graph == truth.graph.relabel(new)
    weights = rng.integers(1, 4, 80)
    repeated = learned([np.repeat(c, weights) for c in columns], data.cards)
    assert learned(columns, data.cards, weights).graph == repeated.graph


def test_the_same_bits_for_any_number_of_threads_and_any_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = some_data(3, n=40, n_rows=400)
    results = [TwoPhase().learn(MPL(Counts(data, n_jobs=jobs))) for jobs in (1, 2, 5)]
    monkeypatch.setattr(module, "_BLOCK", 1)
    results.append(TwoPhase().learn(MPL(Counts(data))))
    for other in results[1:]:
        for f in fields(other):
            if f.name != "cost":
                assert getattr(other, f.name) == getattr(results[0], f.name)
        assert {**other.cost, "seconds": 0} == {**results[0].cost, "seconds": 0}


@pytest.mark.parametrize("make", [MPL, PIC, lambda counts: MPL(counts, graph_prior=None)])
def test_constant_columns_stand_alone(make: Any) -> None:
    pair = [0, 1] * 40
    data = Dataset.from_codes([pair, pair, [0] * 80, [1] * 80, [0, 0, 1, 1] * 20], cards=[2, 2, 2, 3, 2])
    for combine in RULES:
        assert TwoPhase(combine=combine).learn(make(Counts(data))).graph == Graph(5, [(0, 1)])


def test_of_equals_the_smallest_index_is_taken_and_a_tie_does_not_improve() -> None:
    """Columns 1, 2 and 3 are the same up to the names of their states: after one, the others add nothing."""
    rng = np.random.default_rng(8)
    x = rng.integers(0, 2, 200)
    y = np.where(rng.random(200) < 0.2, 1 - x, x)
    for other in (y, 1 - y):
        score = MPL(Counts(Dataset.from_codes([x, other, y, 1 - other])), graph_prior=None)
        blankets = PhaseOne(score, Constraints(4), Graph.empty(4), None)
        assert blankets.climb(SILENT)
        assert blankets.blankets == [{1}, {2}, {1}, {1}]


@given(st.lists(st.integers(-3, 3), max_size=6), st.integers(-3, 3))
def test_first_best(values: list[int], now: int) -> None:
    better = [k for k, value in enumerate(values) if value == max(values) and value > now]
    found = first_best(np.array(values, dtype=np.float64), now, 1e-9)
    assert found == (better[0] if better else None)
    noisy = np.array(values) + np.linspace(0, 5e-10, len(values))
    assert first_best(noisy, now, 1e-9) == found


def test_rounding_grows_with_the_scores() -> None:
    assert tolerance([]) == tolerance([-3.0, 2.0]) == 1e-9
    assert tolerance([1.0, -1e9]) == pytest.approx(1e-3)


# ---- it finds what is there


@pytest.mark.parametrize("make", [MPL, PIC])
def test_a_tree_is_found(make: Any) -> None:
    tree = random_tree(18, seed=2)
    data = Dataset.from_codes(sample_exact(PairwiseNetwork.uniform(tree, 2.5), 3000, seed=2))
    for combine in RULES:
        assert TwoPhase(combine=combine).learn(make(Counts(data))).graph == tree


def test_what_a_hub_cannot_propose_its_leaves_do() -> None:
    """15 neighbours have 32,768 configurations: the hub stops far before, each leaf needs one neighbour."""
    data = Dataset.from_codes(sample_exact(PairwiseNetwork.uniform(star(16), 2.0), 1000, seed=0))
    blankets = PhaseOne(MPL(Counts(data)), Constraints(16), Graph.empty(16), None)
    blankets.climb(SILENT)
    assert 4 <= len(blankets.blankets[0]) <= 8
    result = TwoPhase().learn(MPL(Counts(data)))
    assert result.graph == result.stages["or"] == star(16)
    assert result.stages["and"].degree(0) == len(blankets.blankets[0])


def test_counts_beyond_any_table_leave_ties_ties() -> None:
    """Columns 1 and 2, 3 and 4 are the same under other labels; rounding grows with the rows, and so must the ties."""
    rng = np.random.default_rng(3)
    x, other, alone = (rng.integers(0, 3, 300) for _ in range(3))
    y = np.where(rng.random(300) < 0.3, rng.integers(0, 3, 300), x)
    new = np.array([2, 0, 1])
    for scale in (1, 10**6, 10**12):
        repeats = rng.integers(1, 5, 300) * scale
        counts = Counts(Dataset.from_codes([x, y, new[y], other, new[other], alone], repeats=repeats))
        blankets = PhaseOne(MPL(counts, graph_prior=None), Constraints(6), Graph.empty(6), None)
        assert blankets.climb(SILENT)
        assert blankets.blankets[1:5] == [{2}, {1}, {4}, {3}]
        assert not any({1, 2} <= blanket or {3, 4} <= blanket for blanket in blankets.blankets)


def test_any_local_score_will_do() -> None:
    chain = path(6)
    data = Dataset.from_codes(sample_exact(PairwiseNetwork.uniform(chain, 2.5), 2000, seed=3))
    result = TwoPhase().learn(IBScore(BayesianTest(Counts(data))))
    assert result.graph == chain


# ---- an early end


class Stop:
    """A monitor that cancels at the k-th time it is asked."""

    def __init__(self, after: int) -> None:
        self.left, self.received = after, list[tuple[float, float | None, str]]()

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        self.received.append((done, total, message))

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


@every_rule
def test_a_monitor_can_stop_it_and_hears_how_far_it_is(combine: Combine) -> None:
    judge, learner = MPL(Counts(some_data(5, n=8, n_rows=300))), TwoPhase(combine=combine, required=((0, 5),))
    calm = Stop(10**9)
    full = learner.learn(judge, calm)
    assert full.converged
    assert calm.received
    assert all(done >= 0 and (total is None or done <= total) for done, total, _ in calm.received)
    ends = []
    for after in range(10**9 - calm.left):
        result = learner.learn(judge, Stop(after))
        assert not result.converged
        assert (0, 5) in result.graph
        assert result.score == pytest.approx(judge(result.graph), abs=1e-9)
        assert set(result.support) == set(result.graph.edges)
        ends.append(result)
    assert ends[0].graph == Graph(8, [(0, 5)])
    if combine in ("phase2", "conflict"):
        climbed = [judge(result.graph) for result in ends if combine in result.stages]
        assert len(climbed) > (combine == "phase2")
        assert climbed == sorted(climbed)


# ---- bad input


class Unasked(Whim):
    """A score that must not be asked anything."""

    def local(self, x: int, blanket: VarSet) -> float:
        raise AssertionError(f"asked about {x} given {blanket}")


def test_settings_are_checked_when_the_learner_is_made() -> None:
    with pytest.raises(UnknownNameError, match="combine 'xor' does not exist"):
        TwoPhase(combine="xor")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_blanket must be a whole number, at least 0; got -1"):
        TwoPhase(max_blanket=-1)
    with pytest.raises(InputError, match="start must be a Graph or the result of a search; got a list"):
        TwoPhase(start=[(0, 1)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (TwoPhase(required=((0, 9),)), "required must hold pairs of two different variables, 0 to 3"),
        (TwoPhase(required=((0, 1),), forbidden=((1, 0),)), "required and forbidden must not share an edge"),
        (TwoPhase(start=Graph.empty(3)), "start must be a graph on the 4 variables of the judge; got one on 3"),
        (TwoPhase(required=((0, 1), (0, 2)), max_blanket=1), "max_blanket must leave room .* got 1, .* has 2"),
        (TwoPhase(start=Graph.complete(4), max_blanket=2), "max_blanket must leave room .* got 2, .* has 3"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_scored(learner: TwoPhase, message: str) -> None:
    with pytest.raises(InputError, match=message):
        learner.learn(Unasked(4, 0))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_variables_are_refused(n: int) -> None:
    with pytest.raises(InputError, match=f"at least 2 variables; got {n}"):
        TwoPhase().learn(Unasked(n, 0))


def test_a_judge_that_is_not_a_local_score_is_refused() -> None:
    class OfGraphs:
        n_variables = 3

        def __call__(self, graph: Graph) -> float:
            return -float(graph.n_edges)

    judge: Any = OfGraphs()
    with pytest.raises(UnsuitableError, match="cannot search by a OfGraphs, which has no additions"):
        TwoPhase().learn(judge)
