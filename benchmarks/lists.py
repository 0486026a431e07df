"""What a scan of many y spends before the first y is counted: the most that keeping and refining row lists could gain.

    python benchmarks/lists.py

A scan of 1,024 y is one of 512 and as much counting and scoring again, with the same strata and lists. So what comes
before the counting (the call, the strata, the lists) is twice the time of 512 y less that of 1,024. A search that kept
its lists would save at most this part, and less by what refining them costs. CPU time of one thread, low quantiles, the
scans taking turns.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mnlearn import _core
from mnlearn.evaluation.speed import COUNTING, LONG, SCORES, Question, binary, counts_of, cpu_times
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts

N_ROWS, N_VARIABLES = 4_000, 1_040  # rows such that the bits of 1,024 y stay in the second cache
KERNELS: dict[str, Kernel] = {"counting": COUNTING, "dirichlet": SCORES["dirichlet"], "bayes": SCORES["bayes"]}


def questions(n_ys: int, size_z: int) -> list[Question]:
    """Fresh x and z beyond the y, the y from the first on: one block of columns, or two."""
    rng = np.random.default_rng(size_z)
    drawn = [rng.permutation(np.arange(1024, N_VARIABLES)) for _ in range(16)]
    ys = np.arange(n_ys, dtype=np.int32)
    return [(int(order[0]), ys, frozenset(order[1 : 1 + size_z].tolist())) for order in drawn]


def ask_all(counts: Counts, kernel: Kernel, asked: list[Question]) -> None:
    """One question after the other."""
    for question in asked:
        counts.reduce(kernel, *question)


def shares(counts: Counts, kernel: Kernel, size_z: int) -> tuple[float, float]:
    """Microseconds of a scan of 512 y, and of it those before the counting."""
    few, many = questions(512, size_z), questions(1024, size_z)
    one, two = cpu_times(partial(ask_all, counts, kernel, few), partial(ask_all, counts, kernel, many), sample=LONG)
    return 1e6 * one / len(few), 1e6 * (2 * one - two) / len(few)


def main() -> None:
    """Print a line for each size of z and kernel."""
    counts = counts_of(binary(N_VARIABLES, N_ROWS))
    _core.force(counts._store, "split_columns")  # both sizes alike
    print(f"512 y, {N_ROWS} rows, {counts.code_path}: µs a scan, µs before the counting, the most that could be gained")
    for size_z in (1, 2, 3, 4, 5):
        for name, kernel in KERNELS.items():
            whole, before = shares(counts, kernel, size_z)
            print(f"|z| = {size_z}  {name:10} {whole:7.1f} {before:7.1f} {before / whole:6.0%}", flush=True)


if __name__ == "__main__":
    main()
