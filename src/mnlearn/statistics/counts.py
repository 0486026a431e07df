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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.protocols import FloatArray, Indices, Kernel, Tables, VarSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mnlearn.data.dataset import Dataset

MAX_TABLE_CELLS = 2**31  # 16 GiB of counts: more than anyone wants to look at


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
        ys_array, z_array = _indices("ys", ys), _indices("z", sorted(z))
        with _our_errors():
            if len(ys_array) and self._valid(x, ys_array, z_array):
                self._refuse_huge(x, ys_array, z_array)
            strata, counts = _core.tables(self._store, x, ys_array, z_array)
        return Tables(x, tuple(ys_array.tolist()), tuple(z_array.tolist()), strata, tuple(counts))

    def reduce(self, kernel: Kernel, x: int, ys: Indices, z: VarSet) -> FloatArray:
        """Score the table (x, y | z) of each y: one row per output of the kernel, one column per y."""
        with _our_errors():
            return _core.reduce(
                self._store,
                kernel.name,
                kernel.settings,
                x,
                _indices("ys", ys),
                _indices("z", sorted(z)),
                self._threads,
            )

    def local(self, kernel: Kernel, x: int, z: VarSet) -> FloatArray:
        """Score the table of x given z alone: the outputs of the kernel for a y that never changes."""
        with _our_errors():
            return _core.local(self._store, kernel.name, kernel.settings, x, _indices("z", sorted(z)))[:, 0]

    def reduce_all(self, kernel: Kernel) -> FloatArray:
        """Score every pair x < y without conditioning: pairs in lexicographic order, one column each."""
        with _our_errors():
            return _core.reduce_all(self._store, kernel.name, kernel.settings, self._threads)

    def _valid(self, x: int, ys: NDArray[np.int32], z: NDArray[np.int32]) -> bool:
        n = self.n_variables
        return 0 <= x < n and all(0 <= v < n for v in (*ys.tolist(), *z.tolist()))

    def _refuse_huge(self, x: int, ys: NDArray[np.int32], z: NDArray[np.int32]) -> None:
        cells = _core.count_strata(self._store, z) * self.cards[x] * max(self.cards[y] for y in ys.tolist())
        if cells > MAX_TABLE_CELLS:
            raise InputError(
                f"tables would need {cells:.3g} cells for x={x}; at most {MAX_TABLE_CELLS:.3g} are counted out. "
                "Use reduce, which visits only the occupied cells, or merge rare states."
            )


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
    strata, place = np.unique(stacked, axis=0, return_inverse=True)
    strata = strata[:1] if not first.z and len(stacked) else strata
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


def _indices(name: str, variables: Indices) -> NDArray[np.int32]:
    array = np.asarray(variables)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{name} must be a sequence of variable indices; got {variables!r}. Use dataset.index(name).")
    return np.ascontiguousarray(array, dtype=np.int32)


def _thread_count(n_jobs: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None or n_jobs == -1:
        return cores
    if n_jobs < 1:
        raise InputError(f"n_jobs must be -1 (all cores) or at least 1; got {n_jobs}. Leave it out to use all cores.")
    return n_jobs


@contextmanager
def _our_errors() -> Iterator[None]:
    """The core writes whole sentences; give them our class."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None
