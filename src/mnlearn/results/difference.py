"""Difference of two networks over the same variables."""

from __future__ import annotations

from dataclasses import dataclass

from mnlearn.errors import UnknownNameError
from mnlearn.graphs.named import NamedGraph


@dataclass(frozen=True)
class NetworkDifference:
    """Edges that two networks share and edges that only one of them has.

    Attributes
    ----------
    shared, only_here, only_there
        Pairs of names, in the order of the variables here.
    n_pairs
        Number of pairs of variables.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> here, there = (NamedGraph(Graph(3, edges), ("a", "b", "c")) for edges in ([(0, 1)], [(0, 1), (1, 2)]))
    >>> found = difference(here, there)
    >>> found.only_there, found.hamming, found.jaccard
    ((('b', 'c'),), 1, 0.5)
    >>> print(found)
    1 edge in both, 0 only here, 1 only there (Hamming 1, Jaccard 0.500, kappa 0.400)
    only there: b - c
    """

    shared: tuple[tuple[str, str], ...]
    only_here: tuple[tuple[str, str], ...]
    only_there: tuple[tuple[str, str], ...]
    n_pairs: int

    @property
    def hamming(self) -> int:
        """Number of pairs that are an edge in one network only."""
        return len(self.only_here) + len(self.only_there)

    @property
    def jaccard(self) -> float:
        """Share of the edges of either network that both have; 1 for two networks without edges."""
        either = len(self.shared) + self.hamming
        return len(self.shared) / either if either else 1.0

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement on the pairs beyond chance; 1 for two equal networks."""
        here, there = (len(self.shared) + len(only) for only in (self.only_here, self.only_there))
        observed = 1 - self.hamming / self.n_pairs if self.n_pairs else 1.0
        absent = (self.n_pairs - here) * (self.n_pairs - there)
        chance = (here * there + absent) / self.n_pairs**2 if self.n_pairs else 1.0
        return 1.0 if not self.hamming else (observed - chance) / (1 - chance)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("shared", "only_here", "only_there")}
        return {**pairs, "hamming": self.hamming, "jaccard": self.jaccard, "kappa": self.kappa}

    def __str__(self) -> str:
        """Return the numbers in one line, then the edges that differ."""
        shared, here, there = len(self.shared), len(self.only_here), len(self.only_there)
        lines = [
            f"{shared} edge{'s' * (shared != 1)} in both, {here} only here, {there} only there "
            f"(Hamming {self.hamming}, Jaccard {self.jaccard:.3f}, kappa {self.kappa:.3f})"
        ]
        for title, pairs in (("only here", self.only_here), ("only there", self.only_there)):
            lines += [f"{title}: {u} - {v}" for u, v in pairs]
        return "\n".join(lines)


def difference(here: NamedGraph, there: NamedGraph) -> NetworkDifference:
    """Compare two networks, matching variables by name.

    Raises
    ------
    UnknownNameError
        If the variables of the two differ.
    """
    place = {name: x for x, name in enumerate(here.names)}
    for names, others, which in ((there.names, place, "the other"), (here.names, frozenset(there.names), "this")):
        strange = [name for name in names if name not in others]
        if strange:
            raise UnknownNameError(
                f"other must have the variables of this network; only {which} one has {strange[0]!r}"
                f"{f' and {len(strange) - 1} more' if len(strange) > 1 else ''}. Compare networks of the same columns."
            )
    ours = set(here.graph.edges)
    theirs = {tuple(sorted((place[there.names[u]], place[there.names[v]]))) for u, v in there.graph.edges}
    n = len(here.names)
    shared, only_here, only_there = (
        tuple((here.names[u], here.names[v]) for u, v in sorted(edges))
        for edges in (ours & theirs, ours - theirs, theirs - ours)
    )
    return NetworkDifference(shared, only_here, only_there, n * (n - 1) // 2)
