"""Data with few distinct rows: what counting them as rows with repeats gains, and what looking for them costs.

    python benchmarks/distinct.py

For each case the CPU time of a scan with G² given |z| variables, as `Counts` takes it and with every other way of
counting forced in turn; `gain` is the best of those over ours. The first question with a condition looks for distinct
rows: its time, and that of the same question without the look.

Then all pairs of few binary columns by planes as `Counts` counts them: the first call, which makes the planes, a later
one, and the least that weights in bits could cost instead. Planes of the distinct rows, one for each bit of their
repeats, would be counted in `share` of the words; finding the distinct rows and their repeats comes before, by keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.statistics import Counts, kernels
from mnlearn_papers.speed import COUNTING, cpu_times

OTHERS = ("tree", "split_planes", "split_columns", "sorted_columns", "planes", "columns", "keys", "lanes", "alone")
FEW = ((8, 10_000), (8, 100_000), (12, 10_000), (12, 100_000), (16, 10_000), (16, 100_000))
CASES = ((8, 1_000_000), (8, 100_000), (12, 1_000_000), (16, 1_000_000), (8, 10_000), (100, 100_000))


def binary(n: int, n_rows: int) -> list[NDArray[np.uint8]]:
    """Independent columns, each with its own share of ones."""
    rng = np.random.default_rng(n)
    return [(rng.random(n_rows) < share).astype(np.uint8) for share in rng.uniform(0.1, 0.9, n)]


def looking(columns: list[NDArray[np.uint8]]) -> tuple[float, float]:
    """Seconds of the first question with a condition: with the look for distinct rows, and without."""
    spent = []
    for way in ("", "tree"):
        samples = []
        for _ in range(5):
            counts = Counts(Dataset.from_codes(columns, cards=[2] * len(columns)), n_jobs=1)
            _core.force(counts._store, way)
            before = time.thread_time()
            counts.reduce(kernels.g2(), 0, [1], frozenset({2, 3, 4}))
            samples.append(time.thread_time() - before)
        spent.append(min(samples))
    return spent[0], spent[1]


def scans(columns: list[NDArray[np.uint8]]) -> Iterator[tuple[int, str, float, str, float]]:
    """|z|, the way that was chosen and its time, the best other way and its time."""
    n = len(columns)
    ours, theirs = (Counts(Dataset.from_codes(columns, cards=[2] * n), n_jobs=1) for _ in range(2))
    for size_z in (1, 3, 5):
        z, ys = frozenset(range(1, 1 + size_z)), list(range(1 + size_z, min(n, 7 + size_z)))
        best = {}
        for way in OTHERS:
            _core.force(theirs._store, way)
            (best[way],) = cpu_times(partial(theirs.reduce, kernels.g2(), 0, ys, z), budget=0.1)
        (spent,) = cpu_times(partial(ours.reduce, kernels.g2(), 0, ys, z), budget=0.1)
        other = min(best, key=best.__getitem__)
        yield size_z, _core.way_of(ours._store, 0, ys, z), spent, other, best[other]


def keys_of(columns: list[NDArray[np.uint8]]) -> NDArray[np.int64]:
    """The states of each row as one number."""
    return sum((column.astype(np.int64) << v for v, column in enumerate(columns)), np.zeros(len(columns[0]), np.int64))


def weights_in_bits(columns: list[NDArray[np.uint8]]) -> tuple[int, float]:
    """Distinct rows, and the bits set in their repeats, over all rows: the share of the words left to count."""
    repeats = np.bincount(keys_of(columns))
    return int((repeats > 0).sum()), float(np.bitwise_count(repeats).sum()) / len(columns[0])


def all_pairs(columns: list[NDArray[np.uint8]]) -> tuple[float, float, float]:
    """Seconds of the first call, of a later one, and of finding the distinct rows in the core."""
    first, look = [], []
    for _ in range(15):
        fresh = Counts(Dataset.from_codes(columns, cards=[2] * len(columns)), n_jobs=1)
        first.append(spent(partial(fresh.reduce_all, COUNTING)))
        question = partial(fresh.reduce, COUNTING, 0, [1], frozenset({2}))  # the first one looks for distinct rows
        look.append(spent(question) - spent(question))
    (later,) = cpu_times(partial(fresh.reduce_all, COUNTING), budget=0.1)
    return min(first), later, float(np.median(look))


def spent(work: Callable[[], object]) -> float:
    """Seconds of this thread's CPU for one call."""
    before = time.thread_time()
    work()
    return time.thread_time() - before


def print_all_pairs() -> None:
    """A line for each case of few columns."""
    print(f"{'n':>4} {'N':>8} {'distinct':>8} {'share':>6} {'first ms':>9} {'later ms':>9} {'look ms':>8}")
    for n, n_rows in FEW:
        columns = binary(n, n_rows)
        n_distinct, share = weights_in_bits(columns)
        first, later, look = all_pairs(columns)
        print(f"{n:>4} {n_rows:>8} {n_distinct:>8} {share:>6.2f} {1e3 * first:>9.3f} {1e3 * later:>9.4f}", end=" ")
        print(f"{1e3 * look:>8.3f}", flush=True)


def main() -> None:
    """Print a line for each case and size of z."""
    print(f"{'n':>4} {'N':>8} {'distinct':>8} {'|z|':>3} {'way':14} {'µs':>8} {'other':14} {'µs':>8} {'gain':>6}")
    for n, n_rows in CASES:
        columns = binary(n, n_rows)
        keys = np.packbits(np.array(columns), axis=0)
        n_distinct = len(np.unique(keys, axis=1).T) if n <= 16 else n_rows
        for size_z, way, spent, other, best in scans(columns):
            print(f"{n:>4} {n_rows:>8} {n_distinct:>8} {size_z:>3} {way:14} {1e6 * spent:>8.1f}", end=" ")
            print(f"{other:14} {1e6 * best:>8.1f} {best / spent:>6.1f}", flush=True)
        first, plain = looking(columns)
        print(f"{'':26} first question {1e3 * first:.2f} ms; {1e3 * plain:.2f} ms without looking", flush=True)
    print_all_pairs()


if __name__ == "__main__":
    main()
