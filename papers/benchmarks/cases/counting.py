"""Counting, scans, sums and elementary functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import Lines, Row, case
from mnlearn import numbers as own
from mnlearn.data.dataset import Dataset
from mnlearn.independence.gaussian import PartialCorrelation
from mnlearn.protocols import FloatArray, Kernel
from mnlearn.statistics import Moments
from mnlearn.statistics.scaling import inverses, products
from mnlearn_papers.speed import COUNTING, SCORES, binary, counts_of, strata_of
from timing import turns

Bits = NDArray[np.uint64]


@cache
def loops() -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile the honest rivals: a loop over bit-planes, and one over rows."""
    numba: Any = import_module("numba")

    @numba.njit  # type: ignore[untyped-decorator]
    def popcount(v: np.uint64) -> np.uint64:  # in the form that LLVM turns into its popcount instruction
        v = v - ((v >> np.uint64(1)) & np.uint64(0x5555555555555555))
        v = (v & np.uint64(0x3333333333333333)) + ((v >> np.uint64(2)) & np.uint64(0x3333333333333333))
        v = (v + (v >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return (v * np.uint64(0x0101010101010101)) >> np.uint64(56)

    @numba.njit  # type: ignore[untyped-decorator]
    def planes_of(sets: Bits, planes: Bits, counts: NDArray[np.int64]) -> None:
        for s in range(sets.shape[0]):
            for y in range(planes.shape[0]):
                total = np.uint64(0)
                for w in range(planes.shape[1]):
                    total += popcount(sets[s, w] & planes[y, w])
                counts[s, y] = total

    @numba.njit  # type: ignore[untyped-decorator]
    def rows_of(stratum: NDArray[np.int64], y: NDArray[np.uint8], cells: NDArray[np.int64]) -> None:
        cells[:] = 0
        for row in range(len(y)):
            cells[stratum[row] * 2 + y[row]] += 1

    return planes_of, rows_of


def bits(columns: NDArray[np.uint8]) -> Bits:
    """Return columns as bit-planes of whole 64-bit words."""
    packed = np.packbits(columns, axis=1, bitorder="little")
    padded = np.zeros((len(columns), (packed.shape[1] + 7) // 8 * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


@case("counting", needs=["numba"], sizes=(32,), rows=(200,), given=(2,))
def counting(
    sizes: tuple[int, ...] = (128, 512, 1000),
    rows: tuple[int, ...] = (1000, 8000, 100_000),
    given: tuple[int, ...] = (0, 2, 4, 8),
    kernel: str = "g2",
) -> Lines:
    """Binary tables: counted and scored beside np.bincount, numba loops and a float32 product, ns a table.

    The rivals only count, and get the strata or row sets for free. `--kernel count` counts only, too.
    """
    chosen = COUNTING if kernel == "count" else SCORES[kernel]
    for n in sizes:
        yield from (_all_pairs(n, n_rows, chosen) for n_rows in rows)
    for n in sizes:
        yield from (_scan(n, n_rows, size_z, chosen) for n_rows in rows for size_z in given)


def _all_pairs(n: int, n_rows: int, kernel: Kernel) -> Row:
    """Every pair without conditioning."""
    from threadpoolctl import threadpool_limits

    data, pairs = binary(n, n_rows), n * (n - 1) / 2
    counts, index = counts_of(data), data[0].astype(np.int64) * 2
    planes, floats, (by_planes, _) = bits(data), data.astype(np.float32), loops()
    few = min(n, max(1, 2_000_000 // (n_rows // 64 * n + 1)) + 4)  # rows of the pair matrix that are timed
    out = np.zeros((few, n), dtype=np.int64)
    with threadpool_limits(1):
        ours, bincount, loop, gram = turns(
            lambda: counts.reduce_all(kernel),
            lambda: np.bincount(index + data[1], minlength=4),
            lambda: by_planes(planes[:few], planes, out),
            lambda: floats @ floats.T,
        )
    rivals = {"np.bincount": bincount, "numba, planes": loop / (few * n), "float32 product": gram / pairs}
    return _beside({"task": "all pairs", "n": n, "N": n_rows, "given": 0}, ours / pairs, rivals)


def _scan(n: int, n_rows: int, size_z: int, kernel: Kernel) -> Row:
    """One x, one z, every other variable as y."""
    data = binary(n, n_rows)
    counts, stratum = counts_of(data), strata_of(data, size_z)
    z, ys = frozenset(range(1, 1 + size_z)), np.arange(1 + size_z, n)
    by_planes, by_rows = loops()
    sets = bits(np.array([stratum == s for s in range(2 << size_z)], dtype=np.uint8))
    planes = bits(data)[: max(8, min(n, 50_000_000 // (n_rows * len(sets)) + 8))]
    out, cells = np.zeros((len(sets), len(planes)), dtype=np.int64), np.zeros(4 << size_z, dtype=np.int64)
    ours, bincount, loop, rows = turns(
        lambda: counts.reduce(kernel, 0, ys, z),
        lambda: np.bincount(stratum * 2 + data[-1], minlength=4 << size_z),
        lambda: by_planes(sets, planes, out),
        lambda: by_rows(stratum, data[-1], cells),
    )
    rivals = {"np.bincount": bincount, "numba, planes": loop / len(planes), "numba, rows": rows}
    return _beside({"task": "scan", "n": n, "N": n_rows, "given": size_z}, ours / len(ys), rivals)


def _beside(what: Row, ours: float, rivals: dict[str, float]) -> Row:
    return {**what, "ns": 1e9 * ours, **{name: f"{seconds / ours:.3g}x" for name, seconds in rivals.items()}}


@case("moments", n=20, rows=100)
def moments(n: int = 500, rows: int = 1000, given: int = 4, pairs: int = 200) -> Lines:
    """Partial correlations of a scan, beside one NumPy solve and one regression a pair; µs a pair."""
    rng = np.random.default_rng(0)
    mixing = np.eye(n) + rng.uniform(-1.0, 1.0, (n, n)) / np.sqrt(n)
    values = rng.standard_normal((rows, n)) @ mixing
    own_way = Moments(Dataset(tuple(map(str, range(n))), (0,) * n, tuple(values.T.copy()), (None,) * n))
    covariance, z, test = np.array(own_way.covariance), list(range(n - given, n)), PartialCorrelation(own_way)
    ys, few, kept = np.arange(1, n - given), range(1, min(1 + pairs, n - given)), frozenset(z)
    for found in ([by_solve(covariance, [0, y, *z]) for y in few], [_by_rows(values, 0, y, z) for y in few]):
        np.testing.assert_allclose(found, own_way.partial_correlations(0, list(few), kept), rtol=0, atol=1e-9)
    scan, tested, solve, lstsq = turns(
        lambda: own_way.partial_correlations(0, ys, kept),
        lambda: test.scan(0, ys, kept),
        lambda: [by_solve(covariance, [0, y, *z]) for y in few],
        lambda: [_by_rows(values, 0, y, z) for y in few],
    )
    times = {"one scan": scan / len(ys), "tests of one scan": tested / len(ys)}
    for name, seconds in {
        **times,
        "one solve a pair": solve / len(few),
        "one regression a pair": lstsq / len(few),
    }.items():
        yield {"way": name, "µs a pair": 1e6 * seconds, "times as long": seconds / times["one scan"]}


def by_solve(covariance: FloatArray, block: list[int]) -> float:
    """Return the partial correlation of the first two of a block given the others."""
    inverse = np.linalg.solve(covariance[np.ix_(block, block)], np.eye(len(block))[:, :2])
    return float(-inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]))


def _by_rows(values: FloatArray, x: int, y: int, z: list[int]) -> float:
    """Return the correlation of what two regressions on z leave."""
    design, pair = np.column_stack([np.ones(len(values)), values[:, z]]), values[:, [x, y]]
    left = pair - design @ np.linalg.lstsq(design, pair, rcond=None)[0]
    return float(left[:, 0] @ left[:, 1] / np.sqrt((left[:, 0] @ left[:, 0]) * (left[:, 1] @ left[:, 1])))


@case("elementary", values=200, rows=50, variables=10)
def elementary(values: int = 200_000, rows: int = 1000, variables: int = 500) -> Lines:
    """Functions and products with the same bits everywhere, beside those of NumPy, SciPy and BLAS.

    One thread, if `OPENBLAS_NUM_THREADS=1` is set.
    """
    for name, ours, theirs, unit in _pairs_of_works(values, rows, variables):
        here, there = turns(ours, theirs)
        yield {"what": name, "ns": 1e9 * here / unit, "usual": 1e9 * there / unit, "times as long": here / there}


def _pairs_of_works(values: int, rows: int, variables: int) -> Iterator[tuple[str, Any, Any, int]]:
    """Yield our own work, the usual one, and how many numbers they make."""
    from scipy import special

    rng = np.random.default_rng(1)
    positive, small = rng.gamma(2.0, 20.0, values), rng.uniform(-0.9, 0.9, values)
    usual: dict[str, Any] = {"exp": (np.exp, -positive), "expm1": (np.expm1, small), "log": (np.log, positive)}
    usual |= {"log1p": (np.log1p, small), "log2": (np.log2, positive), "erf": (special.erf, small)}
    usual |= {"erfc": (special.erfc, positive / 10.0), "log_gamma": (special.gammaln, positive)}
    for name, (theirs, x) in usual.items():
        yield name, partial(getattr(own, name), x), partial(theirs, x), values
    table, small_rows = rng.standard_normal((variables, rows)), rng.standard_normal((2000, 6, 20))
    blocks = np.matmul(small_rows, np.swapaxes(small_rows, 1, 2))
    yield f"products, {variables} of {rows}", lambda: products(table), lambda: table @ table.T, 1
    yield "2,000 inverses of 6 x 6", lambda: inverses(blocks), lambda: np.linalg.inv(blocks), 1
