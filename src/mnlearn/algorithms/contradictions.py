"""The pairs that the evidence contradicts most, found without a pass over all of them.

After a flip the evidence of a few pairs changes, and the price of all. Pairs are kept in blocks with the largest excess
of evidence over price in each, apart for absent pairs, absent pairs whose evidence is only estimated, and present ones.
A price that all pairs share changes no order within these three. So a change costs the blocks of the changed pairs, and
a question the blocks that may have the answer.
"""

from __future__ import annotations

from math import inf

import numpy as np

from mnlearn.protocols import BoolArray, FloatArray, IntArray

BLOCK = 256  # pairs; of 10,000 to 3 million pairs 128 to 512 take about the same time
BLOCKS_TOGETHER = 1024  # blocks in one step, to bound the memory
SLACK = 1e-6  # more than the rounding error of evidence less price


class Contradictions:
    """Blocks of pairs with the largest excess in each.

    Parameters
    ----------
    evidence, present, fitted, free
        Of each pair: its evidence, whether it is an edge, whether its evidence is fitted, whether it may be flipped.
        The arrays are shared: `update` says where they have changed.
    prices
        Price of each pair; None if all share one.

    Examples
    --------
    >>> evidence, present = np.array([3.0, 5.0, 1.0]), np.array([False, False, True])
    >>> found = Contradictions(evidence, present, np.array([True, False, True]), np.ones(3, dtype=bool), None)
    >>> found.estimated(above=4.0).tolist()
    [1]
    >>> sorted(found.leading(2.0, 2.0, 0.0).tolist())
    [0, 2]
    """

    def __init__(
        self, evidence: FloatArray, present: BoolArray, fitted: BoolArray, free: BoolArray, prices: FloatArray | None
    ) -> None:
        self._evidence, self._present, self._fitted, self._free = evidence, present, fitted, free
        self._prices = prices
        self._largest = np.empty((3, -(-len(evidence) // BLOCK)))
        self.update(np.arange(0, len(evidence), BLOCK))

    def update(self, places: IntArray) -> None:
        """Take in what has changed at these places."""
        blocks = np.unique(places // BLOCK)
        for begin in range(0, len(blocks), BLOCKS_TOGETHER):
            some = blocks[begin : begin + BLOCKS_TOGETHER]
            self._largest[:, some] = [excess.max(axis=1) for excess in self._excess(self._places(some))]

    def estimated(self, above: float) -> IntArray:
        """Return the absent pairs whose evidence is only estimated, and exceeds price and bound, up to rounding."""
        places = self._places(self._blocks(1, above)).ravel()
        excess = self._excess(places)[1]
        return np.unique(places[excess > above - SLACK])

    def leading(self, price_absent: float, price_present: float, rounding: float) -> IntArray:
        """Return places that include those within rounding of the largest violation; none if it is not positive."""
        fitted, _, present = self._largest.max(axis=1, initial=-inf)
        best = np.maximum(fitted - price_absent, present + price_present)
        if best <= 0.0:
            return np.empty(0, dtype=np.intp)
        least = best - rounding
        blocks = [self._blocks(0, least + price_absent), self._blocks(2, least - price_present)]
        places = self._places(np.union1d(*blocks)).ravel()
        chosen = self._free[places] & (self._present[places] | self._fitted[places])
        return np.unique(places[chosen])

    def _blocks(self, kind: int, above: float) -> IntArray:
        """Return the blocks whose largest excess of a kind is above a bound, up to rounding; or NaN."""
        return np.flatnonzero(~(self._largest[kind] <= above - SLACK))

    def _places(self, blocks: IntArray) -> IntArray:
        """Return the places in each block, in rows; the last block repeats its last place."""
        return np.asarray(np.minimum(blocks[:, None] * BLOCK + np.arange(BLOCK), len(self._evidence) - 1))

    def _excess(self, places: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return evidence less price of absent pairs, and of those only estimated; and the reverse of present ones."""
        excess = self._evidence[places] if self._prices is None else self._evidence[places] - self._prices[places]
        present, fitted, free = self._present[places], self._fitted[places], self._free[places]
        absent = free & ~present
        return (
            np.where(absent & fitted, excess, -inf),
            np.where(absent & ~fitted, excess, -inf),
            np.where(free & present, -excess, -inf),
        )
