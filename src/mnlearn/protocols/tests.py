"""Judges that decide: is x independent of y given z?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from mnlearn.protocols.arrays import BoolArray, FloatArray, Indices, VarSet


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
