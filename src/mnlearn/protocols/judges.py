"""Conditional independence tests: their answers, their base class, and the parts that run near the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import check_methods
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
    ahead in batches; of other tests they ask nothing ahead of need, so that wrappers count the questions of the paper.

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
