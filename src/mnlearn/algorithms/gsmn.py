"""GSMN and GSMN*: grow-shrink learning of Markov networks.

Bromberg, Margaritis & Honavar, JAIR 35 (2009), 449-485  [JAIR09]; grow-shrink itself is from Margaritis & Thrun,
NIPS 12 (2000). The neighbours of a variable x are its Markov blanket: grow a set until nothing else depends on x given
it, then drop the members that the rest explains. GSMN is the outline (Algorithms 1 and 2). GSMN* (Algorithms 3 and 4)
fixes the orders, does not start over, and uses the blankets of the variables examined before (propagation).

The tests count themselves (`CountedBlanketTest`), so that the lines below are those of the paper.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain

import numpy as np

from mnlearn._ties import ascending
from mnlearn.algorithms._association import strength_ranks
from mnlearn.algorithms._blankets import MARGINAL, PROPAGATION, CountedBlanketTest, GrowShrinkTest, Propagated, union
from mnlearn.algorithms._counted_test import AHEAD, check_ahead
from mnlearn.algorithms._search import STOPPED
from mnlearn.errors import true_or_false
from mnlearn.protocols import SILENT, BoolArray, FloatArray, IndependenceTest, Monitor, Result

RULES_OF_ALGORITHM_3 = (MARGINAL, PROPAGATION)


@dataclass(frozen=True, kw_only=True)
class GSMN:
    """Join x to every member of its blanket, grown and shrunk with a fresh start after each change.

    Parameters
    ----------
    ahead
        The largest block of tests computed ahead of need; 1 computes one at a time. Does not change the result.
    keep_trace
        Whether the result stores every test in order.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Algorithms 1 and 2 of [JAIR09]. The paper leaves the orders open: variables are examined and tried by index, so
    another order of the columns may give another graph on data; GSMN* fixes the orders by the data. x and
    y are joined when either blanket holds the other (line 5). About n² tests when all variables are independent; each
    member of a blanket adds a new pass. There is no initial phase: all tests belong to the main loop.

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
        """Return the structure  [JAIR09, Algorithm 1]."""
        test = CountedBlanketTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace)
        n, blankets = test.n_variables, dict[int, list[int]]()
        try:
            for x in range(n):
                monitor.progress(x, n, f"variable {x + 1} of {n}")
                blankets[x] = grow_shrink(test, x)
        except STOPPED:
            pass  # the result holds the blankets found so far; `converged` is False
        return test.result(union(n, blankets), converged=len(blankets) == n, settings=asdict(self))


def grow_shrink(test: CountedBlanketTest, x: int) -> list[int]:
    """Return the blanket of x by GS, in order of index  [JAIR09, Algorithm 2]."""
    blanket: list[int] = []
    test.phase = "grow"
    while True:
        others = [y for y in range(test.n_variables) if y != x and y not in blanket]
        place = test.first_dependent(x, others, frozenset(blanket))
        if place == len(others):
            break
        blanket.append(others[place])  # lines 4-6: a new member, and all others are tried again
    test.phase = "shrink"
    removed: int | None = x
    while removed is not None:
        z = frozenset(blanket)
        test.expect_turns(x, sorted(blanket))
        removed = next((y for y in sorted(blanket) if test(x, y, z - {y}).independent), None)
        blanket = [y for y in blanket if y != removed]  # lines 9-11: one member less, and all others are tried again
    return blanket


