"""Counting and scoring binary tables: `Counts` against bincount, a numba bit-plane loop and a float32 Gram product.

    make bench        or        python benchmarks/counting.py [--quick] [--kernel g2]

Times are thread CPU time, one thread, the 20 % quantile of repeated runs, in nanoseconds per table (one y). Each
rival only counts; `Counts` counts and scores. bincount and numba get the stratum index or the row sets for
free, `Counts` pays for its own. The ratios are what carries over to other machines.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mnlearn.data.dataset import Dataset
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, kernels

numba: Any = import_module("numba")  # partly typed, and not installed where the types are checked

SIZES = (128, 1000)
ROWS = (1_000, 8_000, 100_000)
CONDITIONS = (0, 2, 4, 8)
REQUIRED = ((512, 8_000, 4),)


@dataclass(frozen=True)
class Line:
    """One line of the table: nanoseconds per table, each way."""

    what: str
    n: int
    n_rows: int
    size_z: int
    counts: float
    bincount: float
    numba: float | None
    gram: float | None


def cpu_time(work: Callable[[], object], budget: float = 0.3) -> float:
    """Seconds of CPU, a low quantile: the minimum would pick the clock's own mistakes."""
    work()
    samples: list[float] = []
    start = time.thread_time()
    while len(samples) < 5 or (time.thread_time() - start < budget and len(samples) < 2000):
        before = time.thread_time()
        work()
        samples.append(time.thread_time() - before)
        if time.thread_time() - start > 4 * budget and len(samples) >= 3:
            break
    return float(np.quantile(samples, 0.2))


def binary(n: int, n_rows: int) -> NDArray[np.uint8]:
    """One row per variable."""
    rng = np.random.default_rng(n + n_rows)
    return (rng.random((n, n_rows)) < rng.uniform(0.25, 0.75, (n, 1))).astype(np.uint8)


@numba.njit  # type: ignore[untyped-decorator]
def popcount(v: np.uint64) -> np.uint64:
    """The bits of a word, in the form that LLVM turns into its popcount instruction."""
    v = v - ((v >> np.uint64(1)) & np.uint64(0x5555555555555555))
    v = (v & np.uint64(0x3333333333333333)) + ((v >> np.uint64(2)) & np.uint64(0x3333333333333333))
    v = (v + (v >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (v * np.uint64(0x0101010101010101)) >> np.uint64(56)


@numba.njit  # type: ignore[untyped-decorator]
def plane_loop(sets: NDArray[np.uint64], planes: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
    """counts[set, y] = |set ∩ {y = 1}|: the ten lines that an honest rival would write."""
    for s in range(sets.shape[0]):
        for y in range(planes.shape[0]):
            total = np.uint64(0)
            for w in range(planes.shape[1]):
                total += popcount(sets[s, w] & planes[y, w])
            counts[s, y] = total


def bits(columns: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Columns as bit-planes of whole 64-bit words."""
    packed = np.packbits(columns, axis=1, bitorder="little")
    padded = np.zeros((len(columns), (packed.shape[1] + 7) // 8 * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def all_pairs(n: int, n_rows: int, kernel: Kernel) -> Line:
    """Every pair without conditioning."""
    data = binary(n, n_rows)
    counts = Counts(Dataset.from_codes(list(data), cards=[2] * n), n_jobs=1)
    pairs = n * (n - 1) / 2
    ours = cpu_time(lambda: counts.reduce_all(kernel)) / pairs
    index = data[0].astype(np.int64) * 2
    bincount = cpu_time(lambda: np.bincount(index + data[1], minlength=4))
    planes = bits(data)
    few = min(n, max(1, 2_000_000 // (n_rows // 64 * n)) + 4)  # rows of the pair matrix that are timed
    out = np.zeros((few, n), dtype=np.int64)
    loop = cpu_time(lambda: plane_loop(planes[:few], planes, out)) / (few * n)
    floats = data.astype(np.float32)
    with threadpool_limits(1):  # else this thread's time is half of the work, or waiting for the other half
        gram = cpu_time(lambda: floats @ floats.T, budget=0.1) / pairs
    return Line("all pairs", n, n_rows, 0, ours, bincount, loop, gram)


def scan(n: int, n_rows: int, size_z: int, kernel: Kernel, few: int | None = None) -> Line:
    """One x, one z, every other variable as y; or only a few of them, as searches ask."""
    data = binary(n, n_rows)
    counts = Counts(Dataset.from_codes(list(data), cards=[2] * n), n_jobs=1)
    z, ys = frozenset(range(1, 1 + size_z)), np.arange(1 + size_z, n if few is None else 1 + size_z + few)
    ours = cpu_time(lambda: counts.reduce(kernel, 0, ys, z)) / len(ys)
    stratum = np.zeros(n_rows, dtype=np.int64)
    for v in (0, *z):
        stratum = stratum * 2 + data[v]
    index, n_cells = stratum * 2, 2 ** (size_z + 2)
    bincount = cpu_time(lambda: np.bincount(index + data[-1], minlength=n_cells))
    sets = bits(np.array([stratum == s for s in range(2 ** (size_z + 1))], dtype=np.uint8))
    timed = bits(data)[: max(8, min(n, 50_000_000 // (n_rows * len(sets)) + 8))]
    out = np.zeros((len(sets), len(timed)), dtype=np.int64)
    loop = cpu_time(lambda: plane_loop(sets, timed, out)) / len(timed)
    return Line("scan" if few is None else f"few y ({few})", n, n_rows, size_z, ours, bincount, loop, None)


def lines(kernel: Kernel, quick: bool) -> Iterator[Line]:
    """The required figures first, then the grid."""
    for n_rows in ROWS:
        yield all_pairs(1000, n_rows, kernel)
    for n, n_rows, size_z in REQUIRED:
        yield scan(n, n_rows, size_z, kernel)
    for size_z in (1, 2, 3, 4, 6):
        yield scan(75, 20_000, size_z, kernel, few=6)
    if quick:
        return
    for n_rows in ROWS:
        yield all_pairs(128, n_rows, kernel)
    for n in SIZES:
        for n_rows in ROWS:
            for size_z in CONDITIONS:
                yield scan(n, n_rows, size_z, kernel)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the required figures")
    parser.add_argument("--kernel", default="g2", choices=["chi2", "g2", "mi", "bayes", "dirichlet", "entropy"])
    options = parser.parse_args()
    kernel: Kernel = getattr(kernels, options.kernel)()
    path = Counts(Dataset.from_codes([[0, 1], [0, 1]])).code_path
    print(f"code path {path}, kernel {options.kernel}, ns per table, one thread")
    print(f"{'':9} {'n':>5} {'N':>7} {'|Z|':>3} {'Counts':>9} {'bincount':>10} {'numba':>9} {'gram':>9}   ratios")
    for line in lines(kernel, options.quick):
        rivals = (line.bincount, line.numba, line.gram)
        shown = " ".join(f"{rival * 1e9:>9.1f}" if rival else " " * 9 for rival in rivals)
        ratios = ", ".join(
            f"{name} {rival / line.counts:.0f}x" if rival / line.counts >= 10 else f"{name} {rival / line.counts:.1f}x"
            for name, rival in zip(("bincount", "numba", "gram"), rivals, strict=True)
            if rival
        )
        head = f"{line.what:9} {line.n:>5} {line.n_rows:>7} {line.size_z:>3} {line.counts * 1e9:>9.1f}"
        print(f"{head} {shown}   {ratios}", flush=True)


if __name__ == "__main__":
    main()
