"""What row lists cost a scan of many y, and what keeping and refining them gains.

    python benchmarks/lists.py             scans that follow one another, and a whole search
    python benchmarks/lists.py --shares    how much of a scan comes before the first y is counted

Scans: one variable joins z and leaves again, for one x after the other, 512 y, dirichlet; lists made anew for every
scan against lists kept and refined. Search: phase 1 of MPL, which asks about all other x before it comes back to one,
so that the lists of an x are gone by then.

Shares: a scan of 1,024 y is one of 512 and as much counting and scoring again, with the same strata and lists. So what
comes before the counting (the call, the strata, the lists) is twice the time of 512 y less that of 1,024.

CPU time of one thread, low quantiles, the works taking turns.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from mnlearn import _core
from mnlearn.experiments.speed import COUNTING, LONG, SCORES, Question, binary, counts_of, cpu_times
from mnlearn.graphs import sixteen_node_replicas
from mnlearn.protocols import Kernel
from mnlearn.scores import MPL
from mnlearn.simulate.elimination import as_bayesian_network
from mnlearn.simulate.factors import uniform_factors
from mnlearn.statistics import Counts
from mpl import phase_one

N_ROWS, N_VARIABLES = 4_000, 1_040  # rows such that the bits of 1,024 y stay in the second cache
KERNELS: dict[str, Kernel] = {"counting": COUNTING, "dirichlet": SCORES["dirichlet"], "bayes": SCORES["bayes"]}


def questions(n_ys: int, size_z: int) -> list[Question]:
    """Fresh x and z beyond the y, the y from the first on: one block of columns, or two."""
    rng = np.random.default_rng(size_z)
    drawn = [rng.permutation(np.arange(1024, N_VARIABLES)) for _ in range(16)]
    ys = np.arange(n_ys, dtype=np.int32)
    return [(int(order[0]), ys, frozenset(order[1 : 1 + size_z].tolist())) for order in drawn]


def in_and_out(size_z: int) -> list[Question]:
    """Some x beyond 512 y, each asked given z and given one variable more."""
    rng = np.random.default_rng(size_z)
    drawn = [rng.permutation(np.arange(512, 530)).tolist() for _ in range(8)]
    ys = np.arange(512, dtype=np.int32)
    return [(order[0], ys, frozenset(order[1 : 1 + size])) for order in drawn for size in (size_z - 1, size_z)]


def ask_all(counts: Counts, kernel: Kernel, asked: list[Question]) -> None:
    """One question after the other."""
    for question in asked:
        counts.reduce(kernel, *question)


def shares() -> None:
    """Print a line for each size of z and kernel."""
    counts = counts_of(binary(N_VARIABLES, N_ROWS))
    _core.force(counts._store, "split_columns")  # both sizes alike
    print(f"512 y, {N_ROWS} rows, {counts.code_path}: µs a scan, µs before the counting, the most that could be gained")
    for size_z in (1, 2, 3, 4, 5):
        for name, kernel in KERNELS.items():
            few, many = questions(512, size_z), questions(1024, size_z)
            works = [partial(ask_all, counts, kernel, asked) for asked in (few, many)]
            one, two = (1e6 * seconds / len(few) for seconds in cpu_times(*works, sample=LONG))
            print(f"|z| = {size_z}  {name:10} {one:7.1f} {2 * one - two:7.1f} {2 - two / one:6.0%}", flush=True)


def scans(n_rows: int, path: str) -> None:
    """Print a line for each size of z: made anew, refined."""
    data = binary(530, n_rows)
    fresh, kept = counts_of(data, path=path), counts_of(data, path=path, keep_lists=True)
    for size_z in (2, 3, 4, 5, 6, 7):
        asked = in_and_out(size_z)
        works = [partial(ask_all, counts, SCORES["dirichlet"], asked) for counts in (fresh, kept)]
        one, other = (1e6 * seconds / len(asked) for seconds in cpu_times(*works, budget=1.0))
        between = f"|z| = {size_z - 1}, {size_z}"
        print(f"N = {n_rows:6} {path:8} {between}: {one:7.1f} {other:7.1f} µs {1 - other / one:6.1%}", flush=True)


def search(n_rows: int, n: int = 512) -> None:
    """Print phase 1 of MPL without kept lists and with them."""
    data = as_bayesian_network(uniform_factors(sixteen_node_replicas(n), seed=1)).sample(n_rows, seed=2)
    fresh, kept = Counts(data, n_jobs=1), Counts(data, n_jobs=1)
    _core.keep_lists(fresh._store, 0)
    one, other = cpu_times(*(partial(phase_one, MPL(counts)) for counts in (fresh, kept)), budget=6.0)
    print(f"MPL phase 1, n = {n}, N = {n_rows}: {1e3 * one:.1f} {1e3 * other:.1f} ms", flush=True)


def main() -> None:
    """Scans and a search, or the shares."""
    if "--shares" in sys.argv[1:]:
        return shares()
    print("one variable joins z and leaves: µs a scan with new lists, with refined ones, gained")
    for path in _core.levels():
        for n_rows in (1_000, 8_000, 20_000, 100_000) if path == "avx512" else (8_000,):
            scans(n_rows, path)
    for n_rows in (1_000, 8_000):
        search(n_rows)
    return None


if __name__ == "__main__":
    main()
