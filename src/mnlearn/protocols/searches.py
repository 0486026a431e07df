"""Searches: what they are given besides a judge, and what they return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols.arrays import FloatArray
from mnlearn.protocols.tests import Question


class Monitor(Protocol):
    """Hears how far a search is, and may ask it to stop with the best result so far."""

    def progress(self, done: float, total: float | None, message: str = "") -> None: ...
    def cancelled(self) -> bool: ...


class _Silent:
    """The monitor that says nothing and never stops a search."""

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Ignore it."""

    def cancelled(self) -> bool:
        """Never."""
        return False

    def __repr__(self) -> str:
        return "SILENT"  # as signatures show it


SILENT: Monitor = _Silent()


@dataclass(frozen=True)
class Result:
    """What a search found, at what cost, and how to run it again."""

    graph: Graph
    score: float | None
    support: Mapping[Edge, float]  # per edge, on the judge's own log scale
    converged: bool
    cost: Mapping[str, float]  # asked, inferred, recalled, weighted, scored, seconds
    settings: Mapping[str, object] = field(default_factory=dict)  # enough to run it again
    trace: tuple[Question, ...] | None = None  # every question in order, when the search was told to keep them
    support_scale: Literal["log_independence", "log_odds"] = "log_independence"  # small is strong; large is strong
    probabilistic: bool = False  # whether log-odds are meant to be read as probabilities; a pseudo-likelihood's are not
    stages: Mapping[str, Graph] = field(default_factory=dict)  # graphs a search passed through, by name
    alternatives: tuple[tuple[Graph, float], ...] = ()  # the next best graphs with their scores, where they are known
    edge_probabilities: Mapping[Edge, float] | None = None  # of every pair, when the search averaged over graphs
    log_odds: FloatArray | None = field(default=None, compare=False)  # of all pairs, where a search kept them


J = TypeVar("J", contravariant=True)  # noqa: PLC0105 - the judge; its name in DESIGN


class Learner(Protocol[J]):
    """Settings only; it meets a judge, never the data."""

    def learn(self, judge: J, monitor: Monitor = SILENT) -> Result: ...
