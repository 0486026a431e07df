"""Time our own functions and products, with the same bits everywhere, against those of NumPy, SciPy and BLAS.

Run: python benchmarks/elementary.py [--values 200000] [--rows 1000] [--variables 500]

Times are of one thread if `OPENBLAS_NUM_THREADS=1` is set and the process may use one core. A ratio above 1 is slower.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from scipy import special

from mnlearn import numbers as _elementary
from mnlearn.protocols import FloatArray
from mnlearn.statistics.scaling import inverses, products


def best_seconds(work: Callable[[], object], repeats: int = 15) -> float:
    """The shortest of several runs: the least disturbed one."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def functions(n: int) -> list[tuple[str, float, float]]:
    """Seconds of each function for n numbers, our own and the usual one."""
    rng = np.random.default_rng(1)
    positive, small = rng.gamma(2.0, 20.0, n), rng.uniform(-0.9, 0.9, n)
    usual: dict[str, tuple[Callable[[FloatArray], Any], FloatArray]] = {
        "exp": (np.exp, -positive),
        "expm1": (np.expm1, small),
        "log": (np.log, positive),
        "log1p": (np.log1p, small),
        "log2": (np.log2, positive),
        "erf": (special.erf, small),
        "erfc": (special.erfc, positive / 10.0),
        "log_gamma": (special.gammaln, positive),
    }
    found = []
    for name, (theirs, x) in usual.items():
        ours: Callable[[FloatArray], FloatArray] = getattr(_elementary, name)
        found.append((name, best_seconds(lambda: ours(x)), best_seconds(lambda: theirs(x))))  # noqa: B023
    return found


def matrices(n_rows: int, n_variables: int) -> list[tuple[str, float, float]]:
    """Seconds for products of rows and for inverses of small matrices, our own and those of NumPy."""
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((n_variables, n_rows))
    blocks = np.matmul(small := rng.standard_normal((2_000, 6, 20)), np.swapaxes(small, 1, 2))
    pairs: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        (f"products, {n_variables} of {n_rows}", lambda: products(rows), lambda: rows @ rows.T),
        ("inverses, 2000 of 6 x 6", lambda: inverses(blocks), lambda: np.linalg.inv(blocks)),
    ]
    return [(name, best_seconds(ours), best_seconds(theirs)) for name, ours, theirs in pairs]


def main() -> None:
    """Print a table of times and ratios."""
    parser = argparse.ArgumentParser(description="Own functions against those of NumPy, SciPy and BLAS.")
    parser.add_argument("--values", type=int, default=200_000)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--variables", type=int, default=500)
    given = parser.parse_args()
    print(f"{'':28} {'own':>10} {'usual':>10} {'ratio':>6}")
    for name, own, usual in functions(given.values):
        unit = 1e9 / given.values
        print(f"{name:28} {own * unit:7.1f} ns {usual * unit:7.1f} ns {own / usual:6.1f}")
    for name, own, usual in matrices(given.rows, given.variables):
        print(f"{name:28} {own * 1e3:7.1f} ms {usual * 1e3:7.1f} ms {own / usual:6.1f}")


if __name__ == "__main__":
    main()
