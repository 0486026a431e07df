"""The neighbourhood of a continuous variable by the lasso: the regressors that an l1 penalty leaves in.

Meinshausen & Bühlmann, Annals of Statistics 34 (2006), 1436-1462  [MB06]: of jointly Gaussian variables the neighbours
of x are those with a weight in the regression of x on all others; the lasso estimates who they are. The judges differ
in how they choose the penalty λ, in units of a correlation (the objective is |x − Σ w_y y|² / 2N + λ Σ |w_y|, every
variable having variance 1):

- `TheoryLasso`: λ = Φ⁻¹(1 − α / 2n²) / √N, under which variables of different connectivity components are joined with
  probability at most α, for large N  [MB06];
- `EBICLasso`: among the sets along the path, each fitted again without penalty, the one with the least
  N log σ²(J) + |J| log N + 2 γ |J| log(n − 1). With γ = 0 this is L1MB of Schmidt, Niculescu-Mizil & Murphy, AAAI
  2007, 1278-1283  [SNM07], who follow the same path and choose by the minimal description length;
- `CrossValidatedLasso` and `StableLasso`, which draw rows.

`mnlearn.algorithms.L1LR` asks for all neighbourhoods and joins them by AND or OR. The native core follows the paths
(`mnlearn.statistics.paths`).

The lasso with a penalty chosen by drawing rows: cross-validation, and stability under halving.

- `CrossValidatedLasso`: the λ that predicts held-out rows best. It keeps many false neighbours  [MB06].
- `StableLasso`: who is among the first q on the path in most of many halves of the data. Meinshausen & Bühlmann, JRSS B
  72 (2010), 417-473  [MB10], with the complementary halves of Shah & Samworth, JRSS B 75 (2013), 55-80  [SS13].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt

import numpy as np

from mnlearn.errors import InputError, is_number, whole_number
from mnlearn.numbers import ABSOLUTE, ascending, log, log1p
from mnlearn.protocols import BoolArray, FloatArray, IntArray, Neighborhood, VarSet
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.paths import Criterion, lasso_by_criterion, lasso_path
from mnlearn.statistics.row_data import Rows

PATIENCE = 5
"""The path ends after so many new sets in a row that do not improve the criterion."""
_GAMMA = 0.5


@dataclass(frozen=True, eq=False)
class EBICLasso:
    """The set along the lasso's path with the least extended BIC; L1MB with gamma 0  [SNM07].

    Parameters
    ----------
    moments
        The covariance of the data.
    gamma
        γ of the criterion, at least 0; 0 is the plain BIC.

    Raises
    ------
    InputError
        If gamma breaks its rule.

    Notes
    -----
    Sets of at most (N − 2) / 2 variables are considered: with more, rows run out. The support of a neighbour is half of
    what leaving it out would add to the criterion: about the log of a Bayes factor, above 0 where it helps. A constant
    variable has no neighbours and is none. Of two copies LARS takes the first.

    Examples
    --------
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> judge = EBICLasso(Moments.from_covariance(chain, n_rows=500))
    >>> sorted(judge.neighborhood(0, frozenset({1, 2}), frozenset()).support)
    [1]
    """

    moments: Moments
    gamma: float = _GAMMA

    def __post_init__(self) -> None:
        if not (is_number(self.gamma) and self.gamma >= 0):
            raise InputError(f"gamma must be a number of at least 0; got {self.gamma!r}. Use 0.5, or 0 for the BIC.")

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.moments.n_variables

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """The best set along the path of x, required ones always in."""
        return self.neighborhoods([(x, candidates, required)])[0]

    def neighborhoods(self, asked: Sequence[tuple[int, VarSet, VarSet]]) -> list[Neighborhood]:
        """Return `neighborhood` of each question: those without required variables together, on all threads."""
        targets = [Target.of(self.moments, *question) for question in asked]
        free = [target for target in targets if target is not None and not target.required]
        found = dict(zip(map(id, free), self._choose(free), strict=True))
        answers = []
        for (x, _, required), target in zip(asked, targets, strict=True):
            chosen, n_fits = ([], 1) if target is None else found.get(id(target)) or self._choose([target])[0]
            named = frozenset() if target is None else target.named(chosen)
            answers.append(Neighborhood(support_by_ebic(self.moments, x, named | required, self.gamma), n_fits))
        return answers

    def _choose(self, targets: Sequence[Target]) -> list[tuple[list[int], int]]:
        """The first set with the least criterion along the path of each, and how many were tried; all in one matrix."""
        if not targets:
            return []
        n_rows = self.moments.n_rows
        price = log(n_rows) + 2 * self.gamma * log(max(self.n_variables - 1, 1))
        criterion = Criterion(n_rows, price, _most_members(n_rows), PATIENCE)
        xs, others = [target.x for target in targets], [target.others for target in targets]
        return lasso_by_criterion(targets[0].matrix, xs, others, criterion, n_threads=self.moments.n_threads)


@dataclass(frozen=True, eq=False)
class TheoryLasso:
    """The lasso at λ = Φ⁻¹(1 − α / 2n²) / √N  [MB06].

    Parameters
    ----------
    moments
        The covariance of the data.
    alpha
        α: bounds the probability that components of the graph are joined falsely.

    Raises
    ------
    InputError
        If alpha breaks its rule.

    Notes
    -----
    The paper's objective has no factor ½, so that its λ is twice this one. Edges within a component may be false more
    often, and weak ones are missed: the bound costs power. The support is that of `EBICLasso` with γ = 0.5.

    Examples
    --------
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> judge = TheoryLasso(Moments.from_covariance(chain, n_rows=500))
    >>> round(judge.penalty, 3), sorted(judge.neighborhood(1, frozenset({0, 2}), frozenset()).support)
    (0.124, [0, 2])
    """

    moments: Moments
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not (is_number(self.alpha) and 0 < self.alpha < 1):
            raise InputError(f"alpha must be between 0 and 1, both excluded; got {self.alpha!r}. A usual value: 0.05.")

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.moments.n_variables

    @property
    def penalty(self) -> float:
        """λ, in units of a correlation."""
        from scipy.special import ndtri

        return float(-ndtri(self.alpha / (2 * self.n_variables**2))) / sqrt(self.moments.n_rows)

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Return the support at this penalty, with all required variables."""
        target = Target.of(self.moments, x, candidates, required)
        found = frozenset[int]() if target is None else target.support_at(self.penalty)
        return Neighborhood(support_by_ebic(self.moments, x, found | required), 1)


