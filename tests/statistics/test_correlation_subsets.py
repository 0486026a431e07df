"""Walks over sets by partial correlations give the bits, the questions and the order of one scan at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import HHCMN, PC
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.independence import PartialCorrelation
from mnlearn.independence.base import log_two_sided_normal
from mnlearn.protocols import Result, SetLevel
from mnlearn.statistics import Moments
from mnlearn.statistics.kernels import fisher_tails

from references.moments import dataset_of, partial_by_lapack
from references.subsets import account, level_by_scans, walk_of

SEEDS = st.integers(0, 2**32)


def data_of(seed: int) -> Dataset:
    """Few rows or many, in chains; often with a constant, a copy, a near-copy or a sum among the columns."""
    rng = np.random.default_rng(seed)
    n_rows, n = int(rng.choice([3, 20, 200])), int(rng.integers(3, 9))
    columns = [rng.standard_normal(n_rows)]
    for _ in range(n - 1):
        one, other = (columns[int(k)] for k in rng.integers(0, len(columns), 2))
        fresh = 0.7 * one + rng.standard_normal(n_rows)
        rare = [np.ones(n_rows), -2.0 * one, one + 1e-5 * fresh, one + 1e-12 * fresh, one + other]
        columns.append(rare[int(rng.integers(len(rare)))] if rng.random() < 0.2 else fresh)
    repeats = rng.integers(1, 4, n_rows) if rng.random() < 0.2 else None
    return dataset_of(np.column_stack(columns), repeats)


def around_of(seed: int, n: int, density: float) -> np.ndarray[Any, Any]:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return np.asarray(upper | upper.T)


def bits(result: Result) -> str:
    """Everything but the time; NaN equals NaN."""
    return repr(account(result))


@given(SEEDS)
@settings(max_examples=100, deadline=None)
def test_partial_correlations_are_those_of_lapack(seed: int) -> None:
    moments, rng = Moments(data_of(seed)), np.random.default_rng(seed)
    x, *others = rng.permutation(moments.n_variables).tolist()
    z, ys = others[: len(others) // 2], others[len(others) // 2 :]
    expected = partial_by_lapack(np.asarray(moments.correlation), x, ys, z)
    clear = ~np.isnan(expected)
    np.testing.assert_allclose(moments.partial_correlations(x, ys, z)[clear], expected[clear], rtol=0, atol=1e-9)


def test_many_y_at_once_have_the_bits_of_each_alone() -> None:
    data = dataset_of(np.random.default_rng(3).standard_normal((90, 40)))
    moments, z = Moments(data), frozenset({1, 5, 9, 30, 31})
    ys = [y for y in range(2, 40) if y not in z]
    together = moments.partial_correlations(0, ys, z)
    assert together.tolist() == [moments.partial_correlations(0, (y,), z)[0] for y in ys]
    assert together.tolist() == [moments.partial_correlations(y, np.array([0]), z)[0] for y in ys]


def test_fishers_z_has_its_tails() -> None:
    r = np.array([0.0, 1e-9, 0.02, 0.1, 0.5, -0.5, 0.999, 1.0 - 2.0**-53])
    statistic, log_p = fisher_tails(r, 400.0)
    np.testing.assert_allclose(statistic, 20.0 * np.arctanh(r), rtol=1e-15)
    np.testing.assert_allclose(log_p, log_two_sided_normal(statistic), rtol=1e-13)
    assert np.isnan(fisher_tails(np.array([np.nan]), 400.0)).all()
    assert [numbers.tolist() for numbers in fisher_tails(np.array([0.3]), 0.0)] == [[0.0], [0.0]]


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_a_level_is_that_of_one_question_at_a_time(seed: int, n_jobs: int) -> None:
    judge = PartialCorrelation(Moments(data_of(seed), n_jobs=n_jobs), alpha=0.1)
    n = judge.n_variables
    around = around_of(seed, n, 0.8)
    for size in range(4):
        left, weakest = around.copy(), np.full((n, n), np.nan)
        answer = walk_of(judge).separate(SetLevel(size, around, left, weakest), range(n), lambda _: True)
        assert answer is not None
        found, expected_weakest, asked = level_by_scans(judge, size, around)
        assert (answer.asked, answer.finished) == (asked, True)
        assert np.array_equal(weakest, expected_weakest, equal_nan=True)
        rows = {
            (x, y): (tuple(z), s)
            for (x, y, *z), s in zip(answer.sets.tolist(), answer.log_support.tolist(), strict=True)
        }
        assert str(list(rows.items())) == str(list(found.items()))
        assert left.sum() == around.sum() - 2 * len(found)


@pytest.mark.parametrize("output", ["skeleton", "moral"])
@given(SEEDS, st.none() | st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_pc_is_the_same_either_way(output: Any, seed: int, limit: int | None) -> None:
    data, learner = data_of(seed), PC(output=output, max_conditioning=limit)
    expected = bits(replace(learner, ahead=1).learn(PartialCorrelation(Moments(data))))
    for n_jobs in (1, 2, 8):
        assert bits(learner.learn(PartialCorrelation(Moments(data, n_jobs=n_jobs)))) == expected


@given(SEEDS, st.none() | st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_hhc_mn_is_the_same_either_way(seed: int, limit: int | None) -> None:
    judge = PartialCorrelation(Moments(data_of(seed)))
    learner = HHCMN(combine="or", max_conditioning=limit)
    assert bits(learner.learn(judge)) == bits(replace(learner, ahead=1).learn(judge))


@given(SEEDS, st.none() | st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_votes_are_those_of_every_set(seed: int, limit: int | None) -> None:
    judge = PartialCorrelation(Moments(data_of(seed)))
    n, around = judge.n_variables, around_of(seed, judge.n_variables, 0.5)
    for x in range(n):
        members = np.flatnonzero(around[x]).tolist()
        ys = [y for y in range(n) if y not in {x, *members}]
        found = walk_of(judge).count_separating(x, ys, around, limit, lambda _: True)
        assert found is not None
        expected = np.zeros((len(ys), 1 + len(members)), dtype=int)
        for size in range(min(len(members), n if limit is None else limit) + 1):
            for z in combinations(members, size):
                for k, y in enumerate(ys):
                    if (y > x or not around[y, list(z)].all()) and judge(x, y, frozenset(z)).independent:
                        expected[k] += [1, *(m in z for m in members)]
        assert found.counts.tolist() == expected.tolist()


def test_from_a_covariance_alone() -> None:
    rows = np.column_stack(data_of(7).columns)
    covariance = np.cov(rows, rowvar=False)
    judge = PartialCorrelation(Moments.from_covariance(covariance, n_rows=len(rows)))
    assert bits(PC().learn(judge)) == bits(PC(ahead=1).learn(judge))


def test_an_error_in_python_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    one = rng.standard_normal(50)
    rows = np.column_stack([one + 1e-5 * rng.standard_normal(50) for _ in range(6)])

    def broken(*_: Any) -> Any:
        raise RuntimeError("mine")

    monkeypatch.setattr(Moments, "_unclear", broken)
    for n_jobs in (1, 4):
        with pytest.raises(RuntimeError, match="mine"):
            PC().learn(PartialCorrelation(Moments(dataset_of(rows), n_jobs=n_jobs)))


@pytest.mark.parametrize("level", [None, "a", float("nan"), True])
def test_a_level_that_nothing_can_be_compared_with_is_refused(level: Any) -> None:
    with pytest.raises(InputError, match=r"level must be a number; got .*\. Use log\(alpha\)"):
        Moments(data_of(1)).subsets(level)
