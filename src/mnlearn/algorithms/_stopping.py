"""How a search stops before its end: a budget is spent, or whoever watches has seen enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mnlearn.errors import BudgetExceeded
from mnlearn.protocols import (
    BatchedTest,
    BlanketTest,
    IndependenceTest,
    Indices,
    Knowledge,
    Monitor,
    PairsTest,
    Turns,
    VarSet,
    Verdict,
    Verdicts,
)


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

    def __init__(self, judge: IndependenceTest, monitor: Monitor) -> None:
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
        blocks = self._judge.scan_pairs() if isinstance(self._judge, PairsTest) else None
        return None if blocks is None else self._heard(blocks)

    def _heard(self, blocks: Iterator[tuple[range, Verdicts]]) -> Iterator[tuple[range, Verdicts]]:
        listen(self._monitor)
        for block in blocks:
            yield block
            listen(self._monitor)


class WatchedBatches(Watched):
    """The same for a judge that answers many scans together."""

    def __init__(self, judge: BatchedTest, monitor: Monitor) -> None:
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

    def __init__(self, judge: BlanketTest, monitor: Monitor) -> None:
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
    if isinstance(judge, BlanketTest):
        return WatchedBlankets(judge, monitor)
    return WatchedBatches(judge, monitor) if isinstance(judge, BatchedTest) else Watched(judge, monitor)
