"""Screens of all pairs against the counting alone: `Counts.screen` over the same loop without a filter.

    python benchmarks/screening.py [--large] [--threads K]

Times are CPU time of the process, in nanoseconds a pair; bare counting and screen take turns, block by block. The whole
includes bit-planes and lists. The ratios are what carries over to other machines. --large: 100,000 variables.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.statistics import Counts
from mnlearn.statistics.kernels import supported_code_paths
from mnlearn.statistics.screens import ScreenRule

KINDS = ("binary", "skewed", "correlated", "ternary")


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    kind: str
    n: int
    n_rows: int
    path: str
    bare: float
    screen: float
    whole: float
    scored: float
    wall: float


def columns(kind: str, n: int, n_rows: int) -> Iterator[NDArray[np.uint8]]:
    """Columns of which every second depends on the one before; correlated ones also share one of 50 causes."""
    rng = np.random.default_rng([n, n_rows])
    causes = rng.random((50, n_rows)) < 0.5
    before = np.zeros(n_rows, dtype=np.uint8)
    for v in range(n):
        low, high = (0.01, 0.1) if kind == "skewed" else (0.25, 0.5)
        share = rng.uniform(low, high)
        column = (rng.random(n_rows, dtype=np.float32) < share).astype(np.uint8)
        if kind == "ternary":
            column += rng.random(n_rows, dtype=np.float32) < share
        if kind == "correlated":
            column = np.where(rng.random(n_rows, dtype=np.float32) < 0.4, causes[v % 50], column).astype(np.uint8)
        if v % 2:
            column = np.where(rng.random(n_rows, dtype=np.float32) < 0.4, before, column).astype(np.uint8)
        before = column
        yield column


def measured(kind: str, n: int, n_rows: int, path: str, n_threads: int) -> Line:
    """Count and screen the same blocks of pairs, one after the other."""
    os.environ["MNLEARN_CORE"] = path
    counts = Counts(Dataset.from_codes(list(columns(kind, n, n_rows))), n_jobs=n_threads)
    start = time.process_time()
    scan = counts.pair_scan(ScreenRule(k=20))
    whole, bare, screen, wall = time.process_time() - start, 0.0, 0.0, 0.0
    step = 256 if n > 50_000 else 1024
    for first in range(0, scan.pairs.size, step):
        last = min(first + step, scan.pairs.size)
        begin = time.process_time()
        scan.pairs.probe(first, last, n_threads)
        middle, clock = time.process_time(), time.perf_counter()
        scan.pairs.scan(first, last, n_threads)
        bare, screen = bare + middle - begin, screen + time.process_time() - middle
        wall += time.perf_counter() - clock
    start = time.process_time()
    scan.lists.lists()
    whole += screen + time.process_time() - start
    pairs = n * (n - 1) / 2
    bare, screen, whole = (1e9 * seconds / pairs for seconds in (bare, screen, whole))
    scored = 100 * scan.pairs.n_scored / pairs
    return Line(kind, n, n_rows, path, bare=bare, screen=screen, whole=whole, scored=scored, wall=wall)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="100,000 variables, 2,000 rows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--paths", nargs="*", default=None)
    chosen = parser.parse_args()
    n, paths = (100_000 if chosen.large else 20_000), chosen.paths or supported_code_paths()[:1]
    print("kind        n        rows   path     bare ns  screen ns  ratio  whole  scored %  wall s  peak MB")
    for path in paths:
        for kind in chosen.kinds:
            one = measured(kind, n, 2_000, path, chosen.threads)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{one.kind:<11} {one.n:<8} {one.n_rows:<6} {one.path:<8} {one.bare:7.2f} {one.screen:10.2f} "
                f"{one.screen / one.bare:6.2f} {one.whole / one.bare:6.2f} {one.scored:9.3f} {one.wall:7.1f} "
                f"{peak:8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
