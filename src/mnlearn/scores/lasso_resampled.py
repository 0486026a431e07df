"""The lasso with a penalty chosen by drawing rows: cross-validation, and stability under halving.

- `CrossValidatedLasso`: the λ that predicts held-out rows best. It keeps many false neighbours  [MB06].
- `StableLasso`: who is among the first q on the path in most of many halves of the data. Meinshausen & Bühlmann, JRSS B
  72 (2010), 417-473  [MB10], with the complementary halves of Shah & Samworth, JRSS B 75 (2013), 55-80  [SS13].

The regression itself, and the penalties that need no rows, are in `lasso.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, sqrt

import numpy as np

from mnlearn.errors import InputError, is_number, whole_number
from mnlearn.numbers import log
from mnlearn.protocols import FloatArray, IntArray, Neighborhood, VarSet
from mnlearn.scores.lasso import Target, support_by_ebic
from mnlearn.statistics.paths import lasso_path
from mnlearn.statistics.row_data import Rows


@dataclass(frozen=True, eq=False)
class CrossValidatedLasso:
    """The lasso at the penalty that predicts held-out rows best.

    Parameters
    ----------
    rows
        The data.
    n_folds
        Into how many parts the rows are split.
    seed
        Of the split.

    Raises
    ------
    InputError
        If a setting is invalid, or there are fewer rows than twice the folds.

    Notes
    -----
    The best penalty for prediction is too small for the structure, however many rows there are  [MB06]:
    expect false edges. Penalties are 30 in geometric steps from the one with an empty support to a twentieth of it. The
    support is that of `EBICLasso` with γ = 0.5.

    Examples
    --------
    >>> from mnlearn.simulate import simulate
    >>> judge = CrossValidatedLasso(Rows(simulate("path:n=4", "gaussian", n_rows=300, seed=1).data))
    >>> 1 in judge.neighborhood(0, frozenset({1, 2, 3}), frozenset()).support
    True
    """

    rows: Rows
    n_folds: int = 10
    seed: int = 0
    _folds: list[tuple[FloatArray, FloatArray]] = field(init=False, repr=False)  # second moments: to fit, to judge by

    def __post_init__(self) -> None:
        whole_number("n_folds", self.n_folds, least=2, hint="Use for example 10.")
        whole_number("seed", self.seed, least=0, hint="Any such number will do.")
        if self.rows.n_rows < 2 * self.n_folds:
            raise InputError(
                f"n_folds must leave at least 2 rows in each fold; got {self.n_folds} folds of {self.rows.n_rows} "
                "rows. Use fewer folds, or penalty='ebic'."
            )
        object.__setattr__(self, "_folds", second_moments(self.rows.values, self.n_folds, self.seed))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.rows.n_variables

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Return the support at the penalty with the least prediction error, with all required variables."""
        target = Target.of(self.rows.moments, x, candidates, required)
        found = frozenset[int]() if target is None else target.support_at(self._best_penalty(x, target))
        support = support_by_ebic(self.rows.moments, x, found | required)
        return Neighborhood(support, 1 + (target is not None) * self.n_folds)

    def _best_penalty(self, x: int, target: Target) -> float:
        grid = np.abs(target.shared).max() * np.geomspace(1.0, 0.05, 30)
        errors = np.zeros(len(grid))
        others = sorted(target.named(target.others))
        block = np.ix_(others, others)
        for fit, judge in self._folds:
            weights = weights_at(*lasso_path(fit[block], fit[others, x], smallest=grid[-1]), grid)
            explained = np.einsum("ik,ik->k", weights, judge[block] @ weights - 2.0 * judge[others, x][:, None])
            errors += judge[x, x] + explained
        return float(grid[errors.argmin()])


