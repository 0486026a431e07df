"""Which method for continuous data: structural errors on sparse Gaussian networks of many shapes, and calibration.

Every draw is a new graph, new strengths and new rows. The shapes and laws are those that people simulate: hubs, bands,
clusters, random and scale-free graphs as in the R package huge, small worlds, grids, trees and cliques. Precision
matrices follow four laws in turn (`LAWS`). Seeds below 1000 were for development, those from 2000 on are for the
comparison. Means of the Hamming distance by shape, size and law, with the paired difference to the first method and
its standard error; then how often pairs with a given probability are edges; then processor time.

    python benchmarks/continuous_accuracy.py [--draws 8] [--seed 2000] [--cells random-100-200 ...] [--methods sep ...]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from math import sqrt
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.distributions.gaussian import GaussianNetwork, sparse_gaussian
from mnlearn.graphs import Graph, barabasi_albert, grid, random_graph, random_tree
from mnlearn.learning import METHODS, learn

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


def clusters(n: int, size: int, rng: Rng) -> Graph:
    """Blocks of variables; two of a block are joined with probability 0.3."""
    blocks = cliques(n, size).edges
    return Graph(n, [edge for edge, chance in zip(blocks, rng.random(len(blocks)), strict=True) if chance < 0.3])


def stars(n: int, size: int) -> Graph:
    """Blocks of variables, the first of each joined to the others of its block."""
    return Graph(n, [(u - u % size, u) for u in range(n) if u % size])


def band(n: int, width: int) -> Graph:
    """Each variable is joined to the next ones."""
    return Graph(n, [(u, u + k) for k in range(1, width + 1) for u in range(n - k)])


SHAPES: dict[str, Callable[[int, Rng], Graph]] = {
    "random": lambda n, rng: random_graph(n, 3.0, rng),
    "hub": lambda n, _: stars(n, 20),
    "band": lambda n, _: band(n, 1),
    "band of two": lambda n, _: band(n, 2),
    "cluster": lambda n, rng: clusters(n, 20, rng),
    "scale-free": lambda n, rng: barabasi_albert(n, 1, rng),
    "scale-free of two": lambda n, rng: barabasi_albert(n, 2, rng),
    "small-world": small_world,
    "cliques": lambda n, _: cliques(n, 5),
    "tree": random_tree,
    "grid": lambda n, _: grid(n // 10, 10),
}
CELLS = tuple((shape, n, n_rows) for shape in SHAPES for n in (60, 100) for n_rows in (100, 200, 500))
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
    "gsimn 0.01": ("gsimn", {"alpha": 0.01}),
}


FEWER_DRAWS = {"glasso ebic": 4}  # of what takes long: each law once, paired with those draws of the others


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
    theta = _signed(graph, rng)
    np.fill_diagonal(theta, np.abs(theta).sum(axis=1) + 0.1)
    return GaussianNetwork(theta)


def weak(graph: Graph, rng: Rng) -> GaussianNetwork:
    """Θ_uv = ±(0.3 to 0.8) with a smallest eigenvalue of 0.8."""
    theta = _signed(graph, rng)
    np.fill_diagonal(theta, 0.8 - np.linalg.eigvalsh(theta)[0])
    return GaussianNetwork(theta)


def equal(graph: Graph, _: Rng) -> GaussianNetwork:
    """Θ_uv = 0.3 with a smallest eigenvalue of 0.2, the law of huge."""
    theta = np.asarray(0.3 * graph.adjacency().toarray(), dtype=np.float64)
    np.fill_diagonal(theta, 0.2 - np.linalg.eigvalsh(theta)[0])
    return GaussianNetwork(theta)


LAWS: dict[str, Callable[[Graph, Rng], GaussianNetwork]] = {
    "equal": equal,
    "just definite": sparse_gaussian,
    "dominated": dominated,
    "weak": weak,
}


def _signed(graph: Graph, rng: Rng) -> NDArray[np.float64]:
    """±(0.3 to 0.8) at the edges."""
    theta = np.zeros((graph.n_variables, graph.n_variables))
    for u, v in graph.edges:
        theta[u, v] = theta[v, u] = rng.uniform(0.3, 0.8) * rng.choice([-1.0, 1.0])
    return theta


def law_of(seed: int) -> str:
    """The law of the precision matrix, in turn."""
    return list(LAWS)[seed % len(LAWS)]


def draw(shape: str, n: int, n_rows: int, seed: int) -> tuple[Graph, Dataset]:
    """A graph with rows from it."""
    rng = np.random.default_rng([seed, n, n_rows, list(SHAPES).index(shape)])
    graph = SHAPES[shape](n, rng)
    return graph, LAWS[law_of(seed)](graph, rng).dataset(n_rows, rng)


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
    for cell, seed, name in product(cells, seeds, methods):
        if seed - seeds[0] >= FEWER_DRAWS.get(name, len(seeds)):
            continue
        found = known.get(("-".join(map(str, cell)), seed, name)) or measure(cell, seed, name)
        wanted.append(found)
        if journal and (found.cell, seed, name) not in known:
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
    return wanted


def report(found: list[Found], methods: list[str]) -> Iterator[str]:
    """The tables."""
    errors: dict[str, dict[tuple[str, int], int]] = {name: {} for name in methods}
    for one in found:
        errors[one.method][one.cell, one.seed] = one.errors
    draws: dict[str, list[tuple[str, int]]] = {}
    for cell, seed in errors[methods[0]]:
        shape, n, n_rows = cell.rsplit("-", 2)
        for group in (shape, f"n = {n}", f"N = {n_rows}", law_of(seed), "all"):
            draws.setdefault(group, []).append((cell, seed))
    yield f"| | {' | '.join(methods)} |"
    yield f"|---|{'---|' * len(methods)}"
    sizes = [
        f"{letter} = {size}" for letter, place in (("n", 1), ("N", 2)) for size in sorted({c[place] for c in CELLS})
    ]
    for title in sorted(draws, key=[*SHAPES, *sizes, *LAWS, "all"].index):
        entries = [_entry(errors[name], errors[methods[0]], draws[title]) for name in methods]
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


def _entry(own: dict[tuple[str, int], int], first: dict[tuple[str, int], int], draws: list[tuple[str, int]]) -> str:
    """The mean error; beside it the difference to the first method on common draws, with its standard error."""
    common = [draw for draw in draws if draw in own]
    errors = np.array([own[draw] for draw in common])
    apart = errors - np.array([first[draw] for draw in common])
    if own is first:
        return f"**{errors.mean():.1f}**"
    return f"{errors.mean():.1f} ({apart.mean():+.1f} ± {apart.std(ddof=1) / sqrt(len(apart)):.1f})"


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--seed", type=int, default=2000)
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
