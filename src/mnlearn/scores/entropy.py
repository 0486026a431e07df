"""Conditional entropy, and the extended Bayesian criterion that makes entropies of unequal blankets comparable.

Roy, Lane & Werner-Washburne, ICML (2009)  [MBS09], Sec. 2.4: the best blanket of a variable leaves the least of it
unexplained, H(X | M). A larger blanket never leaves more, so something must hold entropy in check: the search
(`mnlearn.algorithms.mbs` has the paper's λ log |M|), or a penalty for every parameter, as in the extended criterion of
Foygel & Drton (2010)  [FD10]; we take it of each variable given its blanket, and sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import log
from typing import ClassVar

import numpy as np

from mnlearn.data import Dataset
from mnlearn.errors import InputError, is_number
from mnlearn.protocols import FloatArray, Indices, Score, Statistics, VarSet
from mnlearn.scores._entropies import Entropies, entropies_of
from mnlearn.scores._heldout import folds_of, heldout_score
from mnlearn.scores._local import Decomposed
from mnlearn.statistics import Counts, Moments


class _ByEntropies(Decomposed):
    """What the two scores share: the entropies they are made of, and what those know of the data."""

    _entropies: Entropies

    @property
    def n_variables(self) -> int:
        """How many variables the data have."""
        return self._entropies.n_variables

    @property
    def most_neighbors(self) -> int:
        """How many neighbours the rows allow: half of N for a Gaussian, log₂ N for tables."""
        return self._entropies.most_given

    @property
    def constant(self) -> VarSet:
        """The variables that never change; nothing here keeps a search from giving them neighbours for nothing."""
        return self._entropies.constant


@dataclass(frozen=True)
class Entropy(_ByEntropies):
    """−Σ_i H(X_i | M_i), in nats per row  [MBS09, Sec. 2.4].

    Parameters
    ----------
    statistics
        `Counts` for categorical variables: H by relative frequencies. `Moments` for continuous ones:
        H = log(2πe var(X | M)) / 2 as if they were Gaussian, from the covariance with divisor N.
    rows
        The data themselves, which only cross-validation needs (`folds`).

    Raises
    ------
    UnsuitableError
        If the statistics know no entropies.

    Notes
    -----
    It has no penalty: by itself it is best on the complete graph. N times it is the maximised log pseudo-likelihood.
    A Gaussian variance below 1e-10 of the variable's own counts as that much, so that no entropy is infinite.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> score = Entropy(Moments.from_covariance([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]], n_rows=100))
    >>> gain = score(Graph(3, [(0, 1)])) - score(Graph.empty(3))  # each end is told −log(1 − 0.6²) / 2 by the other
    >>> round(gain, 4)
    0.4463
    """

    name: ClassVar[str] = "entropy"
    statistics: Statistics | Moments
    _: KW_ONLY
    rows: Dataset | None = field(default=None, repr=False, compare=False)
    _entropies: Entropies = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_entropies", entropies_of("Entropy", self.statistics))

    @property
    def n_rows(self) -> int:
        """How many rows the entropies are estimated from."""
        return self._entropies.n_rows

    def local(self, x: int, blanket: VarSet) -> float:
        """−H(x | blanket)."""
        return -self._entropies.given(x, blanket)

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """The same with one more neighbour, each y in turn."""
        return [-found for found in self._entropies.additions(xs, blankets, yss)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """The same with one neighbour less, each in turn in ascending order."""
        return [-found for found in self._entropies.removals(xs, blankets)]

    def exchanges(self, x: int, blanket: VarSet, ys: Indices) -> FloatArray:
        """The same with y for a member: one row per member in ascending order, one column per y."""
        return -self._entropies.exchanges(x, blanket, ys)

    def criterion(self, gamma: float) -> ExtendedBIC:
        """The extended criterion by the same statistics: it can compare blankets of different sizes."""
        return ExtendedBIC(self.statistics, gamma=gamma)

    def folds(self, n_folds: int, seed: int) -> list[tuple[Entropy, Score]]:
        """For each fold: the entropies of the other rows, and the log pseudo-likelihood of a graph on this one's."""
        if self.rows is None:
            raise InputError(
                "rows are needed for cross-validation; got none. Give the data set: Entropy(statistics, rows=dataset)."
            )
        found: list[tuple[Entropy, Score]] = []
        for train, test in folds_of(self.rows, n_folds, seed):
            statistics = Moments(train) if isinstance(self.statistics, Moments) else Counts(train)
            found.append((Entropy(statistics), heldout_score(self.rows, train, test)))
        return found


