"""Where the time of a scan of many y goes: the call, the lists, the counting, the candidates.

    python benchmarks/scan_parts.py

Nothing is timed inside the core. A scan of no y is the call alone. One y costs the call, the lists and the counting of
its block of 512 columns; two y of different blocks cost the counting of a block more; 512 y of one block cost all that
is done for each y: reading, checking, scoring, handing out. So differences of scans are the parts. CPU time of one
thread, low quantiles, the scans taking turns, with the loads of all rows of a block beside them as a ceiling.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mnlearn import _core
from mnlearn.statistics import Counts, kernels
from mnlearn_papers.speed import COUNTING, LONG, Question, binary, counts_of, cpu_times

N_ROWS, N_VARIABLES = 4_000, 1_040  # rows such that the bits of both blocks stay in the second cache
BLOCK = 512


def questions(ys: list[int], size_z: int) -> list[Question]:
    """Fresh x and z from beyond the two blocks."""
    rng = np.random.default_rng(size_z)
    drawn = [rng.permutation(np.arange(2 * BLOCK, N_VARIABLES)) for _ in range(64)]
    asked = np.array(ys, dtype=np.int32)
    return [(int(order[0]), asked, frozenset(order[1 : 1 + size_z].tolist())) for order in drawn]


def ask_all(counts: Counts, asked: list[Question]) -> None:
    """One question after the other."""
    for question in asked:
        counts.reduce(COUNTING, *question)


def parts(counts: Counts, size_z: int) -> tuple[float, ...]:
    """Microseconds of a load a row; of the call, the lists, the counting of a block, and 512 candidates."""
    scans = [questions(ys, size_z) for ys in ([], [5], [5, BLOCK + 5], list(range(BLOCK)))]
    load, *taken = cpu_times(
        kernels.load_work(counts.code_path, N_ROWS), *(partial(ask_all, counts, asked) for asked in scans), sample=LONG
    )
    none, one, two, many = (1e6 * seconds / len(scans[0]) for seconds in taken)
    return 1e6 * load, none, one - none - (two - one), two - one, many - one


def main() -> None:
    """Print a line for each size of z."""
    counts = counts_of(binary(N_VARIABLES, N_ROWS))
    _core.force(counts._store, "split_columns")  # whatever the number of y
    print(
        f"{N_ROWS} rows, {counts.code_path}, µs: a load a row, then the call, the lists, the counting, 512 candidates"
    )
    for size_z in range(1, 7):
        load, *others = parts(counts, size_z)
        shares = "".join(f"{part:8.2f} ({part / load:.1f}x)" for part in others)
        print(f"|z| = {size_z}  {load:6.2f} {shares}  together {sum(others) / load:.1f}x", flush=True)


if __name__ == "__main__":
    main()
