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
- `CrossValidatedLasso` and `StableLasso`, which draw rows: `lasso_resampled.py`.

`mnlearn.algorithms.L1LR` asks for all neighbourhoods and joins them by AND or OR. scikit-learn follows the paths.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from mnlearn._ties import ABSOLUTE, ascending, exceeds
from mnlearn.errors import InputError, is_number
from mnlearn.protocols import BoolArray, FloatArray, IntArray, Neighborhood, VarSet
from mnlearn.statistics.moments import EXPLAINED, Moments

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
        best, n_fits = required, 1
        with quick_and_quiet():
            target = Target.of(self.moments, x, candidates, required)
        if target is not None:
            best, n_fits = self._best(x, target, required)
        return Neighborhood(support_by_ebic(self.moments, x, best, self.gamma), n_fits)

    def _best(self, x: int, target: Target, required: VarSet) -> tuple[VarSet, int]:
        """The first set with the least criterion, and how many were tried."""
        best, least, waited = required, self._criterion(x, required), 0
        tried = {required}
        with quick_and_quiet():
            for found in target.supports(_most_members(self.moments.n_rows)):
                chosen = found | required
                if chosen in tried:
                    continue
                tried.add(chosen)
                value = self._criterion(x, chosen)
                best, least, waited = (chosen, value, 0) if exceeds(least, value) else (best, least, waited + 1)
                if waited == PATIENCE:
                    break
        return best, len(tried)

    def _criterion(self, x: int, chosen: VarSet) -> float:
        """BIC_γ up to a constant; less is better."""
        n_rows = self.moments.n_rows
        price = log(n_rows) + 2 * self.gamma * log(max(self.n_variables - 1, 1))
        return 2 * n_rows * self.moments.conditional_entropy(x, chosen) + len(chosen) * price


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
        with quick_and_quiet():
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
    worth = -0.5 * moments.n_rows * (np.log1p(-r) + np.log1p(r)) - price
    return dict(zip(sorted(chosen), worth.tolist(), strict=True))


# The lasso path by least angles, from a covariance matrix.
#
# One correlation matrix serves all variables; scikit-learn's LARS follows a path from its blocks. A path is computed
# its
# first few steps, and for twice as many when they were not enough.


_FIRST_STEPS = 16


@contextmanager
def quick_and_quiet() -> Iterator[None]:
    """scikit-learn without checks of its input, which take longer than a path, and without warnings.

    They would be about columns that others explain, which LARS leaves out, as it should.
    """
    from sklearn import config_context

    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True, eq=False)
class Target:
    """One variable to be explained by others: their correlations, freed of what must be in anyway."""

    others: IntArray  # who may explain it, ascending
    shared: FloatArray  # their correlations with it
    gram: FloatArray  # and with each other

    @classmethod
    def of(cls, moments: Moments, x: int, candidates: VarSet, required: VarSet) -> Target | None:
        """The variable x; None if nothing is left to explain it by, or nothing of it to explain."""
        others = np.array(sorted(candidates - required - {x}), dtype=np.int64)
        matrix, place = moments.correlation, {y: y for y in (x, *others.tolist())}
        if required:
            matrix = moments.conditional_correlation([x, *others.tolist()], required)
            place = {y: k for k, y in enumerate((x, *others.tolist()))}
        others = others[[matrix[place[y], place[y]] > 0.0 for y in others.tolist()]]
        if matrix[place[x], place[x]] == 0.0 or not len(others):
            return None
        chosen = np.array([place[y] for y in others.tolist()])
        kept = ~_repeated(matrix[chosen, place[x]], lambda i, j: matrix[chosen[i], chosen[j]])
        chosen = chosen[kept]
        return cls(others[kept], matrix[chosen, place[x]], matrix[np.ix_(chosen, chosen)])

    def supports(self, most: int) -> Iterator[VarSet]:
        """The sets of variables along the path, each as often as it is met, none larger than `most`."""
        seen, steps, ended = 1, _FIRST_STEPS, False  # the first knot has an empty support
        while not ended:
            penalties, weights = lasso_path(self.gram, self.shared, max_steps=steps)
            for k in range(seen, len(penalties)):
                members = np.flatnonzero(weights[:, k])
                if len(members) > most:
                    return
                yield frozenset(self.others[members].tolist())
            seen, ended = len(penalties), len(penalties) <= steps
            steps *= 2

    def support_at(self, penalty: float) -> VarSet:
        """Return the support at one penalty, in units of a correlation."""
        if np.abs(self.shared).max() <= penalty:
            return frozenset()
        _, weights = lasso_path(self.gram, self.shared, smallest=penalty)
        return frozenset(self.others[np.flatnonzero(weights[:, -1])].tolist())


def _repeated(shared: FloatArray, among: Callable[[IntArray, IntArray], FloatArray]) -> BoolArray:
    """Return which variables are copies of one before them, on any scale: the path would take either, by rounding.

    Copies have the same correlation with the target, up to its sign; so only such variables are compared.
    """
    order = ascending(np.abs(shared))
    equal = np.abs(np.diff(np.abs(shared)[order])) <= ABSOLUTE
    first, second = order[:-1][equal], order[1:][equal]  # of equals the lower index comes first
    found = np.zeros(len(shared), dtype=np.bool_)
    found[second] = np.abs(among(first, second)) >= 1.0 - ABSOLUTE
    return found


def lasso_path(
    gram: FloatArray, shared: FloatArray, *, smallest: float = 0.0, max_steps: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """The penalties at which the path bends, descending, and the weights there, a column each; rounding counts as 0."""
    from sklearn.linear_model import lars_path_gram

    steps = 8 * len(shared) if max_steps is None else max_steps
    penalties, _, weights = lars_path_gram(
        shared, gram, n_samples=1, method="lasso", alpha_min=max(smallest, EXPLAINED), max_iter=steps
    )
    return penalties, np.where(np.abs(weights) > ABSOLUTE, weights, 0.0)
