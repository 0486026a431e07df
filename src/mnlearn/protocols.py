"""The nouns of the library: small records, and what each kind of object must be able to answer.

data → statistics → judges (tests, posteriors, scores) → search → graph. A search sees a judge, never
the data; a judge sees statistics, never rows. To extend the library, write an object with the right methods
and pass it: there is no base class and no registration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs.graph import Edge, Graph

VarSet: TypeAlias = frozenset[int]  # inside the library a variable is an index 0..n-1
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]  # the many y of a scan


@dataclass(frozen=True)
class Kernel:
    """What a scan computes from each table (x, y | z): a name the native core knows, and its settings.

    The constructors in `mnlearn.statistics.kernels` are the only makers of these; `outputs` names the rows
    of what `Statistics.reduce` returns.
    """

    name: str
    outputs: tuple[str, ...]
    settings: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Tables:
    """Counts of (x, y) within every observed configuration of z, one array per y.

    `counts[k][s, a, b]` is how often x = a and y_k = b in the stratum whose z-values are `strata[s]`
    (columns in ascending order of the variable's index; rows in lexicographic order). Tables of disjoint
    sets of rows add up: see `mnlearn.statistics.add_tables`.
    """

    x: int
    ys: tuple[int, ...]
    z: tuple[int, ...]
    strata: IntArray
    counts: tuple[IntArray, ...]


class Statistics(Protocol):
    """The only reader of discrete data. The scan (one x, one z, many y) is its one primitive."""

    @property
    def n_rows(self) -> int: ...  # repeats included
    @property
    def cards(self) -> tuple[int, ...]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    def tables(self, x: int, ys: Indices, z: VarSet) -> Tables: ...
    def reduce(self, kernel: Kernel, x: int, ys: Indices, z: VarSet) -> FloatArray:
        """One row per output of the kernel, one column per y."""
        ...

    def local(self, kernel: Kernel, x: int, z: VarSet) -> FloatArray:
        """The same outputs for the table of x given z alone: what `reduce` gives for a constant y."""
        ...

    def reduce_all(self, kernel: Kernel) -> FloatArray:
        """`reduce` with z empty for every pair x < y, in lexicographic order of the pairs."""
        ...

    def reduce_many(
        self, kernel: Kernel, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]
    ) -> list[FloatArray]:
        """Many scans at once, one for each place in xs, yss and zs: what `reduce` gives for each."""
        ...

    def members(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """For each x and its z: every y in z, in ascending order, given the rest of z. One column per member."""
        ...

    def without(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """For each x and its z: `local` given z without one member, each member in ascending order. A column each."""
        ...


class Verdict(NamedTuple):
    """The answer to one question."""

    independent: bool
    log_support: float | None  # log p-value or log posterior of independence; None when inferred
    source: str = "data"  # "data", "memo", or the rule that implied it


class Verdicts(NamedTuple):
    """The answers to one scan: arrays over its ys."""

    independent: BoolArray
    log_support: FloatArray
    source: str = "data"

    def one(self, k: int) -> Verdict:
        """The k-th answer as a single `Verdict`."""
        return Verdict(bool(self.independent[k]), float(self.log_support[k]), self.source)


class Turns(NamedTuple):
    """Answers to questions asked in turns, each decided before the next: lists over the first of the ys."""

    independent: list[bool]
    log_support: list[float | None]  # None where a rule answered
    rules: list[int]  # for each 0, or the number of the rule that answered
    asked: int  # how many the data answered,
    weighted: int  # weighing 2 + |z| each  [JAIR09, Sec. 5],
    largest_z: int  # and the size of the largest z
    scanned: int  # how many tests were computed, those ahead of need among them


class Question(NamedTuple):
    """One line of a trace: what a search asked, what it was told, by whom and when."""

    x: int
    y: int
    z: VarSet
    independent: bool
    log_support: float | None  # None when inferred
    source: str  # "data", "memo", or the rule that implied the answer
    phase: str  # which part of the algorithm asked: "initial", "grow", "shrink", ...


class LogOdds(NamedTuple):
    """log Pr[x ⟂ y | z] and log Pr[x ⟂̸ y | z], arrays over the ys of a scan."""

    independent: FloatArray
    dependent: FloatArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a test knows about each pair of a scan; what a test does not compute is None."""

    independent: BoolArray
    statistic: FloatArray | None = None
    dof: FloatArray | None = None
    log_p: FloatArray | None = None
    log_independent: FloatArray | None = None
    log_dependent: FloatArray | None = None


@runtime_checkable
class IndependenceTest(Protocol):
    """Decides: is x independent of y given z?"""

    @property
    def n_variables(self) -> int: ...
    def __call__(self, x: int, y: int, z: VarSet) -> Verdict: ...  # a scan of one
    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts: ...  # one x, one z, many y


@runtime_checkable
class BatchedTest(IndependenceTest, Protocol):
    """A test that answers many scans together sooner than one after the other; searches then ask ahead."""

    def scan_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """Many scans, one for each place in xs, yss and zs: what `scan` says of each."""
        ...

    def scan_members(self, x: int, z: VarSet) -> Verdicts:
        """Every y in z, in ascending order, given the rest of z: what `scan` says of each."""
        ...


@runtime_checkable
class MonotoneTest(IndependenceTest, Protocol):
    """A test that may promise strong union: if x ⟂ y given a set, then given every larger one too."""

    @property
    def monotone(self) -> bool: ...


class Knowledge(Protocol):
    """What answers given before imply, by rules  [JAIR09, Algorithm 5]. It changes: one search, one such object.

    The rules are tried in this order, numbered from 1, and 0 stands for none: a dependence by strong union, by the
    triangle; an independence by strong union, by the triangle, by the triangle with x and y exchanged.
    """

    def implied(self, x: int, y: int, z: VarSet) -> int:
        """Which rule says whether x ⟂ y | z."""
        ...

    def infer(self, x: int, y: int, z: VarSet) -> int:
        """The same; what the rule says is known from now on."""
        ...

    def learn(self, x: int, y: int, z: VarSet, independent: bool) -> None:
        """Enter what the judge said."""
        ...


@runtime_checkable
class BlanketTest(BatchedTest, Protocol):
    """A test that can be asked for a whole blanket: question after question, each decided before the next.

    Both scans answer as many questions as they can at once, from the first on: maybe none. With `known`, which the test
    itself has made, a question goes to the data only when no rule answers it.
    """

    def scan_growing(
        self,
        x: int,
        ys: Indices,
        z: VarSet,
        *,
        to_first: bool = False,
        ahead: int = 1,
        known: Knowledge | None = None,
    ) -> Turns:
        """Each y in turn given z and the dependent ones before it; `to_first`: no further than the first of these.

        `ahead`: how many may be asked together where most are independent, so that some may be asked in vain.
        """
        ...

    def scan_shrinking(self, x: int, ys: Indices, z: VarSet, *, known: Knowledge | None = None) -> Turns:
        """Each y in turn, a member of z, given the rest of z without the independent ones before it."""
        ...

    def knowledge(self, *, mirrored: bool = False) -> Knowledge | None:
        """None yet, for these scans, with or without the last rule; or nothing, where they take none."""
        ...


class Separated(NamedTuple):
    """Pairs that a walk over sets found independent."""

    sets: NDArray[np.int32]  # a row each: x, y, and the members of the set that separates them, in ascending order
    log_support: FloatArray
    asked: int  # how many questions that took
    finished: bool  # or stopped on request


class SetLevel(NamedTuple):
    """The sets of one size, each to be tried on the pairs that are left. Matrices have a row for each x."""

    size: int
    around: BoolArray  # which variables the sets of x may have
    left: BoolArray  # which pairs are still to be separated; independent ones leave it
    weakest: FloatArray  # becomes the largest log support found when x was asked about y; NaN for none


class Around(NamedTuple):
    """Whom a walk over sets left around a variable."""

    members: Sequence[int]
    weakest: Sequence[float]  # of each, the largest log support of independence given a set; NaN if none was tried
    asked: Sequence[int]  # how many questions that took, by the size of the set
    finished: bool  # or stopped on request, and then not worth anything


class SeparatingSets(NamedTuple):
    """How many sets of neighbours separate each y from a variable."""

    counts: IntArray  # a row for each y: all, then those with each neighbour, in ascending order
    asked: Sequence[int]  # how many questions that took, by the size of the set
    finished: bool  # or stopped on request


class SubsetWalk(Protocol):
    """Tries set after set as a search of its kind does, each question decided before the next."""

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """A level of PC-stable, for some x in turn; None where it cannot answer for sets of this size.

        Each set of the size among `around[x]`, in lexicographic order, is tried on every y in `left[x]` that is not in
        it; on y < x only if not all of the set is in `around[y]`. `go_on(x)` is asked several times a second.
        """
        ...

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Interleaved HITON-PC around x; None where it cannot answer.

        Each candidate in turn is tried with all sets of those held, and comes in if none separates it from x; then each
        of the others held, in the order in which they came in, with all sets that have the newcomer. Sets have at most
        `limit` members; they come by size, then in the order of their members, the newcomer last.
        """
        ...

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """All sets of at most `limit` among `around[x]`, each tried on every y; None where it cannot answer.

        On y < x only if not all of the set is in `around[y]`, as in `separate`.
        """
        ...


@runtime_checkable
class SubsetTest(BatchedTest, Protocol):
    """A test that may be able to try whole families of sets by itself."""

    def subsets(self) -> SubsetWalk | None: ...


@runtime_checkable
class ExplainedTest(IndependenceTest, Protocol):
    """A test that can also show the numbers behind its decision."""

    @property
    def name(self) -> str: ...
    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence: ...


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


class PairwiseScore(Score, Protocol):
    """A searchable score that is a sum over pairs."""

    def on(self, graph: Graph) -> PairwiseScored: ...


class Neighborhood(NamedTuple):
    """Whom a judge places around a variable."""

    support: Mapping[int, float]  # the neighbours, each with its support on the judge's own log scale
    fits: int  # how many models were fitted to find out


class NeighborhoodJudge(Protocol):
    """Chooses: who are the neighbours of x?"""

    @property
    def n_variables(self) -> int: ...
    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Some of the candidates, and all that are required."""
        ...


@runtime_checkable
class BatchedNeighborhoods(NeighborhoodJudge, Protocol):
    """A judge that chooses for several variables at once, at less cost than for one after the other."""

    def neighborhoods(self, asked: Sequence[tuple[int, VarSet, VarSet]]) -> list[Neighborhood]:
        """The answers of `neighborhood`, in the order of the questions."""
        ...


@runtime_checkable
class SpreadNeighborhoods(NeighborhoodJudge, Protocol):
    """A judge whose answers are found by several processes or machines, so that it is asked for all of them at once."""

    def spread(self, asked: Sequence[tuple[int, VarSet, VarSet]], monitor: Monitor) -> Iterator[Neighborhood]:
        """The answers of `neighborhood`, in the order of the questions; fewer if the monitor has had enough."""
        ...


class InformationJudge(Protocol):
    """Measures: how much does each pair of variables tell of each other, and could that be chance?"""

    @property
    def n_variables(self) -> int: ...
    def information(self) -> FloatArray:
        """The mutual information of every pair in nats: symmetric, 0 on the diagonal."""
        ...

    def log_p(self) -> FloatArray:
        """The log p-value of every pair: symmetric, 0 on the diagonal."""
        ...


class PathStep(NamedTuple):
    """What a penalised model looks like at one penalty."""

    criterion: float  # the less the better
    support: Mapping[Edge, float]  # its edges, each with its support on the judge's own log scale
    converged: bool  # whether the solver came to its end


class PathJudge(Protocol):
    """Proposes: whole graphs, one for each penalty, from no edge to many."""

    @property
    def n_variables(self) -> int: ...
    @property
    def penalties(self) -> Sequence[float]:
        """From the one that leaves no edge, downwards."""
        ...

    def at(self, penalty: float) -> PathStep:
        """The model at this penalty."""
        ...


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