@dataclass(frozen=True, kw_only=True)
class GSMNStar:
    """GSMN*: as GSMN, strongest candidates first, every pair decided once, no fresh starts.

    Parameters
    ----------
    propagation
        Whether the blanket of a variable examined before decides about x (lines 13-17). Without it every pair is
        tested from both ends, and joined when either end finds the other (line 39).
    skip_marginal
        Whether two marginally independent variables count as independent given any set (line 22).
    ahead
        The largest block of tests computed ahead of need; 1 computes one at a time. Does not change the result.
    keep_trace
        Whether the result stores every test in order, inferred answers included.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Algorithms 3 and 4 of [JAIR09]. The initial phase uses n(n - 1)/2 tests, the main loop about as many with
    propagation and twice as many without; the published counts were made without line 22. Of equal
    p-values the variable that is associated more with all others comes first; the order of the columns matters only
    where that ties, too. For the pairs that line 22 skips, the trace shows the marginal test, before the grow phase.

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
        """Return the structure  [JAIR09, Algorithm 3], testing the pairs that propagation leaves open."""
        rules = RULES_OF_ALGORITHM_3
        test = CountedBlanketTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, rules=rules)
        search = Algorithm3(test, test, propagation=self.propagation, skip_marginal=self.skip_marginal)
        return search.run(monitor, asdict(self))


class Algorithm3:
    """Algorithm 3, which GSMN* and GSIMN share; they differ in the test of lines 23 and 36.

    Parameters
    ----------
    counted
        The test of the initial phase, whose counts make the result.
    test
        The test of the grow and shrink phases.
    propagation, skip_marginal
        See `GSMNStar`.
    """

    def __init__(
        self, counted: CountedBlanketTest, test: GrowShrinkTest, *, propagation: bool, skip_marginal: bool
    ) -> None:
        self._counted, self._test, self._propagation, self._skip_marginal = counted, test, propagation, skip_marginal
        self._blankets: dict[int, list[int]] = {}  # B, of the variables examined so far

    def run(
        self,
        monitor: Monitor,
        settings: Mapping[str, object],
        seed: Callable[[BoolArray], None] = lambda _: None,
    ) -> Result:
        """Return the result of lines 1-40; `seed` is called with the independences of the initial phase."""
        n, blankets = self._counted.n_variables, self._blankets
        try:
            independent, p = self._counted.marginals()  # lines 3-4
            seed(independent)
            orders = Orders(p)  # lines 5-9
            while orders.to_visit:  # line 11
                monitor.progress(len(blankets), n, f"variable {len(blankets) + 1} of {n}")
                x, _ = orders.to_visit.popitem(last=False)  # line 12
                blankets[x] = self._examine(x, orders)  # lines 13-38
        except STOPPED:
            pass  # the result holds the blankets found so far; `converged` is False
        return self._counted.result(union(n, blankets), converged=len(blankets) == n, settings=settings)

    def _examine(self, x: int, orders: Orders) -> list[int]:
        """Return the blanket of x  [lines 13-38]."""
        candidates = np.ones(self._counted.n_variables, dtype=np.bool_)
        if self._skip_marginal:  # line 22: if p_xy < α
            candidates = self._counted.marginally_dependent(x)
        candidates[x] = False
        unknown, known = self._propagate(x, orders.grow_order(x, candidates))  # lines 13-17: T and F come last
        blanket = self._test.grow(x, unknown, known)  # lines 19-24
        orders.change(x, blanket)  # lines 25-33
        return self._test.shrink(x, blanket, known)  # lines 34-38

    def _propagate(self, x: int, order: Sequence[int]) -> tuple[list[int], Propagated]:
        """Return the candidates to test, and those about which an examined blanket decides  [lines 14, 15: T, F]."""
        blankets = self._blankets if self._propagation else {}
        unknown, inside, outside = list[int](), list[int](), list[int]()
        for y in order:
            blanket = blankets.get(y)
            (unknown if blanket is None else inside if x in blanket else outside).append(y)
        return unknown, Propagated(inside, outside)


class Orders:
    """The order π of the variables and the grow order λ of each, by log p of the initial phase.

    Of candidates that tie the stronger variable comes first; at last the index decides.
    """

    def __init__(self, p: FloatArray) -> None:
        self._p, self._strength = p, strength_ranks(p)
        self.to_visit = OrderedDict.fromkeys(self._strength.argsort(kind="stable").tolist())  # π  [line 5]
        self._promoted: dict[int, list[tuple[int, ...]]] = {}

    def grow_order(self, x: int, candidates: BoolArray) -> list[int]:
        """Return λ_x of the candidates: the latest promotion first, then ascending p, strongest first  [line 8]."""
        ys = candidates.nonzero()[0]
        order: list[int] = ys[ascending(self._p[x, ys], self._strength[ys])].tolist()
        if x not in self._promoted:
            return order
        front = dict.fromkeys(chain.from_iterable(reversed(self._promoted[x])))
        return list(dict.fromkeys([*filter(set(order).__contains__, front), *order]))

    def change(self, x: int, blanket: Sequence[int]) -> None:
        """Move the members before y, then x, to the front of each λ_y; visit the last unvisited member next."""
        last = None
        for k, y in enumerate(blanket):
            if y in self.to_visit:  # the orders of visited variables are never used again
                self._promoted.setdefault(y, []).append((*blanket[:k], x))  # lines 25-28
                last = y
        if last is not None:
            self.to_visit.move_to_end(last, last=False)  # lines 29-33
