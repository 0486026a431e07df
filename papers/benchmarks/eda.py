"""A generation of MOA and MOA' beyond its fitness function: learn and sample, against counting alone and against NumPy.

    python benchmarks/eda.py [--genes 100] [--population 1000] [--generations 8]

Seconds of CPU on one thread, least of several. The generation is select, learn, sample (`Run.ask`), in the
middle of a run. The floor is the engine given the same selected individuals and asked exactly the scans of the learner,
all known beforehand: build the store, answer; no search, no sampling. The first rival is the same loop in plain NumPy:
tables pair by pair, individuals one after the other. The second has the same learner and draws all individuals at once,
one gene after the other; it shows what vectorising alone would give.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.data import Dataset
from mnlearn.graphs.graph import Graph
from mnlearn.independence import BayesianTest
from mnlearn.protocols import FloatArray, Indices, Kernel, LogOdds, VarSet
from mnlearn.scores import IBScore
from mnlearn.statistics import Counts, kernels
from mnlearn_papers.optimize import MarkovEDA, MutualInformationStructure, Problem, Run, onemax, royal_road

Codes = NDArray[np.uint8]


def cpu(work: Callable[[], object], budget: float = 0.5) -> float:
    """Seconds of CPU of the least disturbed run: at least two, up to a budget."""
    spent: list[float] = []
    while len(spent) < 2 or (sum(spent) < budget and len(spent) < 50):
        start = process_time()
        work()
        spent.append(process_time() - start)
    return min(spent)


class Recorded(Counts):
    """Counts that write down what they are asked."""

    scans: list[tuple[int, Indices, VarSet]]
    blankets: list[tuple[int, VarSet]]

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


def floor_of_moa(data: Dataset) -> float:
    """All pairs, scored by mutual information."""
    return cpu(lambda: Counts(data, n_jobs=1).reduce_all(kernels.mi()))


def floor_of_ibmap(data: Dataset) -> float:
    """The scans and blankets that IBMAP-HC asks for on these data."""
    recorded = Recorded(data, n_jobs=1)
    recorded.scans, recorded.blankets = [], []
    IBMAPHC().learn(IBScore(BayesianTest(recorded)))
    xs, yss, zs = (list(part) for part in zip(*recorded.scans, strict=True))
    members = [list(part) for part in zip(*recorded.blankets, strict=True)] or [[], []]

    def ask() -> None:
        counts = Counts(data, n_jobs=1)
        counts.reduce_many(kernels.bayes(), xs, yss, zs)
        counts.members(kernels.bayes(), *members)

    return cpu(ask)


def table(codes: Codes, x: int, y: int, z: Sequence[int]) -> NDArray[np.int64]:
    """Counts of two binary variables within every configuration of others."""
    at = np.zeros(len(codes), dtype=np.int64)
    for v in (*z, x, y):
        at = at * 2 + codes[:, v]
    return np.bincount(at, minlength=2 ** (len(z) + 2)).reshape(-1, 2, 2)


def numpy_moa(codes: Codes, most: int) -> Graph:
    """MOA's structure, pair by pair."""
    n = codes.shape[1]
    information = {}
    for u in range(n):
        for v in range(u + 1, n):
            joint = table(codes, u, v, ())[0] / len(codes)
            apart = np.outer(joint.sum(1), joint.sum(0))
            seen = joint > 0
            information[u, v] = float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
    cut, graph = 1.5 * np.mean(list(information.values())), Graph.empty(n)
    for u, v in sorted(information, key=lambda pair: -information[pair]):
        if information[u, v] > cut and graph.degree(u) < most and graph.degree(v) < most:
            graph = graph.flip(u, v)
    return graph


class NumpyPosterior:
    """The Bayesian test of [BJP18], App. C, table by table."""

    def __init__(self, codes: Codes) -> None:
        self._codes, self.n_variables, self.cards = codes, codes.shape[1], (2,) * codes.shape[1]

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        """One y after the other."""
        found = np.array([self._weigh(x, int(y), sorted(z)) for y in ys]).reshape(-1, 2)
        return LogOdds(found[:, 0], found[:, 1])

    def members(self, x: int, z: VarSet) -> LogOdds:
        """Every member given the others."""
        found = np.array([self._weigh(x, y, sorted(z - {y})) for y in sorted(z)]).reshape(-1, 2)
        return LogOdds(found[:, 0], found[:, 1])

    def _weigh(self, x: int, y: int, z: Sequence[int]) -> tuple[float, float]:
        counts = table(self._codes, x, y, z)
        rows, columns, all_of = counts.sum(2), counts.sum(1), counts.sum((1, 2))
        apart = 2 * gammaln(2) - 2 * gammaln(2 + all_of) + gammaln(1 + rows).sum(1) + gammaln(1 + columns).sum(1)
        joint = gammaln(4) - gammaln(4 + all_of) + gammaln(1 + counts).sum((1, 2))
        log_p = np.log(0.5) / len(counts)
        independent = float((log_p + apart - np.logaddexp(log_p + apart, np.log(-np.expm1(log_p)) + joint)).sum())
        return independent, float(np.log(-np.expm1(min(independent, -1e-300))))


