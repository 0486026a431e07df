"""Judges that decide: is x independent of y given z?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnlearn.protocols.statistics import BoolArray, FloatArray, Indices, IntArray, VarSet


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


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a test knows about each pair of a scan; what a test does not compute is None."""

    independent: BoolArray
    statistic: FloatArray | None = None
    dof: FloatArray | None = None
    log_p: FloatArray | None = None
    log_independent: FloatArray | None = None
    log_dependent: FloatArray | None = None


class Question(NamedTuple):
    """One line of a trace: what a search asked, what it was told, by whom and when."""

    x: int
    y: int
    z: VarSet
    independent: bool
    log_support: float | None  # None when inferred
    source: str  # "data", "memo", or the rule that implied the answer
    phase: str  # which part of the algorithm asked: "initial", "grow", "shrink", ...


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
class PairsTest(IndependenceTest, Protocol):
    """A test that may answer for all pairs given nothing sooner than scan by scan: the first step of many searches."""

    def scan_pairs(self) -> Iterator[tuple[range, Verdicts]] | None:
        """Every pair x < y given nothing, some x at a time, pairs in lexicographic order; None where it cannot."""
        ...


@runtime_checkable
class MonotoneTest(IndependenceTest, Protocol):
    """A test that may promise strong union: if x ⟂ y given a set, then given every larger one too."""

    @property
    def monotone(self) -> bool: ...


@runtime_checkable
class ExplainedTest(IndependenceTest, Protocol):
    """A test that can also show the numbers behind its decision."""

    @property
    def name(self) -> str: ...
    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence: ...


# Tests that take over the inner loop of a search: a blanket question by question, or set after set.
#
# Each question is decided before the next is put, as the search would do; only the loop is elsewhere, near the data.


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


class Turns(NamedTuple):
    """Answers to questions asked in turns, each decided before the next: lists over the first of the ys."""

    independent: list[bool]
    log_support: list[float | None]  # None where a rule answered
    rules: list[int]  # for each 0, or the number of the rule that answered
    asked: int  # how many the data answered,
    weighted: int  # weighing 2 + |z| each  [JAIR09, Sec. 5],
    largest_z: int  # and the size of the largest z
    scanned: int  # how many tests were computed, those ahead of need among them


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
