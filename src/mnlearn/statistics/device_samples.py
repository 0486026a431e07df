"""Pairs of resampled rows, counted on a device: many samples at once, before the network of each is learned.

A sample is known by how often it has each row of the data, so its counts are products of weighted bits. Methods that
start from all pairs (tests, mutual information) then only score them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.parallel import Quietly, run
from mnlearn.protocols import Monitor
from mnlearn.statistics.gpu import DeviceCounts
from mnlearn.statistics.gpu_pairs import weighted_cells

_MOST_BYTES = 1 << 29  # of the counts of samples that wait to be learned
_MOST_OF_ONE = 1 << 27  # of the counts of one sample; of more variables the device serves one sample after another

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class CountedSample(NamedTuple, Generic[Item]):
    """The seed or the like of a sample, and the counts of the pairs in each of its parts, as for `CountedPairs`.

    There are no counts if the device is to count while the network is learned.
    """

    item: Item
    cells: tuple[NDArray[np.uint32] | None, ...]
    device: str | None = None


@dataclass(frozen=True)
class DeviceSamples:
    """Samples of the rows of a data set of binary variables, on a device.

    Attributes
    ----------
    data
        The rows to draw from.
    device
        Name of the device.
    """

    data: Dataset
    device: str

    def __post_init__(self) -> None:
        self._counts.bits  # noqa: B018 - raises now what a device cannot do

    @cached_property
    def _counts(self) -> DeviceCounts:
        return DeviceCounts(self.data, device=self.device)

    @property
    def counts_ahead(self) -> bool:
        """Whether the pairs of many samples are counted at once."""
        return 2 * self.data.n_variables**2 <= _MOST_OF_ONE

    def learned(
        self,
        learn: Callable[[CountedSample[Item]], Answer],
        items: Sequence[Item],
        draw: Callable[[Dataset, Item], Sequence[Dataset]],
        *,
        n_jobs: int | None,
        monitor: Monitor,
    ) -> Iterator[Answer]:
        """Yield what a function learns from each sample, in order; fewer if the monitor cancels.

        Parameters
        ----------
        learn
            Takes a sample; must be picklable.
        items
            What determines each sample, such as a seed.
        draw
            Draws the parts of a sample from a data set, by the numbers of rows alone.
        n_jobs
            Number of processes; with too many variables for counts ahead, of threads.
        monitor
            Receives the number of samples done, and may cancel.
        """
        done = 0
        for batch in self._batches(items, draw):
            jobs = n_jobs if self.counts_ahead else 1  # the GPU is one
            for answer in run(learn, batch, n_jobs=jobs, backend="processes", monitor=Quietly(monitor)):
                done += 1
                monitor.progress(done, len(items))
                yield answer
            if monitor.cancelled():
                return

    def _batches(
        self, items: Sequence[Item], draw: Callable[[Dataset, Item], Sequence[Dataset]]
    ) -> Iterator[list[CountedSample[Item]]]:
        """Yield samples with their counts, so many that they fit into memory."""
        numbers, waiting = row_numbers(self.data.n_records), list[tuple[Item, NDArray[np.int64]]]()
        for item in items:
            waiting.append((item, row_weights(draw(numbers, item), self.data.n_records)))
            n_parts = sum(len(weights) for _, weights in waiting)
            if not self.counts_ahead or 2 * n_parts * self.data.n_variables**2 >= _MOST_BYTES:
                yield self._counted(waiting)
                waiting = []
        if waiting:
            yield self._counted(waiting)

    def _counted(self, waiting: Sequence[tuple[Item, NDArray[np.int64]]]) -> list[CountedSample[Item]]:
        if not self.counts_ahead:
            return [CountedSample(item, (None,) * len(weights), self.device) for item, weights in waiting]
        counted = weighted_cells(self._counts.bits, np.concatenate([weights for _, weights in waiting]))
        return [CountedSample(item, tuple(next(counted) for _ in weights)) for item, weights in waiting]


def row_numbers(n_rows: int) -> Dataset:
    """Return a data set whose only column is the number of each row."""
    return Dataset(("row",), (0,), (np.arange(n_rows, dtype=np.float64),), (None,))


def row_weights(parts: Sequence[Dataset], n_rows: int) -> NDArray[np.int64]:
    """Return how often each part, drawn from `row_numbers`, has each row."""
    return np.stack([np.bincount(part.columns[0].astype(np.int64), minlength=n_rows) for part in parts])
