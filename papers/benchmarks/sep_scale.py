"""Separator evidence among many variables: CPU time, memory and edges against n, and accuracy with two rankings.

Run as a program: ``python benchmarks/sep_scale.py [--part size|accuracy] [--sizes 1000 3000 10000] [--rows 2000]
[--effort thorough] [--draws 3]``. Each size runs in a process of its own, so that its memory is its own. `size` prints
CPU time, its ratio per variable to the size before, and the largest resident memory, data included. `accuracy` learns
the same data twice: all pairs ranked by evidence, as for up to 5,000 variables, and ranked by the faster statistics.
100,000 variables take some six minutes of CPU time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mnlearn.algorithms.sep import SeparatorEvidence
from mnlearn.algorithms.sep import blankets as _candidate_pairs
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import barabasi_albert, random_graph
from mnlearn.graphs.graph import Edge
from mnlearn.scores import HybridEvidence
from mnlearn.simulate import ising, sample
from mnlearn.statistics import Counts

WINDOW = 40  # parents are among so many variables before


def bayesian(n: int, n_rows: int, seed: int) -> tuple[Dataset, set[Edge]]:
    """Return binary variables with up to two parents each, and the edges of the moral graph."""
    rng = np.random.default_rng(seed)
    columns, edges = np.empty((n, n_rows), dtype=np.uint8), set[Edge]()
    for x in range(n):
        n_parents = int(rng.choice(3, p=[0.15, 0.51, 0.34])) if x >= WINDOW else 0
        parents = (x - 1 - rng.choice(WINDOW, n_parents, replace=False)).tolist()
        low = rng.uniform(0.22, 0.33)
        chances = [[rng.uniform(0.3, 0.7)], rng.permutation([low, 1 - low]), rng.uniform(0.1, 0.9, 4)][n_parents]
        state = sum((columns[p].astype(np.intp) << k for k, p in enumerate(parents)), np.zeros(n_rows, dtype=np.intp))
        columns[x] = rng.random(n_rows, dtype=np.float32) < np.asarray(chances, dtype=np.float32)[state]
        edges |= {(p, x) for p in parents} | ({(min(parents), max(parents))} if n_parents == 2 else set())
    return Dataset.from_codes(list(columns), cards=[2] * n), edges


def network(kind: str, n: int, n_rows: int, seed: int) -> tuple[Dataset, set[Edge]]:
    """Return a sample of a network and its edges."""
    if kind == "bayesian":
        return bayesian(n, n_rows, seed)
    graph = barabasi_albert(n, 2, seed=seed) if kind == "scale-free" else random_graph(n, float(kind), seed=seed)
    weight = 0.4 if kind == "scale-free" else 0.5
    return sample(ising(graph, weight, seed=seed), n_rows, seed=seed + 1).dataset(), set(graph.edges)


def learned(data: Dataset, true: set[Edge], effort: Any) -> dict[str, float]:
    """Return what one run costs and finds."""
    judge = HybridEvidence(Counts(data, n_jobs=1))
    start = time.process_time()
    found = SeparatorEvidence(effort=effort).learn(judge)
    edges = set(found.graph.edges)
    return {
        "cpu_seconds": round(time.process_time() - start, 2),
        "edges": len(edges),
        "false": len(edges - true),
        "missed": len(true - edges),
        "flips": found.cost["flips"],
        "candidate_pairs": found.cost.get("candidate_pairs", 0),
    }


def one_size(n: int, n_rows: int, effort: str) -> dict[str, float]:
    """Return the costs of one size, in this process."""
    found = learned(*bayesian(n, n_rows, 1), effort)
    return {"n": n, **found, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def by_size(sizes: list[int], n_rows: int, effort: str) -> None:
    """Print a line for each size, each from a process of its own."""
    before: dict[str, float] | None = None
    for n in sizes:
        command = [sys.executable, __file__, "--part", "one", "--sizes", str(n), "--rows", str(n_rows)]
        output = subprocess.run([*command, "--effort", effort], capture_output=True, text=True, check=True).stdout
        found = json.loads(output.splitlines()[-1])
        if before is not None:
            ratio = found["cpu_seconds"] / found["n"] / (before["cpu_seconds"] / before["n"])
            found["per_variable_ratio"] = round(ratio, 2)
        print(json.dumps(found), flush=True)
        before = found


@contextmanager
def ranked_by_evidence(most: int) -> Iterator[None]:
    """Rank by evidence for up to so many variables."""
    usual, _candidate_pairs.MOST_FOR_EVIDENCE = _candidate_pairs.MOST_FOR_EVIDENCE, most
    try:
        yield
    finally:
        _candidate_pairs.MOST_FOR_EVIDENCE = usual


def accuracy(sizes: list[int], n_rows: int, effort: str, draws: int) -> None:
    """Print errors with both rankings on the same draws."""
    for n in sizes:
        for kind in ("bayesian", "3", "6", "scale-free"):
            for seed in range(draws):
                data, true = network(kind, n, n_rows, seed)
                found = {}
                for name, most in (("evidence", n), ("fast", 0)):
                    with ranked_by_evidence(most):
                        found[name] = learned(data, true, effort)
                print(json.dumps({"network": kind, "n": n, "seed": seed, **found}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["size", "accuracy", "one"], default="size")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--effort", default="thorough")
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    if given.part == "one":
        print(json.dumps(one_size(given.sizes[0], given.rows, given.effort)))
    elif given.part == "size":
        by_size(given.sizes, given.rows, given.effort)
    else:
        accuracy(given.sizes, given.rows, given.effort, given.draws)


if __name__ == "__main__":
    main()