@dataclass(frozen=True)
class ExtendedBIC(_ByEntropies):
    """Σ_i [−N H(X_i | M_i) − d_i/2 log N − γ |M_i| log(n − 1)], in nats  [FD10, of each variable].

    Parameters
    ----------
    statistics
        As in `Entropy`.
    gamma
        γ: 0 is the ordinary criterion; the more, the dearer is each neighbour where there are many to choose from.

    Raises
    ------
    InputError
        If γ is no number, or negative.
    UnsuitableError
        If the statistics know no entropies.

    Notes
    -----
    d_i is how many parameters p(X_i | M_i) has beyond those of p(X_i): |M_i| for a Gaussian, (r_i − 1)(q_i − 1) for
    tables, by declared states. An edge is a parameter of both its ends, and pays at both for what it gains at both.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> score = ExtendedBIC(Moments.from_covariance([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]], n_rows=100))
    >>> empty = score(Graph.empty(3))
    >>> [round(score(Graph(3, [edge])) - empty, 2) for edge in [(0, 1), (1, 2)]]
    [39.33, -5.3]
    """

    name: ClassVar[str] = "ebic"
    statistics: Statistics | Moments
    _: KW_ONLY
    gamma: float = 0.5
    _entropies: Entropies = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (is_number(self.gamma) and self.gamma >= 0):
            raise InputError(f"gamma must be a number, 0 or more; got {self.gamma!r}. Usual are 0, 0.5 and 1.")
        object.__setattr__(self, "_entropies", entropies_of("ExtendedBIC", self.statistics))

    def local(self, x: int, blanket: VarSet) -> float:
        """−N H(x | blanket) less what the blanket costs."""
        parameters = np.array(self._entropies.parameters(x, blanket))
        return float(self._less(np.array(self._entropies.given(x, blanket)), parameters, len(blanket)))

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """The same with one more neighbour, each y in turn."""
        found = self._entropies.additions(xs, blankets, yss)
        with_y = map(self._entropies.parameters_with, map(int, xs), blankets, yss)
        return [self._less(h, d, len(z) + 1) for h, d, z in zip(found, with_y, blankets, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """The same with one neighbour less, each in turn in ascending order."""
        found = self._entropies.removals(xs, blankets)
        left = (
            [self._entropies.parameters(int(x), z - {m}) for m in sorted(z)] for x, z in zip(xs, blankets, strict=True)
        )
        return [self._less(h, np.array(d), len(z) - 1) for h, d, z in zip(found, left, blankets, strict=True)]

    def exchanges(self, x: int, blanket: VarSet, ys: Indices) -> FloatArray:
        """The same with y for a member: one row per member in ascending order, one column per y."""
        with_y = [self._entropies.parameters_with(x, blanket - {m}, ys) for m in sorted(blanket)]
        shaped = np.array(with_y).reshape(len(blanket), len(ys))
        return self._less(self._entropies.exchanges(x, blanket, ys), shaped, len(blanket))

    def _less(self, entropy: FloatArray, parameters: FloatArray, size: int) -> FloatArray:
        """−N H less the two penalties."""
        n_rows, others = self._entropies.n_rows, max(self.n_variables - 1, 1)
        return np.asarray(-n_rows * entropy - 0.5 * log(n_rows) * parameters - self.gamma * size * log(others))
