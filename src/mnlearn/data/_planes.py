"""Bit-planes in the order in which the native core counts them, made from blocks of codes.

A variable of r states has r − 1 planes, one for each state but the last; bit i of a plane says whether row i has the
state. Eight planes lie side by side, word by word: word w of plane p is at `((p // 8) * n_words + w) * 8 + p % 8`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import add_planes

MAX_PLANE_CARD = 9  # beyond it, planes would take more room than the codes
LANES = 8
BLOCK = 512  # no variable's planes cross a multiple of this
NO_PLANE = 2**32 - 1


class PlaneLayout(NamedTuple):
    """Which planes belong to which variable."""

    first: tuple[int, ...]  # per variable its first plane, or NO_PLANE
    n_planes: int

    @property
    def n_groups(self) -> int:
        """Groups of eight planes."""
        return -(-self.n_planes // LANES)


def plane_layout(cards: Sequence[int]) -> PlaneLayout:
    """Number the planes of all variables that have some."""
    first, n_planes = [], 0
    for card in cards:
        if not 2 <= card <= MAX_PLANE_CARD:
            first.append(NO_PLANE)
            continue
        if n_planes % BLOCK + card - 1 > BLOCK:
            n_planes = (n_planes // BLOCK + 1) * BLOCK
        first.append(n_planes)
        n_planes += card - 1
    return PlaneLayout(tuple(first), n_planes)


def group_words(
    layout: PlaneLayout, cards: Sequence[int], columns: Sequence[NDArray[Any]], group: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The words of eight planes for a block of rows, word by word, and how many rows each plane has in it."""
    n_words = -(-len(columns[0]) // 64)
    words = np.zeros((n_words, LANES), dtype=np.uint64)
    totals = np.zeros(LANES, dtype=np.int64)
    for variable, first in enumerate(layout.first):
        if first == NO_PLANE:
            continue
        begin, end = max(0, group * LANES - first), min(cards[variable] - 1, (group + 1) * LANES - first)
        if begin < end:
            codes = np.ascontiguousarray(columns[variable], dtype=np.uint8)
            add_planes(codes, begin, end - begin, words.reshape(-1), first + begin - group * LANES, totals)
    return words, totals
