"""Judges that answer many scans together give the answers of one at a time, and no search can tell the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import GSIMN, GSMN, HHCMN, PC, GSMNStar
from mnlearn.algorithms.counted import CountedTest
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn.independence import BayesianTest, ChiSquare, GTest, SeparationOracle
from mnlearn.protocols import BaseTest, Indices, Kernel, VarSet, Verdict, Verdicts, with_defaults
from mnlearn.scores import IBScore
from mnlearn.statistics import Counts
from monitors import Stopping

from references import counts as reference
from references.judges import Audited

JUDGES: dict[str, Any] = {"chi2": ChiSquare, "g2": GTest, "bayes": BayesianTest}
LEARNERS: dict[str, Any] = {
    "gsmn": GSMN(keep_trace=True),
    "gsmn*": GSMNStar(keep_trace=True),
    "gsmn*-plain": GSMNStar(propagation=False, skip_marginal=False, keep_trace=True),
    "gsimn": GSIMN(keep_trace=True),
    "hhc-mn": HHCMN(max_conditioning=3, keep_trace=True),
    "pc": PC(keep_trace=True),
    "pc-moral": PC(output="moral", keep_trace=True),
}


def noisy(seed: int, n: int = 9) -> Dataset:
    """Few rows: many answers are wrong, blankets grow and shrink."""
    rng = np.random.default_rng(seed)
    return reference.random_dataset(rng, n_rows=150, cards=rng.integers(2, 4, n).tolist(), dependence=0.7)


def same(one: Verdicts, other: Verdicts) -> bool:
    return (
        one.independent.tobytes() == other.independent.tobytes()
        and one.log_support.tobytes() == other.log_support.tobytes()
    )


@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), draw=st.data())
@settings(max_examples=25, deadline=None)
def test_batches_give_the_bits_of_single_scans(name: str, seed: int, draw: st.DataObject) -> None:
    data = noisy(seed)
    judge = JUDGES[name](Counts(data))
    assert judge.batched
    xs, yss, zs = list[int](), list[list[int]](), list[VarSet]()
    for _ in range(draw.draw(st.integers(0, 5))):
        order = draw.draw(st.permutations(range(data.n_variables)))
        cut = draw.draw(st.integers(1, 6))
        xs.append(order[0])
        zs.append(frozenset(order[1:cut]))
        yss.append(order[cut : cut + draw.draw(st.integers(0, 3))])
    together = judge.scan_many(xs, yss, zs)
    assert len(together) == len(xs)
    for x, ys, z, answers in zip(xs, yss, zs, together, strict=True):
        assert same(answers, judge.scan(x, ys, z))
        members = judge.scan_members(x, z)
        for k, y in enumerate(sorted(z)):
            assert members.one(k) == judge(x, y, z - {y})


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("judge", JUDGES)
def test_asking_ahead_in_batches_changes_nothing_but_what_is_scanned(name: str, judge: str) -> None:
    for seed in range(4):
        test, learner = JUDGES[judge](Counts(noisy(seed))), LEARNERS[name]
        strict = replace(learner, ahead=1).learn(Audited(test))
        ahead = learner.learn(test)
        for field in fields(strict):
            if field.name not in ("cost", "settings"):
                assert getattr(ahead, field.name) == getattr(strict, field.name)
        free = ("scanned", "seconds")
        assert {k: v for k, v in ahead.cost.items() if k not in free} == {
            k: v for k, v in strict.cost.items() if k not in free
        }
        assert strict.cost["scanned"] == strict.cost["asked"] <= ahead.cost["scanned"]


def test_wrapped_and_other_judges_are_not_taken_for_batched() -> None:
    data = noisy(0)
    assert not Audited(ChiSquare(Counts(data))).batched
    assert not SeparationOracle(PC().learn(ChiSquare(Counts(data))).graph).batched


class OneMethod(BaseTest):
    """A user's test, which defines nothing but `n_variables` and `scan`."""

    def __init__(self, inside: BaseTest) -> None:
        self._inside = inside

    @property
    def n_variables(self) -> int:
        return self._inside.n_variables

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        return self._inside.scan(x, ys, z)


class DuckTyped:
    """A user's test without a base class."""

    def __init__(self, inside: BaseTest) -> None:
        self.n_variables, self.scan, self._inside = inside.n_variables, inside.scan, inside

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        return self._inside(x, y, z)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("make", [OneMethod, DuckTyped])
def test_a_test_of_one_method_learns_the_same_graph(name: str, make: Any) -> None:
    test = ChiSquare(Counts(noisy(1)))
    found, expected = (LEARNERS[name].learn(judge) for judge in (make(test), test))
    assert (found.graph, found.support, found.trace) == (expected.graph, expected.support, expected.trace)


