"""CPU time of bootstrap intervals with centralities, against drawing rows and inverting their correlations.

    python benchmarks/stability.py [--rows 500] [--variables 30] [--samples 1000]

The simple alternative draws the same rows with NumPy and takes all partial correlations from the inverse of their
correlation matrix: no structure, no centralities. Fixed structures are measured with all samples, learning again with
a few of them and scaled.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        simple = seconds(partial(simple_bootstrap, values, asked.samples))
        fixed = seconds(partial(found, learned, asked.samples, relearn=False))
        few = max(2, asked.samples // 200)
        again = [
            seconds(partial(found, learned, few, sampling=sampling)) * asked.samples / few
            for sampling in ("bootstrap", "halves")
        ]
        print(f"{kind:<11} fixed {fixed:6.2f} s ({fixed / simple:5.1f} x simple)", end=", ")
        print(f"learned again {again[0]:7.1f} s, from halves {again[1]:7.1f} s")


def found(learned: mn.Learned, n_samples: int, **settings: Any) -> object:
    """Return the centralities of all samples."""
    return learned.intervals(n_samples, n_jobs=1, **settings).sampled


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    began = process_time()
    call()
    return process_time() - began


def simple_bootstrap(values: NDArray[np.float64], n_samples: int) -> list[NDArray[np.float64]]:
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
