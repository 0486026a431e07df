"""Partial correlations of continuous variables with gaps: each question from the rows in which it is observed.

A covariance from pairs of columns would mix rows, and need not be positive definite. Here the rows that have values of
x, y and all of z make one small correlation matrix for each question.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.errors import UnsuitableError
from mnlearn.parallel import job_count
from mnlearn.protocols import SILENT, Monitor
from mnlearn.protocols.statistics import FloatArray, Indices, IntArray
from mnlearn.statistics.correlation_screen import RowScreen
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.observed import Observed
from mnlearn.statistics.scaling import standardized_columns
from mnlearn.statistics.screens import ScreenRule, ScreenStatistic, StrongestPartners, run
from mnlearn.statistics.searches import SubsetScans, check_level, question


class TestwiseMoments:
    """Partial correlations of continuous variables with missing values, test by test.

    Parameters
    ----------
    dataset
        Continuous variables, some of them with gaps. `repeats` count as that many equal rows.
    n_jobs
        Number of threads of searches over sets: None or −1 for all cores, else that many. Any number gives the same
        result.

    Notes
    -----
    A question costs |z|² for each row that x and z have in common, then |z| for each of these and each y. Rows that a y
    lacks are taken out of the sums of x and z, which all y share. Where the digits do not suffice, as for near copies,
    the complete rows of a question are given to `Moments`. A question without rows has r = 0.

    Examples
    --------
    >>> a = np.array([0.0, 1.0, 2.0, 3.0, np.nan])
    >>> b = np.array([0.0, 1.0, np.nan, 3.0, 4.0])
    >>> data = Dataset(("a", "b"), (0, 0), (a, b), (None, None), gaps=frozenset({"a", "b"}))
    >>> moments = TestwiseMoments(data)
    >>> moments.question_rows(0, [1], ()).tolist(), moments.partial_correlations(0, [1], ()).round(3).tolist()
    ([3], [1.0])
    """

    __test__ = False  # not a class of tests, whatever its name begins with

    def __init__(self, dataset: Dataset, *, n_jobs: int | None = None) -> None:
        odd = next((name for name, card in zip(dataset.names, dataset.cards, strict=True) if card), None)
        if odd is not None:
            raise UnsuitableError(
                f"TestwiseMoments needs continuous variables; {odd!r} has states. Select the continuous columns, or "
                "use Counts."
            )
        job_count(n_jobs)  # raises
        self.names, self.n_rows, self._n_jobs = dataset.names, dataset.n_rows, n_jobs
        self._observed = Observed(dataset)
        weights = None if dataset.repeats is None else np.ascontiguousarray(dataset.repeats, dtype=np.float64)
        missing = [self._observed.missing_rows(v) for v in range(dataset.n_variables)]
        first = np.cumsum([0, *map(len, missing)], dtype=np.int64)
        self._columns = (standardized_columns(dataset), weights, first, np.concatenate(missing))
        self.without_rows = 0

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_threads(self) -> int:
        """Number of threads for work that can be split."""
        return job_count(self._n_jobs)

    def measured(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, IntArray]:
        """Return the partial correlation of x with each y given z, and the number of rows behind each.

        Arguments, errors and the meaning of NaN are those of `Moments.partial_correlations`; 0 without rows.
        """
        first, others, given = question(x, ys, frozenset(z))
        r, weights = _core.testwise_correlations(*self._columns, first, others, given)
        unclear = np.isnan(r)
        if unclear.any():
            r[unclear] = self._from_rows(first, others[unclear].tolist(), given.tolist())
        return r, np.rint(weights).astype(np.int64)

    def screen(
        self,
        k: int | None = 20,
        *,
        threshold: float | None = None,
        statistic: ScreenStatistic = "g2",
        monitor: Monitor = SILENT,
    ) -> StrongestPartners:
        """Return the strongest partners of each variable, each pair from its own rows, as `Moments.screen` does."""
        return run(RowScreen(self, ScreenRule(k=k, threshold=threshold, statistic=statistic)), monitor)

    def partial_correlations(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return the partial correlation of x with each y given z, each from its own rows."""
        return self.measured(x, ys, z)[0]

    def question_rows(self, x: int, ys: Indices, z: Collection[int]) -> IntArray:
        """Return the number of rows, repeats included, in which x, z and each y are observed."""
        first, others, given = question(x, ys, frozenset(z))
        return self._observed.rows(first, others.tolist(), given.tolist())

    def measured_members(self, x: int, z: Collection[int]) -> tuple[FloatArray, IntArray]:
        """Return the partial correlation of x with every member of z given the others, ascending, and their rows."""
        rest = frozenset(z)
        found = [self.measured(x, (y,), rest - {y}) for y in sorted(rest)]
        r, rows = (np.array([one[k][0] for one in found]) for k in (0, 1))
        return r.astype(np.float64), rows.astype(np.int64)

    def measured_pairs(self) -> tuple[FloatArray, IntArray]:
        """Return the correlation of every pair x < y, in lexicographic order, and the rows behind each."""
        n = self.n_variables
        found = [self.measured(x, range(x + 1, n), ()) for x in range(n)]
        return np.concatenate([r for r, _ in found]), np.concatenate([rows for _, rows in found])

    def correlations_all(self) -> FloatArray:
        """Return the correlations of all pairs x < y, in lexicographic order."""
        return self.measured_pairs()[0]

    def subsets(self, level: float) -> SubsetScans:
        """Return the search over conditioning sets for Fisher's z test, as `Moments.subsets` does."""
        check_level(level)
        tests = _core.testwise_tests(*self._columns, level, self._from_rows)
        return SubsetScans(tests, n_threads=self.n_threads)

    def _from_rows(self, x: int, ys: list[int], z: list[int]) -> FloatArray:
        """Return partial correlations that need more digits, or have no rows."""
        found = np.zeros(len(ys))
        for k, y in enumerate(ys):
            variables = sorted({x, y, *z})
            rows = self._observed.complete(variables)
            if rows is None:
                self.without_rows += 1
                continue
            place = {v: i for i, v in enumerate(variables)}
            found[k] = Moments(rows).partial_correlations(place[x], [place[y]], {place[v] for v in z})[0]
        return found