def numpy_ibmap(codes: Codes) -> Graph:
    """Run the search with NumPy tests."""
    return IBMAPHC().learn(IBScore(NumpyPosterior(codes))).graph


def numpy_frequencies(graph: Graph, codes: Codes, b: float) -> list[dict[tuple[int, ...], float]]:
    """By gene and the values around it: the chance of a 1."""
    chances: list[dict[tuple[int, ...], float]] = []
    for x in range(codes.shape[1]):
        around = sorted(graph.neighbors(x))
        values, place = np.unique(codes[:, around], axis=0, return_inverse=True)
        share = np.bincount(place.ravel(), weights=codes[:, x]) / np.bincount(place.ravel())
        cooled = 1 / (1 + np.exp(-b * (2 * share - 1)))
        chances.append({tuple(row): float(p) for row, p in zip(values.tolist(), cooled, strict=True)})
    return chances


def numpy_one_by_one(graph: Graph, codes: Codes, n_new: int, n_updates: int, b: float) -> Codes:
    """Individual after individual, gene after gene."""
    rng, n = np.random.default_rng(1), codes.shape[1]
    chances, around = numpy_frequencies(graph, codes, b), [sorted(graph.neighbors(x)) for x in range(n)]
    new = rng.integers(2, size=(n_new, n)).astype(np.uint8)
    for row in new:
        for x, u in zip(rng.integers(n, size=n_updates), rng.random(n_updates), strict=True):
            row[x] = u < chances[x].get(tuple(row[around[x]].tolist()), 0.5)
    return new


def numpy_together(graph: Graph, codes: Codes, n_new: int, n_updates: int, b: float) -> Codes:
    """All individuals at once, gene after gene."""
    rng, n = np.random.default_rng(1), codes.shape[1]
    around, tables = [sorted(graph.neighbors(x)) for x in range(n)], []
    for chances, others in zip(numpy_frequencies(graph, codes, b), around, strict=True):
        flat = np.full(2 ** len(others), 0.5)
        for values, p in chances.items():
            flat[int("".join(map(str, values)) or "0", 2)] = p
        tables.append(flat)
    new = rng.integers(2, size=(n, n_new)).astype(np.int64)
    for x in rng.integers(n, size=n_updates):
        at = np.zeros(n_new, dtype=np.int64)
        for y in around[x]:
            at = at * 2 + new[y]
        new[x] = rng.random(n_new) < tables[x][at]
    return new.T.astype(np.uint8)


def advanced(problem: Problem, algorithm: MarkovEDA, generations: int) -> Run:
    """A run in its middle."""
    run = algorithm.start(problem.n_variables, seed=1)
    for _ in range(generations):
        rows = run.ask()
        run.tell(rows, problem(rows))
    return run


def measure(name: str, problem: Problem, algorithm: MarkovEDA, generations: int) -> None:
    """One line."""
    run = advanced(problem, algorithm, generations)

    def ask() -> None:
        run._asked = None
        run.ask()

    generation = cpu(ask)
    selected = run.individuals[algorithm.chooser(run.merit, np.random.default_rng(0))]
    graph, moa = run._drawn_from[0], isinstance(algorithm.learner, MutualInformationStructure)
    assert graph is not None
    data = run._dataset(selected)
    floor = floor_of_moa(data) if moa else floor_of_ibmap(data)
    sampling: tuple[Graph, Codes, int, int, float] = (
        *(graph, selected, algorithm.population - algorithm.n_elite),
        *(algorithm.sampler.n_updates(problem.n_variables), 0.2 * (run.generation + 1)),  # type: ignore[attr-defined]
    )
    learn = cpu(lambda: numpy_moa(selected, 3) if moa else numpy_ibmap(selected), budget=0)
    single = cpu(lambda: numpy_one_by_one(*sampling), budget=0)
    wide = cpu(lambda: numpy_together(*sampling), budget=0)
    print(
        f"{name:22s} {graph.n_edges:5d} {1e3 * generation:9.2f} {1e3 * floor:8.2f} {generation / floor:9.1f}"
        f" {(learn + single) / generation:14.0f} {(learn + wide) / generation:10.0f}",
        flush=True,
    )


def main() -> None:
    """Both algorithms on both problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--genes", type=int, default=100)
    parser.add_argument("--population", type=int, default=1000)
    parser.add_argument("--generations", type=int, default=8)
    asked = parser.parse_args()
    print(f"{asked.genes} genes, population {asked.population}, after {asked.generations} generations; ms of CPU")
    print("                       edges   learn +    floor   ratio to    NumPy loop    NumPy, all")
    print("                                sample                floor     / ours        at once / ours")
    for name, problem, bound in (
        ("onemax", onemax(asked.genes), 1),
        ("royal road, groups 4", royal_road(asked.genes, group=4), 3),
    ):
        for label, learner in (("moa", MutualInformationStructure(max_neighbors=bound)), ("moa'", "moa'")):
            algorithm = MarkovEDA(learner=learner, population=asked.population)
            measure(f"{label}: {name}"[:22], problem, algorithm, asked.generations)


if __name__ == "__main__":
    main()
