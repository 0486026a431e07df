"""The cost model of scans: how far from the best way of counting its choice is, over a grid of cases.

    python benchmarks/plan.py [--full]        (MNLEARN_CORE=avx2 for another code path)

Every way of counting is forced in turn and timed beside the free choice, which takes its turn like the others: CPU time
of one thread, a low quantile. `ratio` is the time of the choice over that of the best way. The kernel only counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.evaluation.speed import COUNTING, cpu_times
from mnlearn.statistics import Counts

WAYS = ("tree", "split_planes", "split_columns", "sorted_columns", "planes", "columns", "keys", "lanes", "alone")


class Case(NamedTuple):
    """What the choice depends on."""

    n_ys: int
    n_rows: int
    size_z: int
    card: int


def cases(full: bool) -> Iterator[Case]:
    """The grid: candidates, rows, strata, states."""
    few, more = ((6, 64, 500), (1_000, 8_000)), ((2, 16, 128, 1000), (300, 40_000))
    sizes, rows = few if not full else (few[0] + more[0], few[1] + more[1])
    for n_ys, n_rows, size_z in product(sorted(sizes), sorted(rows), (0, 1, 2, 3, 4, 6, 8)):
        yield Case(n_ys, n_rows, size_z, 2)
    for n_ys, n_rows, size_z in product((6, 128), sorted(rows), (0, 1, 2, 3)):
        yield Case(n_ys, n_rows, size_z, 4)


def times(case: Case) -> dict[str, float]:
    """Microseconds of the free choice ("") and of every way, the impossible ones as what replaces them."""
    rng = np.random.default_rng(0)
    n = max(80, 1 + case.size_z + case.n_ys)
    codes = [rng.choice(case.card, case.n_rows, p=rng.dirichlet([4.0] * case.card)) for _ in range(n)]
    ys = np.arange(n - case.n_ys, n, dtype=np.int32)
    others = [frozenset(range(1 + k, 1 + k + case.size_z)) for k in range(10) if 1 + k + case.size_z <= n - case.n_ys]
    zs = others or [frozenset(range(1, 1 + case.size_z))]
    counts = Counts(Dataset.from_codes(codes, cards=[case.card] * n), n_jobs=1)

    def ask(way: str) -> None:
        _core.force(counts._store, way)
        _core.keep_lists(counts._store, 0)  # every question pays for its lists
        for z in zs * (20 // len(zs)):  # as in a search: what one scan brought into cache serves the next
            counts.reduce(COUNTING, 0, ys, z)

    asked = [partial(ask, way) for way in ("", *WAYS)]
    taken = cpu_times(*asked, budget=0.03)
    asked_for = len(zs * (20 // len(zs)))
    return {way: 1e6 * seconds / asked_for for way, seconds in zip(("", *WAYS), taken, strict=True)}


def main() -> None:
    """Print a line for each case, and how many choices are within 25 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="a finer grid")
    options = parser.parse_args()
    print(f"{'ys':>5} {'rows':>6} {'|z|':>3} {'card':>4} {'chosen':>9} {'ratio':>6}  best way      µs of each way")
    ratios = []
    for case in cases(options.full):
        spent = times(case)
        best = min(WAYS, key=spent.__getitem__)
        ratios.append(spent[""] / spent[best])
        shown = " ".join(f"{way} {spent[way]:.0f}" for way in WAYS)
        print(
            f"{case.n_ys:>5} {case.n_rows:>6} {case.size_z:>3} {case.card:>4} {spent['']:>9.1f} {ratios[-1]:>6.2f}  "
            f"{best:13} {shown}",
            flush=True,
        )
    within = np.mean(np.array(ratios) <= 1.25)
    print(f"within 25 % of the best way: {within:.0%} of {len(ratios)} cases; the worst {max(ratios):.2f}x")


if __name__ == "__main__":
    main()
