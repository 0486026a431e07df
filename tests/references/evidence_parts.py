"""The two parts of the evidence of sep as scores of their own: the full table F and the pairwise conditional P."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mnlearn.protocols import FloatArray, Indices, VarSet
from mnlearn.scores import HybridEvidence
from mnlearn.statistics.evidence import LocalFits


class PairwiseEvidence(HybridEvidence):
    """P(x | S)."""

    def _choose(self, fits: LocalFits) -> FloatArray:
        return fits.pairwise


class FullTableEvidence(HybridEvidence):
    """F(x | S), without the gift."""

    def locals(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        return np.array([self._full_table(x, blanket) for x, blanket in zip(xs, blankets, strict=True)])

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        return self._scans.full_tables(xs, blankets, yss)

    def _full_table(self, x: int, blanket: VarSet) -> float:
        if not blanket:
            return float(super().locals([x], [blanket])[0])
        last = max(blanket)
        return float(self._scans.full_tables([x], [blanket - {last}], [[last]])[0][0])
