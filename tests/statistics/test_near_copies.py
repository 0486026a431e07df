"""Partial correlations of near-copies against sixty digits: right as long as there are digits, else NaN, never 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

import mnlearn as mn
from mnlearn.data import Dataset, read
from mnlearn.independence import GaussianPosterior, PartialCorrelation
from mnlearn.scores import GaussianEvidence
from mnlearn.statistics import Moments

Rows = NDArray[np.float64]
EXPONENTS = range(1, 13)


def exact(rows: Rows, x: int, y: int, z: Sequence[int], repeats: Sequence[int] | None = None) -> float:
    """Correlation of the residuals of x and y on z, the stored values taken as they are, in sixty digits."""
    with mp.workdps(60):
        weights = [mpf(int(w)) for w in ([1] * len(rows) if repeats is None else repeats)]
        means = [mp.fdot(weights, map(mpf, column)) / mp.fsum(weights) for column in rows.T.tolist()]
        columns = [[mpf(v) - mean for v in column] for column, mean in zip(rows.T.tolist(), means, strict=True)]

        def dot(a: Any, b: Any) -> Any:
            return mp.fsum(w * u * v for w, u, v in zip(weights, a, b, strict=True))

        basis: list[Any] = []

        def left(column: Any) -> Any:
            for q in basis:
                slope = dot(column, q) / dot(q, q)
                column = [u - slope * v for u, v in zip(column, q, strict=True)]
            return column

        for v in z:
            basis += [left(columns[v])]
        a, b = left(columns[x]), left(columns[y])
        return float(dot(a, b) / mp.sqrt(dot(a, a) * dot(b, b)))


def near_copy(seed: int, distance: float, n_rows: int = 60) -> Rows:
    """Columns: a copy of 2 with noise of this size, what depends on that noise, the original, and two others."""
    rng = np.random.default_rng(seed)
    original, noise, other = rng.standard_normal((3, n_rows))
    effect = 0.7 * noise + original + rng.standard_normal(n_rows)
    return np.column_stack([original + distance * noise, effect, original, other, original + other])


def continuous(rows: Rows) -> Dataset:
    return read(rows)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_near_copy_keeps_its_digits(exponent: int) -> None:
    rows = near_copy(exponent, 10.0**-exponent)
    moments = Moments(continuous(rows))
    for x, y, z in [(0, 1, [2]), (1, 0, [2]), (0, 1, [2, 3]), (1, 3, [0, 2])]:
        assert moments.partial_correlations(x, [y], z)[0] == pytest.approx(exact(rows, x, y, z), abs=1e-7)
    wanted = [exact(rows, 1, 0, [2]), exact(rows, 1, 2, [0])]
    np.testing.assert_allclose(moments.member_correlations(1, {0, 2}), wanted, atol=1e-7)


def test_the_decision_does_not_jump_between_neighbouring_distances() -> None:
    """At 1e-5 of a copy the test used to say: independent, log p = 0."""
    tests = [PartialCorrelation(Moments(continuous(near_copy(1, 10.0**-k, 200)))) for k in EXPONENTS]
    verdicts = [test(0, 1, frozenset({2})) for test in tests]
    assert not any(verdict.independent for verdict in verdicts)
    support = [verdict.log_support or 0.0 for verdict in verdicts]
    np.testing.assert_allclose(support, support[0], rtol=0.2)


@pytest.mark.parametrize("exponent", [*EXPONENTS, 13, 14, 15, 16, 17])
def test_a_covariance_gives_the_number_or_says_that_it_cannot_be_told(exponent: int) -> None:
    rows = near_copy(exponent, 10.0**-exponent)
    moments = Moments.from_covariance(np.cov(rows.T, bias=True), n_rows=len(rows))
    got = moments.partial_correlations(0, [1], {2})[0]
    if exponent < 6:
        assert got == pytest.approx(exact(rows, 0, 1, [2]), abs=1e-3)
    else:
        assert np.isnan(got) or got == pytest.approx(exact(rows, 0, 1, [2]), abs=1e-2)


def test_repeats_count_as_weights() -> None:
    rows, repeats = near_copy(3, 1e-6), np.random.default_rng(3).integers(1, 5, 60)
    plain = continuous(rows)
    data = Dataset(plain.names, plain.cards, plain.columns, plain.levels, repeats=repeats)
    got = Moments(data).partial_correlations(0, [1], {2})[0]
    assert got == pytest.approx(exact(rows, 0, 1, [2], repeats.tolist()), abs=1e-9)
    repeated = Moments(continuous(np.repeat(rows, repeats, axis=0)))
    assert got == pytest.approx(repeated.partial_correlations(0, [1], {2})[0])


@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1e300), (0.0, 1e-300), (1e6, 1.0), (-3e8, 10.0)])
def test_units_and_offsets_cost_only_what_storing_them_did(offset: float, scale: float) -> None:
    rows = offset + scale * near_copy(4, 1e-4)
    assert Moments(continuous(rows)).partial_correlations(0, [1], {2})[0] == pytest.approx(
        exact(rows, 0, 1, [2]), abs=1e-6
    )


def explained_rows(kind: str) -> Rows:
    """Column 0 is explained by columns 2 and 3 but for rounding."""
    rng = np.random.default_rng(5)
    one, other, effect = rng.standard_normal((3, 80))
    made = {
        "copy": one,
        "sum": one + other,
        "difference": one - other,
        "in other units": 32.0 + 1.8 * one,
        "standardized": (one - one.mean()) / one.std(),
    }
    return np.column_stack([made[kind], effect + one, one, other])


@pytest.mark.parametrize("kind", ["copy", "sum", "difference", "in other units", "standardized"])
def test_what_others_explain_cannot_be_told(kind: str) -> None:
    rows = explained_rows(kind)
    given = frozenset({2, 3})
    for moments in (Moments(continuous(rows)), Moments.from_covariance(np.cov(rows.T, bias=True), n_rows=80)):
        assert np.isnan(moments.partial_correlations(0, [1], given)[0])
        verdict = PartialCorrelation(moments)(0, 1, given)
        assert verdict.independent
        assert verdict.log_support is not None
        assert np.isnan(verdict.log_support)
        odds = GaussianPosterior(moments, prior=0.3).log_odds(0, [1], given)
        assert odds.independent[0] == pytest.approx(np.log(0.3))
        assert odds.dependent[0] == pytest.approx(np.log(0.7))
        assert GaussianPosterior(moments)(0, 1, given).independent
        assert GaussianEvidence(moments).pairs([0], [given], [[1]])[0].log_factor[0] == 0.0


@pytest.mark.parametrize("kind", ["copy", "sum", "difference", "in other units", "standardized"])
def test_a_redundant_member_of_z_changes_nothing(kind: str) -> None:
    rng = np.random.default_rng(6)
    rows = np.column_stack([explained_rows(kind), rng.standard_normal(80)])
    for moments in (Moments(continuous(rows)), Moments.from_covariance(np.cov(rows.T, bias=True), n_rows=80)):
        assert moments.partial_correlations(1, [4], {0, 2, 3})[0] == pytest.approx(exact(rows, 1, 4, [2, 3]), abs=1e-9)


def test_constants_and_few_rows_are_no_evidence() -> None:
    rng = np.random.default_rng(7)
    rows = np.column_stack([np.full(20, 0.1), rng.standard_normal((20, 3))])
    test = PartialCorrelation(Moments(continuous(rows)))
    assert test(0, 1, frozenset({2})).log_support == 0.0
    few = PartialCorrelation(Moments(continuous(rng.standard_normal((5, 6)))))
    evidence = few.evidence(0, [1, 2], frozenset({3, 4, 5}))
    assert evidence.dof is not None
    assert evidence.log_p is not None
    assert evidence.dof.tolist() == [0.0, 0.0]
    assert evidence.log_p.tolist() == [0.0, 0.0]


def test_the_words_say_that_it_cannot_be_told() -> None:
    rows = explained_rows("copy")
    result = mn.independence_test(dict(zip("abcd", rows.T, strict=True)), "a", "b", given=["c"], test="pcor")
    assert str(result) == (
        "a and b are independent given c "
        "(pcor: cannot tell, because rounding is all that the given columns leave of one variable)"
    )
    assert result.to_dict()["log_p"] is None


METHODS = [
    "gsmn",
    "gsmn*",
    "gsimn",
    "hhc-mn",
    "pc",
    "ib",
    "bjp",
    "mbs",
    "aracne",
    "lasso",
    "glasso",
    "hillclimb",
    "sep",
]


@pytest.mark.parametrize("method", METHODS)
def test_learners_take_copies_and_sums(method: str) -> None:
    rows = np.column_stack([explained_rows("copy"), explained_rows("sum")[:, 0]])
    learned = mn.learn(rows, method)
    assert all(map(np.isfinite, learned.result.support.values()))
    for y in learned.names[1:]:
        assert "nan" not in str(learned.why(learned.names[0], y))


def test_copies_are_found_once_and_then_cost_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy, its negative and one in other units, as members of z, as x and as y."""
    rows = np.random.default_rng(8).standard_normal((50, 6))
    rows[:, 3:] = np.stack((rows[:, 0], -rows[:, 1], 2.54 * rows[:, 2] + 1.0), axis=1)
    without = Moments(continuous(rows[:, :3])).partial_correlations(0, [1], {2})

    def refuse(*_: Any) -> Any:
        raise AssertionError("rows were read for a copy")

    monkeypatch.setattr("mnlearn.statistics.residuals.Residuals.correlations", refuse)
    moments = Moments(continuous(rows))
    assert np.allclose(moments.partial_correlations(0, [1, 4], {2, 5}), without[0] * np.array([1, -1]), rtol=1e-12)
    assert np.allclose(moments.partial_correlations(3, [1, 2], {0}), np.nan, equal_nan=True)
    assert np.isnan(moments.partial_correlations(1, [2, 3], {0, 5})).tolist() == [True, True]
    assert moments.partial_correlations(0, [3], {1, 2, 4, 5})[0] == 1.0 - 2.0**-53
    assert np.isnan(moments.partial_correlations(0, [1], {3})[0])
