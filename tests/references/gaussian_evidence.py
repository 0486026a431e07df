"""Slow twins of the Gaussian evidence: explicit matrices, and the noise integrated out by quadrature."""

from __future__ import annotations

from math import exp, log, pi

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad

Rows = NDArray[np.float64]


def freed(columns: Rows, given: Rows) -> Rows:
    """Residuals of least squares on the columns and a constant, in coordinates without the directions taken."""
    design = np.column_stack([np.ones(len(columns)), given])
    basis = np.linalg.qr(design, mode="complete")[0][:, design.shape[1] :]
    return np.asarray(basis.T @ columns)


def log_marginal(x: Rows, design: Rows, g: float) -> float:
    """log ∫ Normal(x; 0, σ² (I + g P)) dσ / σ, P the projection on the design; by quadrature over log σ."""
    nu = len(x)
    projection = design @ np.linalg.pinv(design) if design.shape[1] else np.zeros((nu, nu))
    spread = np.eye(nu) + g * projection
    log_det = float(np.linalg.slogdet(spread)[1])
    distance = float(x @ np.linalg.solve(spread, x))
    peak = 0.5 * log(distance / nu)

    def log_density(t: float) -> float:
        return -0.5 * nu * log(2 * pi) - nu * t - 0.5 * log_det - 0.5 * distance * exp(-2 * t)

    total = quad(lambda t: exp(log_density(t) - log_density(peak)), peak - 12, peak + 12, points=[peak], limit=400)[0]
    return log_density(peak) + log(total)


def log_bayes_factor(rows: Rows, x: int, chosen: list[int], width: float) -> float:
    """Of x with these neighbours against none."""
    left = freed(rows, np.empty((len(rows), 0)))
    g = width**2 * len(left)
    return log_marginal(left[:, x], left[:, chosen], g) - log_marginal(left[:, x], left[:, []], g)


def log_edge_factor(rows: Rows, x: int, y: int, given: list[int], width: float) -> float:
    """Of y as a neighbour of x, the given ones flat: integrals over the coefficient and the noise."""
    left = freed(rows, rows[:, given])
    nu, a, b = len(left), left[:, y], left[:, x]
    aa, ab, bb = float(a @ a), float(a @ b), float(b @ b)
    g = width**2 * nu
    peak = 0.5 * log(bb / nu)

    def log_density(t: float, beta: float) -> float:
        return -nu * t - 0.5 * (bb - 2 * beta * ab + beta * beta * aa) * exp(-2 * t)

    def averaged(t: float) -> float:
        """The likelihood under β ~ β² Normal(0, s²) / s², at this noise, on the scale of the likelihood of β = 0."""
        s = exp(t) * (g / aa) ** 0.5
        centre, spread = ab / aa * g / (1 + g), s / (1 + g) ** 0.5

        def inside(beta: float) -> float:
            prior = (beta / s) ** 2 * exp(-0.5 * (beta / s) ** 2) / ((2 * pi) ** 0.5 * s)
            return float(prior * exp(log_density(t, beta) - log_density(peak, ab / aa)))

        return float(quad(inside, centre - 12 * spread, centre + 12 * spread, limit=200)[0])

    def absent(t: float) -> float:
        return exp(log_density(t, 0.0) - log_density(peak, ab / aa))

    there = quad(averaged, peak - 4, peak + 4, points=[peak], limit=200)[0]
    return log(there) - log(quad(absent, peak - 4, peak + 4, points=[peak], limit=200)[0])


def best_pair(matrix: Rows, rounding: float = 1e-9) -> tuple[int, int]:
    """Places of the two columns that explain most of the first; ties by what they explain one by one, then in order.

    `matrix` holds correlations, those of the explained variable first.
    """
    worth, alone = {}, np.square(matrix[0])
    for y in range(1, len(matrix)):
        for z in range(y + 1, len(matrix)):
            r, left = matrix[y, z], (1.0 - matrix[y, z]) * (1.0 + matrix[y, z])
            explained = alone[y] + alone[z] - 2.0 * matrix[0, y] * matrix[0, z] * r
            worth[y, z] = explained / left if left > 1e-10 else 0.0
    tied = [pair for pair, value in worth.items() if value >= max(worth.values()) - rounding]
    strongest = max(alone[y] + alone[z] for y, z in tied)
    return next((y, z) for y, z in tied if alone[y] + alone[z] >= strongest - rounding)


def fitted_shares(log_factors: Rows, n_edges: int, n_variables: int, prior_edges: float) -> Rows:
    """Expectation maximisation until the shares no longer move; pairs come once from each end.

    Every pair is weighed by its probability, also those against which the evidence speaks.
    """
    n_pairs = n_variables * (n_variables - 1) / 2
    shares, expected = np.full(len(log_factors), 1 / len(log_factors)), max(1.0, float(n_edges))
    while True:
        chance = min(0.5, expected / n_pairs)
        present = chance * shares[:, None] * np.exp(log_factors)
        counts = (present / (present.sum(axis=0) + 1 - chance) / 2).sum(axis=1)
        before, expected = shares, min(max(1.0, counts.sum()), max(1.0, 2.0 * n_edges))
        shares = (counts + prior_edges * np.array([0.0, 1.0, 0.0])) / (counts.sum() + prior_edges)
        if np.abs(shares - before).max() < 1e-6:
            return np.asarray(shares)
