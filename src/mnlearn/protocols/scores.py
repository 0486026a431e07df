"""Judges that weigh: posteriors of independence, and scores of graphs. Log units, higher is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols.statistics import BoolArray, FloatArray, Indices, VarSet


class LogOdds(NamedTuple):
    """log Pr[x ⟂ y | z] and log Pr[x ⟂̸ y | z], arrays over the ys of a scan."""

    independent: FloatArray
    dependent: FloatArray


class IndependencePosterior(Protocol):
    """Weighs: how probable are independence and dependence of x and each y given z?"""

    @property
    def n_variables(self) -> int: ...
    @property
    def cards(self) -> tuple[int, ...]: ...
    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds: ...
    def members(self, x: int, z: VarSet) -> LogOdds:
        """Every y in z, in ascending order, given the rest of z."""
        ...


class BatchedPosterior(IndependencePosterior, Protocol):
    """A posterior that answers many questions at once."""

    def independent_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[FloatArray]:
        """For each place in xs, yss and zs: the `independent` half of `log_odds`."""
        ...

    def members_many(self, xs: Indices, zs: Sequence[VarSet]) -> list[LogOdds]:
        """For each x and its z: what `members` says."""
        ...

    def independent_pairs(self) -> FloatArray:
        """Return the `independent` half of `log_odds` for every pair x < y given nothing, in lexicographic order."""
        ...


class Score(Protocol):
    """Of a whole graph: log units, higher is better."""

    @property
    def n_variables(self) -> int: ...
    def __call__(self, graph: Graph) -> float: ...


class LocalScore(Score, Protocol):
    """A score that is a sum over variables: of each, given its neighbours."""

    def local(self, x: int, blanket: VarSet) -> float: ...
    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """For each x with its blanket and its ys: local(x, blanket + y), one number per y."""
        ...

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """For each x with its blanket: local(x, blanket − y), one number per member in ascending order."""
        ...


class PairScore(Score, Protocol):
    """A score that is a sum over pairs: of each, told by that one of its two ends which comes first in an order."""

    def terms(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """For each x with its blanket: a row of what it would tell about every variable; 0 about itself."""
        ...

    def ranks(self, xs: Indices, blankets: Sequence[VarSet]) -> NDArray[Any]:
        """For each x with its blanket: its rank. Of two ends the lower rank comes first; of equals, the lower index.

        Whatever can be compared: numbers, or whole numbers too large for one, as objects.
        """
        ...


class PairEvidence(NamedTuple):
    """log Bayes factors of an edge between x and each y of a scan; where not exact, to first order."""

    log_factor: FloatArray
    exact: BoolArray


class EvidenceScore(LocalScore, Protocol):
    """A local score in units of evidence, that can also weigh single edges given a separator."""

    @property
    def work(self) -> Mapping[str, int]:
        """What was done so far: `scans`, `fits`, and `fallbacks` of fits that were not possible."""
        ...

    def with_three_way(self, use: bool) -> EvidenceScore:
        """The same judge with or without three-way terms; its work starts from nothing."""
        ...

    def locals(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """local(x, blanket) of each x with its blanket."""
        ...

    def estimates(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """What `additions` gives, to first order and without fits: for ranking."""
        ...

    def pairs(
        self, xs: Indices, separators: Sequence[VarSet], yss: Sequence[Indices], *, fit_above: float
    ) -> list[PairEvidence]:
        """The evidence of x − y given the separator, for each y; exact where it may exceed `fit_above`."""
        ...

    def best_pair(self, x: int, blanket: VarSet, candidates: Indices) -> tuple[Edge, float] | None:
        """The two candidates that explain x best together, any interaction counted, and what x is worth with them."""
        ...


class ScoredGraph(Protocol):
    """A graph that knows its score and what a flip would do to it. It changes: one search, one such object."""

    @property
    def graph(self) -> Graph: ...
    @property
    def value(self) -> float: ...
    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        """For each pair: by how much the score would change if it alone were flipped."""
        ...

    def flip(self, edge: Edge) -> VarSet | None:
        """Flip a pair for good. Returns the variables whose pairs may have other gains now; None stands for all."""
        ...


class PairwiseScored(ScoredGraph, Protocol):
    """A scored graph whose score is a sum over pairs of variables, so that each pair has its part in it."""

    @property
    def pairwise(self) -> FloatArray:
        """The part of each pair: symmetric, inf on the diagonal. A flip changes rows and columns of its ends only."""
        ...

    @property
    def cost(self) -> Mapping[str, int]:
        """What was done so far: parts of pairs `recomputed` for flips; terms that were asked for in all, `scanned`."""
        ...

    def log_odds(self, *, absent: bool = False) -> dict[Edge, float]:
        """The log-odds of each edge, present against absent, given its context; if asked, of every other pair too."""
        ...


class SearchableScore(Score, Protocol):
    """A score that a search over edge flips can follow step by step."""

    def on(self, graph: Graph) -> ScoredGraph: ...
