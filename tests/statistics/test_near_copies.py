"""Partial correlations of near-copies against sixty digits: right as long as there are digits, else NaN."""

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


def both(rows: Rows) -> tuple[Moments, Moments]:
    """Moments of the rows, and of their covariance."""
    return Moments(continuous(rows)), Moments.from_covariance(np.cov(rows.T, bias=True), n_rows=len(rows))


@pytest.mark.parametrize("exponent", range(1, 18))
def test_a_near_copy_has_its_number_or_cannot_be_told(exponent: int) -> None:
    rows = near_copy(exponent, 10.0**-exponent)
    for moments in both(rows):
        for x, y, z in [(0, 1, [2]), (1, 0, [2]), (0, 1, [2, 3])]:
            got = moments.partial_correlations(x, [y], z)[0]
            if exponent < 6:
                assert got == pytest.approx(exact(rows, x, y, z), abs=1e-3)
            else:
                assert np.isnan(got) or got == pytest.approx(exact(rows, x, y, z), abs=1e-2)
        members = moments.member_correlations(1, {0, 2})
        wanted = [exact(rows, 1, 0, [2]), exact(rows, 1, 2, [0])]
        np.testing.assert_allclose(members, np.where(np.isnan(members), np.nan, wanted), atol=1e-2)


@pytest.mark.parametrize("exponent", range(1, 5))
def test_a_near_copy_in_z_counts_as_long_as_it_is_clear(exponent: int) -> None:
    rows = near_copy(exponent, 10.0**-exponent)
    for moments in both(rows):
        assert moments.partial_correlations(1, [3], [0, 2])[0] == pytest.approx(exact(rows, 1, 3, [0, 2]), abs=1e-6)


@pytest.mark.parametrize("exponent", range(6, 18))
def test_a_near_copy_in_z_is_one_of_two_copies(exponent: int) -> None:
    rows = near_copy(exponent, 10.0**-exponent)
    for moments in both(rows):
        assert moments.partial_correlations(1, [3], [0, 2])[0] == pytest.approx(exact(rows, 1, 3, [2]), abs=1e-4)


@pytest.mark.parametrize("n_rows", [200, 20_000])
def test_a_test_finds_the_dependence_or_says_that_it_cannot_tell(n_rows: int) -> None:
    supports = []
    for exponent in EXPONENTS:
        verdict = PartialCorrelation(Moments(continuous(near_copy(1, 10.0**-exponent, n_rows))))(0, 1, frozenset({2}))
        support = verdict.log_support
        assert support is not None
        assert verdict.independent == np.isnan(support)
        supports.append(support)
    assert not np.isnan(supports[:5]).any()
    assert np.isnan(supports[6:]).all()
    told = [support for support in supports if not np.isnan(support)]
    np.testing.assert_allclose(told, told[0], rtol=0.2)


@pytest.mark.parametrize("n_rows", [100, 100_000])
def test_rounding_makes_no_dependence(n_rows: int) -> None:
    for exponent in np.arange(5.0, 8.0, 0.25):
        original, noise, other = np.random.default_rng(9).standard_normal((3, n_rows))
        columns = np.column_stack([original + 10.0**-exponent * noise, original + other, original])
        moments = Moments(continuous(columns))
        got = moments.partial_correlations(0, [1], [2])[0]
        clear = np.corrcoef(noise, other)[0, 1]
        assert np.isnan(got) or abs(got - clear) < 0.5 / np.sqrt(n_rows)


def test_repeats_count_as_weights() -> None:
    rows, repeats = near_copy(3, 1e-4), np.random.default_rng(3).integers(1, 5, 60)
    plain = continuous(rows)
    data = Dataset(plain.names, plain.cards, plain.columns, plain.levels, repeats=repeats)
    got = Moments(data).partial_correlations(0, [1], {2})[0]
    assert got == pytest.approx(exact(rows, 0, 1, [2], repeats.tolist()), abs=1e-6)
    repeated = Moments(continuous(np.repeat(rows, repeats, axis=0)))
    assert got == pytest.approx(repeated.partial_correlations(0, [1], {2})[0], abs=1e-6)


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
    for moments in both(rows):
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
    for moments in both(rows):
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


def test_copies_of_any_sign_and_unit() -> None:
    """A copy, its negative and one in other units, as members of z, as x and as y."""
    rows = np.random.default_rng(8).standard_normal((50, 6))
    rows[:, 3:] = np.stack((rows[:, 0], -rows[:, 1], 2.54 * rows[:, 2] + 1.0), axis=1)
    without = Moments(continuous(rows[:, :3])).partial_correlations(0, [1], {2})

    moments = Moments(continuous(rows))
    assert np.allclose(moments.partial_correlations(0, [1, 4], {2, 5}), without[0] * np.array([1, -1]), rtol=1e-12)
    assert np.allclose(moments.partial_correlations(3, [1, 2], {0}), np.nan, equal_nan=True)
    assert np.isnan(moments.partial_correlations(1, [2, 3], {0, 5})).tolist() == [True, True]
    assert moments.partial_correlations(0, [3], {1, 2, 4, 5})[0] == 1.0 - 2.0**-53
    assert np.isnan(moments.partial_correlations(0, [1], {3})[0])
