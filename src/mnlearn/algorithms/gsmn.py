"""GSMN and GSMN*: grow-shrink learning of Markov networks.

Bromberg, Margaritis & Honavar, JAIR 35 (2009), 449-485  [JAIR09]; grow-shrink itself is from Margaritis & Thrun,
NIPS 12 (2000). The neighbours of a variable x are its Markov blanket: grow a set until nothing else depends on x given
it, then drop whatever the rest of it explains. GSMN is the outline (Algorithms 1 and 2). GSMN* (Algorithms 3 and 4)
fixes the orders, does not start over, and believes what an examined variable said about its neighbours.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from math import fsum

import numpy as np

from mnlearn.algorithms._blankets import PROPAGATION, Asking, BlanketLedger, union
from mnlearn.algorithms._counted_test import AHEAD, check_ahead
from mnlearn.algorithms._search import STOPPED, watched
from mnlearn.errors import true_or_false
from mnlearn.protocols import SILENT, BoolArray, FloatArray, IndependenceTest, IntArray, Monitor, Result

_ROWS_TOGETHER = 64
WALK_RULES = ("marginal", PROPAGATION)  # what Algorithm 3 itself may answer without a test


@dataclass(frozen=True, kw_only=True)
class GSMN:
    """Join x to every member of its blanket, grown and shrunk with a fresh start after each change.

    Parameters
    ----------
    ahead
        The largest block of questions asked ahead of need; 1 asks strictly one at a time. Changes no result.
    keep_trace
        Whether the result keeps every question in order.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Algorithms 1 and 2 of [JAIR09]. The paper leaves the orders open: variables are examined and tried by index. x and
    y are joined when either blanket holds the other (line 5). About n² questions when nothing depends on anything;
    each member of a blanket adds a new pass. There is no initial phase: all questions belong to the main loop.

    Examples
    --------
    >>> from mnlearn.graphs import cycle
    >>> from mnlearn.independence import SeparationOracle
    >>> GSMN().learn(SeparationOracle(cycle(5))).graph == cycle(5)
    True
    """

    ahead: int = AHEAD
    keep_trace: bool = False

    def __post_init__(self) -> None:
        true_or_false(keep_trace=self.keep_trace)
        check_ahead(self.ahead)

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Find the structure  [JAIR09, Algorithm 1]."""
        ledger = BlanketLedger(watched(judge, monitor), ahead=self.ahead, keep_trace=self.keep_trace)
        n, blankets = ledger.n_variables, dict[int, list[int]]()
        try:
            for x in range(n):
                monitor.progress(x, n, f"variable {x + 1} of {n}")
                blankets[x] = grow_shrink(ledger, x)
        except STOPPED:
            pass  # the blankets found so far make the result; converged says that some are missing
        return ledger.result(union(n, blankets), converged=len(blankets) == n, settings=asdict(self))


def grow_shrink(ledger: BlanketLedger, x: int) -> list[int]:
    """The blanket of x by GS, in order of index  [JAIR09, Algorithm 2]."""
    blanket: list[int] = []
    ledger.phase = "grow"
    while True:
        others = [y for y in range(ledger.n_variables) if y != x and y not in blanket]
        place = ledger.first_dependent(x, others, frozenset(blanket))
        if place == len(others):
            break
        blanket.append(others[place])  # lines 4-6: a new member, and all others are tried anew
    ledger.phase = "shrink"
    removed: int | None = x
    while removed is not None:
        z = frozenset(blanket)
        ledger.expect_turns(x, sorted(blanket))
        removed = next((y for y in sorted(blanket) if ledger(x, y, z - {y}).independent), None)
        blanket = [y for y in blanket if y != removed]  # lines 9-11: one less, and all others are tried anew
    return blanket


