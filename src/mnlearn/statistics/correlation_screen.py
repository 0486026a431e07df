"""Screens of continuous variables: the strongest correlations of each, block by block, without a matrix of all.

Blocks of columns are multiplied in single precision, which only filters: a pair within rounding of its bar passes.
Those that pass are computed again in double precision, in one order of rows. So blocks and threads change no bit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.errors import UnsuitableError
from mnlearn.protocols import SILENT, Monitor
from mnlearn.protocols.statistics import FloatArray, Indices, IntArray
from mnlearn.statistics.correlation import Standardization
from mnlearn.statistics.screening import (
    ScreenRule,
    ScreenStatistic,
    StrongestPartners,
    kept,
    pairs_before,
    push_block,
)

LARGEST = 1.0 - 2.0**-53  # |r| of a copy, as `Moments` reports it: its evidence is finite
_SINGLE_ROWS = 1 << 14  # up to here single precision filters well: its error bound grows with the rows
_BLOCK_VALUES = 1 << 22  # of a block of columns: 32 MB


def correlation_evidence(r: FloatArray, n_rows: IntArray | int, statistic: ScreenStatistic) -> NDArray[np.float32]:
    """Return the evidence of correlations: −N log(1 − r²) as G², N r² as X², −log(1 − r²) / 2 in nats."""
    squares = np.square(np.clip(r, -LARGEST, LARGEST))
    if statistic == "x2":
        return np.asarray(n_rows * squares, dtype=np.float32)
    ratio = -np.log1p(-squares)
    return np.asarray(0.5 * ratio if statistic == "mi" else n_rows * ratio, dtype=np.float32)


def least_correlation(evidence: NDArray[np.float32], n_rows: int, statistic: ScreenStatistic) -> FloatArray:
    """Return the |r| that has this evidence; the reverse of `correlation_evidence`."""
    wanted = evidence.astype(np.float64)
    if statistic == "x2":
        return np.asarray(np.sqrt(np.minimum(wanted / n_rows, 1.0)))
    return np.asarray(np.sqrt(-np.expm1(-(2.0 * wanted if statistic == "mi" else wanted / n_rows))))


class Correlations(Protocol):
    """Correlations of one x with many y, and the rows behind each."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_variables(self) -> int: ...
    def measured(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, IntArray]: ...


def screen_of_rows(statistics: Correlations, rule: ScreenRule, monitor: Monitor = SILENT) -> StrongestPartners:
    """Screen by the correlations of one variable after the other with all later ones."""
    n = statistics.n_variables
    lists = rule.lists(n, statistics.n_rows)
    for x in range(n - 1):
        if monitor.cancelled():
            return kept(lists, n, complete=False)
        r, n_rows = statistics.measured(x, range(x + 1, n), ())
        push_block(lists, range(x, x + 1), n, correlation_evidence(np.nan_to_num(r), n_rows, rule.statistic))
        monitor.progress(pairs_before(n, x + 1), pairs_before(n, n), "screening pairs")
    return kept(lists, n)


class CorrelationScreen:
    """Screen of a data set of continuous variables.

    Parameters
    ----------
    dataset
        Continuous variables without gaps. `repeats` count as that many equal rows.

    Notes
    -----
    Memory: the data set and blocks of 32 MB. The products take 2 N operations a pair, by BLAS.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> rows[:, 2] += rows[:, 0]
    >>> data = Dataset(("a", "b", "c"), (0, 0, 0), tuple(rows.T.copy()), (None,) * 3)
    >>> CorrelationScreen(data).screen(k=1, threshold=10).pairs()[1].tolist()
    [2]
    """

    def __init__(self, dataset: Dataset) -> None:
        for name, card in zip(dataset.names, dataset.cards, strict=True):
            if card:
                raise UnsuitableError(
                    f"CorrelationScreen needs continuous variables; {name!r} has states. Select the continuous "
                    "columns, or use Counts."
                )
        check_no_gaps(dataset, "CorrelationScreen", "TestwiseMoments")
        self._rows = Standardization(dataset)
        self.n_rows, self.n_variables = dataset.n_rows, dataset.n_variables

    def screen(
        self,
        k: int | None = 20,
        *,
        threshold: float | None = None,
        statistic: ScreenStatistic = "g2",
        monitor: Monitor = SILENT,
    ) -> StrongestPartners:
        """Return the strongest partners of each variable; arguments as for `Counts.screen`."""
        rule = ScreenRule(k=k, threshold=threshold, statistic=statistic)
        lists = rule.lists(self.n_variables, self.n_rows)
        for done, total in self.scan(rule, lists, range(self.n_blocks)):
            if monitor.cancelled():
                return kept(lists, self.n_variables, complete=done == total)
            monitor.progress(done, total, "screening pairs")
        return kept(lists, self.n_variables)

    @property
    def block(self) -> int:
        """Number of columns in a block."""
        return int(np.clip(_BLOCK_VALUES // max(self._rows.n_records, 1), 16, 2048))

    @property
    def n_blocks(self) -> int:
        """Number of blocks of columns."""
        return -(-self.n_variables // self.block)

    def scan(self, rule: ScreenRule, lists: _core.PartnerLists, blocks: range) -> Iterator[tuple[int, int]]:
        """Push the pairs of some blocks x with all later ones; yield the number of block pairs done, and of all."""
        total, dtype = self.n_blocks * (self.n_blocks + 1) // 2, self._filter_type()
        for b in blocks:
            of_x = self._rows.block(self._columns(b))
            narrow = of_x.astype(dtype, copy=False)
            for c in range(b, self.n_blocks):
                of_y = of_x if c == b else self._rows.block(self._columns(c))
                products = narrow @ of_y.astype(dtype, copy=False).T
                self._push(rule, lists, (b, of_x), (c, of_y), products)
                left = self.n_blocks - b
                yield total - left * (left + 1) // 2 + c - b + 1, total

    def _push(
        self,
        rule: ScreenRule,
        lists: _core.PartnerLists,
        x: tuple[int, FloatArray],
        y: tuple[int, FloatArray],
        products: NDArray[np.floating],
    ) -> None:
        """Push the pairs of two blocks that pass a bar."""
        (b, of_x), (c, of_y) = x, y
        bars = least_correlation(lists.bars(), self.n_rows, rule.statistic)
        bars = bars * (1.0 - 1e-6) - self._rounding()
        low = bars[self._columns(b).start :][: len(of_x)], bars[self._columns(c).start :][: len(of_y)]
        passed = np.abs(products) >= self._rows.total * np.minimum(low[0][:, None], low[1]).astype(products.dtype)
        if b == c:
            passed = np.triu(passed, 1)
        i, j = (found.astype(np.int32) for found in np.nonzero(passed))
        r = _core.row_dots(of_x, i, of_y, j) / self._rows.total
        evidence = correlation_evidence(r, self.n_rows, rule.statistic)
        lists.push(i + np.int32(b * self.block), j + np.int32(c * self.block), evidence)

    def _columns(self, block: int) -> range:
        return range(block * self.block, min((block + 1) * self.block, self.n_variables))

    def _filter_type(self) -> type[np.floating]:
        return np.float32 if self._rows.n_records <= _SINGLE_ROWS else np.float64

    def _rounding(self) -> float:
        """Return the largest error of a correlation from the product of two blocks, whatever the order of its sum."""
        unit = 2.0**-24 if self._filter_type() is np.float32 else 2.0**-53
        return 1.1 * (self._rows.n_records + 4) * unit
