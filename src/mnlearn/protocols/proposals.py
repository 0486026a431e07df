"""Judges that propose: whom they place around a variable, how much pairs tell of each other, whole graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from mnlearn.graphs.graph import Edge
from mnlearn.protocols.arrays import FloatArray, VarSet
from mnlearn.protocols.searches import Monitor


class Neighborhood(NamedTuple):
    """Whom a judge places around a variable."""

    support: Mapping[int, float]  # the neighbours, each with its support on the judge's own log scale
    fits: int  # how many models were fitted to find out


class NeighborhoodJudge(Protocol):
    """Chooses: who are the neighbours of x?"""

    @property
    def n_variables(self) -> int: ...
    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Some of the candidates, and all that are required."""
        ...


@runtime_checkable
class BatchedNeighborhoods(NeighborhoodJudge, Protocol):
    """A judge that chooses for several variables at once, at less cost than for one after the other."""

    def neighborhoods(self, asked: Sequence[tuple[int, VarSet, VarSet]]) -> list[Neighborhood]:
        """The answers of `neighborhood`, in the order of the questions."""
        ...


@runtime_checkable
class SpreadNeighborhoods(NeighborhoodJudge, Protocol):
    """A judge whose answers are found by several processes or machines, so that it is asked for all of them at once."""

    def spread(self, asked: Sequence[tuple[int, VarSet, VarSet]], monitor: Monitor) -> Iterator[Neighborhood]:
        """The answers of `neighborhood`, in the order of the questions; fewer if the monitor has had enough."""
        ...


class InformationJudge(Protocol):
    """Measures: how much does each pair of variables tell of each other, and could that be chance?"""

    @property
    def n_variables(self) -> int: ...
    def information(self) -> FloatArray:
        """The mutual information of every pair in nats: symmetric, 0 on the diagonal."""
        ...

    def log_p(self) -> FloatArray:
        """The log p-value of every pair: symmetric, 0 on the diagonal."""
        ...


class PathStep(NamedTuple):
    """What a penalised model looks like at one penalty."""

    criterion: float  # the less the better
    support: Mapping[Edge, float]  # its edges, each with its support on the judge's own log scale
    converged: bool  # whether the solver came to its end


class PathJudge(Protocol):
    """Proposes: whole graphs, one for each penalty, from no edge to many."""

    @property
    def n_variables(self) -> int: ...
    @property
    def penalties(self) -> Sequence[float]:
        """From the one that leaves no edge, downwards."""
        ...

    def at(self, penalty: float) -> PathStep:
        """The model at this penalty."""
        ...
