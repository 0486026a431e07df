"""Savings of the methods for continuous data: one covariance for all paths, matrix products for kernels, components.

Each line is the processor time of the plain way divided by ours, in the same run, on the same data, one thread.

    OMP_NUM_THREADS=1 python benchmarks/rivals.py [--variables 500] [--rows 500]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from time import process_time

import numpy as np
from numpy.typing import NDArray

from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.graphs import random_graph
from mnlearn.scores import EBICLasso
from mnlearn.scores.glasso import solve
from mnlearn.statistics import Moments, Rows
from mnlearn.statistics.row_data import kernel_information

Table = NDArray[np.float64]


def plain_lasso(z: Table, x: int) -> int:
    """The LARS path from raw rows, every set fitted again by least squares; how many sets."""
    from sklearn.linear_model import lars_path

    others = np.delete(z, x, axis=1)
    _, _, weights = lars_path(others, z[:, x], method="lasso", max_iter=40)
    for column in weights.T:
        np.linalg.lstsq(others[:, np.flatnonzero(column)], z[:, x], rcond=None)
    return int(weights.shape[1])


def plain_kernels(scores: Table, n_pairs: int) -> None:
    """Pair by pair, each with its own N × N kernels."""
    width = len(scores) ** (-1 / 6)
    for y in range(1, n_pairs + 1):
        of_x, of_y = (np.exp(-0.5 * ((s[:, None] - s) / width) ** 2) for s in (scores[:, 0], scores[:, y]))
        np.log((of_x * of_y).mean(1) / (of_x.mean(1) * of_y.mean(1))).mean()


def plain_precision(correlation: Table, penalty: float) -> None:
    """Everything at once, with scikit-learn's own tolerances."""
    from sklearn.covariance import graphical_lasso

    graphical_lasso(correlation, penalty)


def seconds(work: Callable[[], object]) -> float:
    """Processor time."""
    began = process_time()
    work()
    return process_time() - began


def main() -> None:
    """Measure and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=500)
    parser.add_argument("--rows", type=int, default=500)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    n = chosen.variables
    data = sparse_gaussian(random_graph(n, 3.0, 1), 2).dataset(chosen.rows, 3)
    rows, judge = Rows(data), EBICLasso(Moments(data))
    everyone = frozenset(range(n))
    judge.neighborhood(0, everyone - {0}, frozenset())  # loads what has to be loaded
    asked = range(20)
    ours = seconds(lambda: [judge.neighborhood(x, everyone - {x}, frozenset()) for x in asked])
    plain = seconds(lambda: [plain_lasso(rows.values, x) for x in asked])
    print(f"{n} variables, {chosen.rows} rows")
    print(f"lasso, a neighbourhood: {1000 * ours / len(asked):.1f} ms; from raw rows {plain / ours:.1f} times as long")
    scores = rows.normal_scores()[: min(chosen.rows, 200)]
    ours = seconds(lambda: kernel_information(scores)) / (n * (n - 1) / 2)
    plain = seconds(lambda: plain_kernels(scores, 20)) / 20
    print(f"kernel information, a pair: {1e6 * ours:.0f} µs; pair by pair {plain / ours:.0f} times as long")
    correlation = np.array(rows.moments.correlation)[:100, :100]
    penalty = 0.6 * float(np.abs(correlation - np.eye(len(correlation))).max())
    ours, plain = seconds(lambda: solve(correlation, penalty)), seconds(lambda: plain_precision(correlation, penalty))
    print(f"graphical lasso of 100 variables: {ours:.3f} s; everything at once {plain / ours:.1f} times as long")


if __name__ == "__main__":
    main()
