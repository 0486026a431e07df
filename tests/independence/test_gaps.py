"""Tests of data with gaps: each question is that of its complete rows, and one without rows tells nothing."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.independence import (
    BayesianTest,
    ChiSquare,
    GaussianPosterior,
    GTest,
    MutualInformation,
    PartialCorrelation,
    ScoreTest,
)
from mnlearn.independence.information import CountedInformation, GaussianInformation
from mnlearn.protocols import VarSet
from mnlearn.statistics import Counts, Moments
from mnlearn.statistics.moments import TestwiseMoments

from references import counts as reference
from references.gaps import question, with_gaps

COUNTED: dict[str, Callable[[Any], Any]] = {
    "chi2": ChiSquare,
    "chi2-observed": lambda counts: ChiSquare(counts, dof="observed"),
    "chi2-all": lambda counts: ChiSquare(counts, dof="all"),
    "g2": GTest,
    "mi": MutualInformation,
    "mi-threshold": lambda counts: MutualInformation(counts, decide="threshold"),
    "bayes": BayesianTest,
    "score": ScoreTest,
}
MEASURED: dict[str, Callable[[Any], Any]] = {"pcor": PartialCorrelation, "bayes-pcor": GaussianPosterior}
NUMBERS = ("statistic", "dof", "log_p", "log_independent", "log_dependent")


def continuous(n: int = 6, n_rows: int = 150, seed: int = 0, share: float = 0.15) -> Dataset:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, n_rows))
    for k in range(1, n):
        columns[k] += 0.5 * columns[k - 1]
    names = tuple(f"x{k}" for k in range(n))
    return with_gaps(Dataset(names, (0,) * n, tuple(columns), (None,) * n), share, seed, only=range(1, n))


def check(data: Dataset, test: Any, make: Callable[[Dataset], Any], question_: tuple[int, list[int], VarSet]) -> None:
    """Compare the evidence of each y with that of the complete rows."""
    x, ys, z = question_
    found = test.evidence(x, ys, z)
    scanned = test.scan(x, ys, z)
    np.testing.assert_array_equal(scanned.independent, found.independent)
    for k, y in enumerate(ys):
        rows, x_, y_, z_ = question(data, x, y, z)
        assert found.n_rows[k] == (0 if rows is None else rows.n_rows)
        if rows is None:
            assert found.independent[k]
            assert scanned.log_support[k] == pytest.approx(0.0 if found.log_p is not None else log(0.5), abs=1e-8)
            continue
        want = make(rows).evidence(x_, [y_], z_)
        assert found.independent[k] == want.independent[0]
        for number in NUMBERS:
            if getattr(want, number) is not None:
                np.testing.assert_allclose(getattr(found, number)[k], getattr(want, number)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", COUNTED)
@given(draw=st.data())
@settings(max_examples=25, deadline=None)
def test_counted_tests_are_those_of_the_complete_rows(name: str, draw: st.DataObject) -> None:
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32)))
    cards = draw.draw(st.lists(st.integers(1, 5), min_size=4, max_size=6))
    data = reference.random_dataset(rng, n_rows=draw.draw(st.integers(1, 150)), cards=cards)
    data = with_gaps(
        data, draw.draw(st.sampled_from([0.1, 0.5])), only=draw.draw(st.sets(st.integers(0, 3), min_size=1))
    )
    order = draw.draw(st.permutations(range(len(cards))))
    z = frozenset(order[3 : 3 + draw.draw(st.integers(0, 2))])
    test = COUNTED[name](Counts(data))
    check(data, test, lambda rows: COUNTED[name](Counts(rows)), (order[0], list(order[1:3]), z))


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("share", [0.15, 0.7])
@pytest.mark.parametrize("z", [frozenset(), frozenset({3}), frozenset({3, 4})])
def test_measured_tests_are_those_of_the_complete_rows(name: str, share: float, z: VarSet) -> None:
    data = continuous(share=share)
    test = MEASURED[name](TestwiseMoments(data))
    for x in (0, 1):
        check(data, test, lambda rows: MEASURED[name](Moments(rows)), (x, [2, 5], z))


@pytest.mark.parametrize("name", COUNTED)
def test_a_question_without_rows_is_independent_without_support(name: str) -> None:
    columns = (np.array([0, 1, 2, 2] * 9, np.uint8), np.array([2, 2, 0, 1] * 9, np.uint8))
    data = Dataset(("a", "b"), (2, 2), columns, ((0, 1),) * 2, gaps=frozenset("ab"))
    counts = Counts(data)
    check(data, COUNTED[name](counts), lambda rows: COUNTED[name](Counts(rows)), (0, [1], frozenset()))
    assert counts.without_rows


def test_a_measured_question_without_rows_is_independent_without_support() -> None:
    a = np.where(np.arange(40) < 20, np.arange(40.0), np.nan)
    b = np.where(np.arange(40) < 20, np.nan, np.arange(40.0))
    data = Dataset(("a", "b"), (0, 0), (a, b), (None, None), gaps=frozenset("ab"))
    pcor, posterior = PartialCorrelation(TestwiseMoments(data)), GaussianPosterior(TestwiseMoments(data))
    check(data, pcor, lambda rows: PartialCorrelation(Moments(rows)), (0, [1], frozenset()))
    check(data, posterior, lambda rows: GaussianPosterior(Moments(rows)), (0, [1], frozenset()))
    odds = GaussianPosterior(TestwiseMoments(data), prior=0.3).log_odds(0, [1], frozenset())
    assert odds.independent[0] == pytest.approx(log(0.3))


def test_bayes_decides_by_its_prior_where_nothing_was_seen() -> None:
    columns = (np.array([0, 1, 2, 2] * 9, np.uint8), np.array([2, 2, 0, 1] * 9, np.uint8))
    data = Dataset(("a", "b"), (2, 2), columns, ((0, 1),) * 2, gaps=frozenset("ab"))
    for prior in (0.3, 0.5, 0.8):
        found = BayesianTest(Counts(data), prior=prior)(0, 1, frozenset())
        assert found.log_support == pytest.approx(log(prior), abs=1e-8)
        assert found.independent == (prior >= 0.5)


def test_expected_counts_are_those_of_the_complete_rows() -> None:
    data = with_gaps(reference.random_dataset(np.random.default_rng(2), n_rows=60, cards=(2, 3, 2, 4)), 0.3)
    for z in (frozenset[int](), frozenset({2}), frozenset({2, 3})):
        rows, x_, y_, z_ = question(data, 0, 1, z)
        assert rows is not None
        assert ChiSquare(Counts(data)).low_expected(0, 1, z) == ChiSquare(Counts(rows)).low_expected(x_, y_, z_)


def test_information_of_each_pair_is_from_its_own_rows() -> None:
    data = with_gaps(reference.random_dataset(np.random.default_rng(4), n_rows=300, cards=(2, 3, 2, 4)), 0.3)
    judge = CountedInformation(Counts(data))
    numbers = continuous()
    measured = GaussianInformation(TestwiseMoments(numbers))
    for x, y in ((0, 1), (1, 3), (2, 3)):
        rows = question(data, x, y, ())[0]
        assert rows is not None
        assert judge.information()[x, y] == CountedInformation(Counts(rows)).information()[0, 1]
        assert judge.log_p()[x, y] == pytest.approx(CountedInformation(Counts(rows)).log_p()[0, 1], abs=1e-12)
        rows = question(numbers, x, y, ())[0]
        assert rows is not None
        want = GaussianInformation(Moments(rows))
        assert measured.information()[x, y] == pytest.approx(want.information()[0, 1], abs=1e-12)
        assert measured.log_p()[x, y] == pytest.approx(want.log_p()[0, 1], rel=1e-10)
