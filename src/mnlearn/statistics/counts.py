"""Contingency tables: the one place that counts.

`Counts` holds a data set in the native core and answers scans: one x, one conditioning set z, many y.
Counts are exact 64-bit integers; only observed configurations of z are stored, so a conditioning set with 2^60
configurations costs no more than the rows allow.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from math import inf, log, prod
from operator import index
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError, whole_number
from mnlearn.protocols import FloatArray, Indices, Kernel, Tables, VarSet

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TABLE_CELLS = 2.0**29  # 4 GiB of counts in one answer: more than anyone wants to look at
_LARGEST_INDEX = 2**31 - 1
_MOST_THREADS = 4096


class Counts:
    """Exact counts of a data set of categorical variables.

    Parameters
    ----------
    dataset
        Categorical variables only.
    n_jobs
        How many threads a scan may use: None or −1 for all cores, else that many. Any number gives the same bits.

    Notes
    -----
    The code path (``avx512``, ``avx2`` or ``portable``) is the fastest the processor can run, unless the environment
    variable ``MNLEARN_CORE`` names one. All three give the same bits. The codes are borrowed from the data set, not
    copied; bit-planes (at most one byte a value) are built at the first scan that profits from them.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts, kernels
    >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]))
    >>> information, dof = counts.reduce(kernels.mi(), 0, [1, 2], frozenset())
    >>> information.round(3).tolist()
    [0.693, 0.0]
    """

    def __init__(self, dataset: Dataset, *, n_jobs: int | None = None) -> None:
        if not isinstance(dataset, Dataset):
            raise UnsuitableError(
                f"Counts needs a Dataset; got a {type(dataset).__name__}. Read it first: Counts(mnlearn.read(...))."
            )
        continuous = [name for name, card in zip(dataset.names, dataset.cards, strict=True) if card == 0]
        if continuous:
            raise UnsuitableError(
                f"Counts needs categorical variables; {continuous[0]!r} is continuous"
                + (f" (and {len(continuous) - 1} more)" if len(continuous) > 1 else "")
                + ". Discretise it (mnlearn.discretize), leave it out, or use a test for continuous data (pcor)."
            )
        self.names = dataset.names
        self.cards = dataset.cards
        self._threads = _thread_count(n_jobs)
        with _our_errors():
            self._store = _core.Store(
                dataset.columns, dataset.cards, dataset.repeats, dataset.n_records, os.environ.get("MNLEARN_CORE", "")
            )

    @property
    def n_rows(self) -> int:
        """How many rows were counted, repeats included."""
        return self._store.n_rows

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.cards)

    @property
    def code_path(self) -> str:
        """The code path in use: avx512, avx2 or portable."""
        return self._store.level

    @property
    def nbytes(self) -> int:
        """Memory beyond the data set itself, in bytes."""
        return self._store.extra_bytes

    def tables(self, x: int, ys: Indices, z: VarSet) -> Tables:
        """Count (x, y) within every observed configuration of z, for each y."""
        x, ys_array, z_array = _question(x, ys, z)
        with _our_errors():
            strata, counts = _core.tables(self._store, x, ys_array, z_array, MAX_TABLE_CELLS)
        return Tables(x, tuple(ys_array.tolist()), tuple(z_array.tolist()), strata, tuple(counts))

    def reduce(self, kernel: Kernel, x: int, ys: Indices, z: VarSet) -> FloatArray:
        """Score the table (x, y | z) of each y: one row per output of the kernel, one column per y."""
        x, ys_array, z_array = _question(x, ys, z)
        with _our_errors():
            return _core.reduce(self._store, kernel.name, kernel.settings, x, ys_array, z_array, self._threads)

    def local(self, kernel: Kernel, x: int, z: VarSet) -> FloatArray:
        """Score the table of x given z alone: the outputs of the kernel for a y that never changes."""
        x, _, z_array = _question(x, (), z)
        with _our_errors():
            return _core.local(self._store, kernel.name, kernel.settings, x, z_array)[:, 0]

    def reduce_all(self, kernel: Kernel) -> FloatArray:
        """Score every pair x < y without conditioning: pairs in lexicographic order, one column each."""
        with _our_errors():
            return _core.reduce_all(self._store, kernel.name, kernel.settings, self._threads)

    def reduce_many(
        self, kernel: Kernel, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]
    ) -> list[FloatArray]:
        """Many scans at once, one for each place in xs, yss and zs: the bits that `reduce` gives for each."""
        return [self.reduce(kernel, int(x), ys, z) for x, ys, z in zip(xs, yss, zs, strict=True)]

    def members(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, every y in z given the rest of z: one column per member, in ascending order."""
        empty = np.empty((len(kernel.outputs), 0))
        return [
            np.hstack([empty, *(self.reduce(kernel, int(x), (y,), z - {y}) for y in sorted(z))])
            for x, z in zip(xs, zs, strict=True)
        ]

    def without(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, x given z without one member: one column per member, in ascending order."""
        return [
            np.array([self.local(kernel, int(x), z - {y}) for y in sorted(z)]).reshape(len(z), len(kernel.outputs)).T
            for x, z in zip(xs, zs, strict=True)
        ]


def add_tables(parts: Iterable[Tables]) -> Tables:
    """Add up tables of the same question over disjoint sets of rows.

    The sum has the same integers, in the same order, as counting all rows at once.
    """
    tables = list(parts)
    if not tables:
        raise InputError("parts must hold at least one Tables; got none. Count at least one shard.")
    first = tables[0]
    if any((t.x, t.ys, t.z) != (first.x, first.ys, first.z) for t in tables):
        raise InputError("parts must answer the same question (x, ys, z); got different ones. Ask each shard the same.")
    if any([c.shape[1:] for c in t.counts] != [c.shape[1:] for c in first.counts] for t in tables):
        raise InputError("parts must agree on the states of each variable; got different ones. Declare the levels.")
    stacked = np.concatenate([t.strata for t in tables])
    if first.z:
        strata, place = np.unique(stacked, axis=0, return_inverse=True)
    else:  # the one empty configuration
        strata, place = stacked[:1], np.zeros(len(stacked), dtype=np.intp)
    place = place.reshape(-1)
    sums = []
    for k in range(len(first.ys)):
        total = np.zeros((len(strata), *first.counts[k].shape[1:]), dtype=np.int64)
        np.add.at(total, place, np.concatenate([t.counts[k] for t in tables]))
        sums.append(total)
    return Tables(first.x, first.ys, first.z, strata, tuple(sums))


def score_tables(kernel: Kernel, tables: Tables, cards: Sequence[int]) -> FloatArray:
    """Score counted tables: the same numbers as `Counts.reduce` on the rows they were counted from."""
    z_cards = [cards[v] for v in tables.z]
    configurations = float(prod(z_cards)) if sum(map(log, z_cards)) < 700 else inf
    columns = [
        _core.score_table(
            kernel.name, kernel.settings, counts, int(counts.sum()), configurations, float(sum(map(log, z_cards)))
        )
        for counts in tables.counts
    ]
    return np.array(columns, dtype=np.float64).reshape(len(columns), len(kernel.outputs)).T


def _question(x: int, ys: Indices, z: VarSet) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """x, ys and z as the core takes them; z in ascending order."""
    try:
        first, given = index(x), [index(v) for v in z]
    except TypeError:
        raise InputError(
            f"x must be the index of a variable and z a set of indices; got x={x!r}, z={z!r}. Use dataset.index(name)."
        ) from None
    if max([first, *given]) > _LARGEST_INDEX or min([first, *given]) < 0:
        raise InputError(f"x and z must hold indices of variables; got x={x}, z={set(z)}. Use dataset.index(name).")
    given.sort()
    return first, _indices(ys), np.array(given, dtype=np.int32)


def _indices(ys: Indices) -> NDArray[np.int32]:
    array = np.asarray(ys)
    if array.dtype == np.int32 and array.ndim == 1:
        return np.ascontiguousarray(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"ys must be a sequence of variable indices; got {ys!r}. Use dataset.index(name).")
    narrow = array.astype(np.int32)
    if (narrow != array).any():  # would wrap around
        raise InputError(f"ys must hold indices of variables; got {array.max()}. Use dataset.index(name).")
    return narrow


def _thread_count(n_jobs: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None or n_jobs == -1:
        return cores
    return min(whole_number("n_jobs", n_jobs, least=1, way_out="Leave it out for all cores."), _MOST_THREADS)


@contextmanager
def _our_errors() -> Iterator[None]:
    """The core writes whole sentences; give them our class."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None
