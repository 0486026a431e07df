"""Comparison of the networks of two groups, with permutation tests of their differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from mnlearn.graphs.named import NamedGraph
from mnlearn.results.difference import NetworkDifference, difference
from mnlearn.results.edges import Frame, frame_of
from mnlearn.results.learned import Learned

_SHOWN = 10  # pairs of a summary


class Invariance(NamedTuple):
    """One statistic of the difference of two networks and its permutation p-value."""

    name: str
    value: float
    p: float

    def __str__(self) -> str:
        """Return the statistic in words."""
        return f"{_TITLES[self.name]}: {self.value:.4g}, p = {self.p:.3g}"


_TITLES = {
    "edges": "edges that only one network has",
    "strength": "difference of the total strengths",
    "largest": "largest difference of the strength of a pair",
}


class PairDifference(NamedTuple):
    """One pair that is an edge in at least one of the two networks.

    A strength is the conditional mutual information in nats per row given the other neighbours; 0 without an edge.
    """

    u: str
    v: str
    strengths: tuple[float, float]
    edges: tuple[bool, bool]
    p: float
    p_corrected: float


@dataclass(frozen=True)
class GroupComparison:
    """Two groups, their networks, and permutation tests of their differences [NCT22].

    Attributes
    ----------
    by, groups
        The column that divides the rows, and its two labels.
    networks
        The learned network of each group.
    statistics
        Statistics of the whole networks: ``edges``, ``strength`` and ``largest``.
    pairs
        Every pair that is an edge in one of them, the smallest p first.
    correction
        Correction of the p-values of pairs for their number: holm, fdr or none.
    asked, done
        Number of permutations requested and done; fewer if the run was cancelled.
    seed
        Seed of the permutations.
    """

    by: str
    groups: tuple[str, str]
    networks: tuple[Learned, Learned]
    statistics: tuple[Invariance, ...]
    pairs: tuple[PairDifference, ...]
    correction: str
    asked: int
    done: int
    seed: int

    @property
    def difference(self) -> NetworkDifference:
        """Shared edges and edges of one network only; "here" is the first group."""
        first, second = (NamedGraph(network.graph, network.names) for network in self.networks)
        return difference(first, second)

    def edges(self, frame: Frame | None = None) -> Any:
        """Return the pairs as a table, the smallest p first; `frame` as for `Learned.edges`.

        Columns ``u``, ``v``, ``strength_1``, ``strength_2``, ``edge_1``, ``edge_2``, ``p`` and ``p_corrected``.
        """
        columns: dict[str, tuple[str, list[Any]]] = {
            "u": ("string", [pair.u for pair in self.pairs]),
            "v": ("string", [pair.v for pair in self.pairs]),
        }
        for k in (0, 1):
            columns[f"strength_{k + 1}"] = ("double", [pair.strengths[k] for pair in self.pairs])
            columns[f"edge_{k + 1}"] = ("bool", [pair.edges[k] for pair in self.pairs])
        columns["p"] = ("double", [pair.p for pair in self.pairs])
        columns["p_corrected"] = ("double", [pair.p_corrected for pair in self.pairs])
        return frame_of(columns, self.networks[0].frame if frame is None else frame)

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn compare-groups --json` prints."""
        return {
            "by": self.by,
            "groups": list(self.groups),
            "rows": [network.n_rows for network in self.networks],
            "method": self.networks[0].method,
            "edges": [network.graph.n_edges for network in self.networks],
            "statistics": {s.name: {"value": s.value, "p": s.p} for s in self.statistics},
            "pairs": [pair._asdict() for pair in self.pairs],
            "correction": self.correction,
            "permutations": {"asked": self.asked, "done": self.done, "seed": self.seed},
        }

    def __str__(self) -> str:
        """Return the groups, the statistics, and the pairs that differ most."""
        first, second = self.networks
        counts = [f"{n.n_rows:,} rows, {n.graph.n_edges} edge{'s' * (n.graph.n_edges != 1)}" for n in (first, second)]
        sizes = " and ".join(f"{self.by} = {label} ({c})" for label, c in zip(self.groups, counts, strict=True))
        lines = [f"{sizes}, by {first.method}, {self.done:,} permutations", *map(str, self.statistics)]
        lines += [
            f"{pair.u} - {pair.v}: {pair.strengths[0]:.4f} and {pair.strengths[1]:.4f} nats, p = {pair.p:.3g}, "
            f"corrected ({self.correction}) {pair.p_corrected:.3g}"
            for pair in self.pairs[:_SHOWN]
        ]
        if len(self.pairs) > _SHOWN:
            lines.append(f"and {len(self.pairs) - _SHOWN} more pairs: edges() or --json has them all")
        return "\n".join("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in lines)
