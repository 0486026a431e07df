"""What is known of the data: tables of counts, and the numbers that kernels make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


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


# What variables, sets of them and numbers about them are called in every signature.


VarSet: TypeAlias = frozenset[int]  # inside the library a variable is an index 0..n-1
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]  # the many y of a scan
