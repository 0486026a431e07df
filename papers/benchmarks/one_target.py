"""The blanket of one variable beside that of the whole network: time, and how often the two agree.

    python benchmarks/one_target.py [--targets 20] [--columns 500 5000] [--data ../shared/data]

Times are seconds of CPU on one thread for data that are read already; that of the blanket is the mean over targets.
Errors are members too many and too few against the true graph, of the same targets.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np

import mnlearn as mn
from mnlearn.simulate import Simulated, simulate

KINDS = (
    ("tree:n=200", "odds", 1000),
    ("grid:rows=14,columns=14", "odds:theta=1.0", 1000),
    ("random:n=200,degree=3", "uniform", 1000),
    ("random:n=200,degree=3", "tables:states=3", 1000),
    ("cliques:n=200,size=3", "tables:states=2", 1000),
    ("hubs:hubs=10,leaves=19", "odds", 1000),
    ("random:n=200,degree=3", "gaussian", 500),
    ("scale-free:n=200", "gaussian", 500),
)
NETWORKS = ("hepar2.bif", "win95pts.bif", "andes.bif")


def draws(columns: list[int], data: Path) -> Iterator[tuple[str, Simulated]]:
    """Yield every network with its rows; those with more columns last."""
    for network, distribution, n_rows in KINDS:
        yield f"{network} {distribution}", simulate(network, distribution, n_rows=n_rows, seed=1)
    for name in NETWORKS:
        if (data / "networks" / name).exists():
            yield name, simulate(data / "networks" / name, n_rows=1000, seed=1)
    for n in columns:
        yield f"random:n={n},degree=3 odds", simulate(f"random:n={n},degree=3", "odds", n_rows=1000, seed=1)
        yield f"random:n={n},degree=3 gaussian", simulate(f"random:n={n},degree=3", "gaussian", n_rows=1000, seed=1)


def compare(name: str, drawn: Simulated, n_targets: int) -> None:
    """Print one line of figures."""
    start = process_time()
    whole = mn.learn(drawn.data, n_jobs=1)
    of_whole = process_time() - start
    chosen = np.random.default_rng(1).permutation(drawn.data.n_variables)[:n_targets]
    targets = [drawn.data.names[x] for x in sorted(chosen.tolist())]
    start = process_time()
    found = {target: {*mn.blanket(drawn.data, target, n_jobs=1).names} for target in targets}
    of_one = (process_time() - start) / len(targets)
    true = {t: {drawn.truth.names[y] for y in drawn.truth.graph.neighbors(drawn.truth.names.index(t))} for t in targets}
    known = {target: {*whole.blanket(target)} for target in targets}
    same = sum(found[t] == known[t] for t in targets)
    differ = [sum(len(one[t] - other[t]) for t in targets) for one, other in ((known, found), (found, known))]
    errors = [sum(len(one[t] ^ true[t]) for t in targets) for one in (known, found)]
    members = sum(map(len, known.values()))
    print(
        f"{name:42} {of_whole:8.2f} {of_one:8.3f} {of_whole / of_one:6.0f}x   {same:3} of {len(targets):3}   "
        f"{members:4} {differ[0]:4} {differ[1]:4}   {errors[0]:4} {errors[1]:4}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", type=int, default=60)
    parser.add_argument("--columns", type=int, nargs="*", default=[500, 5000])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    print(f"{'':42} whole, s   one, s  ratio   same          members lost more   errors whole, one")
    for name, drawn in draws(given.columns, given.data):
        compare(name, drawn, given.targets)


if __name__ == "__main__":
    main()
