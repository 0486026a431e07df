"""Walks over sets whose findings are kept, so that a run which was killed need not take them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from mnlearn.checkpoints import Checkpoint
from mnlearn.protocols import Around, BoolArray, Indices, Kernel, Separated, SeparatingSets, SetLevel, SubsetWalk

_TOGETHER = 16  # variables whose findings are kept at a time: what is lost when a run is killed


class _Stopped(Exception):  # noqa: N818 - nothing is wrong
    """A part that was stopped before its end is not kept."""

    def __init__(self, found: Separated | Around | SeparatingSets) -> None:
        super().__init__()
        self.found = found


@dataclass(frozen=True)
class KeptWalk:
    """A walk whose findings are kept, some variables at a time; the same findings.

    Parameters
    ----------
    inside
        The walk.
    checkpoint
        Where they are kept.
    test
        By which test it decides: a kernel and a level.
    """

    inside: SubsetWalk
    checkpoint: Checkpoint
    test: tuple[Kernel, float]

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """Part by part, each found now or kept from before."""
        if not xs:
            return self.inside.separate(level, xs, go_on)
        parts = []
        for first in range(xs.start, xs.stop, _TOGETHER):
            part = self._part(level, range(first, min(first + _TOGETHER, xs.stop)), go_on)
            if part is None:
                return None
            parts.append(part)
            if not part.finished:
                break
        return Separated(
            np.concatenate([part.sets for part in parts]),
            np.concatenate([part.log_support for part in parts]),
            sum(part.asked for part in parts),
            all(part.finished for part in parts),
        )

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Whom it leaves around x, found now or kept from before."""

        def find() -> list[Any]:
            found = self.inside.explain_away(x, candidates, limit, go_on)
            if found is not None and not found.finished:
                raise _Stopped(found)
            return [] if found is None else list(found)

        try:
            kept = self.checkpoint.recall(("explain_away", self.test, x, candidates, limit), find)
        except _Stopped as stopped:
            return cast(Around, stopped.found)
        return Around(*kept) if kept else None

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """The votes about one x, found now or kept from before."""

        def find() -> list[Any]:
            found = self.inside.count_separating(x, ys, around, limit, go_on)
            if found is not None and not found.finished:
                raise _Stopped(found)
            return [] if found is None else list(found)

        question = ("count_separating", self.test, x, ys, np.packbits(around).tobytes(), limit)
        try:
            kept = self.checkpoint.recall(question, find)
        except _Stopped as stopped:
            return cast(SeparatingSets, stopped.found)
        return SeparatingSets(*kept) if kept else None

    def _part(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """Those of some variables; what they change in the level is kept with them."""
        fresh = level._replace(left=level.left.copy(), weakest=np.full(level.weakest.shape, np.nan))

        def find() -> list[Any]:
            found = self.inside.separate(fresh, xs, go_on)
            if found is not None and not found.finished:
                raise _Stopped(found)
            return [] if found is None else [*found[:3], fresh.weakest[xs.start : xs.stop]]

        before = [np.packbits(matrix).tobytes() for matrix in (level.around, level.left)]
        try:
            kept = self.checkpoint.recall(("separate", self.test, level.size, xs, before), find)
            found = Separated(kept[0], kept[1], kept[2], finished=True) if kept else None
            weakest = kept[3] if kept else np.nan
        except _Stopped as stopped:
            found, weakest = cast(Separated, stopped.found), fresh.weakest[xs.start : xs.stop]
        if found is not None:
            ends = found.sets[:, 0], found.sets[:, 1]
            level.left[ends] = level.left[ends[::-1]] = False
            level.weakest[xs.start : xs.stop] = np.fmax(level.weakest[xs.start : xs.stop], weakest)
        return found
