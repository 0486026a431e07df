"""Blankets by evidence: for each variable the neighbours that explain it best, all variables side by side.

The objective of a blanket Z of x is H(x | Z) − |Z| ln n, and every step raises it: so the climb ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms._constraints import Constraints
from mnlearn.algorithms._stopping import Cancelled
from mnlearn.protocols import EvidenceScore, FloatArray, Monitor, VarSet

TOLERANCE = 1e-9  # a smaller rise is rounding, and no improvement
MOST_BEFORE_PAIRS = 3  # look for pairs only around blankets of at most so many


@dataclass
class _Climb:
    """One variable on its way."""

    x: int
    blanket: VarSet
    required: VarSet
    candidates: NDArray[np.int64]  # whoever may ever join
    value: float = 0.0
    joined: dict[int, float] = field(default_factory=dict)  # what each member was worth when it came

    def open(self) -> NDArray[np.int64]:
        """Who may join now."""
        return self.candidates[~np.isin(self.candidates, list(self.blanket))]


class Blankets:
    """Climb from the required neighbours: the best addition, then every worthwhile removal, again and again.

    Parameters
    ----------
    judge
        Weighs blankets.
    known
        Required neighbours never leave, forbidden ones never join.
    look_ahead
        Whether to try pairs of variables, with the full table, where no single one helps.
    monitor
        May stop the climb.
    """

    def __init__(self, judge: EvidenceScore, known: Constraints, *, look_ahead: bool, monitor: Monitor) -> None:
        n = judge.n_variables
        self._judge, self._look_ahead, self._monitor = judge, look_ahead, monitor
        self._price = log(n)
        may = known.mask()
        self.climbs = [_Climb(x, frozenset(), frozenset(), np.flatnonzero(may[x])) for x in range(n)]
        for u, v in known.required:
            for x, y in ((u, v), (v, u)):
                self.climbs[x].required |= {y}
        for climb in self.climbs:
            climb.blanket = climb.required

    def run(self) -> None:
        """Climb until nobody can rise."""
        active, n = self.climbs, len(self.climbs)
        for climb, value in zip(active, self._judge.locals(range(n), [c.blanket for c in active]), strict=True):
            climb.value = float(value)
        while active:
            self._listen()
            self._monitor.progress(n - len(active), n, "blankets")
            grown = self._grow(active)
            self._shrink(grown)
            done = {c.x for c in active} - {c.x for c in grown}
            paired = [c for c in active if c.x in done and self._add_pair(c)] if self._look_ahead else []
            active = sorted([*grown, *paired], key=lambda climb: climb.x)

    def evidence(self) -> dict[tuple[int, int], float]:
        """For each x and y where y is in x's blanket or x in y's: what y is worth to x given the rest."""
        worth = {}
        leaving = self._judge.removals([c.x for c in self.climbs], [c.blanket for c in self.climbs])
        for climb, values in zip(self.climbs, leaving, strict=True):
            worth.update({(climb.x, y): climb.value - h for y, h in zip(sorted(climb.blanket), values, strict=True)})
        missed: list[list[int]] = [[] for _ in self.climbs]  # whoever counts x in without being counted in
        for climb in self.climbs:
            for y in climb.blanket:
                if climb.x not in self.climbs[y].blanket:
                    missed[y].append(climb.x)
        for climb, ys, values in zip(self.climbs, missed, self._additions(self.climbs, missed), strict=True):
            worth.update({(climb.x, y): h - climb.value for y, h in zip(ys, values, strict=True)})
        return {pair: float(value) for pair, value in worth.items()}

    def first_impressions(self) -> dict[tuple[int, int], float]:
        """What each member of a blanket was worth when it joined: all that a climb cut short can tell."""
        return {(climb.x, y): climb.joined[y] for climb in self.climbs for y in climb.blanket if y in climb.joined}

    def _grow(self, active: Sequence[_Climb]) -> list[_Climb]:
        """Add to each the y that raises it most, if by more than ln n. Returns those that grew."""
        open_ = [climb.open() for climb in active]
        ranked = self._judge.estimates([c.x for c in active], [c.blanket for c in active], open_)
        values = [np.array(row) for row in ranked]
        exact = [np.zeros(len(row), dtype=np.bool_) for row in values]
        grown, undecided = [], list(range(len(active)))
        while undecided:  # rank by estimates, fit the leaders, until every leader is fitted
            leaders = {}
            for k in undecided:
                best = self._leader(values[k], active[k].value + self._price)
                if best is not None and not exact[k][best]:
                    leaders[k] = best
                elif best is not None:
                    self._join(active[k], {int(open_[k][best])}, float(values[k][best]))
                    grown.append(active[k])
            undecided = list(leaders)
            fitted = self._additions([active[k] for k in undecided], [[open_[k][leaders[k]]] for k in undecided])
            for k, value in zip(undecided, fitted, strict=True):
                values[k][leaders[k]], exact[k][leaders[k]] = value[0], True
        return sorted(grown, key=lambda climb: climb.x)

    def _shrink(self, climbs: Sequence[_Climb]) -> None:
        """Drop from each the member it misses least, for as long as it misses it by less than ln n."""
        while climbs:
            self._listen()
            smaller = self._judge.removals([c.x for c in climbs], [c.blanket for c in climbs])
            dropped = []
            for climb, values in zip(climbs, smaller, strict=True):
                members = sorted(climb.blanket)
                values[[k for k, y in enumerate(members) if y in climb.required]] = -np.inf
                worst = self._leader(values, climb.value - self._price)
                if worst is not None:
                    climb.blanket -= {members[worst]}
                    climb.value = float(values[worst])
                    dropped.append(climb)
            climbs = dropped

    def _add_pair(self, climb: _Climb) -> bool:
        """Add the two variables that explain x best together, if by more than 2 ln n."""
        if len(climb.blanket) > MOST_BEFORE_PAIRS:
            return False
        self._listen()
        found = self._judge.best_pair(climb.x, climb.blanket, climb.open())
        if found is None or found[1] - climb.value <= 2 * self._price + TOLERANCE:
            return False
        pair = frozenset(found[0])
        self._join(climb, pair, self._judge.local(climb.x, climb.blanket | pair))
        return True

    @staticmethod
    def _join(climb: _Climb, newcomers: VarSet | set[int], value: float) -> None:
        climb.joined.update(dict.fromkeys(newcomers, (value - climb.value) / len(newcomers)))
        climb.blanket |= newcomers
        climb.value = value

    @staticmethod
    def _leader(values: FloatArray, than: float) -> int | None:
        """The largest value, if it is larger than that; ties by index."""
        if not len(values):
            return None
        best = int(values.argmax())
        return best if values[best] > than + TOLERANCE else None

    def _additions(self, climbs: Sequence[_Climb], yss: Sequence[Sequence[int]]) -> list[FloatArray]:
        return self._judge.additions([c.x for c in climbs], [c.blanket for c in climbs], yss)

    def _listen(self) -> None:
        if self._monitor.cancelled():
            raise Cancelled
