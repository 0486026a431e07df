"""Counts with a GPU for what concerns all variables at once: all pairs, screens and growing rounds.

The device counts and filters; the core scores. So every number has the bits that `Counts` gives without a device.
Other scans run in the core, as without a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs.candidates import VariableLists
from mnlearn.protocols import FloatArray, Kernel
from mnlearn.statistics.counts import Counts, NativeClimbs
from mnlearn.statistics.gpu_device import TILE, DeviceBits, open_device
from mnlearn.statistics.gpu_pairs import MOST_MEMBERS, PairFilter, Survivors, improving, pair_cells
from mnlearn.statistics.screens import NativeScreen, ScreenRule, Step, pairs_before

_PAIRS_OF_A_BAND = 1 << 35  # on a GPU about 0.2 s: the monitor is polled between bands
_MOST_SURVIVORS = 1 << 26  # of a band: 0.8 GB


class DeviceCounts(Counts):
    """`Counts` of binary variables that use a device.

    Parameters
    ----------
    dataset
        Binary variables without gaps and repeats.
    device
        "cuda", "cuda:1" or the like, or "cpu" for the torch code on the processor.
    n_jobs
        Number of threads of the core, as for `Counts`.
    max_memory
        Bytes of memory on the device; by default most of what is free. Blocks of variables are as large as it allows.

    Raises
    ------
    UnsuitableError
        If a variable has more than two states or gaps, or rows have repeats.
    DeviceError
        If there is no such device; later, if its memory is not enough or it fails.
    """

    def __init__(
        self, dataset: Dataset, *, device: str, n_jobs: int | None = None, max_memory: int | None = None
    ) -> None:
        open_device(device)
        super().__init__(dataset, n_jobs=n_jobs)
        self._device, self._max_memory = device, max_memory
        self._check_binary()

    def _check_binary(self) -> None:
        """Raise UnsuitableError unless the device can hold the data."""
        way_out = "Leave device out."
        for name, card, gaps in zip(self.names, self.cards, self.gaps, strict=True):
            if card > 2 or gaps:
                has = "missing values" if gaps else f"{card} states"
                raise UnsuitableError(f"device={self._device!r} needs binary variables; {name!r} has {has}. {way_out}")
        if self._dataset.repeats is not None:
            raise UnsuitableError(f"device={self._device!r} needs rows without repeats; these have some. {way_out}")

    @cached
    def bits(self) -> DeviceBits:
        """The variables on the device."""
        planes = _core.binary_planes(self._store)
        if planes is None:  # a constant column has no plane in the core
            planes = state_0_planes(self._dataset.columns)
        size = {"n_variables": self.n_variables, "n_rows": self.n_rows}
        return DeviceBits(planes, **size, device=self._device, max_bytes=self._max_memory)

    def reduce_pairs(self, kernel: Kernel, xs: range) -> FloatArray:
        """Score every pair x < y with x in a range; the device counts."""
        stop = min(xs.stop, self.n_variables)
        if min(self.cards, default=2) < 2:
            return super().reduce_pairs(kernel, xs)
        cells = pair_cells(self.bits, range(xs.start, stop))
        return _core.reduce_pairs(self._store, kernel.name, kernel.settings, xs.start, stop, self._threads, cells)

    def pair_scan(self, rule: ScreenRule) -> NativeScreen:
        """Return the scan of all pairs by which `screen` finds the strongest; the device filters them."""
        return super().pair_scan(rule) if rule.statistic == "mi" else DeviceScreen(self, rule)

    def local_climbs(self, kernel: Kernel, log_prior: FloatArray, **price: Any) -> NativeClimbs:
        """Return climbs by a local score, as `Counts.local_climbs`; the device scans all variables given blankets."""
        found = super().local_climbs(kernel, log_prior, **price)
        plain = kernel.name == "dirichlet" and not price
        return DeviceClimbs(found, self.bits, kernel, log_prior) if plain else found


def state_0_planes(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return the rows with state 0 of eight variables at a time, as `_core.binary_planes`."""
    n_words = -(-len(columns[0]) // 64)
    planes = np.zeros((-(-len(columns) // 8), n_words, 8), dtype=np.uint64)
    for v, codes in enumerate(columns):
        bits = np.zeros(8 * n_words, dtype=np.uint8)
        packed = np.packbits(codes == 0, bitorder="little")
        bits[: len(packed)] = packed
        planes[v // 8, :, v % 8] = bits.view("<u8")
    return planes


def bands(n_variables: int, first: int = 0) -> Iterator[range]:
    """Yield ranges of x from the first on, a multiple of TILE, with about as many pairs each; so begin all of them."""
    while first < n_variables:
        size = max(1, _PAIRS_OF_A_BAND // max(1, n_variables - first) // TILE) * TILE
        yield range(first, min(first + size, n_variables))
        first += size


class DeviceScreen(NativeScreen):
    """Scan of all pairs by a device: rows are the variables in their order, and what passes is scored by the core."""

    def __init__(self, counts: DeviceCounts, rule: ScreenRule) -> None:
        super().__init__(counts._store, rule, counts._threads)
        self._bits = counts.bits
        self._filter = PairFilter(counts.bits, "x2" if rule.statistic == "x2" else "g2")

    def scan(self, first: int) -> Iterator[Step]:
        """Filter the pairs of the variables from the first on, in bands; push those that pass."""
        n = self.n_variables
        for xs in bands(n, first):
            for found in self._passing(xs):
                zeros = self._bits.zeros
                ones = self._bits.n_rows - zeros[found.xs] - zeros[found.ys] + found.cells
                self.pairs.push_binary(found.xs, found.ys, ones.astype(np.int32))
            yield Step(xs.stop, pairs_before(n, xs.stop), pairs_before(n, n))

    def _passing(self, xs: range) -> Iterator[Survivors]:
        """Yield the pairs of a band that may pass a bar; in halves of the band where they are too many."""
        parts = [xs]
        while parts:
            some = parts.pop()
            found = self._filter.survivors(some, self.lists.bars(), _MOST_SURVIVORS)
            if found is not None:
                yield found
                continue
            if len(some) <= TILE:
                raise InputError(
                    f"threshold must leave at most {_MOST_SURVIVORS:,} pairs of {TILE} variables; got more. Raise it."
                )
            middle = some.start + max(1, len(some) // 2 // TILE) * TILE
            parts += [range(middle, some.stop), range(some.start, middle)]  # the first half is done first


class DeviceClimbs(NativeClimbs):
    """Climbs in the core, with scans of all variables given blankets by the device."""

    def __init__(self, climbs: NativeClimbs, bits: DeviceBits, kernel: Kernel, log_prior: FloatArray) -> None:
        super().__init__(climbs._score)
        self._bits, self._kernel, self._log_prior = bits, kernel, log_prior

    def strongest(
        self, xs: NDArray[np.int32], blankets: VariableLists, k: int, *, ys: VariableLists | None = None
    ) -> VariableLists:
        """Return the k variables that improve the blanket of each x most, among all or its ys; none that do not."""
        if ys is None and blankets.sizes.max(initial=0) <= MOST_MEMBERS:
            ys = self._improving(xs, blankets)
        return super().strongest(xs, blankets, k, ys=ys)

    def _improving(self, xs: NDArray[np.int32], blankets: VariableLists) -> VariableLists:
        """Return the variables that may improve the blanket of each x; blankets of one size at a time."""
        now, sizes = self.locals(xs, blankets), blankets.sizes
        found, places = [], []
        for size in np.unique(sizes).tolist():
            some = np.flatnonzero(sizes == size).astype(np.int32)
            members = blankets.chosen(some).members.reshape(-1, size)
            prior = self._log_prior[size + 1] if size + 1 < len(self._log_prior) else -np.inf
            starts, ys = improving(self._bits, xs[some], members, now[some] - prior, self._prior_cell(size))
            found += [ys[a:b] for a, b in pairwise(starts.tolist())]
            places.append(some)
        order = np.argsort(np.concatenate([np.empty(0, np.int32), *places]), kind="stable")
        return VariableLists.of([found[place] for place in order.tolist()])

    def _prior_cell(self, size: int) -> float:
        """Return the prior of a cell of x, a blanket of this size and one more variable."""
        prior, is_sample_size = self._kernel.settings
        return prior / (4 << size) if is_sample_size else prior
