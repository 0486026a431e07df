"""Methods by tests on data with gaps, test by test, against the same data without gaps, in the same run.

    python benchmarks/testwise.py [--n 40] [--rows 2000] [--states 3] [--share 0 0.05 0.2] [--repetitions 7] [--slow]

Times are wall-clock seconds of one thread, medians of several runs; `ratio` is the time over that of complete data
with the same method. `slow s` is the same search by the obvious test: drop the incomplete rows of each question, then
test the rest with complete-data statistics (one run, only with --slow). `asked` counts tests: other data, other
questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from mnlearn.algorithms import GSMNStar
from mnlearn.algorithms.pc import PC
from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import Observed
from mnlearn.independence import ChiSquare, GTest, PartialCorrelation
from mnlearn.protocols import BaseTest, Indices, VarSet, Verdicts
from mnlearn.statistics import Counts, Moments
from mnlearn.statistics.moments import TestwiseMoments

LEARNERS: dict[str, Any] = {"pc": PC(), "gsmn*": GSMNStar()}


def categorical(n: int, n_rows: int, states: int) -> Dataset:
    """Variables that copy one of the four before them half of the time."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, states, n_rows)]
    for k in range(1, n):
        like = columns[rng.integers(max(0, k - 4), k)]
        columns.append(np.where(rng.random(n_rows) < 0.5, like, rng.integers(0, states, n_rows)))
    return Dataset.from_codes(columns, cards=[states] * n)


def continuous(n: int, n_rows: int) -> Dataset:
    """Gaussian variables, each half of one of the four before it and noise."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(n, n_rows))
    for k in range(1, n):
        columns[k] += 0.5 * columns[rng.integers(max(0, k - 4), k)]
    return Dataset(tuple(f"x{k}" for k in range(n)), (0,) * n, tuple(columns), (None,) * n)


def with_gaps(data: Dataset, share: float) -> Dataset:
    """The data with that share of the values missing in every column."""
    rng = np.random.default_rng(1)
    columns: list[Any] = []
    for column, card in zip(data.columns, data.cards, strict=True):
        holes: Any = column.astype(np.float64 if not card else np.uint8)
        holes[rng.random(len(holes)) < share] = card or np.nan
        columns.append(holes)
    return replace(data, columns=tuple(columns), gaps=frozenset(data.names))


class Slow(BaseTest):
    """The obvious test: complete rows first, then the statistics of complete data."""

    def __init__(self, data: Dataset, method: str) -> None:
        self._data, self._observed, self._method = data, Observed(data), method

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._data.n_variables

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z."""
        found = [self._test(x, int(y), z) for y in ys]
        return Verdicts(np.array([one.independent for one in found]), np.array([one.log_support for one in found]))

    def _test(self, x: int, y: int, z: VarSet) -> Any:
        variables = sorted({x, y, *z})
        rows, place = self._observed.complete(variables), {v: k for k, v in enumerate(variables)}
        assert rows is not None
        test = test_of(rows, self._method)
        return test(place[x], place[y], frozenset(place[v] for v in z))


def test_of(data: Dataset, method: str) -> Any:
    """The default test of a method, on one thread."""
    if any(data.cards):
        counts = Counts(data, n_jobs=1)
        return GTest(counts) if method == "pc" else ChiSquare(counts, alpha=0.01, dof="observed")
    return PartialCorrelation(TestwiseMoments(data, n_jobs=1) if data.gaps else Moments(data, n_jobs=1))


def seconds(method: str, make: Callable[[Dataset, str], Any], data: Dataset, repetitions: int) -> tuple[float, Any]:
    """The median time of several runs, statistics included, and what the last one returned."""
    times, found = [], None
    for _ in range(repetitions):
        start = perf_counter()
        found = LEARNERS[method].learn(make(data, method))
        times.append(perf_counter() - start)
    return median(times), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--states", type=int, default=3)
    parser.add_argument("--share", type=float, nargs="+", default=[0.0, 0.05, 0.2])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--slow", action="store_true")
    given = parser.parse_args()
    tables = {
        "categorical": categorical(given.n, given.rows, given.states),
        "continuous": continuous(given.n, given.rows),
    }
    print(f"{'data':12} {'method':7} {'gaps':>9} {'asked':>7} {'edges':>6} {'s':>9} {'ratio':>6} {'slow s':>8}")
    for name, data in tables.items():
        for method in LEARNERS:
            base = 0.0
            for share in (None, *given.share):
                used = data if share is None else with_gaps(data, share)
                time, found = seconds(method, test_of, used, given.repetitions)
                base = base or time
                slow = ""
                if given.slow and share is not None:
                    other, twin = seconds(method, Slow, used, 1)
                    slow = f"{other:8.2f}" + ("" if twin.graph == found.graph else " differs")
                gaps = "complete" if share is None else f"{share:.0%}"
                asked, edges = int(found.cost["asked"]), found.graph.n_edges
                print(f"{name:12} {method:7} {gaps:>9} {asked:7} {edges:6} {time:9.4f} {time / base:6.1f} {slow:>8}")


if __name__ == "__main__":
    main()
