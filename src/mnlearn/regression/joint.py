"""Pairwise interactions of variables of any kind, by penalised pseudo-likelihood  [LH15].

The joint density of states d and standardised numbers z, with the features φ of `regression.features`:

    log p = Σ_x t_x(d_x) + Σ_j (h_j z_j − k_j z_j² / 2) + Σ_uv φ_uᵀ W_uv φ_v − log Z

Given its neighbours a categorical variable has logits t_x(a) + φ_x(a)ᵀ η_x, η_x = Σ_v W_xv φ_v; a numeric one is normal
with mean (h + η) / k and variance 1 / k. The sum of all log conditionals is concave in the parameters. Each conditional
has the rows in which the variable and all its neighbours are observed. The penalty is worth λ rows:

    (λ / 4) Σ_uv |W_uv|² (1 / k_u + 1 / k_v) + (λ / 2) Σ_x |t_x|² + (λ / 2) Σ_j h_j² / k_j,   k = 1 where categorical

For numbers this is the usual prior of a regression, in units of the residual deviation, and so the same for weak and
strong dependences. It keeps all parameters finite where states are separated or columns are copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import take
from mnlearn.numbers import exp, log
from mnlearn.protocols.statistics import FloatArray
from mnlearn.regression.features import FeatureColumn, Features, Interactions, Layout, Pair, features_of, row_weights

LARGEST_GAP = 1e-6  # nats by which the objective of a converged fit may fall short of its optimum
_MANY_ROWS, _SHARE = 8000, 16  # beyond so many rows the fit starts from that of every 16th one
_CG_STEPS = 300  # conjugate gradients of one Newton step at most
_UNIT_VARIANCE = 1e-6  # rows of unit variance added to each numeric variable, so that one without rows has a scale


class MixedFit(NamedTuple):
    """The parameters of largest penalised pseudo-likelihood, and how they were found."""

    features: tuple[Features, ...]
    interactions: Interactions
    rows: tuple[float, ...]  # the (weighted) rows behind the conditional of each variable
    converged: bool
    iterations: int
    gap: float  # by how many nats the objective falls short of its optimum, by the Newton decrement; ∞ if not precise


def fit_interactions(
    data: Dataset, pairs: Sequence[Pair], *, ridge: float = 1.0, max_iterations: int = 200, precise: bool = True
) -> MixedFit:
    """Return the interactions of largest penalised pseudo-likelihood.

    Parameters
    ----------
    data
        Variables of any kind, with or without gaps.
    pairs
        The edges (u, v), u < v.
    ridge
        λ > 0.
    max_iterations
        Newton steps at most.
    precise
        Whether to go on until the gap is below 1e-6 nats; else until no step matters for the first few digits.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(2, size=500)
    >>> columns = (a.astype(np.uint8), rng.normal(a.astype(float)))
    >>> data = Dataset(("a", "b"), (2, 0), columns, ((0, 1), None))
    >>> found = fit_interactions(data, [(0, 1)])
    >>> found.converged, bool(found.interactions.weights[0, 1][0, 0] > 0)
    (True, True)
    """
    rows = data.compact()  # also makes the result independent of the order of the rows
    features = [features_of(rows, x) for x in range(rows.n_variables)]
    start = None
    if rows.n_records > _MANY_ROWS:
        some = take(rows, np.arange(0, rows.n_records, _SHARE))
        start = _maximised(MixedPseudoLikelihood(some, features, pairs, ridge), None, max_iterations, precise=False)[0]
    problem = MixedPseudoLikelihood(rows, features, pairs, ridge)
    found, steps = _maximised(problem, start, max_iterations, precise=precise)
    gap = problem.gap(found) if precise else np.inf
    kept = tuple(float(weights.sum()) for weights in problem.weights)
    return MixedFit(tuple(problem.features), problem.layout.unpacked(found), kept, gap <= LARGEST_GAP, steps, gap)


def edge_value(ends: tuple[Features, Features], weights: FloatArray, curvatures: tuple[float, float]) -> float:
    """Return the standardised interaction of two variables; its sign means something if both ends have one feature.

    Two numbers: the partial correlation. Else the root mean square of φ_uᵀ W φ_v with features of mean square 1, all
    states of a nominal variable counted alike: of two binary variables a quarter of their log odds ratio. Between
    states and a number it is the mean of this and of 1 / k times this, the change of the number in its deviations.

    Examples
    --------
    >>> binary = Features("nominal", np.array([[-0.5**0.5], [0.5**0.5]]))
    >>> round(edge_value((binary, binary), np.array([[2.0]]), (1.0, 1.0)), 6)  # a log odds ratio of 4
    1.0
    """
    if not weights.size:
        return 0.0
    units = [1 / np.sqrt(each.card) if each.kind == "nominal" or each.card == 2 else 1.0 for each in ends]
    size = float(np.sqrt((weights**2).sum())) * float(units[0] * units[1])
    value = size if weights.size > 1 else float(np.copysign(size, weights[0, 0]))
    if not ends[0].card and not ends[1].card:
        return value / float(np.sqrt(curvatures[0] * curvatures[1]))
    return float(value * (1 / curvatures[0] + 1 / curvatures[1]) / 2)


class MixedPseudoLikelihood:
    """The penalised pseudo-likelihood of some rows: its value, slope and curvature."""

    def __init__(self, data: Dataset, features: Sequence[Features], pairs: Sequence[Pair], ridge: float) -> None:
        self.features, self.ridge = tuple(features), ridge
        self.layout = Layout(self.features, tuple(pairs))
        self._n = data.n_records
        self._columns = [FeatureColumn.of(data, x, each) for x, each in enumerate(self.features)]
        self.weights = row_weights(data, self._columns, pairs)
        self.numeric = np.array([not each.card and each.size > 0 for each in self.features])
        # Logits of several features are added up by state, which saves two matrix products of rows × features × states.
        self._by_state = [each.table.T if each.card and each.size > 1 else np.eye(each.size) for each in self.features]
        self._at: tuple[FloatArray, list[FloatArray], list[FloatArray]] = np.empty(0), [], []

    def start(self) -> FloatArray:
        """Return the parameters without interactions."""
        vector = np.zeros(self.layout.size)
        for column, states, weights in zip(self._columns, self.layout.states, self.weights, strict=True):
            if column.states is not None:
                logs = log(column.counts(weights) + 0.5)
                vector[states] = logs - logs.mean()
        vector[self.layout.curvature] = 1.0
        return vector

    def loss(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """Return the penalty minus the log pseudo-likelihood, and its slope; infinity where some k is not positive."""
        if (vector[self.layout.curvature] <= 0).any():
            return np.inf, np.zeros(self.layout.size)
        value, slope, residuals = 0.0, np.zeros(self.layout.size), []
        for x, eta in enumerate(self._predictors(vector)):
            log_p, residual = self._local(x, vector, eta, slope)
            value += log_p
            residuals.append(residual)
        self._add_blocks(slope, residuals)
        penalty, pull = self._penalty(vector)
        return penalty - value, pull - slope

    def curvature(self, vector: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the product of the Hessian of the loss with a direction."""
        self._move_to(vector)
        found = np.zeros(self.layout.size)
        changes = [
            self._local_change(x, direction, along, found) for x, along in enumerate(self._predictors(direction))
        ]
        self._add_blocks(found, changes)
        return np.asarray(self._penalty_change(vector, direction) - found)

    def diagonal(self, vector: FloatArray) -> FloatArray:
        """Return the diagonal of the Hessian of the loss, without the change of k along interactions."""
        self._move_to(vector)
        found, variances = np.ones(self.layout.size), []
        k = vector[self.layout.curvature]
        for x, (each, weights, p) in enumerate(zip(self.features, self.weights, self._at[2], strict=True)):
            if not each.card:
                variances.append(np.repeat(weights[:, None] / k[x], each.size, axis=1))
                continue
            found[self.layout.states[x]] = weights @ (p * (1.0 - p))
            variances.append(weights[:, None] * np.maximum(p @ each.table**2 - (p @ each.table) ** 2, 0.0))
        totals = np.array([weights.sum() for weights in self.weights])
        found[self.layout.linear], found[self.layout.curvature] = totals / k, totals / (2 * k**2)
        for place, (u, v) in enumerate(self.layout.pairs):
            if self.layout.block(found, place).size:
                right = self._columns[u].squares_transposed(variances[v])
                found[self.layout.blocks[place]] = (right + self._columns[v].squares_transposed(variances[u]).T).ravel()
        return found + self.ridge

    def _move_to(self, vector: FloatArray) -> None:
        """Store the predictors and probabilities of a point: the Hessian is needed many times at one."""
        if not np.array_equal(vector, self._at[0]):
            predictors = self._predictors(vector)
            self._at = vector.copy(), predictors, [self._chances(x, vector, eta)[0] for x, eta in enumerate(predictors)]

    def gap(self, vector: FloatArray) -> float:
        """Return half the Newton decrement: how far the loss is above its minimum, as a quadratic function."""
        slope = self.loss(vector)[1]
        return 0.5 * float(slope @ self.newton_step(vector, slope, rtol=0.01))

    def newton_step(self, vector: FloatArray, slope: FloatArray, rtol: float) -> FloatArray:
        """Return H⁻¹ slope by conjugate gradients."""
        from scipy.sparse.linalg import LinearOperator, cg

        unit = 1.0 / np.sqrt(self.diagonal(vector))
        shape = (len(slope), len(slope))
        scaled = LinearOperator(shape, matvec=lambda d: unit * self.curvature(vector, unit * d), dtype=np.float64)
        return np.asarray(unit * cg(scaled, unit * slope, rtol=rtol, maxiter=_CG_STEPS)[0])

    def _predictors(self, vector: FloatArray) -> list[FloatArray]:
        """Return η of each variable, rows × features, with h of a numeric one; with several features φᵀ η by state."""
        found = [np.zeros((self._n, outward.shape[1])) for outward in self._by_state]
        for x in np.flatnonzero(self.numeric).tolist():
            found[x] += vector[self.layout.linear][x]
        for place, (u, v) in enumerate(self.layout.pairs):
            weights = self.layout.block(vector, place)
            if weights.size:
                found[u] += self._columns[v].times(weights.T @ self._by_state[u])
                found[v] += self._columns[u].times(weights @ self._by_state[v])
        return found

    def _local(self, x: int, vector: FloatArray, eta: FloatArray, slope: FloatArray) -> tuple[float, FloatArray]:
        """Return Σ log p(x | neighbours) and its slope in η, row by row; add the slopes in t, h and k."""
        column, weights = self._columns[x], self.weights[x]
        if column.states is None:
            if not self.numeric[x]:
                return 0.0, eta
            k, z, mean = vector[self.layout.curvature][x], column.values, eta[:, 0]
            local = 0.5 * log(k) - 0.5 * k * z**2 + mean * z - mean**2 / (2 * k)
            residual = weights * (z - mean / k)
            slope[self.layout.linear][x] += residual.sum()
            slope[self.layout.curvature][x] += weights @ (0.5 / k - 0.5 * z**2 + mean**2 / (2 * k * k))
            return float(weights @ local), residual[:, None]
        p, log_p = self._chances(x, vector, eta)
        cells = np.arange(self._n), column.known_states
        value = float(weights @ log_p[cells])
        p *= -weights[:, None]
        p[cells] += weights
        slope[self.layout.states[x]] += p.sum(0)
        return value, self._outward(x, p)

    def _chances(self, x: int, vector: FloatArray, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return p(x = a | neighbours) of every row and state, and its logarithm; empty for a numeric variable."""
        if not self.features[x].card:
            return np.empty((0, 0)), np.empty((0, 0))
        logits = self._logits(x, vector, eta)
        logits -= logits.max(1, keepdims=True)
        p = exp(logits)
        sums = p.sum(1, keepdims=True)
        logits -= log(sums)
        p /= sums
        return p, logits

    def _logits(self, x: int, vector: FloatArray, eta: FloatArray) -> FloatArray:
        """Return t + φᵀ η of every row and state."""
        by_feature = self.features[x].size <= 1
        return (eta @ self.features[x].table.T if by_feature else eta) + vector[self.layout.states[x]]

    def _outward(self, x: int, by_state: FloatArray) -> FloatArray:
        """Return a slope in the logits as one in η, in the form of `_predictors`."""
        return by_state @ self.features[x].table if self.features[x].size <= 1 else by_state

    def _local_change(self, x: int, direction: FloatArray, along: FloatArray, found: FloatArray) -> FloatArray:
        """Return how the slope in η changes along a direction, row by row; add the changes in t, h and k."""
        weights, (vector, etas, chances) = self.weights[x], self._at
        if self._columns[x].states is None:
            if not self.numeric[x]:
                return along
            k, dk = (each[self.layout.curvature][x] for each in (vector, direction))
            mean, change = etas[x][:, 0], along[:, 0]
            residual = weights * (mean * dk / k - change) / k
            found[self.layout.linear][x] += residual.sum()
            bend = mean * change / k**2 - dk * (0.5 / k**2 + mean**2 / k**3)
            found[self.layout.curvature][x] += weights @ bend
            return np.asarray(residual[:, None])
        p = chances[x]
        logits = self._logits(x, direction, along)
        logits -= np.einsum("ij,ij->i", p, logits)[:, None]
        logits *= p
        logits *= -weights[:, None]
        found[self.layout.states[x]] += logits.sum(0)
        return self._outward(x, logits)

    def _add_blocks(self, slope: FloatArray, residuals: Sequence[FloatArray]) -> None:
        """Add Σ_rows (φ_u r_vᵀ + r_u φ_vᵀ) to the entries of each pair."""
        for place, (u, v) in enumerate(self.layout.pairs):
            block = self.layout.block(slope, place)
            if block.size:
                right = self._columns[u].transposed(residuals[v]) @ self._by_state[v].T
                left = self._columns[v].transposed(residuals[u]) @ self._by_state[u].T
                block += right + left.T

    def _penalty(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """Return the penalty and its slope."""
        layout, ridge = self.layout, self.ridge
        h, own = vector[layout.linear], vector[layout.curvature]
        k = np.where(self.numeric, own, 1.0)
        slope = np.zeros(layout.size)
        states = slice(0, layout.linear.start)
        slope[states] = ridge * vector[states]
        slope[layout.linear] = ridge * h / k
        squares = ridge / 2 * h**2
        value = ridge / 2 * float(vector[states] @ vector[states])
        for place, (u, v) in enumerate(layout.pairs):
            weights = layout.blocks[place]
            slope[weights] = ridge / 2 * (1 / k[u] + 1 / k[v]) * vector[weights]
            square = ridge / 4 * float(vector[weights] @ vector[weights])
            squares[u] += square
            squares[v] += square
        barrier = _UNIT_VARIANCE / 2
        value += float((squares / k).sum() + barrier * (own - log(own)).sum())
        slope[layout.curvature] = barrier * (1 - 1 / own) - np.where(self.numeric, squares / k**2, 0.0)
        return value, slope

    def _penalty_change(self, vector: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the product of the Hessian of the penalty with a direction."""
        layout, ridge = self.layout, self.ridge
        (h, dh), (k, dk) = ([each[part] for each in (vector, direction)] for part in (layout.linear, layout.curvature))
        bent = _UNIT_VARIANCE / 2 * dk / k**2
        k, dk = np.where(self.numeric, k, 1.0), np.where(self.numeric, dk, 0.0)
        found = np.zeros(layout.size)
        states = slice(0, layout.linear.start)
        found[states] = ridge * direction[states]
        found[layout.linear] = ridge * (dh / k - h * dk / k**2)
        squares, change = ridge / 2 * h**2, ridge * h * dh
        for place, (u, v) in enumerate(layout.pairs):
            here, step = vector[layout.blocks[place]], direction[layout.blocks[place]]
            slope = ridge / 2 * (1 / k[u] + 1 / k[v])
            found[layout.blocks[place]] = slope * step - ridge / 2 * (dk[u] / k[u] ** 2 + dk[v] / k[v] ** 2) * here
            for x in (u, v):
                squares[x] += ridge / 4 * float(here @ here)
                change[x] += ridge / 2 * float(here @ step)
        found[layout.curvature] = bent + np.where(self.numeric, 2 * squares * dk / k**3 - change / k**2, 0.0)
        return found


def _maximised(
    problem: MixedPseudoLikelihood, start: FloatArray | None, max_iterations: int, *, precise: bool
) -> tuple[FloatArray, int]:
    """Return the optimum and the number of Newton steps; by default from the parameters without interactions."""
    from scipy.optimize import minimize

    if start is not None and not precise:  # from a fit to a share of the rows two steps are enough
        first, slope = problem.loss(start)
        once = start - problem.newton_step(start, slope, rtol=0.03)
        second, slope = problem.loss(once)
        if second < first:
            return once - problem.newton_step(once, slope, rtol=0.1), 2
    start = problem.start() if start is None else start
    unit = 1.0 / np.sqrt(problem.diagonal(start))

    def loss(scaled: FloatArray) -> tuple[float, FloatArray]:
        value, slope = problem.loss(unit * scaled)
        return value, unit * slope

    def curvature(scaled: FloatArray, direction: FloatArray) -> FloatArray:
        return unit * problem.curvature(unit * scaled, unit * direction)

    options: Any = {"maxiter": max_iterations, "gtol": 1e-3 if precise else 1e-2, "initial_trust_radius": 10.0}
    options["max_trust_radius"] = 1e4
    found = minimize(loss, start / unit, jac=True, hessp=curvature, method="trust-ncg", options=options)
    best = unit * found.x
    if not precise or not found.success:
        return best, int(found.nit)
    step = problem.newton_step(
        best, problem.loss(best)[1], rtol=1e-6
    )  # the trust region ends at the rounding of the loss
    polished = best - step
    better = np.abs(problem.loss(polished)[1] * unit).max() <= np.abs(problem.loss(best)[1] * unit).max()
    return (polished if better else best), int(found.nit) + 1
