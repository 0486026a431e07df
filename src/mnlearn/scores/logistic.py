"""The neighbourhood of a variable by l1-regularised logistic regression and an extended BIC.

Ravikumar, Wainwright & Lafferty, Annals of Statistics 38 (2010), 1287-1319  [RWL10]: in a pairwise binary network the
neighbours of x are the regressors that matter for x. Barber & Drton, EJS 9 (2015), 567-607  [BD15] take
from the path of penalties only its supports, fit each again without penalty, and choose among them by

    BIC_γ(J) = −2 log L(J) + k_J log n + 2 γ |J| log(d − 1)                       (k_J = |J| for binary variables)

as [MPL17, Sec. 5.1] does. The solver never sees more than it must: only columns that may matter at a penalty
(`mnlearn.statistics.paths`), only distinct rows.

Beyond binary variables (no paper; our choice): each state is a column, the states of x are regressed one against the
rest with one penalty for all, and a variable enters as a whole when any of its columns does. The criterion is that of
the multinomial model of the chosen variables, which scikit-learn fits, with k_J = (r_x − 1) Σ_y∈J (r_y − 1) parameters.
States that never occur do not count.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.errors import InputError, UnsuitableError, check_instance, is_number, require, whole_number
from mnlearn.numbers import exceeds, exp, log, ranks
from mnlearn.protocols import BoolArray, IntArray, Neighborhood, VarSet
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.paths import RIDGE, BinaryColumns


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
        Number of penalties, in geometric steps from the smallest that lets no variable in.
    smallest
        The last penalty, as a share of the first; between 0 and 1.
    patience
        The path ends after so many new supports in a row that do not improve the criterion; None walks all of it.

    Raises
    ------
    InputError
        If a setting is invalid.
    UnsuitableError
        If a variable is continuous.
    MissingDependencyError
        If a variable has more than two states and scikit-learn is not installed
        (``pip install 'mnlearn[sklearn]'``).

    Notes
    -----
    One neighbourhood costs some tens of small fits, each on the distinct rows of a few columns, and per penalty the
    products of the residuals with the columns that may enter. Rows are grouped first: neither their order nor the way
    repeats are stored matters.
    Two regressors that split the rows alike cannot be told apart: the variable with fewer states is taken, then the one
    that tells more about x, of copies the first column.

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
    _columns: Columns = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_instance("data", self.data, Dataset, "Read it first: mnlearn.read(...).")
        for name, card in zip(self.data.names, self.data.cards, strict=True):
            if not card:
                raise UnsuitableError(
                    f"l1lr needs categorical variables; {name!r} is continuous. Discretise it (discretize='frequency')."
                )
        check_no_gaps(self.data, "l1lr")
        if not (is_number(self.gamma) and self.gamma >= 0):
            raise InputError(f"gamma must be a number of at least 0; got {self.gamma!r}. Use 0.5, or 0 for the BIC.")
        if not (is_number(self.smallest) and 0 < self.smallest < 1):
            raise InputError(f"smallest must be between 0 and 1; got {self.smallest!r}. Use for example 0.01.")
        whole_number("n_penalties", self.n_penalties, least=2, hint="Use for example 50.")
        if self.patience is not None:
            whole_number("patience", self.patience, least=1, hint="Use None to walk the whole path.")
        object.__setattr__(self, "_columns", Columns(self.data.compact()))
        if max(self._columns.n_states, default=0) > 2:  # multinomial models
            require("sklearn", "sklearn")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the data and the settings only; the rest is rebuilt in the other process."""
        return type(self), (self.data, self.gamma, self.n_penalties, self.smallest, self.patience)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.data.n_variables

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Return the support on the path with the least BIC_γ.

        Parameters
        ----------
        x
            The variable.
        candidates
            Variables that may be neighbours.
        required
            Variables that must be neighbours: not penalised, and in every support.

        Returns
        -------
        Neighborhood
            The support of a neighbour is half of what leaving it out would add to BIC_γ: about the log of a Bayes
            factor, above 0 where it helps.
        """
        if self._columns.n_states[x] < 2:
            return Neighborhood(dict.fromkeys(required, 0.0), 0)
        regressions = list(self._regressions(x, candidates - {x}, required))
        refits = _Refits(self._columns, x, self.gamma, regressions[0])
        first = max(regression.first_penalty() for regression in regressions)
        best, tried, waited, fits = required, {required}, 0, 0
        for penalty in first * np.geomspace(1, self.smallest, self.n_penalties)[1:] if first > 0 else ():
            fits += sum(regression.step(float(penalty)) for regression in regressions)
            found = required.union(*(regression.support() for regression in regressions))
            if found in tried:
                continue
            tried.add(found)
            best, waited = (found, 0) if exceeds(refits(best), refits(found)) else (best, waited + 1)
            if waited == self.patience:
                break
        support = {y: (refits(best - {y}) - refits(best)) / 2 for y in sorted(best)}
        return Neighborhood(support, fits + refits.n_fits)

    def neighborhoods(self, asked: Sequence[tuple[int, VarSet, VarSet]]) -> list[Neighborhood]:
        """Return several neighbourhoods."""
        return [self.neighborhood(*each) for each in asked]

    def _regressions(self, x: int, candidates: VarSet, required: VarSet) -> Iterator[Regression]:
        """One for each state of x, or for the second of two."""
        states = range(self._columns.n_states[x])
        for state in states if len(states) > 2 else states[1:]:
            yield Regression(self._columns, x, state, candidates, required)


@contextmanager
def quick_and_quiet() -> Iterator[None]:
    """scikit-learn without checks of its input, which take longer than these fits, and without warnings.

    They would be about states that columns separate, or columns that others explain: both are expected.
    """
    from sklearn import config_context

    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        yield


class _Refits:
    """BIC_γ of the model of x given a set of variables, each fitted once."""

    def __init__(self, columns: Columns, x: int, gamma: float, regression: Regression) -> None:
        self._columns, self._x, self._gamma, self._regression = columns, x, gamma, regression
        self._known: dict[VarSet, float] = {}
        self.n_fits = 0

    def __call__(self, chosen: VarSet) -> float:
        """The criterion; less is better."""
        if chosen not in self._known:
            n_states, d = self._columns.n_states, len(self._columns.n_states)
            parameters = (n_states[self._x] - 1) * sum(n_states[y] - 1 for y in chosen)
            rows = self._columns.counts.n_rows
            penalty = parameters * log(rows) + 2 * self._gamma * len(chosen) * log(max(d - 1, 1))
            self._known[chosen] = -2 * self._log_likelihood(chosen) + penalty
        return self._known[chosen]

    def _log_likelihood(self, chosen: VarSet) -> float:
        """log L at the maximum: Σ log p(x | chosen) over the rows."""
        if not any(self._columns.n_states[y] > 1 for y in chosen):
            counts = np.bincount(self._columns.codes[self._x], weights=self._columns.repeats)
            return float(counts @ log(counts / counts.sum()))
        self.n_fits += 1
        if self._columns.n_states[self._x] > 2:
            return self._multinomial(chosen)
        return self._regression.log_likelihood(chosen)

    def _multinomial(self, chosen: VarSet) -> float:
        """log L where x has more than two states."""
        from sklearn.linear_model import LogisticRegression

        states, counts = self._columns.counts.cells(self._x, chosen)
        blocks = [
            codes[:, None] - 0.5
            if self._columns.n_states[y] == 2
            else codes[:, None] == np.arange(self._columns.n_states[y])
            for y, codes in zip(sorted(chosen), states[:-1], strict=True)
        ]
        design = np.hstack(blocks).astype(np.float64)
        solver = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-8, max_iter=200)
        with quick_and_quiet():
            fitted = solver.fit(design, states[-1], sample_weight=counts)
        logits = design @ fitted.coef_.T + fitted.intercept_
        largest = logits.max(axis=1)
        log_norm = largest + log(exp(logits - largest[:, None]).sum(axis=1))
        log_p = logits[np.arange(len(logits)), states[-1]] - log_norm
        return float(counts @ log_p)


class Columns:
    """Variables as columns of −½ and ½: one for two states, one for each state of more, none for one.

    So coded, nothing depends on how states are called or ordered, and no kind of variable is favoured by its scale.

    Parameters
    ----------
    rows
        Distinct rows with their repeats.
    """

    def __init__(self, rows: Dataset) -> None:
        assert rows.repeats is not None
        found = [np.unique(column, return_inverse=True) for column in rows.columns]
        self.codes: list[IntArray] = [inverse.reshape(-1) for _, inverse in found]  # of the states that occur
        self.n_states = tuple(len(seen) for seen, _ in found)
        self.repeats: IntArray = rows.repeats
        self.counts = Counts(Dataset.from_codes(self.codes, cards=self.n_states, repeats=rows.repeats), n_jobs=1)
        widths = [size if size > 2 else size - 1 for size in self.n_states]
        self.first = np.concatenate([[0], np.cumsum(widths)]).tolist()  # column of each variable; then their number
        self.owner = np.repeat(np.arange(len(widths)), widths)  # the variable of each column
        self.state = np.concatenate([np.arange(w) if w > 1 else np.full(w, -1) for w in widths])  # −1: the second of 2
        bits = [self.codes[y] == abs(state) for y, state in zip(self.owner, self.state, strict=True)]
        self.bits = BinaryColumns(bits, self.repeats)
        patterns: dict[bytes, int] = {}
        self.pattern = np.array(  # equal for columns that split the rows alike: no regression tells them apart
            [patterns.setdefault((column != column[0]).tobytes(), len(patterns)) for column in bits], dtype=np.intp
        )

    def repeated(self, used: BoolArray, x: int) -> BoolArray:
        """Return which of the used columns split the rows like another one.

        All but one of the variable with the fewest states; of equals, of the one that tells most about x.
        """
        found = np.zeros(len(used), dtype=np.bool_)
        if self.pattern.max(initial=-1) + 1 == len(used):
            return found
        states = np.array(self.n_states)[self.owner]
        order = np.lexsort((self._weakness(x, used)[self.owner], states, self.pattern))
        order = order[used[order]]
        found[order[1:]] = self.pattern[order[1:]] == self.pattern[order[:-1]]
        return found

    def _weakness(self, x: int, used: BoolArray) -> IntArray:
        """Return the rank of each variable by what it tells about x, the most first; 0 for those without equals."""
        sharing = used & (np.bincount(self.pattern, weights=used)[self.pattern] > 1)
        told = np.zeros(len(self.n_states))
        for y in np.unique(self.owner[sharing & (self.state >= 0)]).tolist():  # two binary ones that share are copies
            cells = np.bincount(self.codes[x] * self.n_states[y] + self.codes[y], weights=self.repeats)
            states = np.bincount(self.codes[y], weights=self.repeats)
            told[y] = float(
                (cells * log(np.maximum(cells, 1e-300))).sum() - (states * log(np.maximum(states, 1e-300))).sum()
            )
        return ranks(-told)

    def belong_to(self, variables: VarSet) -> BoolArray:
        """Return which columns belong to these variables."""
        chosen = np.zeros(len(self.n_states), dtype=np.bool_)
        chosen[list(variables)] = True
        found: BoolArray = chosen[self.owner]
        return found


class Regression:
    """Whether x is in a state, on some columns, followed from one penalty to the next.

    Parameters
    ----------
    columns
        All columns.
    x, state
        What is explained.
    candidates, required
        The variables whose columns may be in; those whose columns go without penalty.
    """

    def __init__(self, columns: Columns, x: int, state: int, candidates: VarSet, required: VarSet) -> None:
        self._columns = columns
        barred = ~columns.belong_to(candidates | required)
        free = columns.belong_to(required)
        barred |= columns.repeated(~barred, x) & ~free
        self._path = columns.bits.path(columns.codes[x] == state, barred=barred, free=free)

    def first_penalty(self) -> float:
        """The smallest penalty at which no penalised column is in."""
        return self._path.first_penalty()

    def step(self, penalty: float) -> int:
        """Move on to a smaller penalty; returns how many fits it took."""
        return self._path.step(penalty)

    def active(self) -> list[int]:
        """Which columns are in."""
        return self._path.active()

    def support(self) -> VarSet:
        """The variables that have a column in."""
        return frozenset(self._columns.owner[self._path.active()].tolist())

    def log_likelihood(self, chosen: VarSet) -> float:
        """log L at the maximum over the columns of these variables, without penalty."""
        first = self._columns.first
        return -self._path.refit([column for y in sorted(chosen) for column in range(first[y], first[y + 1])])
