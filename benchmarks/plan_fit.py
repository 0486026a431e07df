"""Measures the constants of the cost model on this machine, for the code path in use.

    python benchmarks/plan_fit.py        (MNLEARN_CORE=avx2 for another code path)

Each constant is a difference of two scans that differ in one thing only, so that what they share (the call, the strata,
the scores) drops out: nanoseconds of CPU, low quantiles, the scans taking turns. native/dispatch.cpp holds those of a
code path, native/plan.cpp the others. Only their ratios matter; benchmarks/plan.py shows how good the choice is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.evaluation.speed import COUNTING, cpu_times
from mnlearn.statistics import Counts

N_ROWS, N_VARIABLES = 8_000, 1_100
WORDS = N_ROWS / 64


def make_counts() -> Counts:
    """Independent binary columns."""
    rng = np.random.default_rng(0)
    columns = [(rng.random(N_ROWS) < 0.5).astype(np.uint8) for _ in range(N_VARIABLES)]
    return Counts(Dataset.from_codes(columns, cards=[2] * N_VARIABLES), n_jobs=1)


def scan(counts: Counts, way: str, n_ys: int, size_z: int) -> None:
    """One scan, forced; y from the beginning of a block of 512 planes, x and z elsewhere."""
    _core.force(counts._store, way)
    z = frozenset(range(1025, 1025 + size_z))
    counts.reduce(COUNTING, 1024, np.arange(n_ys, dtype=np.int32), z)


def difference(counts: Counts, more: tuple[str, int, int], fewer: tuple[str, int, int]) -> float:
    """Nanoseconds by which one scan (way, number of y, size of z) takes longer than the other."""
    one, other = cpu_times(partial(scan, counts, *more), partial(scan, counts, *fewer), budget=0.4)
    return 1e9 * (one - other)


def constants(counts: Counts) -> Iterator[tuple[str, str, float]]:
    """Where each constant stands, its name, and what was measured."""
    group = difference(counts, ("split_planes", 512, 4), ("split_planes", 8, 4)) / (2**5 * WORDS * 63)
    yield "dispatch.cpp", "plane_group_word", group
    # A second block of 512 columns is rows and sets anew: two sizes of z tell the two apart.
    few, many = (difference(counts, ("columns", 1024, k), ("columns", 512, k)) for k in (2, 8))
    a_set = (many - few) / (2**9 - 2**3)
    yield "dispatch.cpp", "vertical_row", (few - 2**3 * a_set) / N_ROWS
    yield "dispatch.cpp", "vertical_set", a_set
    tree = difference(counts, ("tree", 32, 3), ("tree", 8, 3))
    yield "dispatch.cpp", "tree_word", tree / (2**4 * WORDS * 24)
    split = difference(counts, ("split_planes", 8, 6), ("split_planes", 8, 4))
    sets = 2**7 - 2**5
    yield "dispatch.cpp", "split_word", (split / (sets * WORDS) - group) / 2
    alone = difference(counts, ("alone", 12, 2), ("alone", 4, 2))
    yield "plan.cpp", "kAloneRow", alone / (8 * N_ROWS)
    # The strata are kept from question to question: what is left is the lists, or the bitsets.
    lists = difference(counts, ("columns", 512, 4), ("planes", 8, 0))
    yield "plan.cpp", "kListRow", (lists - few) / N_ROWS
    bitsets = difference(counts, ("planes", 8, 4), ("planes", 8, 0))
    yield "plan.cpp", "kBitsetRow", (bitsets - 2**5 * WORDS * (0.5 + group)) / N_ROWS


def main() -> None:
    """Print the constants."""
    counts = make_counts()
    print(f"code path {counts.code_path}, nanoseconds")
    for place, name, value in constants(counts):
        print(f"{place:14} {name:18} {value:8.3f}", flush=True)


if __name__ == "__main__":
    main()
