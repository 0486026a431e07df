"""Posteriors of independence and scores of graphs: log units, higher is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import NDArray

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols.statistics import BoolArray, FloatArray, Indices, VarSet


class LogOdds(NamedTuple):
    """log Pr[x ⟂ y | z] and log Pr[x ⟂̸ y | z], arrays over the ys of a scan."""

    independent: FloatArray
    dependent: FloatArray


class IndependencePosterior(Protocol):
    """Posterior probability of independence and of dependence of x and each y given z."""

    @property
    def n_variables(self) -> int: ...
    @property
    def cards(self) -> tuple[int, ...]: ...
    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds: ...
    def members(self, x: int, z: VarSet) -> LogOdds:
        """Return both for every y in z, in ascending order, given the rest of z."""
        ...


class BatchedPosterior(IndependencePosterior, Protocol):
    """Posterior that answers many questions at once; scores use each of these methods where it exists."""

    def independent_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[FloatArray]:
        """Return the `independent` half of `log_odds` for each x with its ys and its z."""
        ...

    def members_many(self, xs: Indices, zs: Sequence[VarSet]) -> list[LogOdds]:
        """Return `members` for each x with its z."""
        ...

    def independent_pairs(self) -> FloatArray:
        """Return the `independent` half of `log_odds` for every pair x < y given nothing, in lexicographic order."""
        ...


class Score(Protocol):
    """Score of a whole graph: log units, higher is better."""

    @property
    def n_variables(self) -> int: ...
    def __call__(self, graph: Graph) -> float: ...


class LocalScore(Score, Protocol):
    """Score that is a sum over variables of a term given the neighbours of each."""

    def local(self, x: int, blanket: VarSet) -> float: ...
    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each x with its blanket, one number per y."""
        ...

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each x with its blanket, one number per member y in ascending order."""
        ...


class PairScore(Score, Protocol):
    """Score that is a sum over pairs: the end that comes first in an order supplies the term of a pair."""

    def terms(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """Return, for each x with its blanket, a row of terms: one for every other variable, 0 at x itself."""
        ...

    def ranks(self, xs: Indices, blankets: Sequence[VarSet]) -> NDArray[Any]:
        """Return the rank of each x with its blanket. The lower rank comes first; of equal ranks, the lower index.

        Anything that can be compared: floats, or integers too large for a float, as objects.
        """
        ...


class PairEvidence(NamedTuple):
    """log Bayes factors of an edge between x and each y of a scan; where not exact, to first order."""

    log_factor: FloatArray
    exact: BoolArray


class EvidenceScore(LocalScore, Protocol):
    """Local score in units of evidence that also weighs single edges given a separating set."""

    @property
    def work(self) -> Mapping[str, int]:
        """Return the work so far: `scans`, `fits`, and `fallbacks` where a fit was not possible."""
        ...

    def with_three_way(self, use: bool) -> EvidenceScore:
        """Return a copy with or without three-way terms, whose work starts at zero."""
        ...

    def locals(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """Return local(x, blanket) of each x with its blanket."""
        ...

    def estimates(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return `additions` to first order, without fits: for ranking."""
        ...

    def pairs(
        self, xs: Indices, separators: Sequence[VarSet], yss: Sequence[Indices], *, fit_above: float | FloatArray
    ) -> list[PairEvidence]:
        """Return the evidence of x − y given the separating set, for each y; exact where it may exceed `fit_above`.

        The bound is one number, or one for each x.
        """
        ...

    def best_pair(self, x: int, blanket: VarSet, candidates: Indices) -> tuple[Edge, float] | None:
        """Return the two candidates that explain x best together, and the score of x with both."""
        ...


@runtime_checkable
class FittedPrior(Protocol):
    """Evidence whose prior can be fitted to the data, given a first blanket of each variable."""

    @property
    def prior(self) -> Mapping[str, float]:
        """The numbers of the prior by name."""
        ...

    def with_prior(self, found: Mapping[str, float]) -> EvidenceScore:
        """Return a copy with the prior of a result; other entries of the mapping do not matter."""
        ...

    def fitted_to(self, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> EvidenceScore:
        """Return a copy with the prior fitted to the pairs of each x and its y."""
        ...


class BatchedEvidence(EvidenceScore, Protocol):
    """Evidence that chooses by itself what to fit; searches use it where the judge has `leaders`."""

    def leaders(
        self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices], above: FloatArray
    ) -> list[PairEvidence]:
        """Return `estimates` of local(x, blanket + y), fitted where they lead.

        For each x the largest value, and those within rounding of it, are fitted if above the bound of x, until the
        largest is a fitted one or none is above the bound.
        """
        ...

    def removals(
        self, xs: Indices, blankets: Sequence[VarSet], fit_above: FloatArray | None = None
    ) -> list[FloatArray]:
        """Return local(x, blanket − y) for each member y, ascending; exact where it may exceed `fit_above` of x."""
        ...


class ScoredGraph(Protocol):
    """Graph with its score and the gain of each flip. Mutable: each search has its own."""

    @property
    def graph(self) -> Graph: ...
    @property
    def value(self) -> float: ...
    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        """Return, for each pair, the change of the score if it alone were flipped."""
        ...

    def flip(self, edge: Edge) -> VarSet | None:
        """Flip a pair and return the variables whose pairs may have other gains now; None means all."""
        ...


class PairwiseScored(ScoredGraph, Protocol):
    """Scored graph whose score is a sum over pairs of variables."""

    @property
    def pairwise(self) -> FloatArray:
        """Return the term of each pair: symmetric, inf on the diagonal. A flip changes rows and columns of its ends."""
        ...

    @property
    def cost(self) -> Mapping[str, int]:
        """Return the work so far: terms of pairs `recomputed` for flips, and all terms computed, `scanned`."""
        ...

    def log_odds(self, *, absent: bool = False) -> dict[Edge, float]:
        """Return the log odds of each edge, present against absent, given its context; `absent`: of all pairs."""
        ...


class SearchableScore(Score, Protocol):
    """Score that a search over edge flips can update step by step."""

    def on(self, graph: Graph) -> ScoredGraph: ...
