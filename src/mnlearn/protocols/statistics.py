"""Statistics: contingency tables, kernels that score them, and the type aliases of all signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

VarSet: TypeAlias = frozenset[int]  # inside the library a variable is an index 0..n-1
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]  # the many y of a scan


@dataclass(frozen=True)
class Kernel:
    """Score of a table (x, y | z) that the native core computes in a scan: its name and its settings.

    Made by the functions of `mnlearn.statistics.kernels`; `outputs` names the rows that `Statistics.reduce` returns.
    """

    name: str
    outputs: tuple[str, ...]
    settings: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Tables:
    """Contingency tables of x and each y within every observed configuration of z.

    `counts[k][s, a, b]` is how often x = a and y_k = b in the stratum whose values of z are `strata[s]` (a column for
    each member of z in ascending order; rows in lexicographic order). Tables of disjoint sets of rows add up: see
    `mnlearn.statistics.add_tables`.
    """

    x: int
    ys: tuple[int, ...]
    z: tuple[int, ...]
    strata: IntArray
    counts: tuple[IntArray, ...]


class Statistics(Protocol):
    """The only reader of categorical data. The scan (one x, one z, many y) is its one primitive.

    Statistics of data with gaps also have `gaps`, a bool for each variable, and `question_rows(x, ys, z)`, the number
    of rows behind each y.
    """

    @property
    def n_rows(self) -> int: ...  # repeats included
    @property
    def cards(self) -> tuple[int, ...]: ...  # number of states of each variable
    @property
    def names(self) -> tuple[str, ...]: ...
    def tables(self, x: int, ys: Indices, z: VarSet) -> Tables:
        """Count (x, y) within every observed configuration of z, for each y: the primitive of the library.

        Parameters
        ----------
        x
            Index of a variable.
        ys
            Indices of other variables, in any order; may be empty.
        z
            Conditioning set, without x and without any y.

        Returns
        -------
        Tables
            Exact counts. Configurations of z without rows are left out; every table adds up to `n_rows`, and with gaps
            to the rows in which x, y and all of z are observed.
        """
        ...

    def reduce(self, kernel: Kernel, x: int, ys: Indices, z: VarSet) -> FloatArray:
        """Score the table (x, y | z) of each y: one row per output of the kernel, one column per y."""
        ...

    def local(self, kernel: Kernel, x: int, z: VarSet) -> FloatArray:
        """Score the table of x given z alone: the outputs that `reduce` gives for a constant y."""
        ...

    def reduce_all(self, kernel: Kernel) -> FloatArray:
        """Score every pair x < y given nothing, in lexicographic order: one column per pair."""
        ...

    def reduce_many(
        self, kernel: Kernel, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]
    ) -> list[FloatArray]:
        """Return what `reduce` gives for each x with its ys and its z."""
        ...

    def members(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, every y in z given the rest of z: one column per member, in ascending order."""
        ...

    def without(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, x given z without one member: one column per member, in ascending order."""
        ...
