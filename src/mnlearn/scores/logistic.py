"""The neighbourhood of a variable by l1-regularised logistic regression and an extended BIC.

Ravikumar, Wainwright & Lafferty, Annals of Statistics 38 (2010), 1287-1319  [RWL10]: in a pairwise binary network the
neighbours of x are the regressors that matter for x. Barber & Drton, EJS 9 (2015), 567-607  [BD15] take
from the path of penalties only its supports, fit each again without penalty, and choose among them by

    BIC_γ(J) = −2 log L(J) + k_J log n + 2 γ |J| log(d − 1)                       (k_J = |J| for binary variables)

as [MPL17, Sec. 5.1] does. scikit-learn solves; what is added here is that it never sees more than it must:
only columns that may matter at a penalty (`_path.py`), only distinct rows.

Beyond binary variables (no paper; our choice): each state is a column, the states of x are regressed one against the
rest with one penalty for all, and a variable enters as a whole when any of its columns does. The criterion is that of
the multinomial model of the chosen variables, with k_J = (r_x − 1) Σ_y∈J (r_y − 1) parameters. States that never occur
do not count.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.data._rows import row_groups
from mnlearn.errors import InputError, UnsuitableError, is_number, whole_number
from mnlearn.protocols import FloatArray, IntArray, Neighborhood, VarSet
from mnlearn.scores._path import Columns, Regression

_RIDGE = 1e-6  # makes a refit finite where it separates the states; moves a log-likelihood by about as little


@dataclass(frozen=True, eq=False)
class L1Logistic:
    """Chooses the neighbours of a variable along a path of l1-penalised logistic regressions.

    Parameters
    ----------
    data
        Categorical variables.
    gamma
        γ of the criterion, at least 0; 0 is the plain BIC.
    n_penalties
        How many penalties, in geometric steps from the smallest that lets no variable in.
    smallest
        The last penalty, as a share of the first; between 0 and 1.
    patience
        The path ends after so many new supports in a row that do not improve the criterion; None walks all of it.

    Raises
    ------
    InputError
        If a setting breaks its rule.
    UnsuitableError
        If a variable is continuous.

    Notes
    -----
    One neighbourhood costs some tens of small fits, each on the distinct rows of a few columns, and one product of
    the rows with all columns per penalty. Rows are grouped first: neither their order nor the way repeats are stored
    matters.
    Two regressors that are equal in every row cannot be told apart; which one is taken depends on their order.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 0, 1, 1] * 30 + [0], [0, 0, 1, 1] * 29 + [1, 0, 1, 0, 0], [0, 1] * 60 + [0]])
    >>> sorted(L1Logistic(data).neighborhood(0, frozenset({1, 2}), frozenset()).support)
    [1]
    """

    data: Dataset
    gamma: float = 0.5
    n_penalties: int = 50
    smallest: float = 0.01
    patience: int | None = 5
    _rows: Dataset = field(init=False, repr=False)
    _columns: Columns = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, card in zip(self.data.names, self.data.cards, strict=True):
            if not card:
                raise UnsuitableError(
                    f"l1lr needs categorical variables; {name!r} is continuous. Discretise it (discretize='frequency')."
                )
        if not (is_number(self.gamma) and self.gamma >= 0):
            raise InputError(f"gamma must be a number of at least 0; got {self.gamma!r}. Use 0.5, or 0 for the BIC.")
        if not (is_number(self.smallest) and 0 < self.smallest < 1):
            raise InputError(f"smallest must be between 0 and 1; got {self.smallest!r}. Use for example 0.01.")
        whole_number("n_penalties", self.n_penalties, least=2, way_out="Use for example 50.")
        if self.patience is not None:
            whole_number("patience", self.patience, least=1, way_out="Use None to walk the whole path.")
        rows = self.data.compact()
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_columns", Columns.of(rows))

    @property
    def n_variables(self) -> int:
        """How many variables the data have."""
        return self.data.n_variables

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """The support with the least BIC_γ among those of the path.

        Parameters
        ----------
        x
            The variable.
        candidates
            Who may be a neighbour.
        required
            Who must be: not penalised, and in every support.

        Returns
        -------
        Neighborhood
            The support of a neighbour is half of what leaving it out would add to BIC_γ: about the log of a Bayes
            factor, above 0 where it helps.
        """
        refits = _Refits(self._rows, self._columns, x, self.gamma)
        if self._columns.n_states[x] < 2:
            return Neighborhood(dict.fromkeys(required, 0.0), 0)
        with _quick_and_quiet():
            best, path = self._best(x, candidates | required, required, refits)
            support = {y: (refits(best - {y}) - refits(best)) / 2 for y in sorted(best)}
        return Neighborhood(support, path + refits.n_fits)

    def _best(self, x: int, candidates: VarSet, required: VarSet, refits: _Refits) -> tuple[VarSet, int]:
        """The first support of the path with the least criterion, and how many penalised fits that took."""
        best, tried, waited, fits = required, {required}, 0, 0
        for found, n_fits in self._supports(x, candidates, required):
            fits += n_fits
            if found in tried:
                continue
            tried.add(found)
            if refits(found) < refits(best):
                best, waited = found, 0
            else:
                waited += 1
            if waited == self.patience:
                break
        return best, fits

    def _supports(self, x: int, candidates: VarSet, required: VarSet) -> Iterator[tuple[VarSet, int]]:
        """The support at each penalty, required ones included, and the fits it took."""
        columns = self._columns.select(candidates - {x}, required)
        states = range(self._columns.n_states[x])
        targets = (self._columns.codes[x] == state for state in (states if len(states) > 2 else states[1:]))
        regressions = [Regression(self._rows, columns, target) for target in targets]
        first = max((regression.first_penalty() for regression in regressions), default=0.0)
        if first <= 0:
            return
        for penalty in first * np.geomspace(1, self.smallest, self.n_penalties)[1:]:
            fits = sum(regression.step(float(penalty)) for regression in regressions)
            yield required.union(*(regression.support() for regression in regressions)), fits


@contextmanager
def _quick_and_quiet() -> Iterator[None]:
    """scikit-learn without checks of its input, which take longer than these fits, and without warnings.

    They would be about fits that separate the states; such fits are expected, and finite by their penalty.
    """
    from sklearn import config_context

    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        yield


class _Model(NamedTuple):
    """The distinct rows of a few variables and x: a design, the state of x, and how often each occurs."""

    design: NDArray[np.float32]
    states: IntArray
    weights: FloatArray


class _Refits:
    """BIC_γ of the model of x given a set of variables, each fitted once."""

    def __init__(self, rows: Dataset, columns: Columns, x: int, gamma: float) -> None:
        self._rows, self._columns, self._x, self._gamma = rows, columns, x, gamma
        self._known: dict[VarSet, float] = {}
        self.n_fits = 0

    def __call__(self, chosen: VarSet) -> float:
        """The criterion; less is better."""
        if chosen not in self._known:
            n_states, d = self._columns.n_states, len(self._columns.n_states)
            parameters = (n_states[self._x] - 1) * sum(n_states[y] - 1 for y in chosen)
            penalty = parameters * log(self._rows.n_rows) + 2 * self._gamma * len(chosen) * log(max(d - 1, 1))
            self._known[chosen] = -2 * self._log_likelihood(chosen) + penalty
        return self._known[chosen]

    def _log_likelihood(self, chosen: VarSet) -> float:
        """log L at the maximum: Σ log p(x | chosen) over the rows."""
        from sklearn.linear_model import LogisticRegression

        model = self._model(sorted(chosen))
        if not model.design.shape[1]:
            counts = np.bincount(model.states, weights=model.weights)
            counts = counts[counts > 0]
            return float(counts @ np.log(counts / counts.sum()))
        self.n_fits += 1
        solver = LogisticRegression(C=1 / _RIDGE, solver="newton-cholesky", tol=1e-8, max_iter=200)
        fitted = solver.fit(model.design, model.states, sample_weight=model.weights)
        logits = model.design @ fitted.coef_.T + fitted.intercept_
        if logits.shape[1] == 1:  # of two states, scikit-learn gives the second
            logits = np.hstack([np.zeros_like(logits), logits])
        log_p = logits[np.arange(len(logits)), model.states] - np.logaddexp.reduce(logits, axis=1)
        return float(model.weights @ log_p)

    def _model(self, chosen: list[int]) -> _Model:
        """What the fit is made from."""
        first, weights = distinct_rows(self._rows, [*chosen, self._x])
        design = np.hstack([np.empty((len(first), 0), np.float32), *(self._columns.block(y)[first] for y in chosen)])
        return _Model(design.astype(np.float64), self._columns.codes[self._x][first], weights)


def distinct_rows(rows: Dataset, variables: list[int]) -> tuple[IntArray, FloatArray]:
    """The place of one row for each distinct one in these variables, and how often each occurs."""
    groups, n_groups = row_groups(rows.columns[y] for y in variables)
    first = np.empty(n_groups, dtype=np.int64)
    first[groups] = np.arange(len(groups))
    return first, np.bincount(groups, weights=rows.repeats, minlength=n_groups).astype(np.float64)
