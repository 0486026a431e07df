"""The native solver against a general optimiser, and where fits are hard."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from mnlearn import _core

Floats = NDArray[np.float64]


def slow_fit(design: Floats, total: Floats, ones: Floats, penalty: Floats, ridge: float) -> tuple[Floats, float]:
    """Minimize the objective, every weight in two non-negative parts, by L-BFGS-B."""
    k = design.shape[1]

    def objective(parts: Floats) -> tuple[float, Floats]:
        weights, intercept = parts[:k] - parts[k : 2 * k], parts[2 * k]
        margin = design @ weights + intercept
        value = total @ np.logaddexp(0, margin) - ones @ margin + penalty @ (parts[:k] + parts[k : 2 * k])
        residual = total / (1 + np.exp(-margin)) - ones
        slope = design.T @ residual + ridge * weights * (penalty == 0)
        flat = np.concatenate([slope + penalty, -slope + penalty, [residual.sum()]])
        return float(value + 0.5 * ridge * weights**2 @ (penalty == 0)), flat

    bounds = [(0, None)] * (2 * k) + [(None, None)]
    found = minimize(objective, np.zeros(2 * k + 1), jac=True, method="L-BFGS-B", bounds=bounds,
                     options={"ftol": 1e-15, "gtol": 1e-8, "maxiter": 10_000, "maxfun": 10_000})  # fmt: skip
    weights = found.x[:k] - found.x[k : 2 * k]
    return np.append(weights, found.x[2 * k]), found.fun


def objective(b: Floats, design: Floats, total: Floats, ones: Floats, penalty: Floats, ridge: float) -> float:
    margin = design @ b[:-1] + b[-1]
    loss = total @ np.logaddexp(0, margin) - ones @ margin
    return float(loss + penalty @ np.abs(b[:-1]) + 0.5 * ridge * b[:-1] ** 2 @ (penalty == 0))


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(0, 6), st.sampled_from([0.0, 0.3, 5.0]))
@settings(max_examples=40)
def test_the_solver_finds_the_minimum(seed: int, n_rows: int, n_columns: int, penalty: float) -> None:
    rng = np.random.default_rng(seed)
    design: Floats = rng.integers(0, 2, (n_rows, n_columns)).astype(np.float64) - 0.5
    total = rng.integers(1, 30, n_rows).astype(np.float64)
    ones: Floats = np.minimum(total, rng.integers(0, 30, n_rows)) * 0.8 + 0.1 * total  # no row is sure of its answer
    penalties: Floats = np.where(rng.random(n_columns) < 0.8, penalty, 0.0).astype(np.float64)
    given = (design, total, ones, penalties)
    found, loss = _core.fit_logistic(*given, 1e-3, 1e-8, np.zeros(n_columns + 1))
    expected, value = slow_fit(*given, 1e-3)
    assert objective(found, *given, 1e-3) <= value + 1e-7
    assert design @ found[:-1] + found[-1] == pytest.approx(design @ expected[:-1] + expected[-1], abs=2e-2)
    assert loss == pytest.approx(objective(found, design, total, ones, np.zeros(n_columns), 0.0))
    elsewhere, _ = _core.fit_logistic(*given, 1e-3, 1e-8, rng.normal(size=n_columns + 1) * 3)
    assert objective(elsewhere, *given, 1e-3) == pytest.approx(objective(found, *given, 1e-3), abs=1e-7)


def test_separated_answers_have_a_finite_fit() -> None:
    design, total = np.array([[-0.5], [0.5]]), np.array([1e6, 1e6])
    found, loss = _core.fit_logistic(design, total, np.array([0.0, 1e6]), np.zeros(1), 1e-6, 1e-5, np.zeros(2))
    assert np.isfinite(found).all()
    assert 0 <= loss < 1e-3


def test_what_is_penalised_enough_is_exactly_zero() -> None:
    design = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])
    total, ones = np.full(4, 100.0), np.array([20.0, 25.0, 70.0, 72.0])
    found, _ = _core.fit_logistic(design, total, ones, np.array([5.0, 5.0]), 0.0, 1e-8, np.zeros(3))
    assert found[0] > 1
    assert found[1] == 0


@pytest.mark.parametrize(
    "wrong", [{"total": np.ones(3)}, {"ones": np.ones(1)}, {"penalty": np.ones(2)}, {"start": np.zeros(1)}]
)
def test_lengths_that_do_not_fit_are_refused(wrong: dict[str, Floats]) -> None:
    right = {"total": np.ones(2), "ones": np.ones(2), "penalty": np.zeros(1), "start": np.zeros(2)}
    total, ones, penalty, start = (right | wrong).values()
    with pytest.raises(ValueError, match="total and ones must have a number for each row"):
        _core.fit_logistic(np.zeros((2, 1)), total, ones, penalty, 0.0, 1e-6, start)
