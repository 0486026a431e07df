"""The two-phase search among candidates: against its twin, against the search of all pairs, and in the native core."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.screening import Screening
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph
from mnlearn.graphs.candidates import (
    Candidates,
    VariableLists,
    edge_keys,
    every_pair,
    graph_of_keys,
    keys_of,
    near_pairs,
    near_pairs_of,
)
from mnlearn.protocols import FloatArray, Indices, Result, VarSet
from mnlearn.scores import MPL, PIC, Decomposed
from mnlearn.statistics import Counts, kernels

from references import counts as reference
from references import mpl as reference_mpl
from references import screened as reference_screened
from references.screened import Screened

SEEDS = st.integers(0, 2**32)


class ByScans(Decomposed):
    """A local score that does not climb by itself: searched by the Python path."""

    def __init__(self, inside: Decomposed) -> None:
        self._inside = inside

    @property
    def n_variables(self) -> int:
        return self._inside.n_variables

    def local(self, x: int, blanket: VarSet) -> float:
        return self._inside.local(x, blanket)

    def additions(self, xs: Indices, blankets: Any, yss: Any) -> list[FloatArray]:
        return self._inside.additions(xs, blankets, yss)

    def removals(self, xs: Indices, blankets: Any) -> list[FloatArray]:
        return self._inside.removals(xs, blankets)

    def strongest(self, k: int, monitor: Any) -> Candidates:
        return self._inside.strongest(k, monitor)  # type: ignore[attr-defined, no-any-return]


def some_data(seed: int, *, n: int = 9, n_rows: int = 80, most_states: int = 3, repeats: bool = False) -> Dataset:
    """Dependent columns, a copy of one of them and a constant: ties, and a variable without evidence."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, most_states + 1, n - 2).tolist()
    data = reference.random_dataset(rng, n_rows=n_rows, cards=cards, repeats=repeats, dependence=0.8)
    columns = [column.astype(np.int64) for column in data.columns]
    copied = int(rng.integers(n - 2))
    more = [columns[copied], np.zeros(n_rows, dtype=np.int64)]
    return Dataset.from_codes([*columns, *more], cards=[*cards, cards[copied], 2], repeats=data.repeats)


def some_pairs(seed: int, n: int, share: float = 0.3) -> Candidates:
    rng = np.random.default_rng([seed, 7])
    pairs = [pair for pair in combinations(range(n), 2) if rng.random() < share]
    return Candidates(n, keys_of(n, np.array(pairs, dtype=np.int64).reshape(-1, 2)))


def pairs_in(candidates: Candidates) -> set[tuple[int, int]]:
    return set(zip(candidates.u.tolist(), candidates.v.tolist(), strict=True))


def assert_same(one: Result, other: Result) -> None:
    """Assert that all but the time is equal, to the bit."""
    for f in fields(one):
        if f.name not in ("cost", "settings"):
            assert getattr(one, f.name) == getattr(other, f.name), f.name
    assert {**one.cost, "seconds": 0} == {**other.cost, "seconds": 0}


# ---- the rule


@pytest.mark.parametrize("rescans", [False, True])
@pytest.mark.parametrize("score", ["mpl", "pic"])
@given(seed=SEEDS)
@settings(max_examples=10)
def test_candidates_grow_as_in_the_twin(score: str, rescans: bool, seed: int) -> None:
    data = some_data(seed, n=8, n_rows=60)
    judge: Any = {"mpl": MPL, "pic": PIC}[score](Counts(data))
    local = cache(reference_mpl.mpl(data) if score == "mpl" else reference_mpl.pic(data))
    listed = some_pairs(seed, 8)
    twin = Screened(local, 8, pairs_in(listed))
    either, both = reference_mpl.either_and_both([frozenset(b) for b in twin.run(rescans=rescans)])
    found = TwoPhase(candidates=Screening(rescans=rescans, listed=listed)).learn(judge)
    assert set(found.stages["or"].edges) == either
    assert set(found.stages["and"].edges) == both
    assert found.cost["candidate_pairs"] == len(twin.pairs)
    assert set(found.graph.edges) == reference_mpl.best_flips(local, 8, set(), either)


