"""IBMAP-HC by IB and BJP: what the search adds to the counting and scoring that it asks for.

    python benchmarks/ibmap.py [--graph FILE] [--rows 1000] [--log-odds 2] [--degree 4]

Seconds of CPU on one thread. Data are drawn from pairwise factors of random sign by Gibbs sampling, on a random graph
with 128 variables and, if given, on the graph in FILE. The floor is the engine asked exactly the scans and the blankets
of the run, all known beforehand, by one `reduce_many` and one `members`: a search cannot cost less. The proxy is
that of `mnlearn bench`: all pairs, then 2n flips of blankets of four, no search at all.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

import numpy as np

from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.data import Dataset
from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import BayesianTest
from mnlearn.protocols import FloatArray, Indices, Kernel, Result, SearchableScore, VarSet
from mnlearn.scores import BJPScore, IBScore
from mnlearn.simulate import GibbsPlan, PairwiseNetwork, sample
from mnlearn.statistics import Counts, kernels
from mnlearn_papers.experiment import read_pairs
from mnlearn_papers.speed import ibmap_proxy

SCORES: dict[str, Callable[[BayesianTest], SearchableScore]] = {"IB": IBScore, "BJP": BJPScore}
BUDGET = 3.0


class Recorded(Counts):
    """Counts that write down what they are asked."""

    def start(self) -> None:
        """Forget what was asked so far."""
        self.scans: list[tuple[int, Indices, VarSet]] = []
        self.blankets: list[tuple[int, VarSet]] = []

    def reduce_many(
        self, kernel: Kernel, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]
    ) -> list[FloatArray]:
        """Write down, and answer."""
        self.scans += zip(map(int, xs), yss, zs, strict=True)
        return super().reduce_many(kernel, xs, yss, zs)

    def members(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Write down, and answer."""
        self.blankets += zip(map(int, xs), zs, strict=True)
        return super().members(kernel, xs, zs)


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU, the least disturbed of several runs: at least three, and a few seconds of them."""
    spent: list[float] = []
    while len(spent) < 3 or sum(spent) < BUDGET:
        start = process_time()
        work()
        spent.append(process_time() - start)
    return min(spent)


def drawn(graph: Graph, n_rows: int, log_odds: float) -> Dataset:
    """Rows of a pairwise network with this log odds ratio, of random sign, on every edge."""
    signs = np.random.default_rng(1).choice((-1.0, 1.0), graph.n_edges)
    network = PairwiseNetwork(graph, dict(zip(graph.edges, (log_odds * signs).tolist(), strict=True)))
    return sample(network, n_rows, seed=1, method="gibbs", plan=GibbsPlan(burn_in=300, thin=5)).dataset()


def measure(graph: Graph, data: Dataset) -> None:
    """Both scores on one data set."""
    recorded, counts, kernel = Recorded(data, n_jobs=1), Counts(data, n_jobs=1), kernels.bayes()
    print(f"n = {graph.n_variables}, {graph.n_edges} edges, N = {counts.n_rows}")
    print("score  flips  terms recomputed   search s   floor s   ratio   edges wrong: added, missed")
    for name, make in SCORES.items():
        recorded.start()
        IBMAPHC().learn(make(BayesianTest(recorded)))
        scans, blankets = (zip(*asked, strict=True) for asked in (recorded.scans, recorded.blankets))
        questions, sets = [list(part) for part in scans], [list(part) for part in blankets]

        def ask(questions: list[Any] = questions, sets: list[Any] = sets) -> None:
            counts.reduce_many(kernel, *questions)
            counts.members(kernel, *sets)

        def search(make: Callable[[BayesianTest], SearchableScore] = make) -> Result:
            return IBMAPHC().learn(make(BayesianTest(counts)))

        floor, spent, found = cpu(ask), cpu(search), search()
        added, missed = set(found.graph.edges) - set(graph.edges), set(graph.edges) - set(found.graph.edges)
        print(
            f"{name:5s} {found.cost['flips']:6.0f} {found.cost['recomputed']:17,.0f} {spent:10.4f} {floor:9.4f}"
            f" {spent / floor:7.2f}   {len(added)}, {len(missed)}"
        )


def main() -> None:
    """Measure both sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", help="a file of pairs, such as eris1176.edges")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--log-odds", type=float, default=2.0)
    parser.add_argument("--degree", type=float, default=4.0)
    asked = parser.parse_args()
    graphs = [random_graph(128, asked.degree, seed=1)]
    if asked.graph:
        graphs.append(read_pairs(asked.graph))
    for graph in graphs:
        measure(graph, drawn(graph, asked.rows, asked.log_odds))
        proxy = ibmap_proxy(n=graph.n_variables, n_rows=asked.rows)
        print(f"proxy of counting and scoring, 2n flips of blankets of 4: {proxy:.4f} s")
        print(f"peak memory of the process: {getrusage(RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB\n")


if __name__ == "__main__":
    main()
