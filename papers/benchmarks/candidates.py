"""The two-phase search by MPL among candidates: what it finds, how far from the truth, how long, how much memory.

    python benchmarks/candidates.py                      synthetic networks of about 1,000 variables: two minutes
    python benchmarks/candidates.py --networks FOLDER    also Bayesian networks in BIF files
    python benchmarks/candidates.py --sizes 10000        instead, time and memory at other sizes (100000: five minutes)

"fast" is a screen and neighbours of neighbours, "full" also scans all variables given the first member of each blanket
and given the blanket. Recall is the share of the edges of the search over all pairs that are found: of its OR graph,
and of its final graph. Distance is the number of pairs that differ from the true (moral) graph. Seconds of CPU of one
thread.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.screening import Screening
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.bif import read_bif
from mnlearn.distributions.factors import ising
from mnlearn.distributions.sampling import sample_gibbs
from mnlearn.graphs import Graph, barabasi_albert, disjoint_union, grid, random_graph, star
from mnlearn.protocols import Result
from mnlearn.scores import MPL
from mnlearn.statistics import Counts

LEVELS = {"fast": Screening(rescans=False), "full": Screening()}
NEAR = 40  # parents are among so many variables before
BIF_ROWS = 2000
MOST_FOR_ALL_PAIRS = 10_000  # variables: up to here the search over all pairs is run beside


class Drawn(NamedTuple):
    """A network and rows drawn from it."""

    name: str
    truth: Graph
    data: Dataset


def synthetic(n: int) -> Iterator[Drawn]:
    """Yield networks with about n variables."""
    side = round(n**0.5)
    graphs = {
        "Ising, degree 2": (random_graph(n, 2.0, 1), 1000),
        "Ising, degree 4": (random_graph(n, 4.0, 2), 1000),
        f"grid {side} x {side}": (grid(side, side), 1000),
        "scale-free, 2 links": (barabasi_albert(n, 2, 3), 1000),
        "hubs of 50": (disjoint_union([star(51)] * (n // 51)), 2000),
    }
    for name, (graph, n_rows) in graphs.items():
        rows = sample_gibbs(ising(graph, 0.4, 4).to_factors(), n_rows, seed=5)
        yield Drawn(f"{name}, {n_rows} rows", graph, Dataset.from_codes(list(rows.T), cards=[2] * graph.n_variables))
    yield bayesian_network(n, 2000, most_parents=3, seed=6)
    yield bayesian_network(n, 5000, most_parents=5, seed=7)
    yield parities(n, 2000, seed=8)


def bayesian_network(n: int, n_rows: int, *, most_parents: int, seed: int) -> Drawn:
    """Draw binary variables with random tables, each with 0 to so many parents among the variables before."""
    rng = np.random.default_rng(seed)
    codes = np.empty((n, n_rows), dtype=np.uint8)
    edges: list[tuple[int, int]] = []
    for x in range(n):
        many = min(int(rng.integers(most_parents + 1)), x)
        parents = sorted(x - 1 - rng.choice(min(x, NEAR), many, replace=False)) if many else []
        table = rng.uniform(0.1, 0.9, 2**many)
        codes[x] = rng.random(n_rows, dtype=np.float32) < table[_configurations(codes, parents)]
        family = [*parents, x]
        edges += [(int(u), int(v)) for k, v in enumerate(family) for u in family[:k]]
    return Drawn(f"Bayesian network, {most_parents} parents, {n_rows} rows", Graph(n, edges), _coded(codes))


def parities(n: int, n_rows: int, *, seed: int) -> Drawn:
    """Draw triples: two biased coins, and their parity with noise."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((n, n_rows)) < rng.uniform(0.2, 0.4, (n, 1))).astype(np.uint8)
    triples = range(0, n - 2, 3)
    for x in triples:
        codes[x + 2] = codes[x] ^ codes[x + 1] ^ (rng.random(n_rows) < 0.1)
    edges = [pair for x in triples for pair in ((x, x + 1), (x, x + 2), (x + 1, x + 2))]
    return Drawn(f"parity of biased coins, {n_rows} rows", Graph(n, edges), _coded(codes))


def few_parents(n: int, n_rows: int, seed: int) -> Drawn:
    """Draw binary variables with 0 to 2 parents among the variables before; tables with interaction."""
    rng = np.random.default_rng(seed)
    codes = np.empty((n, n_rows), dtype=np.uint8)
    edges: list[tuple[int, int]] = []
    for x in range(n):
        many = 0 if x < NEAR or rng.random() < 0.15 else 1 if rng.random() < 0.6 else 2
        parents = (x - 1 - rng.choice(NEAR, many, replace=False)).tolist()
        table = rng.uniform(0.1, 0.9, 2**many)
        if many == 1:
            table[0] = rng.uniform(0.22, 0.33) if rng.random() < 0.5 else rng.uniform(0.66, 0.78)
            table[1] = 1 - table[0]
        codes[x] = rng.random(n_rows, dtype=np.float32) < table[_configurations(codes, parents)]
        family = [*parents, x]
        edges += [(u, v) for k, v in enumerate(family) for u in family[:k]]
    return Drawn(f"Bayesian network, n = {n:,}", Graph(n, edges), _coded(codes))


