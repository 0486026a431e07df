"""Interactions of variables of any kind: the objective row by row, its optimum, and what must not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import Dataset
from mnlearn.data.dataset import code_type
from mnlearn.data.rows import take
from mnlearn.regression.features import contrasts, features_of
from mnlearn.regression.joint import MixedPseudoLikelihood, fit_interactions

from references import mixed as slow

PAIRS = ((0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (1, 4))


def table(n_rows: int, seed: int = 1, *, missing: float = 0.0) -> Any:
    """A nominal, an ordinal, two continuous columns and a count, with or without gaps."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(3, size=n_rows), rng.integers(5, size=n_rows)
    c = 0.5 * a + 0.3 * b + rng.normal(size=n_rows)
    d, e = rng.poisson(np.exp(0.3 * c)).astype(float), 0.4 * c + rng.normal(size=n_rows)
    columns: list[Any] = [a.astype(code_type(4)), b.astype(code_type(6)), 10 + 3 * c, d, e]
    cards = (3, 5, 0, 0, 0)
    for column, card in zip(columns, cards, strict=True):
        column[rng.random(n_rows) < missing] = card or np.nan
    levels = (("x", "y", "z"), (1, 2, 3, 4, 5), None, None, None)
    gaps = frozenset("abcde") if missing else frozenset[str]()
    return Dataset(
        tuple("abcde"), cards, tuple(columns), levels, ordinal=frozenset("b"), counted=frozenset("d"), gaps=gaps
    )


def slow_rows(data: Dataset, features: Any) -> list[list[float | None]]:
    columns = []
    for x, each in enumerate(features):
        seen = data.observed(x)
        known = np.ones(data.n_records, dtype=bool) if seen is None else seen
        values = data.columns[x] if each.card else each.standardised(data.columns[x])
        columns.append([float(value) if ok else None for value, ok in zip(values, known, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.3]), st.floats(0.1, 5.0))
def test_the_objective_is_a_sum_over_rows_and_its_slope_and_curvature_are_its_own(
    seed: int, missing: float, ridge: float
) -> None:
    data = table(40, seed, missing=missing)
    features = [features_of(data, x) for x in range(5)]
    problem = MixedPseudoLikelihood(data, features, PAIRS, ridge)
    rng = np.random.default_rng(seed)
    here, there = (problem.start() + 0.2 * rng.normal(size=problem.layout.size) for _ in range(2))
    for vector in (here, there):  # h and k of categorical variables mean nothing
        vector[problem.layout.linear][:2], vector[problem.layout.curvature][:2] = 0.0, 1.0
        np.abs(vector[problem.layout.curvature], out=vector[problem.layout.curvature])
    rows = slow_rows(data, features)
    expected = [slow.penalised(features, problem.layout.unpacked(one), rows, ridge) for one in (here, there)]
    # The fast objective leaves out constants and has a barrier of 1e-6 rows.
    found = [-problem.loss(one)[0] for one in (here, there)]
    assert found[0] - found[1] == pytest.approx(expected[0] - expected[1], abs=1e-4)
    value, slope = problem.loss(here)
    direction = rng.normal(size=len(here))
    ahead, behind = (problem.loss(here + step * direction) for step in (1e-5, -1e-5))
    assert slope @ direction == pytest.approx((ahead[0] - behind[0]) / 2e-5, rel=1e-5, abs=1e-5)
    np.testing.assert_allclose(problem.curvature(here, direction), (ahead[1] - behind[1]) / 2e-5, rtol=1e-4, atol=1e-4)
    assert np.isfinite(value)


def test_a_general_optimiser_finds_nothing_better() -> None:
    from scipy.optimize import minimize

    data = table(150, missing=0.1)
    fitted = fit_interactions(data, PAIRS, ridge=0.5)
    problem = MixedPseudoLikelihood(data, fitted.features, PAIRS, 0.5)
    bounds: Any = [(None, None)] * problem.layout.size
    for k in range(*problem.layout.curvature.indices(problem.layout.size)):
        bounds[k] = (1e-3, None)
    objective: Any = lambda v: problem.loss(v)[0]  # noqa: E731
    found = minimize(objective, problem.start(), method="L-BFGS-B", bounds=bounds, tol=1e-13)
    again = problem.layout.unpacked(found.x)
    assert fitted.converged
    for pair, weights in fitted.interactions.weights.items():
        np.testing.assert_allclose(weights, again.weights[pair], atol=2e-3)
    np.testing.assert_allclose(fitted.interactions.curvature, again.curvature, atol=2e-3)


def test_two_numbers_have_their_regression_and_all_numbers_joined_their_precision_matrix() -> None:
    data = table(400).select([2, 4])
    fitted = fit_interactions(data, [(0, 1)], ridge=1e-9)
    r = np.corrcoef(data.columns[0], data.columns[1])[0, 1]
    assert fitted.interactions.weights[0, 1][0, 0] == pytest.approx(r / (1 - r**2), rel=1e-6)
    np.testing.assert_allclose(fitted.interactions.curvature, 1 / (1 - r**2), rtol=1e-6)
    data = table(400).select([2, 3, 4])
    pairs = [(0, 1), (0, 2), (1, 2)]
    fitted = fit_interactions(data, pairs, ridge=1e-9)
    columns = [data.columns[0], np.log1p(data.columns[1].astype(float)), data.columns[2]]
    precision = np.linalg.inv(np.corrcoef(columns))
    np.testing.assert_allclose(fitted.interactions.curvature, np.diag(precision), rtol=1e-6)
    for u, v in pairs:
        assert fitted.interactions.weights[u, v][0, 0] == pytest.approx(-precision[u, v], abs=1e-6)