@dataclass(frozen=True, eq=False)
class StableLasso:
    """Select variables among the first q of the path in at least a share `threshold` of many halves  [MB10].

    Parameters
    ----------
    rows
        The data.
    threshold
        π: the share of halves, above one half, at most 1.
    false_neighbors
        The bound v on the expected number of false neighbours of a variable: q = √(v (2π − 1)(n − 1)).
    n_pairs
        How many pairs of complementary halves are drawn  [SS13].
    seed
        Of the draws.

    Raises
    ------
    InputError
        If a setting is invalid, or there are fewer than 8 rows.

    Notes
    -----
    The support of a neighbour is the log-odds of its share of halves, with half a draw added to both sides. Required
    variables are taken out of all others before the halves are drawn.

    Examples
    --------
    >>> from mnlearn.simulate import simulate
    >>> judge = StableLasso(Rows(simulate("path:n=6", "gaussian", n_rows=300, seed=1).data))
    >>> sorted(judge.neighborhood(0, frozenset(range(1, 6)), frozenset()).support)
    [1]
    """

    rows: Rows
    threshold: float = 0.75
    false_neighbors: float = 1.0
    n_pairs: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        if not (is_number(self.threshold) and 0.5 < self.threshold <= 1):
            raise InputError(f"threshold must be above 0.5 and at most 1; got {self.threshold!r}. A usual value: 0.75.")
        if not (is_number(self.false_neighbors) and self.false_neighbors > 0):
            raise InputError(
                f"false_neighbors must be a positive number; got {self.false_neighbors!r}. A usual value: 1."
            )
        whole_number("n_pairs", self.n_pairs, least=1, hint="A usual value: 50.")
        whole_number("seed", self.seed, least=0, hint="Any such number will do.")
        if self.rows.n_rows < 8:
            raise InputError(
                f"data must have at least 8 rows to be halved; got {self.rows.n_rows}. Use penalty='ebic'."
            )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.rows.n_variables

    @property
    def n_first(self) -> int:
        """q: how many of the path are counted."""
        wanted = sqrt(self.false_neighbors * (2 * self.threshold - 1) * (self.n_variables - 1))
        return max(1, min(ceil(wanted), self.n_variables - 1, self.rows.n_rows // 2 - 2))

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Return the variables early on the path in most halves, with all required ones."""
        others = np.array(sorted(candidates - required - {x}), dtype=np.int64)
        free = self.rows.values[:, [x, *others.tolist()]]
        if required:
            given = np.column_stack([np.ones(len(free)), self.rows.values[:, sorted(required)]])
            free = free - given @ np.linalg.lstsq(given, free, rcond=None)[0]
        taken = np.zeros(len(others))
        for half in self._halves():
            taken[first_on_path(free[half, 1:], free[half, 0], self.n_first)] += 1
        n_halves = 2 * self.n_pairs
        odds = log((taken + 0.5) / (n_halves - taken + 0.5))
        chosen = np.flatnonzero(taken >= self.threshold * n_halves)
        support = {int(others[k]): float(odds[k]) for k in chosen}
        sure = log((n_halves + 0.5) / 0.5)
        return Neighborhood({**support, **dict.fromkeys(sorted(required), sure)}, n_halves)

    def _halves(self) -> list[IntArray]:
        """The rows of each half."""
        rng, size = np.random.default_rng(self.seed), self.rows.n_rows // 2
        drawn = [rng.permutation(self.rows.n_rows) for _ in range(self.n_pairs)]
        return [half for rows in drawn for half in (rows[:size], rows[size : 2 * size])]


def second_moments(values: FloatArray, n_folds: int, seed: int) -> list[tuple[FloatArray, FloatArray]]:
    """For each fold: of all other rows and of its own, both about the mean of the others."""
    places = np.array_split(np.random.default_rng(seed).permutation(len(values)), n_folds)
    found = []
    for place in places:
        kept = np.delete(np.arange(len(values)), place)
        mean = values[kept].mean(axis=0)
        found.append(tuple(part.T @ part / len(part) for part in (values[kept] - mean, values[place] - mean)))
    return found


def weights_at(penalties: FloatArray, weights: FloatArray, grid: FloatArray) -> FloatArray:
    """The weights at the penalties of a descending grid, between knots by the straight lines of the path."""
    after = np.clip(np.searchsorted(-penalties, -grid), 1, max(len(penalties) - 1, 1))
    if len(penalties) < 2:
        return np.zeros((len(weights), len(grid)))
    high, low = penalties[after - 1], penalties[after]
    share = np.clip((high - grid) / np.maximum(high - low, 1e-300), 0.0, 1.0)
    return np.asarray(weights[:, after - 1] * (1.0 - share) + weights[:, after] * share)


def first_on_path(design: FloatArray, target: FloatArray, n_first: int) -> IntArray:
    """Return the first columns with a weight on the lasso path, in order of entry."""
    centred = design - design.mean(axis=0)
    size = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    varies = np.flatnonzero(size > 1e-9)
    left = target - target.mean()
    if not len(varies) or not np.abs(left).max() > 1e-9:
        return np.empty(0, dtype=np.int64)
    centred = centred[:, varies] / size[varies]
    _, weights = lasso_path(centred.T @ centred, centred.T @ left / np.linalg.norm(left), max_steps=2 * n_first)
    came = np.where((weights != 0).any(axis=1), (weights != 0).argmax(axis=1), weights.shape[1])
    order = np.argsort(came, kind="stable")[:n_first]
    return np.asarray(varies[order[came[order] < weights.shape[1]]])
