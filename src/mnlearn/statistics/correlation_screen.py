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
from mnlearn.numbers import expm1, log1p
from mnlearn.protocols.statistics import FloatArray, Indices, IntArray
from mnlearn.statistics.scaling import Standardization
from mnlearn.statistics.screens import ScreenRule, ScreenStatistic, Step, pairs_before, push_block

LARGEST = 1.0 - 2.0**-53  # |r| of a copy, as `Moments` reports it: its evidence is finite
_SINGLE_ROWS = 1 << 14  # up to here single precision filters well: its error bound grows with the rows
_BLOCK_VALUES = 1 << 22  # of a block of columns: 32 MB


def correlation_evidence(r: FloatArray, n_rows: IntArray | int, statistic: ScreenStatistic) -> NDArray[np.float32]:
    """Return the evidence of correlations: −N log(1 − r²) as G², N r² as X², −log(1 − r²) / 2 in nats."""
    squares = np.square(np.clip(r, -LARGEST, LARGEST))
    if statistic == "x2":
        return np.asarray(n_rows * squares, dtype=np.float32)
    ratio = -log1p(-squares)
    return np.asarray(0.5 * ratio if statistic == "mi" else n_rows * ratio, dtype=np.float32)


def least_correlation(evidence: NDArray[np.float32], n_rows: int, statistic: ScreenStatistic) -> FloatArray:
    """Return the |r| that has this evidence; the reverse of `correlation_evidence`."""
    wanted = evidence.astype(np.float64)
    if statistic == "x2":
        return np.asarray(np.sqrt(np.minimum(wanted / n_rows, 1.0)))
    return np.asarray(np.sqrt(-expm1(-(2.0 * wanted if statistic == "mi" else wanted / n_rows))))


class Correlations(Protocol):
    """Correlations of one x with many y, and the rows behind each."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_variables(self) -> int: ...
    def measured(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, IntArray]: ...


class RowScreen:
    """Scan by the correlations of one variable after the other with all later ones."""

    def __init__(self, statistics: Correlations, rule: ScreenRule) -> None:
        self.n_variables = statistics.n_variables
        self.lists = rule.lists(self.n_variables, statistics.n_rows)
        self._statistics, self._rule = statistics, rule

    def scan(self, first: int) -> Iterator[Step]:
        """Push the pairs of the rows from the first on, one row at a time."""
        n = self.n_variables
        for x in range(first, n - 1):
            r, n_rows = self._statistics.measured(x, range(x + 1, n), ())
            evidence = correlation_evidence(np.nan_to_num(r), n_rows, self._rule.statistic)
            push_block(self.lists, range(x, x + 1), n, evidence)
            yield Step(x + 1, pairs_before(n, x + 1), pairs_before(n, n))


class CorrelationScreen:
    """Scan of a data set of continuous variables; rows are blocks of columns.

    Parameters
    ----------
    dataset
        Continuous variables without gaps. `repeats` count as that many equal rows.
    rule
        Which pairs are kept.

    Notes
    -----
    Memory: the data set and blocks of 32 MB. The products take 2 N operations a pair, by BLAS.

    Examples
    --------
    >>> from mnlearn.statistics.screens import run
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> rows[:, 2] += rows[:, 0]
    >>> data = Dataset(("a", "b", "c"), (0, 0, 0), tuple(rows.T.copy()), (None,) * 3)
    >>> run(CorrelationScreen(data, ScreenRule(k=1, threshold=10))).pairs()[1].tolist()
    [2]
    """

    def __init__(self, dataset: Dataset, rule: ScreenRule) -> None:
        for name, card in zip(dataset.names, dataset.cards, strict=True):
            if card:
                raise UnsuitableError(
                    f"CorrelationScreen needs continuous variables; {name!r} has states. Select the continuous "
                    "columns, or use Counts."
                )
        check_no_gaps(dataset, "CorrelationScreen", "TestwiseMoments")
        self.n_rows, self.n_variables = dataset.n_rows, dataset.n_variables
        self.lists = rule.lists(self.n_variables, self.n_rows)
        self._rows, self._rule = Standardization(dataset), rule
        self._block = int(np.clip(_BLOCK_VALUES // max(self._rows.n_records, 1), 16, 2048))

    def scan(self, first: int) -> Iterator[Step]:
        """Push the pairs of the blocks from the first on with themselves and all later ones."""
        n, dtype = self.n_variables, self._filter_type()
        n_blocks = -(-n // self._block)
        for b in range(first, n_blocks):
            xs = self._columns(b)
            of_x = self._rows.block(xs)
            narrow = of_x.astype(dtype, copy=False)
            for c in range(b, n_blocks):
                ys = self._columns(c)
                of_y = of_x if c == b else self._rows.block(ys)
                self._push((b, of_x), (c, of_y), narrow @ of_y.astype(dtype, copy=False).T)
                left = len(xs) * (n - ys.stop)  # pairs of this block with later ones
                row = b + 1 if c == n_blocks - 1 else None
                yield Step(row, pairs_before(n, xs.stop) - left, pairs_before(n, n))

    def _push(self, x: tuple[int, FloatArray], y: tuple[int, FloatArray], products: NDArray[np.floating]) -> None:
        """Push the pairs of two blocks that pass a bar."""
        (b, of_x), (c, of_y) = x, y
        bars = least_correlation(self.lists.bars(), self.n_rows, self._rule.statistic)
        bars = bars * (1.0 - 1e-6) - self._rounding()
        low = bars[self._columns(b).start :][: len(of_x)], bars[self._columns(c).start :][: len(of_y)]
        passed = np.abs(products) >= self._rows.total * np.minimum(low[0][:, None], low[1]).astype(products.dtype)
        if b == c:
            passed = np.triu(passed, 1)
        i, j = (found.astype(np.int32) for found in np.nonzero(passed))
        r = _core.row_dots(of_x, i, of_y, j) / self._rows.total
        evidence = correlation_evidence(r, self.n_rows, self._rule.statistic)
        self.lists.push(i + np.int32(b * self._block), j + np.int32(c * self._block), evidence)

    def _columns(self, block: int) -> range:
        return range(block * self._block, min((block + 1) * self._block, self.n_variables))

    def _filter_type(self) -> type[np.floating]:
        return np.float32 if self._rows.n_records <= _SINGLE_ROWS else np.float64

    def _rounding(self) -> float:
        """Return the largest error of a correlation from the product of two blocks, whatever the order of its sum."""
        unit = 2.0**-24 if self._filter_type() is np.float32 else 2.0**-53
        return 1.1 * (self._rows.n_records + 4) * unit
