"""Partial correlations of a scan against the same numbers one pair at a time.

Run: python benchmarks/moments.py [--n 500] [--rows 1000] [--given 4]

One scan asks for x with every other y given z; the table has, for scans of one x and for all x with one z, the time per
pair and the ratio to `Moments`, all in one run. The pair-by-pair methods are timed on a sample of the pairs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.independence.gaussian import PartialCorrelation
from mnlearn.protocols import FloatArray
from mnlearn.statistics.moments import Moments

SAMPLE = 200  # pairs timed for the slow methods


def best_seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The shortest of several runs: the least disturbed one."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def by_solve(covariance: FloatArray, x: int, y: int, z: list[int]) -> float:
    """One pair from the covariance: the inverse of the block of (x, y, z)."""
    block = [x, y, *z]
    unit = np.zeros((len(block), 2))
    unit[0, 0] = unit[1, 1] = 1.0
    inverse = np.linalg.solve(covariance[np.ix_(block, block)], unit)
    return float(-inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]))


def by_residuals(rows: FloatArray, x: int, y: int, z: list[int]) -> float:
    """One pair from the rows: the correlation of what two regressions on z leave."""
    design = np.column_stack([np.ones(len(rows)), rows[:, z]])
    pair = rows[:, [x, y]]
    left = pair - design @ np.linalg.lstsq(design, pair, rcond=None)[0]
    return float(left[:, 0] @ left[:, 1] / np.sqrt((left[:, 0] @ left[:, 0]) * (left[:, 1] @ left[:, 1])))


def table(rows: FloatArray, n_given: int) -> str:
    """Time every method, check that they agree, and lay out the ratios."""
    n_rows, n = rows.shape
    data = Dataset(tuple(map(str, range(n))), (0,) * n, tuple(np.ascontiguousarray(rows.T)), (None,) * n)
    moments = Moments(data)
    covariance, z = np.array(moments.covariance), list(range(n - n_given, n))
    given, xs = frozenset(z), range(n - n_given)
    ys = {x: np.array([y for y in xs if y != x]) for x in xs}
    sample = [int(y) for y in ys[0][:SAMPLE]]
    wanted = moments.partial_correlations(0, sample, given)
    for found in ([by_solve(covariance, 0, y, z) for y in sample], [by_residuals(rows, 0, y, z) for y in sample]):
        np.testing.assert_allclose(np.array(found), wanted, rtol=0, atol=1e-9)

    test = PartialCorrelation(moments)
    per_pair = {
        "Moments, one scan": best_seconds(lambda: moments.partial_correlations(0, ys[0], given)) / len(xs),
        "Moments, all x, one z": best_seconds(lambda: [moments.partial_correlations(x, ys[x], given) for x in xs], 3)
        / (len(xs) * (len(xs) - 1)),
        "PartialCorrelation.scan": best_seconds(lambda: test.scan(0, ys[0], given)) / len(xs),
        "PartialCorrelation, one pair": best_seconds(lambda: [test(0, y, given) for y in sample], 3) / len(sample),
        "numpy solve per pair": best_seconds(lambda: [by_solve(covariance, 0, y, z) for y in sample], 3) / len(sample),
        "lstsq residuals per pair": best_seconds(lambda: [by_residuals(rows, 0, y, z) for y in sample], 3)
        / len(sample),
    }
    base = per_pair["Moments, one scan"]
    lines = [
        f"n = {n}, N = {n_rows}, |z| = {n_given}; covariance {best_seconds(lambda: Moments(data), 3) * 1e3:.1f} ms"
    ]
    lines += [f"{'method':<30}{'us per pair':>12}{'ratio':>10}"]
    lines += [f"{name:<30}{seconds * 1e6:>12.3f}{seconds / base:>10.1f}" for name, seconds in per_pair.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the sizes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--given", type=int, default=4)
    sizes = parser.parse_args()
    rng = np.random.default_rng(0)
    mixing = np.eye(sizes.n) + rng.uniform(-1.0, 1.0, (sizes.n, sizes.n)) / np.sqrt(sizes.n)
    sys.stdout.write(table(rng.standard_normal((sizes.rows, sizes.n)) @ mixing, sizes.given))


if __name__ == "__main__":
    main()
