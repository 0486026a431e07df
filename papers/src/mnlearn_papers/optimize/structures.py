"""The structure of a population: which genes depend on one another among the selected individuals.

Whatever makes a graph of a data set will do. Two are named: ``"moa"``, the mutual information of pairs with a cut and a
bound on the neighbours, Shakya & Santana (2008)  [MOA08]; and ``"moa'"``, IBMAP-HC with the IB-score, which has no such
bound, Schlüter, Bromberg & Edera (2014)  [IBMAP14].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mnlearn._ties import ranks, tolerance
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_name, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.independence.bayesian import BayesianTest
from mnlearn.protocols import FloatArray, Learner
from mnlearn.scores.ib import IBScore
from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts

StructureLearner: TypeAlias = Callable[[Dataset], Graph]
"""Function from the selected individuals to the structure."""


@dataclass(frozen=True, kw_only=True)
class MutualInformationStructure:
    """MOA's structure: join the pairs whose mutual information stands out, the strongest first  [MOA08].

    Parameters
    ----------
    max_neighbors
        How many neighbours a gene may have: what an expert knows about the problem. None for any number.
    cut
        A pair must have more than so many times the mean mutual information of all pairs.

    Notes
    -----
    "At most k neighbours, the strongest kept" is read as: pairs are joined in order of their mutual information (equal
    up to rounding: the first pair) unless one of the two has k neighbours already. The graph is symmetric, and no gene
    has more than k.

    Examples
    --------
    >>> a, b = [0, 1] * 20, [0, 0, 1, 1] * 10
    >>> MutualInformationStructure(max_neighbors=1)(Dataset.from_codes([a, a, b, b]))
    Graph(4, [(0, 1), (2, 3)])
    """

    max_neighbors: int | None = 3
    cut: float = 1.5

    def __post_init__(self) -> None:
        if self.max_neighbors is not None:
            whole_number("max_neighbors", self.max_neighbors, least=0, hint="Use None for any number.")
        if not is_number(self.cut) or self.cut < 0:
            raise InputError(f"cut must be a number of at least 0; got {self.cut!r}. The usual one is 1.5.")

    def __call__(self, data: Dataset) -> Graph:
        """The graph of a population."""
        n = data.n_variables
        if n < 2:
            return Graph.empty(n)
        information = Counts(data, n_jobs=1).reduce_all(kernels.mi())[0]
        return Graph(n, _strongest(information, n, self.cut, n if self.max_neighbors is None else self.max_neighbors))


def _strongest(information: FloatArray, n: int, cut: float, most: int) -> list[tuple[int, int]]:
    """Pairs above the cut, from the strongest on, as long as both ends have room."""
    level = cut * float(information.mean())
    candidates = np.flatnonzero(information > level + tolerance([level]))
    candidates = candidates[np.argsort(ranks(-information[candidates]), kind="stable")]
    ends = np.cumsum(np.arange(n - 1, 0, -1))  # of the pairs (u, v > u), by u
    us = np.searchsorted(ends, candidates, side="right")
    vs = n + candidates - ends[us]
    room, left, chosen = [most] * n, n, []
    for u, v in zip(us.tolist(), vs.tolist(), strict=True):
        if room[u] and room[v]:
            room[u] -= 1
            room[v] -= 1
            chosen.append((u, v))
            left -= (not room[u]) + (not room[v])
            if left < 2:  # no candidate pair is left
                break
    return chosen


@dataclass(frozen=True)
class Judged:
    """Any learner of this library, with what makes its judge from the selected individuals.

    Parameters
    ----------
    learner
        Settings of a search, such as ``GSIMN()``.
    judge
        Makes the judge that the search meets, such as ``lambda data: ChiSquare(Counts(data))``.

    Examples
    --------
    >>> from mnlearn.algorithms import TwoPhase
    >>> from mnlearn.scores import MPL
    >>> learner = Judged(TwoPhase(), lambda data: MPL(Counts(data)))
    >>> learner(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20]))
    Graph(2, [(0, 1)])
    """

    learner: Learner[Any]
    judge: Callable[[Dataset], Any]

    def __call__(self, data: Dataset) -> Graph:
        """The graph of a population; of a single gene, no search is asked."""
        return self.learner.learn(self.judge(data)).graph if data.n_variables > 1 else Graph.empty(data.n_variables)


def ib_judge(data: Dataset) -> IBScore:
    """The IB-score of a population, with the Bayesian test of [BJP18]."""
    return IBScore(BayesianTest(Counts(data, n_jobs=1)))


LEARNERS: Mapping[str, StructureLearner] = {
    "moa": MutualInformationStructure(),
    "moa'": Judged(IBMAPHC(), ib_judge),
}
"""Structure learners by name."""


def learner_by_name(learner: str | StructureLearner) -> StructureLearner:
    """Return the learner, by name if a string is given."""
    if isinstance(learner, str):
        check_name("learner", learner, LEARNERS)
        return LEARNERS[learner]
    if not callable(learner):
        raise InputError(
            f"learner must be a name ({', '.join(LEARNERS)}) or make a Graph of a Dataset when called; got a "
            f"{type(learner).__name__}. Put a learner and its judge together with Judged."
        )
    return learner
