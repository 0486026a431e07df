"""Decomposable scores: sums over variables, updated flip by flip.

A flip of {u, v} changes the blankets of u and v and no other, so it changes two terms of the sum  [MPL17, Eq. 9].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, UnsuitableError, is_masked_array, is_number
from mnlearn.graphs.candidates import Candidates, VariableLists, keys_of
from mnlearn.graphs.graph import Edge, Graph, check_graph
from mnlearn.numbers import log, tolerance
from mnlearn.protocols import SILENT, FloatArray, Indices, Kernel, LocalScore, Monitor, VarSet
from mnlearn.protocols.judges import LocalClimbs

_TOGETHER = 1 << 26  # pairs scanned between two looks at the monitor
_SCORED_TOGETHER = 1 << 21  # pairs whose scores are held at once: 16 MB


class Decomposed(ABC):
    """Base class of local scores: the score of a graph is the sum over its variables  [MPL17, Eq. 7]."""

    @property
    @abstractmethod
    def n_variables(self) -> int:
        """Number of variables."""

    @abstractmethod
    def local(self, x: int, blanket: VarSet) -> float:
        """Return the score of x with this blanket."""

    @abstractmethod
    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each x with its blanket and each of its ys."""

    @abstractmethod
    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each x with its blanket, members y in ascending order."""

    def __call__(self, graph: Graph) -> float:
        """Return the score of a graph in natural logs; higher is better."""
        return self.on(graph).value

    def on(self, graph: Graph) -> LocallyScored:
        """Return the graph with its score, to be updated flip by flip."""
        return LocallyScored(self, graph)

    def climbs(self) -> LocalClimbs | None:
        """Return climbs for many variables in one call; None where there are none."""
        return None

    def strongest_given(self, xs: Indices, blankets: Sequence[VarSet], k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs of each x with the k variables that improve its blanket most; none that do not.

        Parameters
        ----------
        xs, blankets
            Variables, ascending, each once, and the blanket of each.
        k
            Number of the strongest for each x, among all variables outside its blanket.
        monitor
            Receives the progress. If it cancels, the pairs found so far are returned.
        """
        climbs, given, found = self.climbs(), VariableLists.of(blankets), list[VariableLists]()
        together = _SCORED_TOGETHER if climbs is None else _TOGETHER
        listed, size = np.asarray(xs, dtype=np.int32), max(32, together // self.n_variables)
        for first in range(0, len(listed), size):
            if monitor.cancelled():
                break
            monitor.progress(first, len(listed), "scan given blankets")
            some = np.arange(first, min(first + size, len(listed)), dtype=np.int32)
            if climbs is None:
                found.append(self._strongest_of(listed[some], [blankets[j] for j in some.tolist()], k))
            else:
                found.append(climbs.strongest(listed[some], given.chosen(some), k))
        best = VariableLists.joined(found)
        ends = np.repeat(listed[: len(best)].astype(np.int64), best.sizes)
        return Candidates(self.n_variables, keys_of(self.n_variables, np.stack([ends, best.members], axis=1)))

    def _strongest_of(self, xs: NDArray[np.int32], blankets: Sequence[VarSet], k: int) -> VariableLists:
        """Return the k variables that improve the blanket of each x most."""
        everyone, yss = np.arange(self.n_variables, dtype=np.int32), []
        for x, blanket in zip(xs.tolist(), blankets, strict=True):
            yss.append(np.delete(everyone, [x, *blanket]))
        best = []
        for x, blanket, ys, values in zip(
            xs.tolist(), blankets, yss, self.additions(xs.tolist(), blankets, yss), strict=True
        ):
            now = self.local(x, blanket)
            order = np.argsort(-values, kind="stable")[:k]
            best.append(np.sort(ys[order[values[order] > now + tolerance([now])]]))
        return VariableLists.of(best)


class LocallyScored:
    """A graph under a local score, with cached scores of single flips.

    Parameters
    ----------
    score
        Any `LocalScore`.
    graph
        The start; flips change this object, not the graph passed in.

    Notes
    -----
    A flip invalidates only the cached flips at its two ends, and of those only the half of that end [MPL17, Sec. 4.2].
    Memory grows with the number of pairs scored.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.scores import MPL
    >>> from mnlearn.statistics import Counts
    >>> score = MPL(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> scored = score.on(Graph.empty(3))
    >>> scored.gains([(0, 1), (0, 2)]).round(2).tolist()
    [50.2, -3.89]
    >>> sorted(scored.flip((0, 1)))
    [0, 1]
    >>> scored.graph
    Graph(3, [(0, 1)])
    """

    def __init__(self, score: LocalScore, graph: Graph) -> None:
        n = score.n_variables
        check_graph("graph", graph)
        if graph.n_variables != n:
            raise InputError(
                f"graph must have the {n} variables of the score; got one on {graph.n_variables}. Score it by the data "
                "it belongs to."
            )
        self._score, self._graph = score, graph
        self._neighbors = [graph.neighbors(x) for x in range(n)]
        self._n_edges, self._flipped_since = graph.n_edges, False  # a flip must not copy n references
        self._local = [score.local(x, blanket) for x, blanket in enumerate(self._neighbors)]
        self._flipped: list[dict[int, float]] = [
            {} for _ in range(n)
        ]  # [x][y]: local score of x if {x, y} were flipped

    @property
    def graph(self) -> Graph:
        """The current graph."""
        if self._flipped_since:
            self._graph, self._flipped_since = Graph._share(self._neighbors, self._n_edges), False
        return self._graph

    @property
    def value(self) -> float:
        """The score of the current graph."""
        return fsum(self._local)

    @property
    def terms(self) -> tuple[float, ...]:
        """The local score of each variable."""
        return tuple(self._local)

    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        """Return the change of the score for each pair, if it alone were flipped  [MPL17, Eq. 9]."""
        self._fill(edges)
        local, flipped = self._local, self._flipped
        changes = ((flipped[u][v] - local[u]) + (flipped[v][u] - local[v]) for u, v in edges)
        return np.fromiter(changes, dtype=np.float64, count=len(edges))

    def flip(self, edge: Edge) -> VarSet:
        """Flip a pair and return its ends, the only variables whose pairs may have new gains."""
        self._fill([edge])
        u, v = edge
        self._n_edges += -1 if v in self._neighbors[u] else 1
        self._neighbors[u] ^= {v}
        self._neighbors[v] ^= {u}
        self._flipped_since = True
        self._local[u], self._local[v] = self._flipped[u][v], self._flipped[v][u]
        self._flipped[u], self._flipped[v] = {}, {}
        return frozenset(edge)

    def _fill(self, edges: Sequence[Edge]) -> None:
        """Score every half of these flips that is not cached, in two batches."""
        n, flipped = self._score.n_variables, self._flipped
        joining: dict[int, dict[int, None]] = {}
        leaving: dict[int, None] = {}
        for u, v in edges:
            if u == v or not (0 <= u < n and 0 <= v < n):
                raise InputError(f"edges must hold pairs of two different variables, 0 to {n - 1}; got {(u, v)}.")
            for x, y in ((u, v), (v, u)):
                if y in flipped[x]:
                    continue
                if y in self._neighbors[x]:
                    leaving[x] = None
                else:
                    joining.setdefault(x, {})[y] = None
        self._fill_additions(list(joining), [np.fromiter(ys, np.int32, len(ys)) for ys in joining.values()])
        self._fill_removals(list(leaving))

    def _fill_additions(self, xs: list[int], yss: list[Indices]) -> None:
        if xs:
            found = self._score.additions(xs, [self._neighbors[x] for x in xs], yss)
            for x, ys, values in zip(xs, yss, found, strict=True):
                self._flipped[x].update(zip(np.asarray(ys).tolist(), values.tolist(), strict=True))

    def _fill_removals(self, xs: list[int]) -> None:
        if xs:
            blankets = [self._neighbors[x] for x in xs]
            for x, blanket, values in zip(xs, blankets, self._score.removals(xs, blankets), strict=True):
                self._flipped[x].update(zip(sorted(blanket), values.tolist(), strict=True))


BlanketPrior: TypeAlias = Callable[[int], float]
"""The size of a blanket -> its log prior, up to a constant; half of an edge's prior belongs to each end."""


@dataclass(frozen=True)
class GraphPrior:
    """log p(G) = −strength |E| log d, or a function of the sizes of the blankets  [MPL17, Sec. 3.1].

    The paper prints the opposite sign; its text says that each edge is penalised by log d.
    """

    n_variables: int
    choice: float | BlanketPrior | None
    _known: dict[int, float] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.choice is None or callable(self.choice):
            return
        if not (is_number(self.choice) and self.choice >= 0):
            raise InputError(
                f"graph_prior must be a strength, 0 or more, or a function of a blanket's size; got {self.choice!r}. "
                "The paper uses 1; None means no prior."
            )

    def __call__(self, size: int) -> float:
        """Return the log prior of a blanket of this size."""
        if self.choice is None:
            return 0.0
        if not callable(self.choice):
            return -self.choice * size / 2 * log(self.n_variables)
        if size not in self._known:
            value = self._asked(self.choice, size)
            if not (is_number(value) and isfinite(value)):
                raise InputError(
                    f"graph_prior must give a finite log prior; got {value!r:.60} for a blanket of {size}. To forbid "
                    "large blankets, limit the search instead (max_blanket)."
                )
            self._known[size] = float(value)
        return self._known[size]

    def by_size(self) -> FloatArray | None:
        """Return the log prior of blankets of 0 to n − 1 members; None for a function of the caller."""
        if callable(self.choice):
            return None
        strength = 0.0 if self.choice is None else self.choice
        return np.asarray(-strength * np.arange(self.n_variables) / 2 * log(max(self.n_variables, 1)) + 0.0)

    @staticmethod
    def _asked(prior: BlanketPrior, size: int) -> float:
        """Return what the function of the caller gives for this size."""
        try:
            return prior(size)
        except Exception as error:
            raise InputError(
                f"graph_prior must be a function of a blanket's size; it raised {type(error).__name__} for {size}: "
                f"{error}. Write for example lambda size: -size."
            ) from error


def as_set(blanket: object) -> VarSet:
    """Return a blanket as a set of indices; raise InputError for what cannot be one."""
    if isinstance(blanket, frozenset):
        return blanket
    listed: Any = blanket.tolist() if is_masked_array(blanket) else blanket
    try:
        return frozenset(map(index, listed))
    except TypeError:
        raise InputError(
            f"blanket must be a set of indices; got {blanket!r:.80}. Use frozenset and dataset.index(name)."
        ) from None


def require_counts(score: str, statistics: object) -> None:
    """Raise UnsuitableError for statistics that cannot count."""
    for method in ("reduce_many", "without", "local"):
        if not hasattr(statistics, method):
            raise UnsuitableError(
                f"{score} cannot score by a {type(statistics).__name__}, which has no {method}. Use Counts; "
                "continuous variables must be discretised first."
            )
    require_complete(score, statistics)


def require_complete(score: str, statistics: object) -> None:
    """Raise UnsuitableError for statistics of data with gaps: terms of different rows cannot be compared."""
    gaps: Sequence[bool] = getattr(statistics, "gaps", ())
    if any(gaps):
        name = getattr(statistics, "names", ())[list(gaps).index(True)]
        raise UnsuitableError(
            f"{score} needs complete data; {name!r} has missing values (missing='testwise'), and terms of different "
            "rows cannot be compared. Use missing='drop_rows', or the score ib or bjp."
        )


def screened_pairs(statistics: Any, k: int, monitor: Monitor) -> Candidates:
    """Return the pairs that are among the k strongest of either variable by marginal evidence."""
    if not hasattr(statistics, "screen"):
        raise UnsuitableError(
            f"a screen needs statistics that find the strongest partners; a {type(statistics).__name__} has no screen. "
            "Use Counts, or give the candidates."
        )
    found: Candidates = statistics.screen(k, monitor=monitor).candidates()
    return found


class Work(dict[str, int]):
    """Counters of scans, fitted models and failed fits."""

    def __init__(self) -> None:
        super().__init__(scans=0, fits=0, fallbacks=0)

    def book(self, *, scans: int, fits: int, fallbacks: int) -> None:
        """Add to the counters."""
        self["scans"] += scans
        self["fits"] += fits
        self["fallbacks"] += fallbacks


def count_climbs(statistics: Any, kernel: Kernel, prior: GraphPrior, **price: Any) -> LocalClimbs | None:
    """Return climbs by a kernel of counts; None for other statistics, or a prior that the caller computes."""
    by_size = prior.by_size()
    if by_size is None or not hasattr(statistics, "local_climbs"):
        return None
    found: LocalClimbs | None = statistics.local_climbs(kernel, by_size, **price)
    return found
