"""Errors of `sep` and of the best forests by BIC and by extended BIC on trees.

    python benchmarks/forest.py                 random and scale-free trees of 64 and 200 variables, ten draws each
    python benchmarks/forest.py --draws 2       fewer data sets
    python benchmarks/forest.py --runs DIR      keep finished runs there, and continue

A forest joins the pairs with the largest mutual information, less the penalty of a table, that close no cycle: the
best forest by that score. The extended BIC adds ln n for each edge (gamma = 1/2). Forests use that the truth has no
cycle, which `sep` does not know. Parameters are uniform factors, new for every data set. The table is for
docs/accuracy/forest.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import uniform_factors
from mnlearn.graphs import Graph, barabasi_albert, random_tree
from mnlearn.protocols import FloatArray
from mnlearn_papers.accuracy import Drawn
from mnlearn_papers.accuracy_page import Difference, table
from mnlearn_papers.experiment import Experiment, Method, Row, run_experiment
from mnlearn_papers.named import WeighingMethod

SIZES = (250, 1000, 4000)


def tree(n: int, rng: np.random.Generator) -> Graph:
    """Return a uniform random tree."""
    return random_tree(n, rng)


def scale_free_tree(n: int, rng: np.random.Generator) -> Graph:
    """Return a tree grown by preferential attachment."""
    return barabasi_albert(n, 1, rng)


SOURCES = {
    f"{name}, n = {n}": Drawn(partial(shape, n), uniform_factors)
    for name, shape in (("random tree", tree), ("scale-free tree", scale_free_tree))
    for n in (64, 200)
}


def pair_scores(data: Dataset) -> FloatArray:
    """Return N · (mutual information) − (r − 1)(s − 1)/2 · ln N of every pair, a symmetric matrix."""
    shown = np.concatenate(
        [np.eye(card)[column] for column, card in zip(data.columns, data.cards, strict=True)], axis=1
    )
    n_rows, cards = len(shown), np.array(data.cards)
    starts = np.concatenate([[0], np.cumsum(cards)[:-1]])
    counts, ones = shown.T @ shown, shown.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(counts * n_rows / np.outer(ones, ones)), 0.0)
    information = np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1)
    return np.asarray(information - np.outer(cards - 1, cards - 1) / 2 * np.log(n_rows))


def forest(data: Dataset, *, extended: bool) -> Mapping[str, Graph]:
    """Return the forest with the largest sum of positive scores."""
    price = np.log(data.n_variables) if extended else 0.0
    scores = np.triu(np.maximum(pair_scores(data) - price, 0.0), 1)
    kept = minimum_spanning_tree(-scores).tocoo()
    pairs = zip(kept.row.tolist(), kept.col.tolist(), strict=True)
    return {"EBIC" if extended else "BIC": Graph(data.n_variables, [(min(pair), max(pair)) for pair in pairs])}


METHODS: Mapping[str, Method] = {
    "sep": WeighingMethod("sep", "sep", {}),
    "BIC": partial(forest, extended=False),
    "EBIC": partial(forest, extended=True),
}


def shown(rows: Sequence[Row]) -> str:
    """Return the table: mean errors of each, and the paired differences of `sep` to the forests."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.source, f"{row.n_rows:,}"), []).append(row)
    groups["all", ""] = list(rows)
    lines = []
    for (source, size), mine in groups.items():
        errors = {name: [row.hamming for row in mine if row.learner == name] for name in METHODS}  # in one order
        added = {name: [row.false_positives for row in mine if row.learner == name] for name in METHODS}
        apart = [
            Difference.of([ours - theirs for ours, theirs in zip(errors["sep"], errors[name], strict=True)])
            for name in ("BIC", "EBIC")
        ]
        cells = [f"{np.mean(errors[name]):.1f} ({np.mean(added[name]):.1f})" for name in METHODS]
        lines.append((source, size, *cells, *(difference.shown(1) for difference in apart)))
    header = ("trees", "rows", "sep (false +)", "BIC forest", "EBIC forest", "sep − BIC", "sep − EBIC")
    return table(header, lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--runs", type=Path)
    options = parser.parse_args()
    journal = None if options.runs is None else options.runs / "forest.jsonl"
    print(shown(run_experiment(Experiment("forest", SOURCES, METHODS), SIZES, options.draws, journal=journal)))


if __name__ == "__main__":
    main()
