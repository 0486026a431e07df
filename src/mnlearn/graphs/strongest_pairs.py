"""The strongest pairs of every variable by evidence, in one pass over all pairs that stores no matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.graphs.candidates import Keys
from mnlearn.numbers import exp


class StrongestPairs:
    """Pairs that are among the k strongest of an end.

    Parameters
    ----------
    n_variables
        Number of variables.
    k
        Number of partners of each variable; of equal ones the first are kept.

    Notes
    -----
    Memory: at most 2 k partners of each variable. Evidence of exactly 0 counts as none: a constant column has 0 with
    every other.

    Examples
    --------
    >>> strongest = StrongestPairs(4, k=1)
    >>> for x, row in enumerate([[5.0, -1.0, 2.0], [3.0, -2.0], [-3.0]]):
    ...     strongest.add(x, np.array(row))
    >>> [divmod(key, 4) for key in strongest.keys().tolist()]
    [(0, 1), (0, 3), (1, 2)]
    >>> round(strongest.mean_odds_of_others(), 3)
    0.184
    """

    def __init__(self, n_variables: int, k: int) -> None:
        self._core = _core.StrongestPartners(n_variables, k)

    def add(self, x: int, row: NDArray[np.float64]) -> None:
        """Add the evidence of x with each later variable; rows in the order of x."""
        self._core.add(x, row)

    def keys(self) -> Keys:
        """Return the pairs, ascending."""
        return self._core.pairs()[0]

    def varies(self) -> NDArray[np.bool_]:
        """Return, for each variable, whether it has any evidence with another."""
        return np.frombuffer(self._core.varies(), dtype=np.bool_)

    def mean_odds_of_others(self) -> float:
        """Return the mean of exp(evidence) of the other pairs whose evidence is against an edge; 0 if there is none."""
        count, odds = self._core.against()
        evidence = self._core.pairs()[1]
        listed = evidence[evidence < 0]
        n_others = count - len(listed)
        return max(0.0, odds - float(exp(listed).sum())) / n_others if n_others else 0.0