def _configurations(codes: NDArray[np.uint8], parents: list[int]) -> NDArray[np.intp]:
    found = np.zeros(codes.shape[1], dtype=np.intp)
    for parent in parents:
        found = 2 * found + codes[parent]
    return found


def _coded(codes: NDArray[np.uint8]) -> Dataset:
    return Dataset.from_codes(list(codes), cards=[2] * len(codes))


def learned(drawn: Drawn, level: str | None) -> tuple[Result, float]:
    """Return the result of a search, all pairs for None, and the seconds of CPU it took."""
    judge = MPL(Counts(drawn.data, n_jobs=1))
    start = process_time()
    result = TwoPhase(candidates=None if level is None else LEVELS[level]).learn(judge)
    return result, process_time() - start


def recall(found: Graph, whole: Graph) -> float:
    """Return the share of the edges of one graph that the other has, in percent."""
    return 100 * sum(edge in found for edge in whole.edges) / max(1, whole.n_edges)


def distance(one: Graph, other: Graph) -> int:
    """Return the number of pairs in which two graphs differ."""
    return len(set(one.edges) ^ set(other.edges))


def compare(networks: Iterator[Drawn]) -> None:
    """Print what each level finds of what the search over all pairs finds."""
    print("| network | n | recall fast | recall full | distance all / fast / full | s all / fast / full |")
    print("|---|---|---|---|---|---|", flush=True)
    for drawn in networks:
        (whole, took), *others = (learned(drawn, level) for level in (None, *LEVELS))
        found = [
            f"{recall(one.stages['or'], whole.stages['or']):.1f} ({recall(one.graph, whole.graph):.1f})"
            for one, _ in others
        ]
        far = [str(distance(one.graph, drawn.truth)) for one in (whole, *(one for one, _ in others))]
        seconds = [f"{s:.2f}" for s in (took, *(s for _, s in others))]
        cells = [drawn.name, str(drawn.truth.n_variables), *found, " / ".join(far), " / ".join(seconds)]
        print("| " + " | ".join(cells) + " |", flush=True)


def grow(sizes: list[int]) -> None:
    """Print time, memory and recall of each level for many variables, 2,000 rows; after them those of all pairs."""
    print("| n | level | s of the screen | s in all | candidate pairs | edges | distance | peak MB |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for n in sizes:
        drawn, found = few_parents(n, 2000, seed=977 + n), {}
        for level, screening in LEVELS.items():
            start = process_time()
            MPL(Counts(drawn.data, n_jobs=1)).strongest(screening.k)
            screen = process_time() - start
            found[level], took = learned(drawn, level)
            result = found[level]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            pairs, far = int(result.cost["candidate_pairs"]), distance(result.graph, drawn.truth)
            print(
                f"| {n:,} | {level} | {screen:.1f} | {took:.1f} | {pairs:,} | {result.graph.n_edges:,} | {far:,} "
                f"| {peak:.0f} |",
                flush=True,
            )
        if n <= MOST_FOR_ALL_PAIRS:
            whole, took = learned(drawn, None)
            recalls = ", ".join(f"{level} {recall(result.graph, whole.graph):.1f} %" for level, result in found.items())
            print(f"n = {n:,}, all pairs: {took:.2f} s; recall of {recalls}", flush=True)


def from_files(folder: Path) -> Iterator[Drawn]:
    """Yield the Bayesian networks of a folder, from small to large files."""
    files = [*folder.glob("*.bif"), *folder.glob("*.bif.gz")]
    for file in sorted(files, key=lambda file: (file.stat().st_size, file.name)):
        network = read_bif(file)
        if network.n_variables >= 20:
            yield Drawn(file.name.split(".")[0], network.moral_graph(), network.sample(BIF_ROWS, seed=9))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000, help="number of variables of the synthetic networks")
    parser.add_argument("--networks", type=Path, metavar="FOLDER", help="folder with BIF files")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of variables to time, 2,000 rows")
    given = parser.parse_args()
    if given.sizes:
        return grow(given.sizes)
    compare(synthetic(given.n))
    if given.networks:
        compare(from_files(given.networks))
    return None


if __name__ == "__main__":
    main()
