"""Every learner that asks independence questions against the separation oracle, on many random graphs.

    python benchmarks/exact_learning.py [--graphs 1000] [--largest 60] [--ratios]

A graph has from 2 to `--largest` variables and an average degree of 1, 2, 4 or 8 (or complete, when that is not
possible). Any graph that is not found is printed, and the exit status is 1. `--ratios` prints the weighted tests
of GSIMN relative to GSMN* instead, as in Figure 6 of [JAIR09]: mean and standard error over `--graphs` graphs.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from mnlearn.algorithms.gsimn import GSIMN, GSIMNFCH
from mnlearn.algorithms.gsmn import GSMN, GSMNStar
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.pc import PC
from mnlearn.graphs import random_graph
from mnlearn.independence import SeparationOracle

DEGREES = (1, 2, 4, 8)
LEARNERS: dict[str, Any] = {
    "gsmn": GSMN(),
    "gsmn*": GSMNStar(),
    "gsmn* without propagation": GSMNStar(propagation=False),
    "gsmn* without line 22": GSMNStar(skip_marginal=False),
    "gsimn": GSIMN(),
    "gsimn without propagation": GSIMN(propagation=False),
    "gsimn without line 22": GSIMN(skip_marginal=False),
    "gsimn mirrored": GSIMN(mirrored=True, skip_marginal=False),
    "gsimn seeded": GSIMN(seed_dependences=True, skip_marginal=False),
    "gsimn-fch": GSIMNFCH(),
    "hhc-mn": HHCMN(),
    "hhc-mn or": HHCMN(combine="or"),
    "pc": PC(),
}
LARGEST = {"gsimn-fch": 8}  # 2^n truth values by definition


def learn_all(n_graphs: int, largest: int) -> int:
    """How many graphs were not found."""
    tried, missed = dict.fromkeys(LEARNERS, 0), 0
    for seed in range(n_graphs):
        rng = np.random.default_rng(seed)
        n, degree = int(rng.integers(2, largest + 1)), DEGREES[seed % len(DEGREES)]
        truth = random_graph(n, min(degree, n - 1), seed)
        for name, learner in LEARNERS.items():
            if n > LARGEST.get(name, largest):
                continue
            tried[name] += 1
            if learner.learn(SeparationOracle(truth)).graph != truth:
                missed += 1
                print(f"NOT FOUND by {name}: random_graph({n}, {min(degree, n - 1)}, seed={seed})", flush=True)
    for name, count in tried.items():
        print(f"{name:26} {count:6} graphs")
    print("all found" if not missed else f"{missed} not found")
    return missed


def ratios(n_graphs: int) -> None:
    """Weighted tests of GSIMN / GSMN*, initial tests counted, line 22 off."""
    for n in (50, 75, 100):
        found = []
        for seed in range(n_graphs):
            oracle = SeparationOracle(random_graph(n, 8, seed))
            ours = GSIMN(skip_marginal=False).learn(oracle).cost["weighted"]
            stars = [GSMNStar(skip_marginal=False, propagation=p).learn(oracle) for p in (True, False)]
            found.append([ours / star.cost["weighted"] for star in stars])
        mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(n_graphs)
        print(
            f"n={n:3}, degree 8: with propagation {mean[0]:.4f} ({error[0]:.4f}), without {mean[1]:.4f} "
            f"({error[1]:.4f}), {n_graphs} graphs",
            flush=True,
        )


def main() -> None:
    """Print the account; exit with 1 if a graph was not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--largest", type=int, default=60)
    parser.add_argument("--ratios", action="store_true")
    options = parser.parse_args()
    if options.ratios:
        ratios(options.graphs)
    else:
        sys.exit(1 if learn_all(options.graphs, options.largest) else 0)


if __name__ == "__main__":
    main()
