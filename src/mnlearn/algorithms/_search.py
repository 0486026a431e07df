"""What is known beforehand: edges that must be there, and edges that must not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import index

import numpy as np

from mnlearn.errors import BudgetExceeded, InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import (
    BaseTest,
    BoolArray,
    FloatArray,
    IndependenceTest,
    Indices,
    Knowledge,
    Monitor,
    Turns,
    VarSet,
    Verdict,
    Verdicts,
    with_defaults,
)


@dataclass(frozen=True)
class Constraints:
    """Required and forbidden edges of a graph on n variables, checked.

    Parameters
    ----------
    n_variables
        How many variables there are.
    required, forbidden
        Pairs of indices, in either direction.

    Raises
    ------
    InputError
        If a pair does not name two different variables, or is both required and forbidden.

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
    fixed: frozenset[Edge] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", self._checked("required", self.required))
        object.__setattr__(self, "forbidden", self._checked("forbidden", self.forbidden))
        both = frozenset(self.required) & frozenset(self.forbidden)
        if both:
            u, v = min(both)
            raise InputError(f"required and forbidden must not share an edge; both name ({u}, {v}). Drop it from one.")
        object.__setattr__(self, "fixed", frozenset(self.required) | frozenset(self.forbidden))

    def allows(self, u: int, v: int) -> bool:
        """Whether a search may flip this pair."""
        return ((u, v) if u < v else (v, u)) not in self.fixed

    def free(self) -> list[Edge]:
        """The pairs that a search may flip, in lexicographic order."""
        n = self.n_variables
        return [(u, v) for u in range(n) for v in range(u + 1, n) if (u, v) not in self.fixed]

    def mask(self) -> BoolArray:
        """The same as a symmetric matrix: true where a search may flip; false on the diagonal."""
        may = ~np.eye(self.n_variables, dtype=np.bool_)
        for u, v in self.fixed:
            may[u, v] = may[v, u] = False
        return may

    def apply(self, graph: Graph) -> Graph:
        """The graph with what is required added and what is forbidden removed."""
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
            found.add((u, v) if u < v else (v, u))
        return frozenset(found)


# How a search stops before its end: a budget is spent, or whoever watches has seen enough.


class Cancelled(Exception):  # noqa: N818 - an event a search catches, not a fault
    """The monitor asked for the best result so far."""


STOPPED = (BudgetExceeded, Cancelled)


def listen(monitor: Monitor) -> None:
    """Go on, unless the monitor has seen enough."""
    if monitor.cancelled():
        raise Cancelled


class Watched:
    """A judge that asks the monitor before every scan whether to go on, and raises `Cancelled` if not.

    A subset search is exponential; between two scans is the only place where it is sure to hear a monitor in time.
    """

    def __init__(self, judge: BaseTest, monitor: Monitor) -> None:
        self._judge, self._monitor = judge, monitor

    @property
    def n_variables(self) -> int:
        """How many variables the judge inside knows."""
        return self._judge.n_variables

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Go on? Then ask."""
        listen(self._monitor)
        return self._judge(x, y, z)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Go on? Then ask about each y."""
        listen(self._monitor)
        return self._judge.scan(x, ys, z)

    def scan_pairs(self) -> Iterator[tuple[range, Verdicts]] | None:
        """All pairs as the judge inside answers them, if it does; go on after each block of them?"""
        blocks = self._judge.scan_pairs()
        return None if blocks is None else self._heard(blocks)

    def _heard(self, blocks: Iterator[tuple[range, Verdicts]]) -> Iterator[tuple[range, Verdicts]]:
        listen(self._monitor)
        for block in blocks:
            yield block
            listen(self._monitor)


class WatchedBatches(Watched):
    """The same for a judge that answers many scans together."""

    def __init__(self, judge: BaseTest, monitor: Monitor) -> None:
        super().__init__(judge, monitor)
        self._batched = judge

    def scan_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """Go on? Then ask them all."""
        listen(self._monitor)
        return self._batched.scan_many(xs, yss, zs)

    def scan_members(self, x: int, z: VarSet) -> Verdicts:
        """Go on? Then ask about every member."""
        listen(self._monitor)
        return self._batched.scan_members(x, z)


class WatchedBlankets(WatchedBatches):
    """The same for a judge that can be asked for a whole blanket."""

    def __init__(self, judge: BaseTest, monitor: Monitor) -> None:
        super().__init__(judge, monitor)
        self._blankets = judge

    def scan_growing(
        self,
        x: int,
        ys: Indices,
        z: VarSet,
        *,
        to_first: bool = False,
        ahead: int = 1,
        known: Knowledge | None = None,
    ) -> Turns:
        """Go on? Then let it grow."""
        listen(self._monitor)
        return self._blankets.scan_growing(x, ys, z, to_first=to_first, ahead=ahead, known=known)

    def scan_shrinking(self, x: int, ys: Indices, z: VarSet, *, known: Knowledge | None = None) -> Turns:
        """Go on? Then let it shrink."""
        listen(self._monitor)
        return self._blankets.scan_shrinking(x, ys, z, known=known)

    def knowledge(self, *, mirrored: bool = False) -> Knowledge | None:
        """What the judge inside can reason by."""
        return self._blankets.knowledge(mirrored=mirrored)


def watched(judge: IndependenceTest, monitor: Monitor) -> Watched:
    """The judge with a monitor beside it, able to do what the judge can."""
    test = with_defaults(judge)
    return WatchedBlankets(test, monitor) if test.batched else Watched(test, monitor)


# When one score is better than another: by more than rounding.


_ABSOLUTE, _RELATIVE = 1e-9, 1e-12


def tolerance(worths: Iterable[float]) -> float:
    """What rounding may do to scores of this size: two sums of the same terms in another order differ by less."""
    return max(_ABSOLUTE, _RELATIVE * max((abs(worth) for worth in worths), default=0.0))


def first_best(values: FloatArray, now: float, rounding: float) -> int | None:
    """The place of the best value, the first of equals; None if none is better than now. A tie is no improvement."""
    if not len(values):
        return None
    best = float(values[values.argmax()])  # half the time of max() for a few hundred values
    if not best > now + rounding:
        return None
    return int((values >= max(best - rounding, now + rounding)).argmax())