@pytest.mark.parametrize("closed", [False, True])
@given(seed=SEEDS)
@settings(max_examples=10)
def test_known_edges_and_limits_hold_among_candidates(closed: bool, seed: int) -> None:
    n, data, listed = 8, some_data(seed, n=8, n_rows=60), some_pairs(seed, 8)
    rng = np.random.default_rng([seed, 3])
    fate = {pair: int(rng.integers(8)) for pair in combinations(range(n), 2)}
    known = {name: {p for p in fate if fate[p] == k} for k, name in enumerate(("required", "forbidden", "start"))}
    degrees = Graph(n, known["required"] | known["start"]).degrees()
    limit = max(3, int(degrees.max()))
    local = cache(reference_mpl.mpl(data))
    twin = Screened(local, n, pairs_in(listed), limit=limit, **known)
    either, both = reference_mpl.either_and_both([frozenset(b) for b in twin.run(rescans=True, closed=closed)])
    first = known["required"] | known["start"]
    for judge in (MPL(Counts(data)), ByScans(MPL(Counts(data)))):
        found = TwoPhase(
            candidates=listed if closed else Screening(listed=listed),
            max_blanket=limit,
            required=tuple(known["required"]),
            forbidden=tuple(known["forbidden"]),
            start=Graph(n, known["start"]),
        ).learn(judge)
        assert (set(found.stages["or"].edges), set(found.stages["and"].edges)) == (either, both)
        eligible = (either | first) - known["required"] - known["forbidden"]
        assert set(found.graph.edges) == reference_mpl.best_flips(local, n, first, eligible, limit)
        assert known["required"] <= set(found.graph.edges)
        assert not known["forbidden"] & set(found.graph.edges)


# ---- the native core


@pytest.mark.parametrize("make", [MPL, PIC, lambda c: MPL(c, sample_size=3.0), lambda c: PIC(c, penalty="parameters")])
@given(seed=SEEDS)
@settings(max_examples=10)
def test_the_core_climbs_as_python_does_to_the_bit(make: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = some_data(seed, n=12, n_rows=int(rng.integers(1, 150)), most_states=12, repeats=bool(rng.integers(2)))
    judge = make(Counts(data))
    for candidates in (None, some_pairs(seed, 12), Screening(k=3), Screening(k=3, rescans=False)):
        for combine in ("phase2", "or", "conflict"):
            learner = TwoPhase(candidates=candidates, combine=combine)
            assert_same(learner.learn(judge), learner.learn(ByScans(judge)))


@given(seed=SEEDS)
@settings(max_examples=10)
def test_every_pair_as_a_candidate_is_no_screen(seed: int) -> None:
    data = some_data(seed, n=10, most_states=4)
    for judge in (MPL(Counts(data)), PIC(Counts(data)), ByScans(MPL(Counts(data)))):
        whole = TwoPhase().learn(judge)
        found = TwoPhase(candidates=every_pair(10)).learn(judge)
        kept = {name: count for name, count in found.cost.items() if name in whole.cost}
        assert_same(replace(found, cost=kept), whole)


def test_threads_and_code_paths_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = some_data(3, n=60, n_rows=400)
    results = [TwoPhase(candidates=Screening(k=4)).learn(MPL(Counts(data, n_jobs=jobs))) for jobs in (1, 2, 5)]
    for path in _core.levels():
        monkeypatch.setenv("MNLEARN_CORE", path)
        results.append(TwoPhase(candidates=Screening(k=4)).learn(MPL(Counts(data))))
    for other in results[1:]:
        assert_same(other, results[0])


@given(seed=SEEDS)
@settings(max_examples=5)
def test_the_order_of_columns_and_labels_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = reference.random_dataset(rng, n_rows=200, cards=[2] * 12, dependence=0.6)
    columns = [column.astype(np.int64) for column in data.columns]
    new = rng.permutation(12).tolist()
    moved = Dataset.from_codes([1 - columns[new.index(x)] for x in range(12)], cards=[2] * 12)
    learner = TwoPhase(candidates=Screening(k=3))
    truth = learner.learn(MPL(Counts(data)))
    assert learner.learn(MPL(Counts(moved))).graph == truth.graph.relabel(new)


# ---- small and odd data


@pytest.mark.parametrize("rescans", [False, True])
@pytest.mark.parametrize("make", [MPL, PIC])
def test_two_variables_constants_and_more_partners_than_variables(make: Any, rescans: bool) -> None:
    pair, screening = [0, 1] * 40, Screening(k=50, rescans=rescans)
    two = Dataset.from_codes([pair, pair], cards=[2, 2])
    assert TwoPhase(candidates=screening).learn(make(Counts(two))).graph == Graph(2, [(0, 1)])
    more = Dataset.from_codes([pair, pair, [0] * 80, [1] * 80, [0, 0, 1, 1] * 20], cards=[2, 2, 2, 3, 2])
    assert TwoPhase(candidates=screening).learn(make(Counts(more))).graph == Graph(5, [(0, 1)])
    one_row = Dataset.from_codes([[0], [1], [0]], cards=[2, 2, 2])
    assert TwoPhase(candidates=screening).learn(make(Counts(one_row))).graph.n_edges == 0


def test_no_candidate_no_edge() -> None:
    none = Candidates(9, np.empty(0, dtype=np.int64))
    found = TwoPhase(candidates=none).learn(MPL(Counts(some_data(1))))
    assert found.graph.n_edges == 0
    assert found.cost["candidate_pairs"] == 0


def test_rescans_find_what_has_no_marginal_trace() -> None:
    """z is the parity of x and a biased y, among noise: x and z are nearly independent, given y they are not."""
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 2, 600) for _ in range(30)]
    x, y = rng.integers(0, 2, 600), (rng.random(600) < 0.25).astype(int)
    z = np.where(rng.random(600) < 0.95, x ^ y, 1 - (x ^ y))
    judge = MPL(Counts(Dataset.from_codes([x, y, z, *noise])))
    listed = Candidates(33, np.array([2]))  # only (x, z)
    fast, full = (
        TwoPhase(candidates=Screening(listed=listed, rescans=rescans)).learn(judge) for rescans in (False, True)
    )
    assert (1, 2) not in fast.graph
    assert (1, 2) in full.graph
    assert full.cost["rescanned_pairs"] > 0 == fast.cost["rescanned_pairs"]