def test_two_binary_variables_have_half_their_log_odds_ratio() -> None:
    rows = np.array([[0, 0]] * 40 + [[0, 1]] * 10 + [[1, 0]] * 10 + [[1, 1]] * 40)
    fitted = fit_interactions(Dataset.from_codes(rows), [(0, 1)], ridge=1e-6)
    assert fitted.interactions.weights[0, 1][0, 0] == pytest.approx(np.log(16) / 2, rel=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_order_of_rows_columns_and_labels_does_not_matter(missing: float) -> None:
    data = table(200, missing=missing)
    fitted = fit_interactions(data, PAIRS)
    shuffled = take(data, np.random.default_rng(3).permutation(data.n_records))
    again = fit_interactions(shuffled, PAIRS)
    assert all(np.array_equal(w, again.interactions.weights[pair]) for pair, w in fitted.interactions.weights.items())
    order = [4, 2, 0, 3, 1]  # new place -> old place
    place = {old: new for new, old in enumerate(order)}
    moved = fit_interactions(
        data.select(order), sorted((min(place[u], place[v]), max(place[u], place[v])) for u, v in PAIRS)
    )
    for u, v in PAIRS:
        a, b = place[u], place[v]
        weights = moved.interactions.weights[a, b] if a < b else moved.interactions.weights[b, a].T
        np.testing.assert_allclose(weights, fitted.interactions.weights[u, v], atol=1e-8)
    states = np.array([2, 0, 1, 3], dtype=np.uint8)  # new code of each state, and of a gap
    renamed = data._with(
        columns=(states[data.columns[0]], *data.columns[1:]), levels=(("y", "z", "x"), *data.levels[1:])
    )
    other = fit_interactions(renamed, PAIRS)
    before = fitted.features[0].table @ fitted.interactions.weights[0, 2]
    after = other.features[0].table @ other.interactions.weights[0, 2]
    np.testing.assert_allclose(after[states[:3]], before, atol=1e-8)
    np.testing.assert_allclose(other.interactions.weights[2, 4], fitted.interactions.weights[2, 4], atol=1e-8)


def test_repeats_are_rows_and_many_rows_end_at_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(60)
    twice = take(data, np.repeat(np.arange(60), 2))
    counted = data._with(repeats=np.full(60, 2))
    one, other = fit_interactions(twice, PAIRS), fit_interactions(counted, PAIRS)
    for pair in PAIRS:
        np.testing.assert_allclose(one.interactions.weights[pair], other.interactions.weights[pair], atol=1e-9)
    from mnlearn.regression import joint as mixed_pseudolikelihood

    monkeypatch.setattr(mixed_pseudolikelihood, "_MANY_ROWS", 30)
    warm = fit_interactions(data, PAIRS)
    data = table(3000)
    rough = fit_interactions(data, PAIRS, precise=False)
    monkeypatch.setattr(mixed_pseudolikelihood, "_MANY_ROWS", 10**9)
    exact = fit_interactions(data, PAIRS)
    for pair in PAIRS:  # two steps from the fit to a share of the rows
        np.testing.assert_allclose(rough.interactions.weights[pair], exact.interactions.weights[pair], atol=5e-3)
    data = table(60)
    cold = fit_interactions(data, PAIRS)
    for pair in PAIRS:
        np.testing.assert_allclose(warm.interactions.weights[pair], cold.interactions.weights[pair], atol=1e-7)


def test_a_family_without_rows_constants_and_separated_states_stay_finite() -> None:
    a = np.array([0, 1] * 20 + [2] * 40, dtype=np.uint8)  # missing in the second half
    z = np.concatenate([np.full(40, np.nan), np.random.default_rng(1).normal(size=40)])
    data = Dataset(("a", "z"), (2, 0), (a, z), (("n", "y"), None), gaps=frozenset("az"))
    fitted = fit_interactions(data, [(0, 1)])
    assert fitted.rows == (0.0, 0.0)
    assert fitted.interactions.weights[0, 1][0, 0] == 0
    assert fitted.interactions.curvature.tolist() == pytest.approx([1.0, 1.0])
    b, copy = np.repeat([0, 1], 30).astype(np.uint8), np.repeat([-1.0, 1.0], 30)
    separated = Dataset(("b", "z", "w", "one"), (2, 0, 0, 0), (b, copy, copy, np.ones(60)), ((0, 1), None, None, None))
    found = fit_interactions(separated, [(0, 1), (0, 2), (1, 2), (2, 3)])
    assert found.converged
    assert all(np.isfinite(w).all() for w in found.interactions.weights.values())
    assert found.interactions.weights[2, 3].size == 0
    codes, numbers = np.full(5, 3, dtype=np.uint8), np.full(5, np.nan)
    empty = Dataset(
        ("a", "b"), (3, 0), (codes, numbers), (("l", "m", "h"), None), ordinal=frozenset("a"), gaps=frozenset("ab")
    )
    assert [features_of(empty, x).size for x in (0, 1)] == [0, 0]
    assert fit_interactions(empty, [(0, 1)]).interactions.weights[0, 1].size == 0


def test_contrasts_are_orthonormal_and_scores_standardised() -> None:
    for card in range(1, 7):
        found = contrasts(card)
        assert found.shape == (card, card - 1)
        np.testing.assert_allclose(found.T @ found, np.eye(card - 1), atol=1e-12)
        np.testing.assert_allclose(found.sum(0), 0.0, atol=1e-12)
    data = table(100, missing=0.2)
    seen = data.observed("b")
    assert seen is not None
    scores = features_of(data, 1).table[data.columns[1][seen], 0]
    assert (scores.mean(), scores.std()) == pytest.approx((0.0, 1.0))
