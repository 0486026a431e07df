"""CPU time of every learning method in two source trees, measured side by side.

    python benchmarks/side_by_side.py --old ../before/src --new src
    python benchmarks/side_by_side.py --old ../before/src --new src --methods sep gsimn --data grid hubs --repeats 9

Each tree is a folder that contains the package `mnlearn` with its compiled core. One process per tree keeps the data
sets in memory, and the two processes take turns, so that a busy machine slows both. A short search runs several times
per turn. The ratio is the median over turns of new / old: below 1 the new tree is faster. All searches use one thread.
Two equal trees differ by up to 2 % over all data sets, by up to 20 % on one. The table takes four CPU minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from functools import cache
from math import ceil
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

METHODS = (
    *("sep", "gsmn", "gsmn*", "gsimn", "gsimn-fch", "hhc-mn", "pc", "ib", "bjp", "mpl", "pic", "mbs", "l1lr"),
    *("aracne", "lasso", "l1mb", "glasso", "hillclimb", "exhaustive"),
)
DATA: dict[str, tuple[str, str, int]] = {
    "grid": ("grid:rows=8,columns=8", "odds:theta=1.2", 2000),
    "large-grid": ("grid:rows=12,columns=12", "odds:theta=1.2", 5000),
    "random": ("random:n=60,degree=3", "odds:theta=1.0,signs=mixed", 20000),
    "scale-free": ("scale-free:n=100", "odds:theta=1.5", 3000),
    "hubs": ("hubs:hubs=4,leaves=9", "odds:theta=1.5", 2000),
    "cliques": ("cliques:n=64", "uniform", 4000),
    "cycle-3-states": ("cycle:n=30", "potts:theta=1.2,states=3", 2000),
    "tree-4-states": ("tree:n=50", "tables:states=4,strength=1.0", 5000),
    "six": ("star:n=6", "tables:states=3,strength=1.2", 5000),
    "gaussian": ("random:n=30,degree=3", "gaussian", 1000),
    "large-gaussian": ("random:n=80,degree=3", "gaussian", 500),
    "gaussian-grid": ("grid:rows=7,columns=7", "partial:correlation=0.2", 2000),
}
"""Network, distribution and number of rows of every data set, as `mnlearn.simulate.simulate` takes them."""

MOST_VARIABLES = {"gsmn": 40, "l1lr": 15, "hillclimb": 15, "hhc-mn": 40, "pc": 40, "exhaustive": 6, "gsimn-fch": 6}
"""Slow methods see the first so many variables only."""

TURN_SECONDS = 0.05
MOST_CALLS = 50


# --- In the process of one tree -------------------------------------------------------------------------------------


@cache
def _data(name: str, method: str) -> Any:
    """Return a data set, cut to the variables that the method can take."""
    from mnlearn.simulate import simulate

    network, distribution, n_rows = DATA[name]
    data = simulate(network, distribution, n_rows=n_rows, seed=1, n_jobs=1).data
    return data.select(data.names[: MOST_VARIABLES.get(method, data.n_variables)])


def _timed(name: str, method: str, calls: int) -> dict[str, object] | None:
    """Return the CPU seconds of one call, the mean of several, and the edges; None if data and method do not fit."""
    import mnlearn as mn

    data = _data(name, method)
    started = process_time()
    try:
        for _ in range(calls):
            found = mn.learn(data, method, n_jobs=1)
    except mn.UnsuitableError:
        return None
    return {"seconds": (process_time() - started) / calls, "edges": [list(edge) for edge in found.graph.edges]}


def work(tree: str) -> None:
    """Answer requests, one JSON document a line, until the input ends."""
    import mnlearn as mn

    if Path(tree).resolve() not in Path(mn.__file__).resolve().parents:
        sys.exit(f"{tree} must contain the package mnlearn; Python imports {mn.__file__} instead.")
    for line in sys.stdin:
        print(json.dumps(_timed(**json.loads(line))), flush=True)


# --- In the process that compares -----------------------------------------------------------------------------------


class Tree:
    """The process of one tree."""

    def __init__(self, path: str) -> None:
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--worker", path]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)

    def ask(self, name: str, method: str, calls: int = 1) -> Any:
        """Time one search in this tree."""
        pipes: Any = self._process
        pipes.stdin.write(json.dumps({"name": name, "method": method, "calls": calls}) + "\n")
        pipes.stdin.flush()
        line = pipes.stdout.readline()
        return json.loads(line) if line else sys.exit("a worker ended; its message is above")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def turns(old: Tree, new: Tree, name: str, method: str, repeats: int) -> list[tuple[float, float]]:
    """Return the CPU seconds of old and new, a pair for each turn; nothing if the method does not take the data."""
    old.ask(name, method)  # loads modules and makes the data
    before, after = old.ask(name, method), (new.ask(name, method), new.ask(name, method))[1]
    if before is None or after is None:
        return []
    if before["edges"] != after["edges"]:
        print(f"{method} on {name}: the two trees find different edges", file=sys.stderr)
    calls = min(MOST_CALLS, ceil(TURN_SECONDS / max(before["seconds"], 1e-4)))
    pairs = []
    for turn in range(repeats):
        order = (old, new) if turn % 2 == 0 else (new, old)
        seconds = {tree: tree.ask(name, method, calls)["seconds"] for tree in order}
        pairs.append((seconds[old], seconds[new]))
    return pairs


def report(method: str, measured: list[list[tuple[float, float]]]) -> None:
    """Print one row: sums over the data sets of median seconds, the median ratio, and its range over data sets."""
    old, new = (sum(median(pair[side] for pair in pairs) for pairs in measured) for side in (0, 1))
    ratios = [median(b / a for a, b in pairs) for pairs in measured]
    middle = median(b / a for pairs in measured for a, b in pairs)
    span = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"{method:12}{len(measured):6}{old:10.3f}{new:10.3f}{middle:8.3f}   {span}", flush=True)


def compare(options: argparse.Namespace) -> None:
    """Measure every method on every data set in both trees, and print the table."""
    old, new = Tree(options.old), Tree(options.new)
    print(f"{'method':12}{'data':>6}{'old s':>10}{'new s':>10}{'ratio':>8}   by data set")
    for method in options.methods:
        found = (turns(old, new, name, method, options.repeats) for name in options.data)
        if measured := [pairs for pairs in found if pairs]:
            report(method, measured)
    old.close()
    new.close()


def main() -> None:
    """Read the options, and compare or work."""
    parser = argparse.ArgumentParser(description="CPU time of two source trees, side by side.")
    parser.add_argument("--old", metavar="DIR", help="source tree to compare with")
    parser.add_argument("--new", metavar="DIR", default="src", help="source tree to judge (src)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--data", nargs="+", choices=DATA, default=tuple(DATA), metavar="NAME", help=", ".join(DATA))
    parser.add_argument("--repeats", type=int, default=5, help="turns for each method and data set (5)")
    parser.add_argument("--worker", metavar="DIR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
    elif options.old is None:
        parser.error("--old must name the source tree to compare with")
    else:
        compare(options)


if __name__ == "__main__":
    main()
