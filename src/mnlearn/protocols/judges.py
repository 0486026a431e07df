"""Conditional independence tests: their answers, their base class, and the parts that run near the data.

Posteriors of independence and scores of graphs: log units, higher is better.

Climbs by a local score for many variables in one call; searches use them where a score offers them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import check_methods
from mnlearn.graphs.candidates import VariableLists
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols.statistics import BoolArray, FloatArray, Indices, IntArray, VarSet


class Verdict(NamedTuple):
    """Answer to one question."""

    independent: bool
    log_support: float | None  # log p-value or log posterior of independence; None when inferred
    source: str = "data"  # "data", "memo", or the rule that implied it


class Verdicts(NamedTuple):
    """Answers to one scan: arrays over its ys."""

    independent: BoolArray
    log_support: FloatArray
    source: str = "data"

    def one(self, k: int) -> Verdict:
        """Return the k-th answer."""
        return Verdict(bool(self.independent[k]), float(self.log_support[k]), self.source)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All numbers of a test for each pair of a scan; None where the test does not compute them.

    `n_rows` is the number of rows behind each: with gaps, those in which x, y and all of z are observed.
    """

    independent: BoolArray
    statistic: FloatArray | None = None
    dof: FloatArray | None = None
    log_p: FloatArray | None = None
    log_independent: FloatArray | None = None
    log_dependent: FloatArray | None = None
    n_rows: IntArray | None = None


class Question(NamedTuple):
    """One line of a trace: a question of a search, its answer, and where the answer came from."""

    x: int
    y: int
    z: VarSet
    independent: bool
    log_support: float | None  # None when inferred
    source: str  # "data", "memo", or the rule that implied the answer
    phase: str  # part of the algorithm: "initial", "grow", "shrink", ...


@runtime_checkable
class IndependenceTest(Protocol):
    """Test of conditional independence: all that a learner needs from a user's own test object.

    Subclass `BaseTest` instead to get every batched form as well.
    """

    @property
    def n_variables(self) -> int: ...
    def __call__(self, x: int, y: int, z: VarSet) -> Verdict: ...  # a scan of one
    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts: ...  # one x, one z, many y


@runtime_checkable
class ExplainedTest(IndependenceTest, Protocol):
    """Test that can also show the numbers behind its decisions."""

    @property
    def name(self) -> str: ...
    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence: ...


# Inner loops of a search that a test may run near the data. Each question is still decided before the next one.


class Knowledge(Protocol):
    """Knowledge base of earlier answers and the rules by which they imply others  [JAIR09, Algorithm 5].

    Mutable: each search has its own.

    The rules are tried in this order, numbered from 1, and 0 stands for none: a dependence by strong union, by the
    triangle; an independence by strong union, by the triangle, by the triangle with x and y exchanged.
    """

    def implied(self, x: int, y: int, z: VarSet) -> int:
        """Return the number of the rule that decides whether x ⟂ y | z."""
        ...

    def infer(self, x: int, y: int, z: VarSet) -> int:
        """Return the number of the rule that decides whether x ⟂ y | z, and enter its answer."""
        ...

    def learn(self, x: int, y: int, z: VarSet, independent: bool) -> None:
        """Enter an answer of the test."""
        ...


class Turns(NamedTuple):
    """Answers to questions that depend on each other, each decided before the next: lists over the first of the ys."""

    independent: list[bool]
    log_support: list[float | None]  # None where a rule answered
    rules: list[int]  # for each 0, or the number of the rule that answered
    asked: int  # how many the data answered,
    weighted: int  # weighing 2 + |z| each  [JAIR09, Sec. 5],
    largest_z: int  # and the size of the largest z
    scanned: int  # how many tests were computed, those ahead of need among them


class Separated(NamedTuple):
    """Pairs that a search over conditioning sets found independent."""

    sets: NDArray[np.int32]  # a row each: x, y, and the members of the set that separates them, in ascending order
    log_support: FloatArray
    asked: int  # how many questions that took
    finished: bool  # False: cancelled


