"""Frequencies of true and false edges in resampled rows, by the way of drawing.

    python benchmarks/resampling.py [--rows 500] [--samples 20] [--quick]

For each method and each way of drawing rows: the mean frequency of true edges and of absent pairs, how many of each end
up on the wrong side of one half, and processor time per sample against one run on all rows.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import Any, get_args

import mnlearn as mn
from mnlearn.analysis.samples import Sampling
from mnlearn.simulate import simulate

METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sep", {"effort": "fast"}),
    ("sep", {"effort": "standard"}),
    ("gsimn", {}),
    ("pc", {}),
    ("mpl", {}),
)


def main() -> None:
    """Print one line for each method and way of drawing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="without sep of standard effort, slow on repeated rows")
    asked = parser.parse_args()
    drawn = simulate("random:n=15,degree=2.5", "odds:theta=1.0", n_rows=asked.rows, seed=1)
    true = set(drawn.truth.graph.edges)
    absent = [(u, v) for u in range(15) for v in range(u + 1, 15) if (u, v) not in true]
    print(f"{asked.rows} rows, {len(true)} edges among 15 binary variables, {asked.samples} samples each")
    print(f"{'method':<14} {'sampling':<11} true  false  missed  wrong  time/run")
    for method, settings in METHODS:
        if asked.quick and settings.get("effort") == "standard":
            continue
        mn.learn(drawn.data, method, n_jobs=1, **settings)  # what is loaded once is not counted
        began = process_time()
        learned = mn.learn(drawn.data, method, n_jobs=1, **settings)
        once = process_time() - began
        for sampling in get_args(Sampling):
            began = process_time()
            found = learned.bootstrap(asked.samples, sampling=sampling, n_jobs=1).frequencies or {}
            each = (process_time() - began) / asked.samples
            here, there = ([found.get(pair, 0.0) for pair in pairs] for pairs in (sorted(true), absent))
            print(
                f"{method + ' ' + settings.get('effort', ''):<14} {sampling:<11} {sum(here) / len(here):.2f}  "
                f"{sum(there) / len(there):.3f}  {sum(f < 0.5 for f in here):>6}  {sum(f >= 0.5 for f in there):>5}  "
                f"{each / once:>8.2f}"
            )


if __name__ == "__main__":
    main()
