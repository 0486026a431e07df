"""Ways of Markov blanket search beside rivals: on sparse Gaussian networks, and on the expression data of DREAM4.

    python benchmarks/mbs_accuracy.py shapes [--draws 20] [--n 100] [--rows 200] [--shape random ...] [--method mbs ...]
    python benchmarks/mbs_accuracy.py dream [--method mbs ...]      where MNLEARN_DATA or ../shared/data has the data
    python benchmarks/mbs_accuracy.py directed [--method mbs ...]   the same, blankets as constraints of directed search

Shapes: Hamming distance to the true graph, false and missed edges, means over the draws with the standard error.
DREAM4: precision, recall, the area under precision by recall as edges come by support, and the E- and V-scores of
[MBS09], means over the five networks of 100 genes. Directed: the same of the moral graph that pyAgrum's hill climbing
finds when parents must be in the learned blankets, on the expression cut into three states of equal frequency, and
without constraints ("none"). A method that is not there is left out.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import mnlearn as mn
from mnlearn.data import Dataset
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.evaluation import KINDS, compare_edges, ev_scores
from mnlearn.graphs import Graph, barabasi_albert, clique_chain, grid, hubs, path, random_graph
from mnlearn.learning import METHODS
from mnlearn.results import Learned
from mnlearn_papers.directed import learn_directed

SHAPES: dict[str, Callable[[int, int], Graph]] = {
    "random": lambda n, seed: random_graph(n, 3.0, seed),
    "path": lambda n, _: path(n),
    "grid": lambda n, _: grid(n // 10, 10),
    "hubs": lambda n, _: hubs(n // 20, 19),
    "cliques": lambda n, _: clique_chain(n, 4),
    "tree": lambda n, seed: barabasi_albert(n, 1, seed),
}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "mbs": ("mbs", {}),
    "mbs entropy": ("mbs", {"choose": "ebic"}),
    "mbs cv": ("mbs", {"choose": "cv"}),
    "mbs k = 4": ("mbs", {"regularization": 3e-5, "k_max": 4}),
    "apart and": ("mbs", {"combine": "and"}),
    "apart or": ("mbs", {"combine": "or"}),
    "pc 0.01": ("pc", {"alpha": 0.01}),
    "lasso and": ("lasso", {}),
    "l1mb and": ("l1mb", {}),
    "l1mb or": ("l1mb", {"combine": "or"}),
    "glasso": ("glasso", {}),
    "aracne": ("aracne", {}),
    "sep": ("sep", {}),
}
"""A method by name and its settings."""


class Case(NamedTuple):
    """Data with the network behind them."""

    data: Dataset
    truth: Graph


def compare(
    cases: Iterable[Case], ways: Sequence[str], measure: Callable[[Learned, Graph], dict[str, float]]
) -> dict[str, list[dict[str, float]]]:
    """Learn from each case by each way, and measure what was learned; `seconds` of CPU come with it."""
    known = [way for way in ways if WAYS[way][0] in METHODS]
    found: dict[str, list[dict[str, float]]] = {way: [] for way in known}
    for case in cases:
        for way in known:
            method, settings = WAYS[way]
            began = process_time()
            learned = mn.learn(case.data, method, **settings)
            seconds = process_time() - began
            found[way].append({**measure(learned, case.truth), "seconds": seconds})
            sys.stderr.write(".")
            sys.stderr.flush()
    return found


def errors(learned: Learned, truth: Graph) -> dict[str, float]:
    """Hamming distance and its parts."""
    told = compare_edges(learned.graph, truth)
    return {
        "hamming": told.hamming,
        "false": told.false_positives,
        "missed": told.false_negatives,
    }


def subgraphs(learned: Learned, truth: Graph) -> dict[str, float]:
    """How right the graph is, and the area under precision by recall as edges come by support."""
    right, hits = 0.0, 0
    for rank, edge in enumerate(learned.edge_list(), start=1):
        u, v = learned.names.index(edge.u), learned.names.index(edge.v)
        if truth.has_edge(u, v):
            hits += 1
            right += hits / rank
    return {**rightness(learned.graph, truth), "average precision": right / truth.n_edges}


def rightness(graph: Graph, truth: Graph) -> dict[str, float]:
    """Precision, recall, and E and V by kind of subgraph."""
    told, kinds = compare_edges(graph, truth), ev_scores(graph, truth)
    found = {"edges": float(graph.n_edges), "precision": told.precision, "recall": told.recall}
    for kind in KINDS:
        for letter, value in (("E", kinds[kind].e), ("V", kinds[kind].v)):
            if value is not None:
                found[f"{letter} {kind}"] = value
    return found


def directed(ways: Sequence[str]) -> dict[str, list[dict[str, float]]]:
    """How right the moral graphs of directed searches within the blankets of each way are."""
    found: dict[str, list[dict[str, float]]] = {}
    for case in dream_cases():
        states = mn.discretize(case.data, method="frequency", bins=3)
        learned = {way: mn.learn(case.data, WAYS[way][0], **WAYS[way][1]).graph for way in ways}
        for way, blankets in [("none", None), *learned.items()]:
            began = process_time()
            moral = learn_directed(states, blankets).moral_graph()
            found.setdefault(way, []).append({**rightness(moral, case.truth), "seconds": process_time() - began})
    return found


def gaussian_cases(shape: str, n: int, rows: int, draws: int) -> Iterable[Case]:
    """Draws of one shape."""
    for seed in range(draws):
        truth = SHAPES[shape](n, seed)
        yield Case(sparse_gaussian(truth, seed=100 + seed).dataset(rows, seed=1000 + seed), truth)


def dream_cases() -> Iterable[Case]:
    """The five multifactorial sets of 100 genes with their gold standards."""
    folder = Path(os.environ.get("MNLEARN_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "expression"
    for number in range(1, 6):
        stem = folder / f"dream4_size100_multifactorial_{number}"
        with gzip.open(f"{stem}.csv.gz", "rt", encoding="utf-8") as file:
            names, *values = list(csv.reader(file))
        data = mn.read(dict(zip(names, np.array(values, dtype=float).T, strict=True)))
        with Path(f"{stem}_gold.csv").open(encoding="utf-8") as file:
            arcs = list(csv.reader(file))[1:]
        yield Case(data, Graph(len(names), {tuple(sorted((names.index(u), names.index(v)))) for u, v, *_ in arcs}))


def table(found: dict[str, list[dict[str, float]]]) -> str:
    """One line per way: means, and for the first measure the standard error."""
    measures = list(dict.fromkeys(name for rows in found.values() for row in rows for name in row))
    lines = [f"{'':<14}" + "".join(f"{name[:11]:>12}" for name in measures)]
    for way, rows in found.items():
        means = [float(np.mean([row[name] for row in rows if name in row])) for name in measures]
        error = float(np.std([row[measures[0]] for row in rows], ddof=1) / len(rows) ** 0.5) if len(rows) > 1 else 0.0
        lines.append(f"{way:<14}" + "".join(f"{mean:>12.3g}" for mean in means) + f"   ± {error:.2g}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read what to compare, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("shapes", "dream", "directed"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--shape", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--method", nargs="+", default=list(WAYS), choices=WAYS)
    asked = parser.parse_args()
    if asked.what == "dream":
        sys.stdout.write(table(compare(dream_cases(), asked.method, subgraphs)))
        return
    if asked.what == "directed":
        sys.stdout.write(table(directed(asked.method)))
        return
    for shape in asked.shape:
        cases = gaussian_cases(shape, asked.n, asked.rows, asked.draws)
        found = compare(cases, asked.method, errors)
        edges = SHAPES[shape](asked.n, 0).n_edges
        sys.stdout.write(
            f"\n{shape}: n = {asked.n}, N = {asked.rows}, {edges} edges, {asked.draws} draws\n{table(found)}"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
