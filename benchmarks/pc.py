"""PC on binary data from a random pairwise network, against the same search one numpy-counted test at a time.

    python benchmarks/pc.py [--n 75] [--rows 20000] [--degree 1 2 3] [--log-odds 1.0] [--alpha 0.01] [--limit 5]

Both ask the same questions, answer each the same, and return the same graph; that is checked in the run. Times are
thread CPU time, one thread. The rival counts by `numpy.bincount` over a mixed-radix index of int64 codes and takes
its p-value from `scipy.special.gammaincc`. `us/scan` is our time by scans, `floor` that of the same scans in
`Counts.reduce` alone; `judge` is the share of our time that is spent in the test, the rest is the search. PC leaves few
y to a scan (`y/scan`), so its ratio is decided by what a scan costs before the first table is counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from time import thread_time

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from mnlearn.algorithms.pc import PC
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import ChiSquare
from mnlearn.protocols import Indices, VarSet, Verdict, Verdicts
from mnlearn.statistics import Counts, kernels

SWEEPS = 100


def gibbs(graph: Graph, log_odds: float, n_rows: int, seed: int) -> NDArray[np.int64]:
    """One row per variable: chains of a pairwise network, all of them SWEEPS sweeps old, half of the edges negative."""
    rng, n = np.random.default_rng(seed), graph.n_variables
    signs = {edge: rng.choice((-1.0, 1.0)) for edge in graph.edges}
    around = [sorted(graph.neighbors(x)) for x in range(n)]
    weights = [np.array([log_odds / 2 * signs[min(x, y), max(x, y)] for y in around[x]]) for x in range(n)]
    spins = rng.choice((-1.0, 1.0), (n, n_rows))
    for _ in range(SWEEPS):
        for x in range(n):
            logit = weights[x] @ spins[around[x]] if around[x] else np.zeros(n_rows)
            spins[x] = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-logit)), 1.0, -1.0)
    return (spins > 0).astype(np.int64)


class Naive:
    """The search as anyone would write it first: pair by pair, set by set, one table at a time."""

    def __init__(self, codes: NDArray[np.int64], alpha: float) -> None:
        self.codes, self.alpha, self.asked = codes, alpha, 0

    def independent(self, x: int, y: int, z: tuple[int, ...]) -> bool:
        """Pearson's test on binary columns, degrees of freedom by observed rows and columns."""
        self.asked += 1
        index = np.zeros(self.codes.shape[1], dtype=np.int64)
        for v in (*z, x, y):
            index = index * 2 + self.codes[v]
        table = np.bincount(index, minlength=2 ** (len(z) + 2)).reshape(-1, 2, 2)
        table = table[table.any(axis=(1, 2))]
        rows, columns = table.sum(axis=2, keepdims=True), table.sum(axis=1, keepdims=True)
        expected = rows * columns / rows.sum(axis=1, keepdims=True)
        statistic = float(((table - expected) ** 2 / np.where(expected > 0, expected, 1)).sum())
        dof = int(((rows > 0).sum(axis=(1, 2)) - 1) @ ((columns > 0).sum(axis=(1, 2)) - 1))
        return dof == 0 or bool(gammaincc(dof / 2, statistic / 2) > self.alpha)

    def learn(self, limit: int) -> Graph:
        """PC-stable; a question that the other end has asked is not asked again."""
        n = len(self.codes)
        adjacent = {x: set(range(n)) - {x} for x in range(n)}
        for size in range(limit + 1):
            frozen = {x: sorted(adjacent[x]) for x in range(n)}
            for x in range(n):
                for y in frozen[x]:
                    if y in adjacent[x] and any(self.independent(x, y, z) for z in sets(frozen, x, y, size)):
                        adjacent[x].remove(y)
                        adjacent[y].remove(x)
        return Graph(n, [(x, y) for x in range(n) for y in adjacent[x]])


def sets(frozen: dict[int, list[int]], x: int, y: int, size: int) -> Iterator[tuple[int, ...]]:
    """The sets among the neighbours of x that have not been tried from y."""
    for z in combinations([v for v in frozen[x] if v != y], size):
        if y > x or not set(z) <= set(frozen[y]):
            yield z


class Timed:
    """A test that keeps the time spent in it and the scans it was asked."""

    def __init__(self, test: ChiSquare) -> None:
        self._test, self.seconds = test, 0.0
        self.n_variables, self.scans = test.n_variables, list[tuple[int, list[int], VarSet]]()

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """A scan of one."""
        return self.scan(x, [y], z).one(0)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Ask, and note the time."""
        start = thread_time()
        answers = self._test.scan(x, ys, z)
        self.seconds += thread_time() - start
        self.scans.append((x, [int(y) for y in ys], z))
        return answers


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    degree: float
    edges: int
    hamming: int
    asked: int
    scans: int
    ours: float
    judge: float
    floor: float
    naive: float


def measure(codes: NDArray[np.int64], truth: Graph, alpha: float, limit: int) -> Line:
    """Both ways, the same questions."""
    counts = Counts(Dataset.from_codes(list(codes), cards=[2] * len(codes)), n_jobs=1)
    test = ChiSquare(counts, alpha=alpha)
    learner = PC(max_conditioning=limit)
    learner.learn(test)  # bit-planes are built, code is warm
    start = thread_time()
    result = learner.learn(test)
    ours = thread_time() - start
    timed = Timed(test)
    learner.learn(timed)
    kernel = kernels.chi2()
    start = thread_time()
    for x, ys, z in timed.scans:
        counts.reduce(kernel, x, ys, z)
    floor = (thread_time() - start) / len(timed.scans)
    rival = Naive(codes, alpha)
    start = thread_time()
    graph = rival.learn(limit)
    naive = thread_time() - start
    if graph != result.graph or rival.asked != result.cost["asked"]:
        raise AssertionError("the two searches differ: the comparison is void")
    hamming = len(set(graph.edges) ^ set(truth.edges))
    degree = 2 * truth.n_edges / truth.n_variables
    return Line(degree, truth.n_edges, hamming, rival.asked, len(timed.scans), ours, timed.seconds, floor, naive)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=75)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--degree", type=float, nargs="*", default=[1, 2, 3])
    parser.add_argument("--log-odds", type=float, default=1.0)
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--limit", type=int, default=5)
    options = parser.parse_args()
    head = f"n = {options.n}, N = {options.rows}, log odds ratio {options.log_odds}, alpha {options.alpha}\n"
    names = ("degree", "edges", "hamming", "asked", "y/scan", "us/scan", "floor", "judge", "ours s", "naive s", "ratio")
    sys.stdout.write(head + "".join(f"{name:>9}" for name in names) + "\n")
    for degree in options.degree:
        truth = random_graph(options.n, degree, seed=1)
        line = measure(gibbs(truth, options.log_odds, options.rows, seed=2), truth, options.alpha, options.limit)
        numbers = (
            *(f"{line.degree:.1f}", f"{line.edges}", f"{line.hamming}", f"{line.asked}"),
            *(f"{line.asked / line.scans:.1f}", f"{line.ours / line.scans * 1e6:.0f}", f"{line.floor * 1e6:.0f}"),
            *(
                f"{line.judge / line.ours:.2f}",
                f"{line.ours:.3f}",
                f"{line.naive:.2f}",
                f"{line.naive / line.ours:.0f}",
            ),
        )
        sys.stdout.write("".join(f"{number:>9}" for number in numbers) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
