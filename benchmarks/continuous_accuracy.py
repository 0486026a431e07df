"""Which method for continuous data: structural errors on sparse Gaussian networks of many shapes, and calibration.

Every draw is a new graph, new strengths and new rows. Precision matrices by two laws, in turn: just positive definite
(`sparse_gaussian`), or dominated by the diagonal, which makes edges weaker. Seeds below 1000 were for development,
those from 1000 on are for the comparison. Means of the Hamming distance, with the paired difference to the first
method and its standard error; then how often pairs with a given probability are edges; then processor time.

    python benchmarks/continuous_accuracy.py [--draws 20] [--seed 1000] [--cells random-100-200 ...] [--methods sep ...]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import sqrt
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.graphs import Graph, barabasi_albert, grid, hubs, path, random_graph, random_tree
from mnlearn.learning import METHODS, learn
from mnlearn.simulate.gaussian import GaussianNetwork, sparse_gaussian

Rng = np.random.Generator


def small_world(n: int, rng: Rng) -> Graph:
    """A ring where each is joined to the next two, a tenth of the edges rewired (Watts & Strogatz)."""
    edges = {(u, (u + k) % n) for u in range(n) for k in (1, 2)}
    for u, v in sorted(edges):
        w = int(rng.integers(n))
        if rng.random() < 0.1 and w != u and not {(u, w), (w, u)} & edges:
            edges = (edges - {(u, v)}) | {(u, w)}
    return Graph(n, edges)


def cliques(n: int, size: int) -> Graph:
    """Blocks of variables, each joined to all others of its block."""
    blocks = [range(start, start + size) for start in range(0, n - size + 1, size)]
    return Graph(n, [(u, v) for block in blocks for u in block for v in block if u < v])


SHAPES: dict[str, Callable[[int, Rng], Graph]] = {
    "random": lambda n, rng: random_graph(n, 3.0, rng),
    "hubs": lambda n, _: hubs(n // 15, 14),
    "grid": lambda n, _: grid(round(sqrt(n)), round(sqrt(n))),
    "chain": lambda n, _: path(n),
    "tree": random_tree,
    "scale-free": lambda n, rng: barabasi_albert(n, 2, rng),
    "small-world": small_world,
    "cliques": lambda n, _: cliques(n, 5),
}
CELLS = (
    ("random", 100, 200),  # the reference: 150 edges
    *((shape, 60, 200) for shape in SHAPES),
    *(("random", 30, 100), ("hubs", 60, 1000), ("small-world", 60, 1000), ("random", 60, 2000)),
    ("random", 100, 80),  # fewer rows than variables
)
BOUNDS = (0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98, 1.0000001)
CHOSEN: dict[str, tuple[str, dict[str, Any]]] = {
    "sep": ("sep", {}),
    "pc 0.01": ("pc", {"alpha": 0.01}),
    "mbs": ("mbs", {}),
    "lasso": ("lasso", {}),
    "l1mb": ("l1mb", {}),
    "aracne": ("aracne", {}),
    "aracne fdr": ("aracne", {"correction": "fdr"}),
    "glasso ebic": ("glasso", {}),
    "glasso cv": ("glasso", {"penalty": "cv"}),
    "gsimn 0.01": ("gsimn", {"alpha": 0.01}),
}


class Found(NamedTuple):
    """Result of one method on one draw."""

    cell: str
    seed: int
    method: str
    errors: int
    seconds: float
    pairs: list[list[float]]  # by bin of probability: how many pairs, the sum of their probabilities, how many edges


def dominated(graph: Graph, rng: Rng) -> GaussianNetwork:
    """Θ_uv = ±(0.3 to 0.8), Θ_uu = Σ |Θ_uv| + 0.1."""
    theta = np.zeros((graph.n_variables, graph.n_variables))
    for u, v in graph.edges:
        theta[u, v] = theta[v, u] = rng.uniform(0.3, 0.8) * rng.choice([-1.0, 1.0])
    np.fill_diagonal(theta, np.abs(theta).sum(axis=1) + 0.1)
    return GaussianNetwork(theta)


def draw(shape: str, n: int, n_rows: int, seed: int) -> tuple[Graph, Dataset]:
    """A graph with rows from it."""
    rng = np.random.default_rng([seed, n, n_rows, list(SHAPES).index(shape)])
    graph = SHAPES[shape](n, rng)
    network = sparse_gaussian(graph, rng) if seed % 2 else dominated(graph, rng)
    return graph, network.dataset(n_rows, rng)


def measure(cell: tuple[str, int, int], seed: int, name: str) -> Found:
    """One method on one draw."""
    truth, data = draw(*cell, seed)
    method, settings = CHOSEN[name]
    wishes: dict[str, Any] = {**settings, **({"keep_pairs": True} if method == "sep" else {})}
    began = process_time()
    found = learn(data, method, n_jobs=1, **wishes)
    seconds = process_time() - began
    errors = len(set(found.graph.edges) ^ set(truth.edges))
    pairs = [] if found.result.log_odds is None else binned(found.result.log_odds, truth)
    return Found("-".join(map(str, cell)), seed, name, errors, seconds, pairs)


def binned(log_odds: NDArray[np.float64], truth: Graph) -> list[list[float]]:
    """Pairs by their probability."""
    upper = np.triu_indices(truth.n_variables, 1)
    chances = 1.0 / (1.0 + np.exp(-np.clip(log_odds[upper], -700, 700)))
    edges = truth.adjacency().toarray()[upper] > 0
    inside = [(chances >= low) & (chances < high) for low, high in pairwise(BOUNDS)]
    return [[float(here.sum()), float(chances[here].sum()), float(edges[here].sum())] for here in inside]


def measured(cells: list[tuple[str, int, int]], seeds: range, methods: list[str], journal: Path | None) -> list[Found]:
    """All of them; what a journal holds already is not measured again."""
    lines = journal.read_text(encoding="utf-8").splitlines() if journal and journal.exists() else []
    known = {(found.cell, found.seed, found.method): found for found in (Found(*json.loads(line)) for line in lines)}
    wanted = []
    for cell in cells:
        for seed in seeds:
            for name in methods:
                found = known.get(("-".join(map(str, cell)), seed, name)) or measure(cell, seed, name)
                wanted.append(found)
                if journal and (found.cell, seed, name) not in known:
                    with journal.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(found) + "\n")
    return wanted


def report(found: list[Found], methods: list[str]) -> Iterator[str]:
    """The tables."""
    cells = list(dict.fromkeys(one.cell for one in found))
    yield f"| cell | {' | '.join(methods)} |"
    yield f"|---|{'---|' * len(methods)}"
    for title, chosen in (*((cell, {cell}) for cell in cells), ("all", set(cells))):
        errors = {
            name: np.array([f.errors for f in found if f.method == name and f.cell in chosen]) for name in methods
        }
        entries = [_entry(errors[name], errors[methods[0]]) for name in methods]
        yield f"| {title} | {' | '.join(entries)} |"
    yield ""
    yield "| probability | pairs | mean | edges |"
    yield "|---|---|---|---|"
    sums = np.sum([one.pairs for one in found if one.pairs], axis=0)
    for (low, high), (pairs, chance, edges) in zip(pairwise(BOUNDS), sums, strict=True):
        if pairs:
            yield f"| {low:g} to {min(high, 1.0):g} | {pairs:.0f} | {chance / pairs:.3f} | {edges / pairs:.3f} |"
    yield ""
    times = {name: np.mean([one.seconds for one in found if one.method == name]) for name in methods}
    yield "seconds per draw: " + ", ".join(f"{name} {seconds:.2f}" for name, seconds in times.items())


def _entry(own: NDArray[np.int64], first: NDArray[np.int64]) -> str:
    """The mean error; beside it the difference to the first method with its standard error."""
    apart = own - first
    if not apart.any():
        return f"**{own.mean():.1f}**"
    return f"{own.mean():.1f} ({apart.mean():+.1f} ± {apart.std(ddof=1) / sqrt(len(apart)):.1f})"


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--cells", nargs="+", default=["-".join(map(str, cell)) for cell in CELLS])
    parser.add_argument("--methods", nargs="+", default=[name for name, (own, _) in CHOSEN.items() if own in METHODS])
    parser.add_argument("--journal", type=Path, help="keep what was measured here, and do not measure it again")
    chosen = parser.parse_args()
    cells = [cell for cell in CELLS if "-".join(map(str, cell)) in chosen.cells]
    seeds = range(chosen.seed, chosen.seed + chosen.draws)
    found = measured(cells, seeds, chosen.methods, chosen.journal)
    print("\n".join(report(found, chosen.methods)))


if __name__ == "__main__":
    main()
