"""The joint density of states and numbers, and the posterior of unknown values given known ones.

    log p(d, z) = Σ_x t_x(d_x) + Σ_xy φ_xᵀ W_xy φ_y + Σ_x φ_xᵀ B_x z + hᵀ z − zᵀ K z / 2 − log Z

with the features φ of the states d and standardised numbers z (a conditional Gaussian distribution with one precision
matrix K for all states [LW89]). It can be normalised if and only if K is positive definite. Given states the numbers
are normal with covariance C = K⁻¹ and mean C (h + Bᵀ φ). Integrated over the numbers, the states are a pairwise network

    t'_x = t_x + φ_xᵀ B_x C h + φ_xᵀ B_x C B_xᵀ φ_x / 2,        W'_xy = W_xy + B_x C B_yᵀ

So every question is about few states first, which are listed or drawn, and then about normal distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import pi, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.distributions.elimination import log_partition
from mnlearn.distributions.factors import Factor, FactorNetwork
from mnlearn.errors import InputError
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import exp, log
from mnlearn.protocols import FloatArray
from mnlearn.regression.features import Features, Interactions

LARGEST_LIST = 2**14  # configurations of unknown states that are listed; more are drawn
GIBBS_BURN_IN, GIBBS_DRAWS = 100, 200
_BATCH = 2**20  # numbers of one batch of rows


@dataclass(frozen=True, eq=False)
class MixedNetwork:
    """A pairwise network of variables of any kind.

    Attributes
    ----------
    graph
        The structure.
    features
        How each variable enters.
    interactions
        The parameters; the precision matrix of the numbers must be positive definite.
    """

    graph: Graph
    features: tuple[Features, ...]
    interactions: Interactions

    def __post_init__(self) -> None:
        self._check_shapes()
        if len(self.numbers) and np.linalg.eigvalsh(self.precision)[0] <= 0:
            raise InputError("the precision matrix of the numbers must be positive definite. Refit the model.")

    def _check_shapes(self) -> None:
        """Raise InputError unless all parts fit together and are finite."""
        found, n = self.interactions, self.graph.n_variables
        sizes = {len(self.features), len(found.thresholds), *found.linear.shape, *found.curvature.shape}
        parts = [*found.thresholds, found.linear, found.curvature, *found.weights.values()]
        parts += [each.table for each in self.features]
        cards = [each.card for each in self.features]
        fit = sizes == {n} and set(found.weights) == set(self.graph.edges)
        fit = fit and [len(thresholds) for thresholds in found.thresholds] == cards
        for (u, v), weights in found.weights.items() if fit else ():
            fit = fit and weights.shape == (self.features[u].size, self.features[v].size)
        if not (fit and all(np.isfinite(part).all() for part in parts) and (found.curvature > 0).all()):
            raise InputError("graph, features and interactions must agree and be finite; got others. Refit the model.")

    @cached
    def numbers(self) -> list[int]:
        """The numeric variables that vary."""
        return [x for x, each in enumerate(self.features) if not each.card and each.size]

    @cached
    def states(self) -> list[int]:
        """The categorical variables."""
        return [x for x, each in enumerate(self.features) if each.card]

    @cached
    def precision(self) -> FloatArray:
        """K over the numeric variables that vary."""
        place = {x: k for k, x in enumerate(self.numbers)}
        found = np.diag(self.interactions.curvature[self.numbers])
        for (u, v), weights in self.interactions.weights.items():
            if u in place and v in place:
                found[place[u], place[v]] = found[place[v], place[u]] = -float(weights[0, 0])
        return found

    def coupling(self, u: int, v: int) -> FloatArray:
        """W of two variables in this order; zeros without an edge."""
        weights = self.interactions.weights
        if u < v:
            return weights.get((u, v), np.zeros((self.features[u].size, self.features[v].size)))
        return self.coupling(v, u).T

    def feature_rows(self, x: int, values: FloatArray) -> FloatArray:
        """The features of one variable in some rows: from codes, or from standardised numbers."""
        each = self.features[x]
        return each.table[values.astype(np.intp)] if each.card else values[:, None][:, : each.size]

    def predictor(self, x: int, values: FloatArray, among: Sequence[int]) -> FloatArray:
        """Σ_v W_xv φ_v over some neighbours, rows × features of x."""
        found = np.zeros((len(values), self.features[x].size))
        for v in among:
            found += self.feature_rows(v, values[:, v]) @ self.coupling(v, x)
        return found

    @cached
    def marginal(self) -> FactorNetwork:
        """The network of the states, the numbers integrated out; variables in the order of `states`."""
        question = Question(self, tuple(self.states) + tuple(self.numbers), frozenset())
        unary = question.unary(np.empty((1, len(self.features))))
        factors = [Factor((k,), table[0]) for k, table in enumerate(unary)]
        factors += [Factor(pair, table) for pair, table in question.pairs.items() if table.any()]
        return FactorNetwork([self.features[x].card for x in self.states], factors)

    @cached
    def log_partition(self) -> float:
        """log Z, by elimination."""
        h = self.interactions.linear[self.numbers]
        normal = len(h) * 0.5 * log(2 * pi)
        if len(h):
            normal += 0.5 * float(h @ np.linalg.solve(self.precision, h)) - 0.5 * np.linalg.slogdet(self.precision)[1]
        return float(normal) + (log_partition(self.marginal) if self.states else 0.0)

    def exponents(self, values: FloatArray) -> FloatArray:
        """log p + log Z of complete rows."""
        found = np.zeros(len(values))
        for x in self.states:
            found += self.interactions.thresholds[x][values[:, x].astype(np.intp)]
        for x in self.numbers:
            found += self.interactions.linear[x] * values[:, x] - self.interactions.curvature[x] / 2 * values[:, x] ** 2
        for (u, v), weights in self.interactions.weights.items():
            left, right = self.feature_rows(u, values[:, u]), self.feature_rows(v, values[:, v])
            found += np.einsum("ij,ij->i", left @ weights, right)
        return found


class Posterior(NamedTuple):
    """The unknown values of some rows: configurations of states, and normal numbers given each."""

    states: tuple[int, ...]
    numbers: tuple[int, ...]
    codes: NDArray[np.intp]  # rows (or 1 for all) × configurations × states
    log_weights: FloatArray  # rows × configurations: log p up to a constant
    weights: FloatArray  # rows × configurations, of sum 1
    base: FloatArray  # rows × numbers
    offsets: FloatArray  # rows (or 1 for all) × configurations × numbers: the mean is base + offset
    covariance: FloatArray

    def chances(self, x: int, card: int) -> FloatArray:
        """The probability of each state of one variable, rows × states."""
        codes = np.broadcast_to(self.codes[:, :, self.states.index(x)], self.weights.shape)
        return np.stack([np.where(codes == state, self.weights, 0.0).sum(1) for state in range(card)], axis=1)

    def means(self, x: int) -> tuple[FloatArray, float]:
        """The mean of one number given each configuration, rows × configurations, and its variance."""
        k = self.numbers.index(x)
        return self.base[:, [k]] + self.offsets[:, :, k], float(self.covariance[k, k])

    def table(self, asked: Sequence[int], cards: Sequence[int]) -> FloatArray:
        """The probability of every combination of states of some variables, in the first row."""
        found = np.zeros(cards)
        np.add.at(found, tuple(self.codes[0][:, self.states.index(x)] for x in asked), self.weights[0])
        return found

    def moments(self, asked: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """The means and the covariance of some numbers over all configurations, in the first row."""
        places = [self.numbers.index(x) for x in asked]
        means = (self.base[0] + self.offsets[0])[:, places]
        centre = self.weights[0] @ means
        spread = (means - centre).T @ ((means - centre) * self.weights[0][:, None])
        return centre, spread + self.covariance[np.ix_(places, places)]

    def chosen(self, rng: np.random.Generator | None) -> tuple[NDArray[np.intp], FloatArray]:
        """The states and numbers of each row: a draw, or without a generator those most probable together."""
        rows = np.arange(len(self.weights))
        if rng is None:
            which = self.log_weights.argmax(1)
        else:
            sums = self.weights.cumsum(1)
            which = (sums / sums[:, -1:] < rng.random((len(rows), 1))).sum(1)
        shared = np.zeros_like(rows)
        codes = self.codes[rows if len(self.codes) > 1 else shared, which]
        numbers = self.base + self.offsets[rows if len(self.offsets) > 1 else shared, which]
        if rng is not None and self.numbers:
            numbers = numbers + rng.standard_normal(numbers.shape) @ np.linalg.cholesky(self.covariance).T
        return codes, numbers


@dataclass(frozen=True, eq=False)
class Question:
    """A question about unknown variables given known ones.

    Parameters
    ----------
    network
        The distribution.
    unknown
        The variables in question, with all that are reached from them through unknown ones.
    known
        Variables with values.
    """

    network: MixedNetwork
    unknown: tuple[int, ...]
    known: frozenset[int]

    @cached
    def states(self) -> tuple[int, ...]:
        """The unknown categorical variables."""
        return tuple(x for x in self.unknown if self.network.features[x].card)

    @cached
    def numbers(self) -> tuple[int, ...]:
        """The unknown numeric variables that vary."""
        return tuple(x for x in self.unknown if not self.network.features[x].card and self.network.features[x].size)

    @property
    def n_configurations(self) -> int:
        """Number of configurations of the unknown states."""
        return prod(self.network.features[x].card for x in self.states)

    @cached
    def covariance(self) -> FloatArray:
        """C of the unknown numbers given all else."""
        place = [self.network.numbers.index(x) for x in self.numbers]
        return np.asarray(np.linalg.inv(self.network.precision[np.ix_(place, place)]))

    @cached
    def _slopes(self) -> list[FloatArray]:
        """B of each unknown categorical variable: features × unknown numbers."""
        empty = [np.zeros((self.network.features[x].size, 0)) for x in self.states]
        return [
            np.concatenate([none, *(self.network.coupling(x, j) for j in self.numbers)], axis=1)
            for x, none in zip(self.states, empty, strict=True)
        ]

    def _around(self, x: int) -> list[int]:
        return sorted(self.network.graph.neighbors(x) & self.known)

    def _linear(self, values: FloatArray) -> FloatArray:
        """h + what known neighbours add, rows × unknown numbers."""
        h = self.network.interactions.linear
        found = [h[j] + self.network.predictor(j, values, self._around(j)) for j in self.numbers]
        return np.concatenate([np.zeros((len(values), 0)), *found], axis=1)

    def unary(self, values: FloatArray) -> list[FloatArray]:
        """t' of each unknown categorical variable, rows × states."""
        found, linear = [], self._linear(values) @ self.covariance
        for x, slopes in zip(self.states, self._slopes, strict=True):
            table = self.network.features[x].table
            own = 0.5 * np.einsum("ai,ij,aj->a", table, slopes @ self.covariance @ slopes.T, table)
            field = self.network.predictor(x, values, self._around(x)) + linear @ slopes.T
            found.append(self.network.interactions.thresholds[x] + own + field @ table.T)
        return found

    @cached
    def pairs(self) -> dict[tuple[int, int], FloatArray]:
        """φᵀ W' φ of every two unknown categorical variables, by their places: states × states."""
        found = {}
        for i, x in enumerate(self.states):
            for k in range(i + 1, len(self.states)):
                y = self.states[k]
                inner = self.network.coupling(x, y) + self._slopes[i] @ self.covariance @ self._slopes[k].T
                found[i, k] = self.network.features[x].table @ inner @ self.network.features[y].table.T
        return found

    def posteriors(
        self, values: FloatArray, rng: np.random.Generator | None = None
    ) -> Iterator[tuple[slice, Posterior]]:
        """Yield the posterior of batches of rows.

        Where states are too many to list they are drawn, without a generator always in the same way.
        """
        cards = [self.network.features[x].card for x in self.states]
        count = self.n_configurations
        listed = count <= LARGEST_LIST
        size = max(1, _BATCH // ((count if listed else GIBBS_DRAWS) * max(1, len(self.numbers), len(self.states))))
        every = np.stack(np.unravel_index(np.arange(count), cards), axis=1)[None] if listed and cards else None
        rng = np.random.default_rng(0) if rng is None else rng
        for start in range(0, len(values), size):
            rows = slice(start, start + size)
            yield rows, self._posterior(values[rows], every, rng)

    def _posterior(self, values: FloatArray, every: NDArray[np.intp] | None, rng: np.random.Generator) -> Posterior:
        """The posterior of one batch of rows."""
        unary = self.unary(values)
        if not self.states:
            codes = np.zeros((1, 1, 0), dtype=np.intp)
        else:
            codes = every if every is not None else self._drawn(unary, rng)
        logs = np.zeros((len(values), codes.shape[1]))
        for k, table in enumerate(unary):
            logs += np.take_along_axis(table, np.broadcast_to(codes[:, :, k], logs.shape), axis=1)
        for (i, k), table in self.pairs.items():
            logs += table[codes[:, :, i], codes[:, :, k]]
        if self.states and every is None:
            weights = np.full(logs.shape, 1.0 / logs.shape[1])  # draws count alike
        else:
            weights = exp(logs - logs.max(1, keepdims=True))
            weights /= weights.sum(1, keepdims=True)
        offsets = np.zeros((*codes.shape[:2], len(self.numbers)))
        for k, (x, slopes) in enumerate(zip(self.states, self._slopes, strict=True)):
            offsets += (self.network.features[x].table @ slopes @ self.covariance)[codes[:, :, k]]
        base = self._linear(values) @ self.covariance
        return Posterior(self.states, self.numbers, codes, logs, weights, base, offsets, self.covariance)

    def _drawn(self, unary: Sequence[FloatArray], rng: np.random.Generator) -> NDArray[np.intp]:
        """Gibbs draws of the unknown states, rows × draws × states, the numbers integrated out."""
        state = np.stack([_draw(table, rng) for table in unary], axis=1)
        found = np.empty((len(state), GIBBS_DRAWS, len(unary)), dtype=np.intp)
        for sweep in range(GIBBS_BURN_IN + GIBBS_DRAWS):
            for k, table in enumerate(unary):
                logits = table.copy()
                for i in range(len(unary)):
                    if i != k:
                        logits += self.pairs[i, k][state[:, i]] if i < k else self.pairs[k, i][:, state[:, i]].T
                state[:, k] = _draw(logits, rng)
            if sweep >= GIBBS_BURN_IN:
                found[:, sweep - GIBBS_BURN_IN] = state
        return found


def _draw(logits: FloatArray, rng: np.random.Generator) -> NDArray[np.intp]:
    """A state of each row, with these log probabilities up to a constant."""
    sums = exp(logits - logits.max(1, keepdims=True)).cumsum(1)
    return np.asarray((sums < rng.random((len(logits), 1)) * sums[:, -1:]).sum(1))
