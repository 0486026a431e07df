"""The neighbourhood of a continuous variable by the lasso: the regressors that an l1 penalty leaves in.

Meinshausen & Bühlmann, Annals of Statistics 34 (2006), 1436-1462  [MB06]: of jointly Gaussian variables the neighbours
of x are those with a weight in the regression of x on all others; the lasso estimates who they are. The judges differ
in how they choose the penalty λ, in units of a correlation (the objective is |x − Σ w_y y|² / 2N + λ Σ |w_y|, every
variable having variance 1):

- `TheoryLasso`: λ = Φ⁻¹(1 − α / 2n²) / √N, under which variables of different connectivity components are joined with
  probability at most α, for large N  [MB06];
- `EBICLasso`: among the sets along the path, each fitted again without penalty, the one with the least
  N log σ²(J) + |J| log N + 2 γ |J| log(n − 1). With γ = 0 this is L1MB of Schmidt, Niculescu-Mizil & Murphy, AAAI
  2007, 1278-1283  [SNM07], who follow the same path and choose by the minimal description length.

`mnlearn.algorithms.L1LR` asks for all neighbourhoods and joins them by AND or OR. The native core follows the paths
(`mnlearn.statistics.paths`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from mnlearn.errors import InputError, is_number
from mnlearn.numbers import ABSOLUTE, ascending, log, log1p
from mnlearn.protocols import BoolArray, FloatArray, IntArray, Neighborhood, VarSet
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.paths import Criterion, lasso_by_criterion, lasso_path

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
