"""How sure each edge is, on every scale that a result has, turned so that more is surer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, log
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.graphs.graph import Edge
from mnlearn.protocols import FloatArray

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned


@dataclass(frozen=True)
class Measure:
    """One scale on which the edges of a result can be compared.

    Attributes
    ----------
    key
        "frequency", "probability" or "support".
    label
        What to write on an axis.
    meaning
        The same as a sentence.
    values
        One number per edge that has one; more is surer.
    shares
        Whether the numbers are shares from 0 to 1.
    """

    key: str
    label: str
    meaning: str
    values: Mapping[Edge, float]
    shares: bool = True

    def relative(self, edges: tuple[Edge, ...]) -> FloatArray:
        """For each edge a number from 0 to 1 to draw it by: shares as they are, others by the best of the strong.

        An edge without a number is drawn as the weakest.
        """
        values = np.array([self.values.get(edge, np.nan) for edge in edges], dtype=np.float64)
        if not self.shares and np.isfinite(values).any():
            values = np.maximum(values, 0.0) / max(float(np.nanquantile(values, 0.9)), 1e-12)
        return np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)


def measures(learned: Learned) -> list[Measure]:
    """The scales that a result has: frequency under resampling, probability, support; the plainest first.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> from mnlearn.output import Learned
    >>> from mnlearn.protocols import Result
    >>> found = Result(Graph(2, [(0, 1)]), None, {(0, 1): -4.6}, True, {})
    >>> [(measure.key, round(measure.values[0, 1], 1)) for measure in measures(Learned("gsmn", ("a", "b"), found))]
    [('support', 2.0)]
    """
    found = [_frequency(learned), _probability(learned), _support(learned)]
    return [measure for measure in found if measure is not None]


def _frequency(learned: Learned) -> Measure | None:
    """The share of the resamples that had the edge."""
    if learned.frequencies is None:
        return None
    values = {edge: float(learned.frequencies.get(edge, 0.0)) for edge in learned.graph.edges}
    drawn = "resampling" if learned.resampling is None else learned.resampling.sampling
    label = f"{'bootstrap' if drawn == 'bootstrap' else 'resampling'} frequency"
    return Measure("frequency", label, "the share of resampled data sets that had the edge", values)


def _probability(learned: Learned) -> Measure | None:
    """The probability of the edge, where the method stands for one."""
    known, support = learned.result.edge_probabilities, learned.result.support
    values: dict[Edge, float] = {}
    for edge in learned.graph.edges:
        if known is not None and edge in known:
            values[edge] = float(known[edge])
        elif learned.result.probabilistic and edge in support:
            values[edge] = float(1.0 / (1.0 + np.exp(-np.clip(support[edge], -700, 700))))
    return Measure("probability", "probability", "how probable the edge is, by this method", values) if values else None


def _support(learned: Learned) -> Measure | None:
    """The method's own evidence: log-odds as they are, p-values as powers of ten."""
    odds = learned.support_scale == "log_odds"
    turned = 1.0 if odds else -1.0 / log(10.0)
    values = {e: turned * s for e, s in learned.result.support.items() if e in learned.graph and not np.isnan(s)}
    largest = max((abs(value) for value in values.values() if isfinite(value)), default=1.0)
    values = {edge: float(np.clip(value, -2 * largest, 2 * largest)) for edge, value in values.items()}
    if not values:
        return None
    if odds:
        return Measure("support", "log odds", "the natural log odds of the edge, by the method's score", values, False)
    meaning = "how strongly the tests speak against independence: minus the power of ten of the p-value"
    return Measure("support", "evidence (−log10 p)", meaning, values, False)