# ---- an early end, and what is refused


class Stop:
    """A monitor that cancels at the k-th time it is polled."""

    def __init__(self, after: int) -> None:
        self.left, self.received = after, list[tuple[float, float | None, str]]()

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        self.received.append((done, total, message))

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_monitor_can_stop_it_anywhere() -> None:
    data = some_data(5, n=20, n_rows=300)
    learner, calm = TwoPhase(candidates=Screening(k=3), required=((0, 5),)), Stop(10**9)
    for judge in (MPL(Counts(data)), ByScans(MPL(Counts(data)))):
        assert learner.learn(judge, calm).converged
        polls = 10**9 - calm.left
        calm.left = 10**9
        for after in range(polls):
            found = learner.learn(judge, Stop(after))
            assert not found.converged
            assert (0, 5) in found.graph
            assert set(found.support) == set(found.graph.edges)


def test_what_does_not_fit_is_refused() -> None:
    judge: Any = MPL(Counts(some_data(1)))
    with pytest.raises(InputError, match="candidates must be Candidates, a Screening or None; got a list"):
        TwoPhase(candidates=[(0, 1)])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="candidates must be pairs of the 9 variables of the judge; got pairs of 4"):
        TwoPhase(candidates=every_pair(4)).learn(judge)

    class Plain(Decomposed):
        n_variables, local, additions, removals = 9, judge.local, judge.additions, judge.removals

    with pytest.raises(UnsuitableError, match="a screen needs a judge with strongest; a Plain has none"):
        TwoPhase(candidates=Screening()).learn(Plain())


def test_the_learner_says_what_it_leaves_out() -> None:
    assert TwoPhase().limits(9) == []
    assert TwoPhase(candidates=every_pair(4)).limits(4) == ["only the 6 candidate pairs may become edges"]
    (fast,), (full,) = (TwoPhase(candidates=Screening(rescans=r)).limits(1000) for r in (False, True))
    assert "the 20 strongest partners of each" in fast
    assert full.startswith(fast)
    (listed,) = TwoPhase(candidates=Screening(listed=every_pair(4))).limits(4)
    assert "among candidates: the 6 pairs of a screen, neighbours of neighbours" in listed


# ---- the parts


@given(seed=SEEDS)
@settings(max_examples=10)
def test_the_strongest_given_blankets_are_those_of_the_twin(seed: int) -> None:
    data = some_data(seed, n=9, most_states=11)
    rng = np.random.default_rng(seed)
    for judge, local in ((MPL(Counts(data)), reference_mpl.mpl(data)), (PIC(Counts(data)), reference_mpl.pic(data))):
        xs = np.flatnonzero(rng.random(9) < 0.7).astype(np.int32)
        blankets = [frozenset(rng.choice([y for y in range(9) if y != x], 2, replace=False).tolist()) for x in xs]
        for k in (1, 3, 20):
            wanted = set()
            for x, blanket in zip(xs.tolist(), blankets, strict=True):
                best = reference_screened.strongest_given(local, 9, x, blanket, k)
                wanted |= {(min(x, y), max(x, y)) for y in best}
            for asked in (judge, ByScans(judge)):
                assert pairs_in(asked.strongest_given(xs, blankets, k)) == wanted


def test_a_filter_may_leave_out_what_is_not_among_the_strongest() -> None:
    judge = MPL(Counts(some_data(4, n=30, n_rows=200)))
    climbs = judge.climbs()
    assert climbs is not None
    xs, blankets = np.arange(30, dtype=np.int32), VariableLists.of([[(x + 1) % 30] for x in range(30)])
    best = climbs.strongest(xs, blankets, 3)
    more = VariableLists.of([sorted({*best.at(x).tolist(), *range(5)} - {x, (x + 1) % 30}) for x in range(30)])
    again = climbs.strongest(xs, blankets, 3, ys=more)
    assert (again.starts.tolist(), again.members.tolist()) == (best.starts.tolist(), best.members.tolist())