class PairLists(NamedTuple):
    """Partners of all variables, each list ascending, every pair from both ends; as `Candidates.lists` returns them."""

    starts: NDArray[np.int64]  # where the list of each x begins, and the end of the last
    partners: NDArray[np.int32]

    def places(self, xs: NDArray[np.int32], ys: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return where each y is listed as a partner of its x."""
        n = np.int64(len(self.starts) - 1)
        firsts = np.repeat(np.arange(n), np.diff(self.starts))
        return np.searchsorted(firsts * n + self.partners, xs * n + ys)


class SetLevel(NamedTuple):
    """One level of PC: sets of one size, to be tried on the pairs that are left.

    Arrays are matrices with a row for each x; with `lists` they have an entry for each listed partner.
    """

    size: int
    around: BoolArray  # which variables the sets of x may have
    left: BoolArray  # which pairs are still to be separated; independent ones leave it
    weakest: FloatArray  # becomes the largest log support found when x was asked about y; NaN for none
    lists: PairLists | None = None


class Around(NamedTuple):
    """Neighbours that a search over conditioning sets leaves around a variable."""

    members: Sequence[int]
    weakest: Sequence[float]  # of each, the largest log support of independence given a set; NaN if none was tried
    asked: Sequence[int]  # how many questions that took, by the size of the set
    finished: bool  # False: cancelled, and then of no use


class SeparatingSets(NamedTuple):
    """Number of sets of neighbours that separate each y from a variable."""

    counts: IntArray  # a row for each y: all, then those with each neighbour, in ascending order
    asked: Sequence[int]  # how many questions that took, by the size of the set
    finished: bool  # False: cancelled


class SubsetWalk(Protocol):
    """Search over conditioning sets that runs near the data, each question decided before the next."""

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """Run one level of PC-stable for some x in turn; None if sets of this size are not supported.

        Each set of the size among `around[x]`, in lexicographic order, is tried on every y in `left[x]` that is not in
        it; on y < x only if not all of the set is in `around[y]`. `go_on(x)` is polled several times a second.
        """
        ...

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Run interleaved HITON-PC around x; None if that is not supported.

        Each candidate in turn is tried with all sets of present neighbours, and joins them if none separates it from x;
        then each other neighbour, in order of joining, with all sets that contain the newcomer. Sets have at most
        `limit` members, ordered by size, then by their members, the newcomer last.
        """
        ...

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray | PairLists, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """Try all sets of at most `limit` members of `around[x]` on every y; None if that is not supported.

        On y < x only if not all of the set is in `around[y]`, as in `separate`. Lists hold the members alone.
        """
        ...


NO_TURNS = Turns([], [], [], 0, 0, 0, 0)  # the answer of a test that leaves the loop to the learner


class BaseTest(ABC):
    """Base class of conditional independence tests: write `n_variables` and `scan`, the rest follows.

    Override a batched form where the test computes it faster than its default, and set `batched`. Learners then ask
    ahead in batches; of other tests they ask nothing ahead of need, so that each call is a question of the paper.

    Attributes
    ----------
    batched
        Whether many scans together cost less than one after the other.
    monotone
        Whether strong union holds: x ⟂ y given a set implies x ⟂ y given every larger one.
    """

    batched: bool = False
    monotone: bool = False

    @property
    @abstractmethod
    def n_variables(self) -> int:
        """Number of variables."""

    @abstractmethod
    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z."""

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Test whether x is independent of y given z."""
        return self.scan(x, (y,), z).one(0)

    def scan_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """Return the `scan` of each x with its ys and its z."""
        return [self.scan(int(x), ys, z) for x, ys, z in zip(xs, yss, zs, strict=True)]

    def scan_members(self, x: int, z: VarSet) -> Verdicts:
        """Test x against every y in z, in ascending order, given the rest of z."""
        members = sorted(z)
        found = self.scan_many([x] * len(members), [[y] for y in members], [z - {y} for y in members])
        independent = np.array([one.independent[0] for one in found], dtype=np.bool_)
        return Verdicts(independent, np.array([one.log_support[0] for one in found], dtype=np.float64))

    def scan_pairs(self) -> Iterator[tuple[range, Verdicts]] | None:
        """Test every pair x < y given nothing, some x at a time, pairs in lexicographic order; None: no fast way.

        Used whether or not the test is `batched`.
        """
        return None

    def scan_growing(
        self,
        x: int,  # noqa: ARG002 - as are all arguments of these defaults
        ys: Indices,  # noqa: ARG002
        z: VarSet,  # noqa: ARG002
        *,
        to_first: bool = False,  # noqa: ARG002
        ahead: int = 1,  # noqa: ARG002
        known: Knowledge | None = None,  # noqa: ARG002
    ) -> Turns:
        """Test each y in turn given z and the dependent ones before it.

        Parameters
        ----------
        x, ys, z
            The question.
        to_first
            Stop at the first dependent y.
        ahead
            How many y may be tested together where most are independent, some of them in vain.
        known
            Made by `knowledge`: only questions that its rules leave open are tested.

        Returns
        -------
        Turns
            Answers to the first of the ys: maybe none, and the learner then asks in scans.
        """
        return NO_TURNS

    def scan_shrinking(self, x: int, ys: Indices, z: VarSet, *, known: Knowledge | None = None) -> Turns:  # noqa: ARG002
        """Test each y in turn, a member of z, given the rest of z without the independent ones before it."""
        return NO_TURNS

    def knowledge(self, *, mirrored: bool = False) -> Knowledge | None:  # noqa: ARG002
        """Return an empty knowledge base, with or without its last rule, for these two; None: they take none."""
        return None

    def subsets(self) -> SubsetWalk | None:
        """Return a search over conditioning sets that runs near the data; None: there is none."""
        return None


def with_defaults(test: IndependenceTest) -> BaseTest:
    """Return the test itself if it is a `BaseTest`, else an adapter that adds the batched forms it lacks.

    Raise UnsuitableError for an object that is not a test.
    """
    if isinstance(test, BaseTest):
        return test
    check_methods("judge", test, ("scan",), "Use a test, such as ChiSquare(Counts(data)).")
    return _Adapter(test)


_BATCHED_FORMS = ("scan_many", "scan_members", "scan_pairs", "scan_growing", "scan_shrinking", "knowledge", "subsets")


class _Adapter(BaseTest):
    """`BaseTest` around any object with `n_variables`, `__call__` and `scan`; its other methods are used if present."""

    def __init__(self, test: IndependenceTest) -> None:
        self._test, self._n_variables = test, test.n_variables
        self.batched = hasattr(test, "scan_many") and hasattr(test, "scan_members")
        self.monotone = bool(getattr(test, "monotone", False))
        for method in _BATCHED_FORMS:
            if hasattr(test, method):
                setattr(self, method, getattr(test, method))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._n_variables

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Test whether x is independent of y given z."""
        return self._test(x, y, z)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z."""
        return self._test.scan(x, ys, z)


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


DONE, TIED_JOINING, TIED_LEAVING = 0, 1, 2
"""States of a climb. A tie stops it: the caller decides it and continues."""


class Climbed(NamedTuple):
    """Blankets after a climb, one entry for each variable that was climbed."""

    blankets: VariableLists  # in the order in which the members joined
    scores: FloatArray
    states: NDArray[np.int8]
    rounds: NDArray[np.int32]  # additions tried
    scored: int  # number of local scores computed


class ClimbLimits(NamedTuple):
    """Rules of a climb."""

    required: NDArray[np.int64]  # x n + y of members that stay, ascending, from both ends
    most: int  # members of a blanket
    rounding: float  # a difference of scores up to this is a tie


class EdgeFlips(Protocol):
    """Graph with its score, and the gains of flipping some pairs. Mutable."""

    @property
    def done(self) -> bool:
        """Whether no flip improves."""
        ...

    @property
    def made(self) -> int:
        """Number of flips made."""
        ...

    @property
    def scored(self) -> int:
        """Number of gains computed."""
        ...

    def run(self, most: int) -> NDArray[np.int32]:
        """Make at most so many flips; return the places of the best ones where several tie."""
        ...

    def flip(self, place: int) -> None: ...
    def present(self, place: int) -> bool: ...
    def degree(self, x: int) -> int: ...
    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def scores(self) -> FloatArray:
        """Return the local score of each variable."""
        ...


class LocalClimbs(Protocol):
    """Climbs by one local score; its numbers are those of `LocalScore`, to the bit."""

    def locals(self, xs: NDArray[np.int32], blankets: VariableLists) -> FloatArray:
        """Return the score of each x with its blanket."""
        ...

    def climb(
        self,
        xs: NDArray[np.int32],
        blankets: VariableLists,
        *,
        scores: FloatArray,
        leaving: NDArray[np.int8],
        partners: VariableLists,
        limits: ClimbLimits,
    ) -> Climbed:
        """Climb from each blanket among the partners of x; where `leaving`, with deletions first."""
        ...

    def strongest(
        self, xs: NDArray[np.int32], blankets: VariableLists, k: int, *, ys: VariableLists | None = None
    ) -> VariableLists:
        """Return the k variables that improve the blanket of each x most, among all or its ys; none that do not."""
        ...

    def removal_gains(self, us: NDArray[np.int32], vs: NDArray[np.int32], scores: FloatArray) -> FloatArray:
        """Return the change of the score without each edge u < v of a graph, in lexicographic order."""
        ...

    def flips(self, graph: NDArray[np.int32], eligible: NDArray[np.int32], *, most: int, rounding: float) -> EdgeFlips:
        """Return the flips of the eligible pairs from a graph: arrays of two rows, u < v, in lexicographic order."""
        ...


@runtime_checkable
class ClimbingScore(Protocol):
    """Local score that climbs by itself."""

    def climbs(self) -> LocalClimbs | None:
        """Return the climbs by this score; None where its settings or statistics have none."""
        ...
