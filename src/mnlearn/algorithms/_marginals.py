"""Answers of a test about pairs without conditioning: of all pairs as matrices, or of candidate pairs as lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import fsum

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import ascending, ranks
from mnlearn.graphs.candidates import Candidates
from mnlearn.protocols import BoolArray, FloatArray


class Marginals(ABC):
    """Decision and log support of pairs without conditioning.

    Notes
    -----
    Pairs that are no candidates count as independent without evidence: their log support is that of a p-value of 1.
    """

    n_variables: int

    @abstractmethod
    def partners(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with, ascending."""

    @abstractmethod
    def dependent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that depend on x, ascending."""

    @abstractmethod
    def independent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with and is independent of, ascending."""

    @abstractmethod
    def support(self, x: int, ys: NDArray[np.intp]) -> FloatArray:
        """Return the log support of x with each of these variables, which it was tested with."""

    @abstractmethod
    def between(self, x: int, y: int) -> float | None:
        """Return the log support of a pair; None if it was not tested."""

    @abstractmethod
    def dependences(self) -> NDArray[np.int64]:
        """Return the dependent pairs x < y in lexicographic order, a row each."""

    @abstractmethod
    def _totals(self) -> FloatArray:
        """Return the sum of the log support of each variable, rounded once."""

    @abstractmethod
    def _weighted_total(self, x: int, weights: NDArray[np.intp]) -> float:
        """Return the sum of the log support of x with each variable, times the weight of that variable."""

    def strength_ranks(self) -> NDArray[np.intp]:
        """Return the rank of each variable by its mean log support of independence, the strongest first.

        Equal variables are ranked by a mean in which strong partners count less; those that no mean tells apart share
        a rank.
        """
        n = self.n_variables
        first = ranks(self._totals() / (n - 1))
        tied = np.flatnonzero(np.bincount(first)[first] > 1)
        weighted = np.zeros(n)
        weighted[tied] = [self._weighted_total(x, 1 + first) / (n - 1) for x in tied.tolist()]
        return ranks(first * np.float64(n) + ranks(weighted))

    def strongest_first(self, x: int, ys: NDArray[np.intp], strength: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return these variables in ascending order of their log support with x, of equals the stronger one first."""
        return ys[ascending(self.support(x, ys), strength[ys])]


class AllMarginals(Marginals):
    """Answers about all pairs.

    Parameters
    ----------
    decisions, log_support
        Symmetric matrices: whether a pair is independent (False on the diagonal), and its log support (0 there).
    """

    def __init__(self, decisions: BoolArray, log_support: FloatArray) -> None:
        self.n_variables = len(decisions)
        self._decisions, self._support = decisions, log_support

    def partners(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with, ascending."""
        return np.delete(np.arange(self.n_variables), x)

    def dependent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that depend on x, ascending."""
        (found,) = (~self._decisions[x]).nonzero()
        return np.asarray(found[found != x])

    def independent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with and is independent of, ascending."""
        return np.asarray(self._decisions[x].nonzero()[0])

    def support(self, x: int, ys: NDArray[np.intp]) -> FloatArray:
        """Return the log support of x with each of these variables, which it was tested with."""
        return np.asarray(self._support[x, ys])

    def between(self, x: int, y: int) -> float | None:
        """Return the log support of a pair; None if it was not tested."""
        return float(self._support[x, y])

    def dependences(self) -> NDArray[np.int64]:
        """Return the dependent pairs x < y in lexicographic order, a row each."""
        return np.argwhere(np.triu(~self._decisions, 1))

    def _totals(self) -> FloatArray:
        # Long doubles: sums in another order of the columns differ by less than the doubles they are rounded to.
        return np.asarray(self._support.sum(axis=1, dtype=np.longdouble).astype(np.float64))

    def _weighted_total(self, x: int, weights: NDArray[np.intp]) -> float:
        return fsum((self._support[x] * weights).tolist())


class ListedMarginals(Marginals):
    """Answers about candidate pairs, listed from both ends.

    Parameters
    ----------
    candidates
        The pairs.
    decisions, log_support
        Whether each pair is independent, and its log support.
    """

    def __init__(self, candidates: Candidates, decisions: BoolArray, log_support: FloatArray) -> None:
        self.n_variables = candidates.n_variables
        self.starts, self.listed, places = candidates.directed()
        self.decisions, self.log_support = decisions[places], log_support[places]

    def _of(self, x: int) -> slice:
        return slice(int(self.starts[x]), int(self.starts[x + 1]))

    def partners(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with, ascending."""
        return self.listed[self._of(x)].astype(np.intp)

    def dependent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that depend on x, ascending."""
        return self.partners(x)[~self.decisions[self._of(x)]]

    def independent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with and is independent of, ascending."""
        return self.partners(x)[self.decisions[self._of(x)]]

    def support(self, x: int, ys: NDArray[np.intp]) -> FloatArray:
        """Return the log support of x with each of these variables, which it was tested with."""
        of_x = self._of(x)
        return self.log_support[of_x][self.listed[of_x].searchsorted(ys)]

    def between(self, x: int, y: int) -> float | None:
        """Return the log support of a pair; None if it was not tested."""
        of_x = self._of(x)
        place = of_x.start + int(self.listed[of_x].searchsorted(y))
        found = place < of_x.stop and self.listed[place] == y
        return float(self.log_support[place]) if found else None

    def dependences(self) -> NDArray[np.int64]:
        """Return the dependent pairs x < y in lexicographic order, a row each."""
        x = np.repeat(np.arange(self.n_variables, dtype=np.int64), np.diff(self.starts))
        found = ~self.decisions & (x < self.listed)
        return np.stack([x[found], self.listed[found].astype(np.int64)], axis=1)

    def _totals(self) -> FloatArray:
        sums = np.zeros(self.n_variables, dtype=np.longdouble)
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            sums[some] = np.add.reduceat(self.log_support.astype(np.longdouble), self.starts[some])
        return sums.astype(np.float64)

    def _weighted_total(self, x: int, weights: NDArray[np.intp]) -> float:
        of_x = self._of(x)
        return fsum((self.log_support[of_x] * weights[self.listed[of_x]]).tolist())