@pytest.mark.parametrize("make", [lambda test: test, OneMethod, DuckTyped])
def test_default_loops_give_what_single_questions_give(make: Any) -> None:
    test = ChiSquare(Counts(noisy(2)))
    complete = with_defaults(make(test))
    members = complete.scan_members(0, frozenset({4, 2, 3}))
    for k, y in enumerate((2, 3, 4)):
        assert members.one(k) == test(0, y, frozenset({2, 3, 4}) - {y})
    assert same(
        complete.scan_many([0, 5], [[1], [2, 3]], [frozenset(), frozenset({4})])[1],
        test.scan(5, [2, 3], frozenset({4})),
    )
    assert with_defaults(complete) is complete


@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), most=st.integers(1, 40))
@settings(max_examples=15, deadline=None)
def test_all_pairs_at_once_are_the_scans_of_each_variable(name: str, seed: int, most: int) -> None:
    judge: Any = JUDGES[name](Counts(noisy(seed)))
    scans = [judge.scan(x, range(x + 1, 9), frozenset()) for x in range(8)]
    whole = joined(scans)
    small: Any = replace(judge, statistics=SmallBlocks(judge.statistics, most))
    for blocks in (judge.scan_pairs(), small.scan_pairs()):
        assert blocks is not None
        xs, answers = zip(*blocks, strict=True)
        assert [x for part in xs for x in part] == list(range(8))
        assert same(joined(answers), whole)


def joined(scans: Sequence[Verdicts]) -> Verdicts:
    independent = np.concatenate([scan.independent for scan in scans])
    return Verdicts(independent, np.concatenate([scan.log_support for scan in scans]))


class SmallBlocks:
    """Counts whose blocks of pairs are small."""

    def __init__(self, counts: Counts, most: int) -> None:
        self.cards, self._counts, self._most = counts.cards, counts, most
        self.reduce = counts.reduce

    def all_pairs_blocks(self, kernel: Kernel) -> Any:
        return self._counts.all_pairs_blocks(kernel, max_pairs=self._most)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("keep_trace", [False, True])
def test_the_first_step_is_the_same_pair_by_pair(judge: str, keep_trace: bool) -> None:
    counts = Counts(noisy(3))
    at_once = CountedTest(JUDGES[judge](counts), keep_trace=keep_trace)
    one_by_one = CountedTest(JUDGES[judge](counts), keep_trace=keep_trace, ahead=1)
    for found, expected in zip(at_once.marginals(), one_by_one.marginals(), strict=True):
        assert found.tobytes() == expected.tobytes()
    accounts = [test.result(Graph.empty(9), converged=True, settings={}) for test in (at_once, one_by_one)]
    assert [{**found.cost, "seconds": 0} for found in accounts[:1]] == [{**accounts[1].cost, "seconds": 0}]
    assert accounts[0].trace == accounts[1].trace


def test_the_first_step_asks_for_all_pairs_at_once_and_hears_the_monitor() -> None:
    class Once(Counts):
        asked = 0

        def all_pairs_blocks(self, kernel: Kernel, *, max_pairs: int = 9) -> Any:
            self.asked += 1
            return super().all_pairs_blocks(kernel, max_pairs=max_pairs)

        def reduce_many(self, *_: Any) -> Any:
            raise AssertionError("a scan for each variable")

    counts = Once(noisy(3))
    for learner in (GSMNStar(), GSIMN(), PC(), HHCMN()):
        stopped = learner.learn(ChiSquare(counts), Stopping(2))
        assert not stopped.converged
    assert counts.asked == 4
    climbed = IBScore(BayesianTest(counts)).on(Graph.empty(9))
    assert counts.asked == 5
    slow = IBScore(Alone(BayesianTest(Counts(noisy(3))))).on(Graph.empty(9))
    assert climbed.pairwise.tobytes() == slow.pairwise.tobytes()
    assert climbed.cost == slow.cost


class Alone:
    """A posterior that answers scan by scan."""

    def __init__(self, inside: BayesianTest) -> None:
        self.n_variables, self.cards = inside.n_variables, inside.cards
        self.log_odds, self.members = inside.log_odds, inside.members


def test_more_pairs_than_memory_has_room_for_are_refused_before_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 256}.__getitem__)
    counts = Counts(noisy(3))
    with pytest.raises(InputError, match=r"judge must leave room for a decision and a number for every pair of 9 var"):
        GSMNStar().learn(ChiSquare(counts))
    with pytest.raises(InputError, match=r"knowledge must leave room for facts about .* 9 variables: .*Choose few"):
        counts.knowledge()
