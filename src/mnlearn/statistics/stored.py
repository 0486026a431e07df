"""Snapshots of a screen in a checkpoint, so that a screen which was killed can be resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from mnlearn.checkpoint import Checkpoint
from mnlearn.statistics.screens import PairScan, ScreenRule, Step, StrongestPartners


class StoredLists:
    """Store of a screen in a checkpoint: after each of `PARTS` equal parts of the pairs, and fewer for few pairs."""

    PARTS = 8
    PAIRS_A_PART = 1 << 30  # at least: less work is sooner done again

    def __init__(self, checkpoint: Checkpoint, rule: ScreenRule, scan: PairScan) -> None:
        self._checkpoint, self._rule, self._stored = checkpoint, rule, 0
        self._kind, self._n_variables = type(scan).__name__, scan.n_variables  # each kind has its order of rows

    def latest(self) -> tuple[int, StrongestPartners] | None:
        """Return the last stored pairs and the first row that they lack."""
        for part in range(self.PARTS, 0, -1):
            found = self._checkpoint.stored(self._name(part), self._lists)
            if found is not None:
                self._stored = part
                return found
        return None

    def _lists(self, answer: Any) -> tuple[int, StrongestPartners]:
        """Return the row and the pairs of an answer; raise ValueError unless they fit the scan."""
        row, n, starts, partners, evidence = answer
        if n != self._n_variables or type(row) is not int or not 0 <= row <= n:
            raise ValueError("the pairs are of other variables")
        found = StrongestPartners(n, starts.astype(np.int64), partners.astype(np.int32), evidence.astype(np.float32))
        found.check()
        return row, found

    def offer(self, step: Step, so_far: Callable[[], StrongestPartners]) -> None:
        """Store the pairs kept so far if another part of all pairs is done, at the end of a row."""
        if step.row is None:
            return
        parts = max(1, min(self.PARTS, step.total // self.PAIRS_A_PART))
        part = parts * step.done // max(step.total, 1) + self.PARTS - parts
        if part <= max(self._stored, self.PARTS - parts):
            return
        self._stored = part
        found = so_far()
        answer = [step.row, found.n_variables, found.starts, found.partners, found.evidence]
        self._checkpoint.store(self._name(part), answer)

    def _name(self, part: int) -> object:
        return ("screen", self._kind, asdict(self._rule), part)
