"""Gain of a second thread in short calls, one after the other, as searches make them.

    python benchmarks/threads.py

All pairs of few variables, and a level of PC-stable in which everyone depends on everyone. By the clock, one thread and
two taking turns of several calls, the least of all turns; on a machine where nothing else runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.protocols import SetLevel
from mnlearn.statistics import Counts
from mnlearn_papers.speed import OFTEN, SCORES, binary, clock_times, counts_of, often

N_DEPENDENT, N_ROWS = 30, 20_000


def all_pairs(n_variables: int, n_jobs: int) -> Callable[[], object]:
    """G² of all pairs, 1,000 rows."""
    return partial(counts_of(binary(n_variables, 1_000), n_jobs=n_jobs).reduce_all, SCORES["g2"])


def level(n_jobs: int) -> Callable[[], object]:
    """All sets of two among variables that one hidden variable makes dependent."""
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 2, N_ROWS)
    noisy = [np.where(rng.random(N_ROWS) < 0.75, hidden, rng.integers(0, 2, N_ROWS)) for _ in range(N_DEPENDENT)]
    counts = Counts(Dataset.from_codes(noisy, cards=[2] * N_DEPENDENT), n_jobs=n_jobs)
    walk, around = counts.subsets(SCORES["chi2"], -3.0), ~np.eye(N_DEPENDENT, dtype=np.bool_)

    def separate() -> None:
        weakest = np.full(around.shape, np.nan)
        walk.separate(SetLevel(2, around, around.copy(), weakest), range(N_DEPENDENT), lambda _: True)

    return separate


def main() -> None:
    """Print a line for each kind of call."""
    works: dict[str, Callable[[int], Callable[[], object]]] = {
        f"all pairs, n = {n}, N = 1000, g2": partial(all_pairs, n) for n in (100, 200, 300, 500, 1000)
    }
    works[f"a level of PC, sets of 2 among {N_DEPENDENT}, N = {N_ROWS}"] = level
    for what, make in works.items():
        one, two = clock_times(partial(often, make(1)), partial(often, make(2)), turns=60)
        print(f"{what:50} {1e6 * one / OFTEN:9.0f} µs, two threads gain {one / two:.2f}x", flush=True)


if __name__ == "__main__":
    main()