def test_bad_lists_are_refused_by_the_core() -> None:
    climbs: Any = MPL(Counts(some_data(4))).climbs()
    xs = np.array([0, 1], dtype=np.int32)
    with pytest.raises(InputError, match="blankets must have a list for each x; got 2 starts for 2 variables"):
        climbs.locals(xs, VariableLists.of([[1]]))
    with pytest.raises(InputError, match="blankets must list other variables, each once; got another list for x=1"):
        climbs.locals(xs, VariableLists.of([[1], [1]]))
    with pytest.raises(InputError, match="must be the index of a variable, 0 to 8; got 9"):
        climbs.locals(xs, VariableLists.of([[9], []]))
    with pytest.raises(InputError, match="k must be at least 1; got 0"):
        climbs.strongest(xs, VariableLists.of([[], []]), 0)
    pairs = np.array([[0, 0], [2, 1]], dtype=np.int32)
    with pytest.raises(InputError, match="pairs must have u < v and be in lexicographic order"):
        climbs.flips(pairs, pairs, most=3, rounding=1e-9)


@given(st.lists(st.lists(st.integers(0, 8), max_size=4), min_size=1, max_size=6), st.data())
def test_lists_of_variables(lists: list[list[int]], data: st.DataObject) -> None:
    made = VariableLists.of(lists)
    ks = np.array(sorted(data.draw(st.sets(st.integers(0, len(lists) - 1)))), dtype=np.int32)
    others = [data.draw(st.lists(st.integers(0, 8), max_size=3)) for _ in ks]
    changed = dict(enumerate(lists)) | dict(zip(ks.tolist(), others, strict=True))
    assert [made.at(k).tolist() for k in range(len(made))] == lists
    assert made.sets() == [frozenset(one) for one in lists]
    assert made.chosen(ks).sets() == [frozenset(lists[k]) for k in ks]
    replaced = made.replaced(ks, VariableLists.of(others))
    assert [replaced.at(k).tolist() for k in range(len(made))] == list(changed.values())
    assert [made.first(2).at(k).tolist() for k in range(len(made))] == [one[:2] for one in lists]
    joined = VariableLists.joined([made, VariableLists.of(others)])
    assert joined.sets() == [frozenset(one) for one in [*lists, *others]]


@given(seed=SEEDS)
def test_graphs_as_keys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph(9, [pair for pair in combinations(range(9), 2) if rng.random() < 0.3])
    keys = edge_keys(graph)
    assert keys.tolist() == [u * 9 + v for u, v in graph.edges]
    assert graph_of_keys(9, keys) == graph
    assert near_pairs_of(9, keys).tolist() == keys_of(9, near_pairs(graph)).tolist()
    starts, partners = Candidates(9, keys).lists()
    for x in range(9):
        assert partners[starts[x] : starts[x + 1]].tolist() == sorted(graph.neighbors(x))


def test_scattered_candidates_have_the_bits_of_neighbouring_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = Dataset.from_codes(list(rng.integers(0, 2, (700, 130)).astype(np.uint8)), cards=[2] * 700)
    ys = np.arange(5, 700, 23, dtype=np.int32)
    for path in _core.levels():
        monkeypatch.setenv("MNLEARN_CORE", path)
        counts = Counts(data)
        for kernel in (kernels.dirichlet(), kernels.g2(), kernels.chi2()):
            for z in (frozenset(), frozenset({1}), frozenset({1, 2}), frozenset({1, 2, 3, 4})):
                whole = counts.reduce(kernel, 0, range(5, 700), z)
                assert counts.reduce(kernel, 0, ys, z).tolist() == whole[:, ys - 5].tolist()
                assert counts.reduce(kernel, 0, ys[::-1], z).tolist() == whole[:, ys[::-1] - 5].tolist()


def test_a_derived_score_is_asked_itself() -> None:
    class Shy(MPL):
        """MPL that allows no neighbour of variable 0."""

        def additions(self, xs: Indices, blankets: Any, yss: Any) -> list[FloatArray]:
            found = super().additions(xs, blankets, yss)
            barred = [np.asarray(ys) == 0 if x else np.ones(len(ys), bool) for x, ys in zip(xs, yss, strict=True)]
            return [np.where(bar, -np.inf, values) for bar, values in zip(barred, found, strict=True)]

    counts = Counts(some_data(2, n=10, n_rows=300))
    assert TwoPhase(candidates=Screening(k=3)).learn(MPL(counts)).graph.degree(0) > 0
    assert TwoPhase(candidates=Screening(k=3)).learn(Shy(counts)).graph.degree(0) == 0