def _most_members(n_rows: int) -> int:
    """Return the largest number of neighbours that the rows allow: one for every two rows."""
    return min(max(1, (n_rows - 2) // 2), max(0, n_rows - 2))


def support_by_ebic(moments: Moments, x: int, chosen: VarSet, gamma: float = _GAMMA) -> dict[int, float]:
    """Half of what leaving each member out would add to BIC_γ: −N log(1 − r²) / 2 − log N / 2 − γ log(n − 1)."""
    r = np.nan_to_num(moments.member_correlations(x, chosen))  # what others explain adds nothing
    price = 0.5 * log(moments.n_rows) + gamma * log(max(moments.n_variables - 1, 1))
    worth = -0.5 * moments.n_rows * (log1p(-r) + log1p(r)) - price
    return dict(zip(sorted(chosen), worth.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Target:
    """One variable to be explained by others, as places in a matrix of correlations freed of what must be in anyway."""

    matrix: FloatArray
    x: int
    others: IntArray  # who may explain it, ascending; of copies the first
    variables: IntArray | None  # of the places; None: each stands for itself
    required: VarSet

    @classmethod
    def of(cls, moments: Moments, x: int, candidates: VarSet, required: VarSet) -> Target | None:
        """The variable x; None if nothing is left to explain it by, or nothing of it to explain."""
        others = np.array(sorted(candidates - required - {x}), dtype=np.int64)
        matrix, place, variables = moments.correlation, x, None
        if required:
            variables = np.concatenate(([x], others))
            matrix = moments.conditional_correlation(variables.tolist(), required)
            place, others = 0, np.arange(1, len(variables))
        others = others[matrix.diagonal()[others] > 0.0]
        if matrix[place, place] == 0.0 or not len(others):
            return None
        kept = ~_repeated(matrix[place, others], lambda i, j: matrix[others[i], others[j]])
        return cls(matrix, place, others[kept], variables, required)

    @property
    def shared(self) -> FloatArray:
        """Correlations with those that may explain it."""
        return np.asarray(self.matrix[self.x, self.others])

    def named(self, places: Sequence[int] | IntArray) -> VarSet:
        """Return the variables at some places of the matrix."""
        chosen = np.asarray(places, dtype=np.int64)
        return frozenset((chosen if self.variables is None else self.variables[chosen]).tolist())

    def support_at(self, penalty: float) -> VarSet:
        """Return the support at one penalty, in units of a correlation."""
        _, weights = lasso_path(self.matrix, self.matrix[self.x], allowed=self.others, smallest=penalty)
        return self.named(np.flatnonzero(weights[:, -1]))


def _repeated(shared: FloatArray, among: Callable[[IntArray, IntArray], FloatArray]) -> BoolArray:
    """Return which variables are copies of one before them, on any scale: the path would take either, by rounding.

    Copies have the same correlation with the target, up to its sign; so only such variables are compared.
    """
    found = np.zeros(len(shared), dtype=np.bool_)
    if (np.diff(np.sort(np.abs(shared))) > ABSOLUTE).all():
        return found
    order = ascending(np.abs(shared))
    equal = np.abs(np.diff(np.abs(shared)[order])) <= ABSOLUTE
    first, second = order[:-1][equal], order[1:][equal]  # of equals the lower index comes first
    found[second] = np.abs(among(first, second)) >= 1.0 - ABSOLUTE
    return found


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
