"""Base classes of your own scores and tests: write one method, the rest follows.

A `CustomScore` needs `local(x, blanket)`, a `CustomTest` needs `__call__(x, y, z)`. Variables are indices, as
everywhere between data and result. Both hold the data and offer them as tables of counts and as columns. Pass the class
to `mnlearn.learn` and its relatives, which call it with the data: once, or once for each resampled data set.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.independence._tails import log_chi2_sf
from mnlearn.learning.inputs import check_dataset
from mnlearn.protocols import BaseTest, Evidence, FloatArray, Indices, IntArray, VarSet, Verdict, Verdicts
from mnlearn.scores import Decomposed
from mnlearn.statistics.counts import Counts


class ByLocal(Decomposed):
    """Local score whose batched forms are loops over `local`."""

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each x with its blanket and each of its ys."""
        questions = zip(xs, blankets, yss, strict=True)
        return [_numbers([self.local(int(x), blanket | {int(y)}) for y in ys]) for x, blanket, ys in questions]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each x with its blanket, members y in ascending order."""
        questions = zip(xs, blankets, strict=True)
        return [_numbers([self.local(int(x), blanket - {y}) for y in sorted(blanket)]) for x, blanket in questions]


class ByCall(BaseTest):
    """Test whose batched forms are loops over `__call__`."""

    @property
    def name(self) -> str:
        """Name of the test in results: that of its class."""
        return type(self).__name__

    @abstractmethod
    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Test whether x is independent of y given z."""

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z."""
        found = [self(int(x), int(y), z) for y in ys]
        return Verdicts(np.array([one[0] for one in found], dtype=np.bool_), _numbers([one[1] for one in found]))

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the decision and the log support for each y; override it to show a statistic as well."""
        found = self.scan(x, ys, z)
        return Evidence(found.independent, log_p=found.log_support)


def _numbers(values: Sequence[Any]) -> FloatArray:
    return np.array(values, dtype=np.float64)


