"""False edges of separator evidence as the number of variables grows.

    python benchmarks/false_edges.py                     independent columns, n = 100 to 2000
    python benchmarks/false_edges.py --exact             their expected number for binary columns, without draws
    python benchmarks/false_edges.py --large             to n = 5000
    python benchmarks/false_edges.py --sparse            networks with few edges as well

Independent columns have no edges, so each edge found is false. In networks, false edges are compared with the number
that the probabilities of the drawn edges expect.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import product
from math import inf, log

import numpy as np
from scipy.stats import binom, hypergeom

from mnlearn.algorithms.sep import Effort, SeparatorEvidence
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import Graph, random_graph, random_tree
from mnlearn.scores import HybridEvidence
from mnlearn.simulate import ising, sample, uniform_factors
from mnlearn.statistics import Counts

DRAWS = {100: 100, 300: 20, 1000: 4, 2000: 2, 5000: 1}


def uniform(states: int) -> Callable[[np.random.Generator, int, int], Dataset]:
    """Columns with equally likely states."""

    def draw(rng: np.random.Generator, n: int, n_rows: int) -> Dataset:
        return Dataset.from_codes(list(rng.integers(0, states, (n, n_rows))), cards=[states] * n)

    return draw


def mixed(rng: np.random.Generator, n: int, n_rows: int) -> Dataset:
    """Columns of 2 to 5 states with skewed margins."""
    cards = rng.integers(2, 6, n).tolist()
    return Dataset.from_codes([rng.choice(c, n_rows, p=rng.dirichlet([0.5] * c)) for c in cards], cards=cards)


KINDS = {"binary": uniform(2), "three states": uniform(3), "2 to 5 states, skewed": mixed}


def false_edges(data: Dataset, truth: Graph, effort: Effort) -> tuple[int, float, float]:
    """Number of false edges, their expected number by the probabilities, and expected edges in all."""
    found = SeparatorEvidence(effort=effort).learn(HybridEvidence(Counts(data)))
    wrong = len(set(found.graph.edges) - set(truth.edges))
    odds = np.array(list(found.support.values()))
    return wrong, float((1 / (1 + np.exp(np.minimum(odds, 700)))).sum()), found.cost["expected_edges"]


def independent(sizes: list[int], effort: Effort) -> None:
    """Print the false edges per data set of independent columns."""
    for kind, draw in KINDS.items():
        for n in sizes:
            for n_rows in (250, 1000):
                began, wrong = time.perf_counter(), []
                for seed in range(DRAWS[n]):
                    data = draw(np.random.default_rng([seed, n, n_rows]), n, n_rows)
                    wrong.append(false_edges(data, Graph(n), effort)[0])
                seconds = (time.perf_counter() - began) / len(wrong)
                print(
                    f"{kind:22} n={n:5} N={n_rows:5} {len(wrong):3} draws  {np.mean(wrong):6.3f} false edges a draw, "
                    f"{sum(w > 0 for w in wrong)} draws with any  {seconds:6.1f} s a draw",
                    flush=True,
                )


def evidence_of_table(n_rows: int, a: int, b: int, both: int) -> float:
    """Log Bayes factor of an edge between two binary columns with a and b ones, some in the same row."""
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    counts = np.array([n_rows - a - b + both, b - both, a - both, both])
    data = Dataset.from_codes(cells[counts > 0], cards=[2, 2], repeats=counts[counts > 0])
    (found,) = HybridEvidence(Counts(data, n_jobs=1)).pairs([0], [frozenset()], [[1]], fit_above=-inf)
    return float(found.log_factor[0])


def expected_false(n_rows: int, share: float, sizes: list[int]) -> list[float]:
    """Expected number of pairs above the price of the first edge, over margins at seven quantiles of their spread."""
    margins = binom.ppf((np.arange(7) + 0.5) / 7, n_rows, share).astype(int).tolist()
    total = np.zeros(len(sizes))
    for a, b in product(margins, margins):
        if a > b:
            continue
        both = np.arange(max(0, a + b - n_rows), min(a, b) + 1)
        chance = hypergeom.pmf(both, n_rows, a, b)
        both, chance = both[chance > 1e-13], chance[chance > 1e-13]
        evidence = np.array([evidence_of_table(n_rows, a, b, int(c)) for c in both])
        for k, n in enumerate(sizes):
            n_pairs = n * (n - 1) // 2
            total[k] += (1 + (a < b)) * n_pairs * chance[evidence > log(n_pairs)].sum()
    return [float(value) for value in total / len(margins) ** 2]


def exact() -> None:
    """Print the expected number of false edges of independent binary columns."""
    sizes = [50, 100, 300, 1000, 2000, 5000]
    for n_rows, share in product((250, 1000), (0.5, 0.2, 0.05)):
        values = "  ".join(f"n={n}: {v:.4f}" for n, v in zip(sizes, expected_false(n_rows, share, sizes), strict=True))
        print(f"N={n_rows:5} share {share:4}  {values}", flush=True)


def networks(n: int, seed: int) -> Iterator[tuple[str, Graph, Dataset]]:
    """Trees, sparse and less sparse graphs."""
    for name, graph in (
        ("tree", random_tree(n, seed=seed)),
        ("degree 1", random_graph(n, 1, seed=seed)),
        ("degree 3", random_graph(n, 3, seed=seed)),
    ):
        network = uniform_factors(graph, seed=seed) if name == "tree" else ising(graph, 0.5, seed=seed)
        for n_rows in (250, 1000):
            yield f"{name:9} N={n_rows:5}", graph, sample(network, n_rows, seed=seed + 1).dataset()


def sparse(sizes: list[int], effort: Effort) -> None:
    """Print the false edges of networks, and how many the probabilities expect."""
    for n in sizes:
        for seed in range(1, 3):
            for name, graph, data in networks(n, seed):
                wrong, expected, edges = false_edges(data, graph, effort)
                print(
                    f"{name} n={n:5} {graph.n_edges:5} edges, {edges:7.1f} expected in all  {wrong:3} false edges, "
                    f"{expected:6.1f} by the probabilities",
                    flush=True,
                )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--effort", default="standard")
    options = parser.parse_args()
    if options.exact:
        exact()
        return
    independent([100, 300, 1000, 2000, *([5000] if options.large else [])], options.effort)
    if options.sparse:
        sparse([300, 1000], options.effort)


if __name__ == "__main__":
    main()
