"""The two-phase search by MPL: against counting and scoring alone, against a peer, and how it grows.

    python benchmarks/mpl.py                 the first three, less than a minute
    python benchmarks/mpl.py --andes         also Andes, when MNLEARN_DATA or ../shared/data has the networks
    python benchmarks/mpl.py --hub           also the neighbours of a hub that each method finds
    python benchmarks/mpl.py --large         also 10,000 variables, on all cores: one to two minutes, and peak memory
    python benchmarks/mpl.py --threads       also two threads against one, by the clock: wants a machine at rest
    python benchmarks/mpl.py --prototype     also the C++ program that only counts and scores, as benchmarks/limits.py

Seconds of CPU of one thread (of all threads for --large), the least disturbed of several runs that take turns.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Constraints
from mnlearn.algorithms.climbs import PhaseOne
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.elimination import as_bayesian_network
from mnlearn.distributions.factors import PairwiseNetwork, sample_exact, uniform_factors
from mnlearn.graphs import Graph, barabasi_albert, random_tree, star
from mnlearn.protocols import SILENT, FloatArray, Indices, Result, VarSet
from mnlearn.scores import MPL
from mnlearn.statistics import Counts, kernels
from mnlearn_papers.structures import sixteen_node_replicas

PEER_SECONDS = {128: 17.0, 256: 117.0}  # R's BDgraph hill climb on such trees and such a machine
LOG_ODDS = 3.0


def cpu(*works: Callable[[], object], repeats: int = 5) -> list[float]:
    """Seconds of CPU of each, the least of runs that take turns."""
    spent = [[_once(work) for work in works] for _ in range(repeats)]
    return [min(times) for times in zip(*spent, strict=True)]


def _once(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def hamming(one: Graph, other: Graph) -> int:
    """How many edges only one of them has."""
    return len(set(one.edges) ^ set(other.edges))


class Noting(MPL):
    """Statistics that record every scan."""

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        noted.append((xs, yss, blankets))
        return super().additions(xs, blankets, yss)


noted: list[tuple[Indices, Sequence[Indices], Sequence[VarSet]]] = []


def phase_one(score: MPL) -> PhaseOne:
    """Phase 1 alone, from no edges."""
    n = score.n_variables
    blankets = PhaseOne(score, Constraints(n), Graph.empty(n), None)
    blankets.climb(SILENT)
    return blankets


def against_the_floor(n: int = 512, n_rows: int = 8000) -> tuple[float, int]:
    """Phase 1 on the paper's networks, against its own scans asked all at once; seconds, and tables scored."""
    network = as_bayesian_network(uniform_factors(sixteen_node_replicas(n), seed=1))
    counts = Counts(network.sample(n_rows, seed=2), n_jobs=1)
    noted.clear()
    sizes = [len(blanket) for blanket in phase_one(Noting(counts)).blankets]
    xs = [x for scans in noted for x in scans[0]]
    yss = [ys for scans in noted for ys in scans[1]]
    zs = [z for scans in noted for z in scans[2]]
    score, tables = MPL(counts), sum(map(len, yss))
    ours, floor, whole = cpu(
        lambda: phase_one(score),
        lambda: counts.reduce_many(kernels.dirichlet(), xs, yss, zs),
        lambda: TwoPhase().learn(score),
    )
    print(f"phase 1, n={n}, N={n_rows}: {len(xs)} scans, {tables} tables, blankets of {np.mean(sizes):.1f} on average")
    print(f"  {1e3 * ours:.0f} ms, {1e9 * ours / tables:.0f} ns a table; its scans in one call {1e3 * floor:.0f} ms")
    print(f"  ratio {ours / floor:.2f} (asked: at most 3); both phases {1e3 * whole:.0f} ms", flush=True)
    return ours, tables


