"""CPU time of bootstrap intervals with centralities, against drawing rows and inverting their correlations.

    python benchmarks/stability.py [--rows 500] [--variables 30] [--samples 1000]

The simple alternative draws the same rows with NumPy and takes all partial correlations from the inverse of their
correlation matrix: no structure, no centralities. Fixed structures are measured with all samples, learning again with
a fiftieth of them and scaled.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from time import process_time

import numpy as np

import mnlearn as mn
from mnlearn.simulate import simulate


def main() -> None:
    """Print one line for each kind of data and each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--samples", type=int, default=1000)
    asked = parser.parse_args()
    logging.getLogger("mnlearn").setLevel(logging.ERROR)
    print(f"{asked.samples} samples of {asked.variables} columns and {asked.rows} rows, one thread")
    for kind, law in (("continuous", "gaussian"), ("binary", "odds:theta=1.0")):
        drawn = simulate(f"random:n={asked.variables},degree=4", law, n_rows=asked.rows, seed=1)
        learned = mn.learn(drawn.data, n_jobs=1)
        values = np.stack([column.astype(float) for column in drawn.data.columns], axis=1)
        simple = seconds(lambda values=values: simple_bootstrap(values, asked.samples))
        fixed = seconds(lambda learned=learned: learned.intervals(asked.samples, relearn=False, n_jobs=1).sampled)
        few = max(2, asked.samples // 50)
        again = seconds(lambda learned=learned, few=few: learned.intervals(few, n_jobs=1).sampled) * asked.samples / few
        print(f"{kind:<11} fixed {fixed:6.2f} s ({fixed / simple:5.1f} x simple), learned again {again:7.1f} s")


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    began = process_time()
    call()
    return process_time() - began


def simple_bootstrap(values: np.ndarray, n_samples: int) -> list[np.ndarray]:
    """Return all partial correlations of each sample."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n_samples):
        inverse = np.linalg.inv(np.corrcoef(values[rng.integers(len(values), size=len(values))].T))
        scale = np.sqrt(np.diag(inverse))
        found.append(-inverse / np.outer(scale, scale))
    return found


if __name__ == "__main__":
    main()