class _HoldsData:
    """Data of a judge, as scores and tests need them."""

    def __init__(self, data: Dataset) -> None:
        check_dataset("data", data)
        self.data = data

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.data.n_variables

    @property
    def n_rows(self) -> int:
        """Number of rows, repeats included."""
        return self.data.n_rows

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each variable."""
        return self.data.names

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable; 0 for a continuous one."""
        return self.data.cards

    @cached_property
    def repeats(self) -> IntArray:
        """Number of times that each stored row occurred: 1 for each row unless the data have repeats."""
        repeats = self.data.repeats
        return np.ones(self.data.n_records, dtype=np.int64) if repeats is None else repeats

    def column(self, x: int) -> np.ndarray[Any, Any]:
        """Return the stored rows of a variable: codes from 0 as int64, or float64 values if it is continuous."""
        column = self.data.columns[x]
        return column.astype(np.int64) if self.data.cards[x] else column

    def _counts(self, variables: Collection[int]) -> tuple[Counts, dict[int, int]]:
        """Return counts of the categorical variables, and the place of each; refuse other variables."""
        place, names = self._places, self.data.names
        for x in variables:
            if x not in place:
                if x not in range(len(names)):
                    raise InputError(
                        f"table takes variables by index, 0 to {len(names) - 1}; got {x!r}. Use names.index(name)."
                    )
                raise UnsuitableError(
                    f"table needs categorical variables; {names[x]!r} is continuous. Use column(x), or discretise it "
                    "(discretize='frequency')."
                )
        return self._counted, place

    @cached_property
    def _places(self) -> dict[int, int]:
        return {x: k for k, x in enumerate(x for x, card in enumerate(self.data.cards) if card)}

    @cached_property
    def _counted(self) -> Counts:
        return Counts(self.data.select(self._places), n_jobs=1)

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts for another process, which counts by itself."""
        return {name: value for name, value in self.__dict__.items() if name != "_counted"}


class CustomScore(_HoldsData, ByLocal):
    """Base class of your own score: a sum over variables of `local(x, blanket)`, which you write.

    Pass the class to `mnlearn.learn` with the method hillclimb, exhaustive or mbs, or to `mnlearn.score`. Parameters of
    its `__init__` after the data are settings of these calls.

    Parameters
    ----------
    data
        The data; a subclass with settings calls ``super().__init__(data)``.

    Attributes
    ----------
    data, names, cards, n_variables, n_rows
        The data and their parts. `cards` has the number of states, 0 for a continuous variable.
    repeats
        Number of times that each stored row occurred.

    Notes
    -----
    Scores are in natural logs, and higher is better. −inf forbids a blanket; NaN and +inf are refused. Override
    `additions` and `removals` if many blankets together cost less than one after the other.

    Examples
    --------
    >>> import mnlearn as mn
    >>> class AIC(mn.CustomScore):
    ...     def local(self, x, blanket):
    ...         counts = self.table(x, blanket)  # a row for each configuration of the blanket that occurs
    ...         shares = counts / counts.sum(axis=1, keepdims=True)
    ...         likelihood = np.sum(counts * np.log(shares, where=counts > 0, out=np.zeros(counts.shape)))
    ...         return likelihood - len(counts) * (self.cards[x] - 1)
    >>> data = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> mn.learn(data, "hillclimb", score=AIC).edge_list()[0][:2]
    ('rain', 'wet')
    """

    @abstractmethod
    def local(self, x: int, blanket: VarSet) -> float:
        """Return the score of x with this blanket, a frozenset of indices."""

    def table(self, x: int, blanket: Collection[int] = frozenset()) -> IntArray:
        """Count the states of x in every configuration of the blanket that occurs.

        Returns
        -------
        array
            A row for each configuration, a column for each state of x; repeats included.
        """
        counts, place = self._counts((x, *blanket))
        states, found = counts.cells(place[x], frozenset(place[y] for y in blanket))
        changes = np.any(states[:-1, 1:] != states[:-1, :-1], axis=0)
        row = np.concatenate([[0], np.cumsum(changes)])
        table = np.zeros((row[-1] + 1, self.cards[x]), dtype=np.int64)
        table[row, states[-1]] = found
        return table


class CustomTest(_HoldsData, ByCall):
    """Base class of your own conditional independence test: write `__call__(x, y, z)`.

    Pass the class to `mnlearn.learn` with a method by tests (gsmn*, gsimn, pc, hhc-mn, ...), to
    `mnlearn.independence_test`, `mnlearn.dependences` or `mnlearn.validate`. Parameters of its `__init__` after the
    data are settings of these calls.

    Parameters
    ----------
    data
        The data; a subclass with settings calls ``super().__init__(data)``.

    Attributes
    ----------
    data, names, cards, n_variables, n_rows
        The data and their parts. `cards` has the number of states, 0 for a continuous variable.
    repeats
        Number of times that each stored row occurred.

    Notes
    -----
    `__call__` returns a `Verdict`: whether x and y are independent given z, and the log p-value or log posterior of
    independence, by which learners order pairs. It must not depend on the order of x and y. Logs of p-values below
    1e-300 are −inf in most libraries, and such pairs are tied; `chi_square_log_p` is exact. Override `scan` if many
    y together cost less than one after the other.

    Examples
    --------
    >>> import mnlearn as mn
    >>> class Pearson(mn.CustomTest):
    ...     def __init__(self, data, *, alpha=0.01):
    ...         super().__init__(data)
    ...         self.alpha = alpha
    ...     def __call__(self, x, y, z):
    ...         counts = self.table(x, y, z)  # [configuration of z that occurs, state of x, state of y]
    ...         rows, columns = counts.sum(2, keepdims=True), counts.sum(1, keepdims=True)
    ...         expected = rows * columns / counts.sum((1, 2), keepdims=True)
    ...         cells = expected > 0
    ...         statistic = np.sum((counts - expected)[cells] ** 2 / expected[cells])
    ...         dof = len(counts) * (self.cards[x] - 1) * (self.cards[y] - 1)
    ...         log_p = self.chi_square_log_p(statistic, dof)
    ...         return mn.Verdict(log_p > np.log(self.alpha), log_p)
    >>> data = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> mn.independence_test(data, "rain", "wet", test=Pearson).independent
    False
    >>> mn.learn(data, "gsmn*", test=Pearson, alpha=0.05).test
    'Pearson (alpha 0.05)'
    """

    def table(self, x: int, y: int, z: Collection[int] = frozenset()) -> IntArray:
        """Count the states of x and y in every configuration of z that occurs.

        Returns
        -------
        array
            ``[configuration, state of x, state of y]``; repeats included.
        """
        counts, place = self._counts((x, y, *z))
        tables: IntArray = counts.tables(place[x], [place[y]], frozenset(place[v] for v in z)).counts[0]
        return tables

    @staticmethod
    def chi_square_log_p(statistic: float, dof: float) -> float:
        """Return the log p-value of a chi-square statistic, exact where p underflows; 0 without degrees of freedom.

        The two-sided p-value of a normal statistic z is that of z² with one degree of freedom.
        """
        return float(log_chi2_sf(statistic, dof))
