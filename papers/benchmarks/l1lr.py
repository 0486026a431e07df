"""How much smaller the fits of L1LR are for being asked only what matters.

One neighbourhood after the other along the same penalties: `L1Logistic`, which also fits each support again, against
scikit-learn on all rows and all columns. CPU time of one thread; the ratios are of the same run. Also: how many
neighbourhoods the patience of the path changes. Then the time of all neighbourhoods on networks of [MPL17, Table 1].

    python benchmarks/l1lr.py [--rows N] [--variables D] [--neighbourhoods K]
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.graphs import random_graph
from mnlearn.scores import L1Logistic
from mnlearn.simulate import sample, uniform_factors
from mnlearn_papers.mpl17 import Components


def plain_path(codes: NDArray[np.float64], x: int, n_penalties: int, smallest: float) -> list[frozenset[int]]:
    """The supports of the path, each by a fit to all rows and all columns."""
    from sklearn.linear_model import LogisticRegression

    others = [y for y in range(codes.shape[1]) if y != x]
    design, target = codes[:, others] - 0.5, codes[:, x]
    first = np.abs(design.T @ (target - target.mean())).max()
    supports = []
    for penalty in first * np.geomspace(1, smallest, n_penalties)[1:]:
        solver = LogisticRegression(
            l1_ratio=1, C=1 / penalty, solver="liblinear", tol=1e-6, intercept_scaling=100, random_state=0
        )
        weights = solver.fit(design, target).coef_[0]
        supports.append(frozenset(y for y, weight in zip(others, weights, strict=True) if weight))
    return supports


def time_networks() -> None:
    """Print the seconds for a whole graph: components of 16 variables and their replicas, as in [MPL17]."""
    sizes = (250, 2000, 8000)
    print("variables" + "".join(f"{rows:>7} rows" for rows in sizes))
    for replicas in (1, 2, 8):
        seconds = []
        for rows in sizes:
            data = Components(replicas)(rows, np.random.default_rng(1)).data
            everyone: frozenset[int] = frozenset(range(data.n_variables))
            started = process_time()
            L1Logistic(data).neighborhoods([(x, everyone - {x}, frozenset()) for x in range(data.n_variables)])
            seconds.append(process_time() - started)
        print(f"{64 * replicas:>9}" + "".join(f"{each:>10.2f} s" for each in seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--variables", type=int, default=40)
    parser.add_argument("--neighbourhoods", type=int, default=5)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    network = uniform_factors(random_graph(chosen.variables, 2.0, 1), 2)
    data: Dataset = sample(network, chosen.rows, 3).dataset()
    codes = np.column_stack(data.columns).astype(np.float64)
    everyone: frozenset[int] = frozenset(range(chosen.variables))
    patient, whole = L1Logistic(data), L1Logistic(data, patience=None)
    times, same = np.zeros(3), 0
    for x in range(chosen.neighbourhoods):
        started = process_time()
        short = patient.neighborhood(x, everyone - {x}, frozenset())
        between = process_time()
        full = whole.neighborhood(x, everyone - {x}, frozenset())
        after = process_time()
        plain_path(codes, x, whole.n_penalties, whole.smallest)
        times += between - started, after - between, process_time() - after
        same += short.support.keys() == full.support.keys()
    print(f"{chosen.variables} variables, {chosen.rows} rows, {chosen.neighbourhoods} neighbourhoods")
    print(f"all rows and columns, the path alone   1.00   ({times[2]:.2f} s)")
    print(f"the same path and its refits           {times[1] / times[2]:.2f}")
    print(
        f"with patience (the default)            {times[0] / times[2]:.2f}   {same} of {chosen.neighbourhoods} the same"
    )
    time_networks()


if __name__ == "__main__":
    main()
