"""The separator phase with a pass over all candidate pairs at every step: slow, and free of indices and blocks."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.sep.phase import MOST_FLIPS_OF_A_PAIR, SeparatorPhase
from mnlearn.graphs import Graph
from mnlearn.numbers import first_best
from mnlearn.protocols import BoolArray


class FullPasses(SeparatorPhase):
    """Marks, refreshes and compares all pairs after every flip, and records the flips."""

    def _set_up(self) -> None:
        super()._set_up()
        if not hasattr(self, "flipped"):
            self.flipped: list[tuple[int, int]] = []
            self._current: Graph = self._separators.graph

    def _flip(self, place: int) -> None:
        edge = self._pair_at(place)
        self.flipped.append(edge)
        self._rivals = None
        self.n_flips += 1
        self._flips[edge] += 1
        if self._flips[edge] == MOST_FLIPS_OF_A_PAIR:
            self._free[place] = False
        around, side = self._separators.flip(*edge)
        self._current = self._current.flip(*edge)
        assert self._separators.graph == self._current
        assert self._separators.n_edges == self._current.n_edges
        self._present[place] ^= True
        self._stale |= self._marked(around)
        if len(side):
            self._stale |= np.logical_xor.reduce(self._marked(side))
        self._refresh(np.flatnonzero(self._present))

    def _marked(self, variables: NDArray[np.int32]) -> BoolArray:
        among = np.zeros(self._n, dtype=np.bool_)
        among[variables] = True
        return among[self._ends]

    def _most_contradicted(self) -> int | None:
        while True:
            k, evidence, present = self._price_of_pairs(), self._evidence, self._present
            near = np.flatnonzero((evidence > k - self._near) & ~(present | self._fitted) & self._free)
            if len(near):
                self._fit(near)
                continue
            violation = np.where(self._free, np.where(present, k - evidence, evidence - k), -inf)
            return first_best(violation, 0.0, self._rounding, *self._ties)


class Recorded(SeparatorPhase):
    """The search as it is, with a record of its flips."""

    def _flip(self, place: int) -> None:
        self.__dict__.setdefault("flipped", []).append(self._pair_at(place))
        super()._flip(place)
