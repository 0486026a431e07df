"""PC and HHC-MN on binary data from a random pairwise network, against the same search by one numpy test at a time.

    python benchmarks/pc.py [--method pc hhc-mn] [--n 75] [--rows 20000] [--degree 1 2 3] [--log-odds 1.0]
                            [--alpha 0.01] [--limit 5]

All ask the same questions, answer each the same, and return the same graph; that is checked in the run. Times are
thread CPU time, one thread; ours are medians of several runs. The rival counts by `numpy.bincount` over a mixed-radix
index of int64 codes and takes its p-value from `scipy.special.gammaincc`. `scans s` is our own search with one scan
asked at a time (`ahead=1`), `ours s` with whole families of sets tried inside the core; `us` is the latter by
questions, `ratio` the rival's time over it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from time import thread_time

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.pc import PC
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import ChiSquare
from mnlearn.statistics import Counts

SWEEPS, REPETITIONS = 100, 9


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
    """The searches as anyone would write them first: pair by pair, set by set, one table at a time."""

    def __init__(self, codes: NDArray[np.int64], alpha: float) -> None:
        self.codes, self.alpha, self.asked = codes, alpha, 0

    def test(self, x: int, y: int, z: tuple[int, ...]) -> tuple[float, float]:
        """Pearson's test on binary columns, degrees of freedom by observed rows and columns: statistic and p."""
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
        return statistic, 1.0 if dof == 0 else float(gammaincc(dof / 2, statistic / 2))

    def separated(self, x: int, y: int, family: Iterator[tuple[int, ...]]) -> bool:
        """Whether one of the sets separates them."""
        return any(self.test(x, y, z)[1] > self.alpha for z in family)

    def pc(self, limit: int) -> Graph:
        """PC-stable; a question that the other end has asked is not asked again."""
        n = len(self.codes)
        adjacent = {x: set(range(n)) - {x} for x in range(n)}
        for size in range(limit + 1):
            frozen = {x: sorted(adjacent[x]) for x in range(n)}
            for x in range(n):
                for y in frozen[x]:
                    if y in adjacent[x] and self.separated(x, y, untried(frozen, x, y, size)):
                        adjacent[x].remove(y)
                        adjacent[y].remove(x)
        return Graph(n, [(x, y) for x in range(n) for y in adjacent[x]])

    def hhc_mn(self, limit: int) -> Graph:
        """Interleaved HITON-PC around each x, strongest first; members are tried with sets that have the newcomer."""
        n = len(self.codes)
        pairs = {pair: self.test(*pair, ()) for pair in combinations(range(n), 2)}
        found = [self.around(x, {y: pairs[min(x, y), max(x, y)] for y in range(n) if y != x}, limit) for x in range(n)]
        return Graph(n, [(x, y) for x in range(n) for y in found[x] if x in found[y]])

    def around(self, x: int, marginal: dict[int, tuple[float, float]], limit: int) -> list[int]:
        """Return the neighbours of x by HITON-PC."""
        held: list[int] = []
        strength = {y: -statistic for y, (statistic, p) in marginal.items() if p <= self.alpha}  # p itself underflows
        for newcomer in sorted(strength, key=lambda y: (strength[y], y)):
            if self.separated(x, newcomer, subsets(held, limit)):
                continue
            held.append(newcomer)
            for y in held[:-1]:
                others = [u for u in held if u not in (y, newcomer)]
                if self.separated(x, y, subsets(others, limit, newcomer)):
                    held.remove(y)
        return held


def untried(frozen: dict[int, list[int]], x: int, y: int, size: int) -> Iterator[tuple[int, ...]]:
    """The sets among the neighbours of x that have not been tried from y."""
    for z in combinations([v for v in frozen[x] if v != y], size):
        if y > x or not set(z) <= set(frozen[y]):
            yield z


def subsets(members: list[int], limit: int, *always: int) -> Iterator[tuple[int, ...]]:
    """Non-empty sets of at most so many, by size: some of the members, and what is always in them."""
    for size in range(0 if always else 1, min(len(members), limit - len(always)) + 1):
        for chosen in combinations(members, size):
            yield (*chosen, *always)


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    method: str
    degree: float
    edges: int
    hamming: int
    asked: int
    ours: float
    scans: float
    naive: float


def timed(learner: PC | HHCMN, test: ChiSquare) -> float:
    """Thread CPU time of a run."""
    times = []
    for _ in range(REPETITIONS):
        start = thread_time()
        learner.learn(test)
        times.append(thread_time() - start)
    return median(times)


def measure(method: str, codes: NDArray[np.int64], truth: Graph, alpha: float, limit: int) -> Line:
    """All ways, the same questions."""
    counts = Counts(Dataset.from_codes(list(codes), cards=[2] * len(codes)), n_jobs=1)
    test = ChiSquare(counts, alpha=alpha)
    learner = PC(max_conditioning=limit) if method == "pc" else HHCMN(max_conditioning=limit)
    result = learner.learn(test)  # bit-planes are built, code is warm
    ours, scans = timed(learner, test), timed(replace(learner, ahead=1), test)
    rival = Naive(codes, alpha)
    start = thread_time()
    graph = rival.pc(limit) if method == "pc" else rival.hhc_mn(limit)
    naive = thread_time() - start
    if graph != result.graph or rival.asked != result.cost["asked"]:
        raise AssertionError("the two searches differ: the comparison is void")
    hamming = len(set(graph.edges) ^ set(truth.edges))
    degree = 2 * truth.n_edges / truth.n_variables
    return Line(method, degree, truth.n_edges, hamming, rival.asked, ours, scans, naive)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", nargs="*", default=["pc", "hhc-mn"], choices=["pc", "hhc-mn"])
    parser.add_argument("--n", type=int, default=75)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--degree", type=float, nargs="*", default=[1, 2, 3])
    parser.add_argument("--log-odds", type=float, default=1.0)
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--limit", type=int, default=5)
    options = parser.parse_args()
    head = f"n = {options.n}, N = {options.rows}, log odds ratio {options.log_odds}, alpha {options.alpha}\n"
    names = ("method", "degree", "edges", "hamming", "asked", "us", "ours s", "scans s", "naive s", "ratio")
    sys.stdout.write(head + "".join(f"{name:>9}" for name in names) + "\n")
    for method in options.method:
        for degree in options.degree:
            truth = random_graph(options.n, degree, seed=1)
            codes = gibbs(truth, options.log_odds, options.rows, seed=2)
            line = measure(method, codes, truth, options.alpha, options.limit)
            numbers = (
                *(method, f"{line.degree:.1f}", f"{line.edges}", f"{line.hamming}", f"{line.asked}"),
                *(f"{line.ours / line.asked * 1e6:.2f}", f"{line.ours:.4f}", f"{line.scans:.4f}"),
                *(f"{line.naive:.2f}", f"{line.naive / line.ours:.0f}"),
            )
            sys.stdout.write("".join(f"{number:>9}" for number in numbers) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
