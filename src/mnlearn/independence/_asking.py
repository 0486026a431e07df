"""What every judge does alike: check its level, ask one pair as a scan of one."""

from __future__ import annotations

from math import log
from typing import Protocol

from mnlearn.errors import InputError
from mnlearn.protocols import Evidence, Indices, VarSet, Verdict, Verdicts


def log_level(alpha: float) -> float:
    """log(alpha), after checking that it is a level."""
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha must be between 0 and 1, both excluded; got {alpha}. Usual values: 0.05, 0.01.")
    return log(alpha)


class _Explaining(Protocol):
    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence: ...


def verdicts(evidence: Evidence) -> Verdicts:
    """The decisions of a test, supported by its log p or by its log posterior of independence."""
    support = evidence.log_p if evidence.log_p is not None else evidence.log_independent
    assert support is not None, "a test computes one of the two"
    return Verdicts(evidence.independent, support)


def one(test: _Explaining, x: int, y: int, z: VarSet) -> Verdict:
    """A scan of one."""
    return verdicts(test.evidence(x, (y,), z)).one(0)