@dataclass(frozen=True, kw_only=True)
class GSMNStar:
    """GSMN*: as GSMN, strongest candidates first, every pair decided once, no fresh starts.

    Parameters
    ----------
    propagation
        Whether the blanket of a variable examined earlier decides about x (lines 13-17). Without it every pair is
        tested from both ends, and joined when either end says so (line 39).
    skip_marginal
        Whether x and y are taken for independent given anything when they are without conditioning (line 22).
    ahead
        The largest block of questions asked ahead of need; 1 asks strictly one at a time. Changes no result.
    keep_trace
        Whether the result keeps every question in order, inferred ones included.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Algorithms 3 and 4 of [JAIR09]. The initial phase asks n(n - 1)/2 questions, the main loop about as many with
    propagation and twice as many without; the counts published there were made without skipping. Ties in the
    orders go by index. Of what line 22 passes over, the trace shows the marginal question, before the grow phase.

    A search that a budget or a monitor stops returns the edges of the variables examined by then.

    Examples
    --------
    >>> from mnlearn.graphs import cycle
    >>> from mnlearn.independence import SeparationOracle
    >>> result = GSMNStar().learn(SeparationOracle(cycle(5)))
    >>> result.graph == cycle(5), result.cost["initial_asked"], result.cost["inferred_propagation"]
    (True, 10, 15)
    """

    propagation: bool = True
    skip_marginal: bool = True
    ahead: int = AHEAD
    keep_trace: bool = False

    def __post_init__(self) -> None:
        true_or_false(propagation=self.propagation, skip_marginal=self.skip_marginal, keep_trace=self.keep_trace)
        check_ahead(self.ahead)

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Find the structure  [JAIR09, Algorithm 3], asking the judge whatever propagation leaves open."""
        ledger = BlanketLedger(watched(judge, monitor), ahead=self.ahead, keep_trace=self.keep_trace, rules=WALK_RULES)
        walk = Walk(ledger, propagation=self.propagation, skip_marginal=self.skip_marginal)
        return walk.run(lambda _: ledger, monitor, asdict(self))


class Walk:
    """Algorithm 3: the walk over the variables that GSMN* and GSIMN share; they differ in whom they ask."""

    def __init__(self, ledger: BlanketLedger, *, propagation: bool, skip_marginal: bool) -> None:
        self._ledger, self._propagation, self._skip_marginal = ledger, propagation, skip_marginal
        self._blankets: dict[int, list[int]] = {}  # B, of the variables examined so far

    def run(
        self, asking_after: Callable[[BoolArray], Asking], monitor: Monitor, settings: Mapping[str, object]
    ) -> Result:
        """Lines 1-40; `asking_after` the initial phase, given who is independent of whom, says whom to ask."""
        ledger, n = self._ledger, self._ledger.n_variables
        try:
            self._independent, support = ledger.marginals()  # lines 3-4: measured, never inferred
            orders = Orders(support, self._independent if self._skip_marginal else None)
            asking = asking_after(self._independent)
            while orders.to_visit:  # line 11
                monitor.progress(len(self._blankets), n, f"variable {len(self._blankets) + 1} of {n}")
                x, _ = orders.to_visit.popitem(last=False)
                self._blankets[x] = self._examine(x, orders, asking)
        except STOPPED:
            pass  # the blankets found so far make the result; converged says that some are missing
        return ledger.result(union(n, self._blankets), converged=len(self._blankets) == n, settings=settings)

    def _examine(self, x: int, orders: Orders, asking: Asking) -> list[int]:
        """Lines 12-38: the blanket of x."""
        ledger, known = self._ledger, self._blankets if self._propagation else {}
        ledger.phase = "grow"
        if self._skip_marginal:
            skipped = self._independent[x].nonzero()[0]  # line 22
            ledger.infer(x, skipped, frozenset(), independent=True, rule="marginal")
        unknown, inside, outside = list[int](), list[int](), list[int]()
        for y in orders.grow_order(x):  # lines 14, 15: T, F
            said = known.get(y)
            (unknown if said is None else inside if x in said else outside).append(y)
        blanket = asking.grow(x, unknown)  # lines 19-24; T and F come last
        ledger.believe(x, inside, outside, blanket)
        orders.change(x, blanket)  # lines 25-33
        ledger.phase = "shrink"
        return asking.shrink(x, blanket, inside)  # lines 34-38


class Orders:
    """Who is examined next, and in which order the candidates of each are tried; ties by index."""

    def __init__(self, support: FloatArray, skipped: BoolArray | None = None) -> None:
        """π by average log p, λ by log p, both ascending: the strongest dependence first  [lines 5, 8].

        `skipped`: the pairs that nobody tries  [line 22].
        """
        n = len(support)
        # fsum: the average, and with it the order, does not depend on the order of the columns.
        average = np.array([fsum(row) for row in support.tolist()]) / (n - 1)
        self.to_visit = OrderedDict.fromkeys(np.argsort(average, kind="stable").tolist())
        self._promoted: dict[int, list[tuple[int, ...]]] = {}
        tried = ~np.eye(n, dtype=np.bool_) if skipped is None else ~(skipped | np.eye(n, dtype=np.bool_))
        blocks = [slice(first, first + _ROWS_TOGETHER) for first in range(0, n, _ROWS_TOGETHER)]
        self._order = np.concatenate([_sorted(support[rows], tried[rows]) for rows in blocks])
        self._ends = [0, *tried.sum(axis=1).cumsum().tolist()]  # of λ_x in it

    def grow_order(self, x: int) -> list[int]:
        """λ_x as it stands: the latest promotion in front, all others as they were."""
        order: list[int] = self._order[self._ends[x] : self._ends[x + 1]].tolist()
        if x not in self._promoted:
            return order
        front = dict.fromkeys(chain.from_iterable(reversed(self._promoted[x])))
        return list(dict.fromkeys([*filter(set(order).__contains__, front), *order]))

    def change(self, x: int, blanket: Sequence[int]) -> None:
        """Lines 25-33: who joined x tries those before it, then x, first; its last member not yet visited is next."""
        last = None
        for k, y in enumerate(blanket):
            if y in self.to_visit:  # whose order will still be asked for
                self._promoted.setdefault(y, []).append((*blanket[:k], x))
                last = y
        if last is not None:
            self.to_visit.move_to_end(last, last=False)


def _sorted(support: FloatArray, tried: BoolArray) -> IntArray:
    """For each row, one after the other: who is tried, the strongest dependence first."""
    order = support.argsort(axis=1, kind="stable").astype(np.int32)  # many rows at once: a fifth of the time
    return np.asarray(order[np.take_along_axis(tried, order, axis=1)])
