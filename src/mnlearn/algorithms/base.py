"""Parts that the searches share: required and forbidden edges, and cancellation.

Marginal association, by a local score or by a test: it decides between candidates that tie.

Neither the association of a pair nor the strength of a variable depends on names, labels or the order of the columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from operator import index
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, UnsuitableError, check_methods
from mnlearn.graphs.candidates import Candidates, check_candidates
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import Criterion
from mnlearn.protocols import BoolArray, EvidenceScore, FloatArray, Indices, LocalScore, Monitor, VarSet


@dataclass(frozen=True)
class Constraints:
    """Required and forbidden edges of a graph on n variables, checked.

    Parameters
    ----------
    n_variables
        How many variables there are.
    required, forbidden
        Pairs of indices, in either direction.
    candidates
        The only pairs that may be edges, required ones excepted; None for all pairs.

    Raises
    ------
    InputError
        If a pair does not name two different variables, or is both required and forbidden, or the candidates are pairs
        of another number of variables.

    Examples
    --------
    >>> known = Constraints(4, required=[(2, 0)], forbidden=[(1, 3)])
    >>> known.apply(Graph(4, [(1, 3), (0, 1)])).edges
    ((0, 1), (0, 2))
    >>> len(known.free())
    4
    """

    n_variables: int
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()
    candidates: Candidates | None = None
    fixed: frozenset[Edge] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.candidates is not None:
            check_candidates(self.candidates, self.n_variables)
        object.__setattr__(self, "required", self._checked("required", self.required))
        object.__setattr__(self, "forbidden", self._checked("forbidden", self.forbidden))
        both = frozenset(self.required) & frozenset(self.forbidden)
        if both:
            u, v = min(both)
            raise InputError(f"required and forbidden must not share an edge; both name ({u}, {v}). Drop it from one.")
        object.__setattr__(self, "fixed", frozenset(self.required) | frozenset(self.forbidden))

    def allows(self, u: int, v: int) -> bool:
        """Return whether a search may flip this pair."""
        pair = ordered(u, v)
        return pair not in self.fixed and (self.candidates is None or len(self.candidates.places([pair])) > 0)

    def free(self) -> list[Edge]:
        """Return the pairs that a search may flip, in lexicographic order."""
        n = self.n_variables
        if self.candidates is not None:
            listed = zip(self.candidates.u.tolist(), self.candidates.v.tolist(), strict=True)
            return [pair for pair in listed if pair not in self.fixed]
        return [(u, v) for u in range(n) for v in range(u + 1, n) if (u, v) not in self.fixed]

    def mask(self) -> BoolArray:
        """Return the symmetric matrix of the pairs that a search may flip; False on the diagonal."""
        n = self.n_variables
        if self.candidates is None:
            may = ~np.eye(n, dtype=np.bool_)
        else:
            may = np.zeros((n, n), dtype=np.bool_)
            may[self.candidates.u, self.candidates.v] = may[self.candidates.v, self.candidates.u] = True
        for u, v in self.fixed:
            may[u, v] = may[v, u] = False
        return may

    def partners(self) -> list[NDArray[np.int32]] | None:
        """Return the variables that a search may join to each variable, ascending; None for all but fixed pairs."""
        return None if self.candidates is None else self.candidates.without(self.fixed).partners()

    def apply(self, graph: Graph) -> Graph:
        """Return the graph with the required edges added and those removed that are forbidden or no candidates."""
        if self.candidates is not None:
            kept = self.candidates.places(graph.edges)
            ends = self.candidates.u[kept].tolist(), self.candidates.v[kept].tolist()
            graph = Graph(self.n_variables, zip(*ends, strict=True))
        return graph.add(self.required).remove(edge for edge in self.forbidden if edge in graph)

    def _checked(self, name: str, edges: Collection[Edge]) -> frozenset[Edge]:
        found = set()
        for edge in edges:
            try:
                u, v = (index(end) for end in edge)
            except (TypeError, ValueError):
                raise InputError(
                    f"{name} must hold pairs of variables; got {edge!r}. Write for example [(0, 1)]."
                ) from None
            if u == v or not (0 <= u < self.n_variables and 0 <= v < self.n_variables):
                raise InputError(
                    f"{name} must hold pairs of two different variables, 0 to {self.n_variables - 1}; "
                    f"got {(u, v)}. Drop or correct it."
                )
            found.add(ordered(u, v))
        return frozenset(found)


class Cancelled(Exception):  # noqa: N818 - an event that a search catches, not an error
    """The monitor cancels the search, which returns its best result so far."""


def check_cancelled(monitor: Monitor) -> None:
    """Raise Cancelled if the monitor cancels the search."""
    if monitor.cancelled():
        raise Cancelled


def check_parts(judge: object, monitor: object, methods: Sequence[str], hint: str) -> int:
    """Return the number of variables; raise UnsuitableError for a judge or monitor of the wrong kind."""
    check_methods("judge", judge, methods, hint)
    check_monitor(monitor)
    n_variables = getattr(judge, "n_variables", None)
    if not isinstance(n_variables, int):
        raise UnsuitableError(f"judge must have n_variables, a number; a {type(judge).__name__} has none. {hint}")
    check_variables(n_variables)
    return n_variables


def check_monitor(monitor: object) -> None:
    """Raise UnsuitableError unless the monitor can receive progress and cancel."""
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for none.")


def check_variables(n_variables: int) -> None:
    """Raise InputError if there are fewer than 2 variables."""
    if n_variables < 2:
        raise InputError(
            f"judge must know at least 2 variables; got {n_variables}. There is no structure to learn from fewer."
        )


def edges_of_neighborhoods(
    found: Mapping[int, Mapping[int, float]], rule: Literal["and", "or"], weigh: Callable[[float, float], float]
) -> dict[Edge, float]:
    """Return the edges that both ends choose ("and") or at least one of them ("or"), each with its support.

    Parameters
    ----------
    found
        For each variable its neighbours with their support. A variable that is missing agrees with all others.
    rule
        How the two ends are combined.
    weigh
        Combines the support of the two ends: min or max.
    """
    edges: dict[Edge, float] = {}
    for x, neighbors in found.items():
        for y, support in neighbors.items():
            if rule == "or" or y not in found or x in found[y]:
                edge = ordered(x, y)
                edges[edge] = weigh(support, edges.get(edge, support))
    return edges


def ordered(x: int, y: int) -> Edge:
    """Return the pair with the smaller index first."""
    return (x, y) if x < y else (y, x)


_NOTHING: VarSet = frozenset()


class EdgesAndDegrees(Protocol):
    """Edges and degrees of a graph, by which ties are decided."""

    def __contains__(self, edge: Edge, /) -> bool: ...
    def degree(self, x: int, /) -> int: ...


class Association(ABC):
    """Association of pairs and strength of variables, computed only where scores tie.

    The strength of a variable is its mean association with the others, or the gain of its own end.
    """

    def __init__(self, n_variables: int) -> None:
        self._n = n_variables
        self._strength: dict[int, float] = {}

    @abstractmethod
    def of(self, pairs: Sequence[Edge]) -> FloatArray:
        """Return the association of each pair."""

    @abstractmethod
    def _means(self, xs: Sequence[int], others: Sequence[Indices]) -> Iterable[float]:
        """Return the mean association of each x with its others."""

    def strengths(self, xs: NDArray[np.intp]) -> FloatArray:
        """Return the strength of each variable."""
        new = [x for x in dict.fromkeys(xs.tolist()) if x not in self._strength]
        everyone = np.arange(self._n, dtype=np.int32)
        others = [np.delete(everyone, x) for x in new]
        self._strength.update(zip(new, self._means(new, others), strict=True))
        return np.array([self._strength[x] for x in xs.tolist()])

    def joining(self, x: int, ys: Indices) -> tuple[Criterion, Criterion]:
        """Return the criteria for a new neighbour of x: the stronger association, then the stronger variable."""
        return (
            lambda tied: self.of([(x, int(y)) for y in np.asarray(ys)[tied]]),
            lambda tied: self.strengths(np.asarray(ys)[tied]),
        )

    def leaving(self, x: int, ys: Indices) -> tuple[Criterion, Criterion]:
        """Return the criteria for a neighbour of x to remove: the weaker association, then the weaker variable."""
        association, strength = self.joining(x, ys)
        return (lambda tied: -association(tied), lambda tied: -strength(tied))

    def flipping(
        self, pair_at: Callable[[int], Edge], graph: Callable[[], EdgesAndDegrees]
    ) -> tuple[Criterion, Criterion, Criterion]:
        """Return the criteria for a flip of the pair at some place: association, few neighbours, strength.

        The stronger association joins, the weaker one leaves; so with the strength.
        """

        def chosen(tied: NDArray[np.intp]) -> list[Edge]:
            return [pair_at(place) for place in tied.tolist()]

        def signs(tied: NDArray[np.intp]) -> FloatArray:
            return np.array([-1.0 if edge in graph() else 1.0 for edge in chosen(tied)])

        def few_neighbors(tied: NDArray[np.intp]) -> FloatArray:
            return np.array([-float(graph().degree(u) + graph().degree(v)) for u, v in chosen(tied)])

        def strength(tied: NDArray[np.intp]) -> FloatArray:
            ends = np.array(chosen(tied), dtype=np.intp)
            return np.asarray(signs(tied) * self.strengths(ends.ravel()).reshape(ends.shape).sum(axis=1))

        return (lambda tied: signs(tied) * self.of(chosen(tied))), few_neighbors, strength


class ScoreAssociation(Association):
    """Association by a local score: the gain of both ends, each with the other alone  [MPL17, Eq. 9]."""

    def __init__(self, score: LocalScore) -> None:
        super().__init__(score.n_variables)
        self.scored = 0
        self._score = score
        self._alone: dict[int, float] = {}

    def of(self, pairs: Sequence[Edge]) -> FloatArray:
        """Return the association of each pair."""
        xs, ys = [u for u, _ in pairs], [v for _, v in pairs]
        gains = np.array([gain[0] for gain in self._gains([*xs, *ys], [[y] for y in [*ys, *xs]])])
        return np.asarray(gains[: len(pairs)] + gains[len(pairs) :])

    def _means(self, xs: Sequence[int], others: Sequence[Indices]) -> Iterable[float]:
        return [float(gain.mean()) for gain in self._gains(xs, others)]

    def _gains(self, xs: Sequence[int], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return the gain of each x by each of its ys alone."""
        self.scored += sum(map(len, yss))
        found = self._score.additions(xs, [_NOTHING] * len(xs), yss)
        return [values - self._without(x) for x, values in zip(xs, found, strict=True)]

    def _without(self, x: int) -> float:
        """Return the score of x without neighbours."""
        if x not in self._alone:
            self._alone[x] = self._score.local(x, _NOTHING)
        return self._alone[x]


class EvidenceAssociation(Association):
    """Association by evidence: ev(x, y) given nothing; the strengths to first order, without fits."""

    def __init__(self, judge: EvidenceScore) -> None:
        super().__init__(judge.n_variables)
        self._judge = judge

    def of(self, pairs: Sequence[Edge]) -> FloatArray:
        """Return the association of each pair."""
        xs, yss = [u for u, _ in pairs], [[v] for _, v in pairs]
        found = self._judge.pairs(xs, [_NOTHING] * len(xs), yss, fit_above=-inf)
        return np.array([pair.log_factor[0] for pair in found])

    def _means(self, xs: Sequence[int], others: Sequence[Indices]) -> Iterable[float]:
        found = self._judge.pairs(xs, [_NOTHING] * len(xs), others, fit_above=inf)
        return [float(pair.log_factor.mean()) for pair in found]