def against_the_prototype(ours: float, tables: int) -> None:
    """Compare with the program that counts and scores as many tables and nothing else."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "perf" / "prototypes"
    source = Path(os.environ.get("MNLEARN_PROTOTYPES", beside)) / "algo.cpp"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "algo"
        flags = ["-O3", "-march=native", "-std=c++20", "-fopenmp", "-pthread"]
        subprocess.run(["g++", *flags, str(source), "-o", str(program)], check=True)
        printed = [subprocess.run([program], check=True, capture_output=True, text=True).stdout for _ in range(2)]
    pattern = r"\|mb\|=(\d) .*?one thread \(([\d.]+) ns/test"
    found = [dict(re.findall(pattern, text)) for text in printed]
    for size in sorted(found[0]):
        each = min(float(times[size]) for times in found)
        ratio = 1e9 * ours / tables / each
        print(
            f"  prototype, blankets to {size}: {each:.0f} ns a table; ours {ratio:.2f} times as long (asked: at most 3)"
        )


def tree_data(tree: Graph, n_rows: int, log_odds: float, seed: int) -> Dataset:
    """Exact binary rows of a tree, from the root down: neighbours agree with the same log odds everywhere."""
    rng = np.random.default_rng(seed)
    agree = 1 / (1 + np.exp(-log_odds / 2))
    columns: dict[int, NDArray[np.uint8]] = {0: rng.integers(0, 2, n_rows, dtype=np.uint8)}
    waiting = [0]
    while waiting:
        u = waiting.pop()
        for v in sorted(tree.neighbors(u) - columns.keys()):
            columns[v] = columns[u] ^ (rng.random(n_rows) >= agree).astype(np.uint8)
            waiting.append(v)
    return Dataset.from_codes([columns[x] for x in range(tree.n_variables)])


def growth() -> None:
    """Barabasi-Albert trees, N = 1000: against a peer, and what twice as many variables cost."""
    print("both phases, Barabasi-Albert trees, N=1000, one thread")
    before = 0.0
    for n in (64, 128, 256, 512, 1024):
        tree = barabasi_albert(n, 1, seed=1)
        score = MPL(Counts(tree_data(tree, 1000, LOG_ODDS, seed=2), n_jobs=1))
        (spent,) = cpu(lambda score=score: TwoPhase().learn(score), repeats=3)  # type: ignore[misc]
        peer = PEER_SECONDS.get(n, 0.0)
        faster = f"; a peer {peer:.0f} s, {peer / spent:.0f}x (asked: 100x)" if peer else ""
        grown = f"; {spent / before:.1f} times half of it (asked: at most 4.5)" if before else ""
        missed = hamming(tree, TwoPhase().learn(score).graph)
        print(f"  n={n}: {1e3 * spent:.0f} ms, Hamming distance {missed}{faster}{grown}", flush=True)
        before = spent


def hub(n: int = 16, repetitions: int = 5) -> None:
    """A star: how many of its edges the centre proposes, the OR graph has, and phase 2 keeps."""
    for log_odds, n_rows in product((1.0, 2.0), (250, 1000, 4000, 16_000)):
        found = []
        for seed in range(repetitions):
            rows = sample_exact(PairwiseNetwork.uniform(star(n), log_odds), n_rows, seed)
            score = MPL(Counts(Dataset.from_codes(rows)))
            result = TwoPhase().learn(score)
            own = len(phase_one(score).blankets[0])
            found.append((own, result.stages["or"].degree(0), result.graph.degree(0)))
        own, either, kept = np.mean(found, axis=0)
        print(
            f"star of {n - 1}, log odds {log_odds:g}, N={n_rows}: centre {own:.1f}, OR {either:.1f}, phase 2 {kept:.1f}"
        )


def andes() -> None:
    """A network of 223 binary variables, N = 8000."""
    from mnlearn.simulate import read_bif

    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    network = read_bif(Path(os.environ.get("MNLEARN_DATA", beside)) / "networks" / "andes.bif")
    score = MPL(Counts(network.sample(8000, seed=1), n_jobs=1))
    (spent,) = cpu(lambda: TwoPhase().learn(score))
    missed = hamming(network.moral_graph(), TwoPhase().learn(score).graph)
    print(f"Andes, N=8000: {spent:.2f} s on one thread (asked: under 2), Hamming distance {missed} (paper 216.7)")


def large(n: int = 10_000, n_rows: int = 2000) -> None:
    """Many variables, a sparse truth."""
    tree = random_tree(n, seed=1)
    counts = Counts(tree_data(tree, n_rows, LOG_ODDS, seed=2))
    start, wall = process_time(), perf_counter()
    result: Result = TwoPhase().learn(MPL(counts))
    spent, wall = process_time() - start, perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"random tree, n={n}, N={n_rows}, all cores: {spent:.0f} s of CPU, {wall:.0f} s by the clock (asked: minutes)"
    )
    print(
        f"  peak memory {peak:.0f} MiB (asked: under 4096), Hamming distance {hamming(tree, result.graph)} of {n - 1}"
    )


def threads(repeats: int = 4) -> None:
    """Measure the gain of a second thread, by the clock; runs of one and of two take turns."""
    for n, n_rows in ((512, 8000), (2000, 2000)):
        data = tree_data(barabasi_albert(n, 1, seed=1), n_rows, LOG_ODDS, seed=2)
        spent: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(repeats):
            for n_jobs, times in spent.items():
                start = perf_counter()
                TwoPhase(combine="or").learn(MPL(Counts(data, n_jobs=n_jobs)))
                times.append(perf_counter() - start)
        one, two = min(spent[1]), min(spent[2])
        print(
            f"phase 1, tree, n={n}, N={n_rows}: one thread {one:.3f} s, two {two:.3f} s by the clock, {one / two:.2f}x"
        )


def threads_on_scans(n: int = 512, n_rows: int = 8000, repeats: int = 5) -> None:
    """Measure the scans alone, one for each variable in one call, with blankets of one size."""
    data = tree_data(barabasi_albert(n, 1, seed=1), n_rows, LOG_ODDS, seed=2)
    rng = np.random.default_rng(1)
    for size in (0, 2, 4):
        orders = [rng.permutation(np.delete(np.arange(n, dtype=np.int32), x)) for x in range(n)]
        asked = (range(n), [order[size:] for order in orders], [frozenset(order[:size].tolist()) for order in orders])
        spent: dict[int, list[float]] = {1: [], 2: []}
        for n_jobs, times in spent.items():
            counts = Counts(data, n_jobs=n_jobs)
            for _ in range(repeats + 1):  # the first builds the planes
                start = perf_counter()
                counts.reduce_many(kernels.dirichlet(), *asked)
                times.append(perf_counter() - start)
        gain = min(spent[1]) / min(spent[2])
        print(f"scans alone, n={n}, N={n_rows}, |Z|={size}: two threads {gain:.2f}x by the clock")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("andes", "hub", "large", "threads", "prototype"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    ours, tables = against_the_floor()
    if asked.prototype:
        against_the_prototype(ours, tables)
    growth()
    if asked.andes:
        andes()
    if asked.hub:
        hub()
    if asked.large:
        large()
    if asked.threads:
        threads()
        threads_on_scans()


if __name__ == "__main__":
    main()
