"""How many errors are left if the search is perfect: each pair judged given its separators in the true graph.

    python benchmarks/evidence_floor.py                   the development half, 250, 1000 and 4000 rows, three draws
    python benchmarks/evidence_floor.py --draws 1         fewer data sets

The floor is not a learner: it is given the true graph. It weighs each pair by the evidence given its two separators
there, with the price of an edge for the true number of edges, and draws the pairs with a probability above one half.
What `sep` has beyond it, a better search or prior may save; the rest is missing evidence. Expected false edges are the
sum of 1 − p over the edges. Networks in files are read from MNLEARN_DATA or ../shared/data when it is there. The table
is for docs/accuracy/floor.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

import mnlearn as mn
from mnlearn.algorithms.sep import NEAR
from mnlearn.algorithms.sep.phase import price
from mnlearn.graphs import Graph
from mnlearn.graphs.separators import Separators
from mnlearn.protocols import BoolArray, FloatArray
from mnlearn.scores import HybridEvidence
from mnlearn.statistics import Counts
from mnlearn_papers.accuracy import FAMILIES, kinds
from mnlearn_papers.accuracy_page import Difference, table
from mnlearn_papers.experiment import Case, generator_of

SIZES = (250, 1000, 4000)


class Counted(NamedTuple):
    """Errors of one graph, and the false edges that its probabilities expect."""

    false: int
    missing: int
    expected: float

    @property
    def errors(self) -> int:
        """All errors."""
        return self.false + self.missing


class Compared(NamedTuple):
    """One data set: errors of `sep` and of the floor."""

    kind: str
    n_rows: int
    ours: Counted
    floor: Counted


def given_truth(score: HybridEvidence, truth: Graph) -> FloatArray:
    """Return the log odds of every pair, given its separators in the true graph: a symmetric matrix."""
    n, separators = truth.n_variables, Separators(truth)
    n_pairs, edge = n * (n - 1) // 2, adjacency(truth)
    evidence = np.zeros((n, n))
    prices = np.where(edge, price(max(0, truth.n_edges - 1), n_pairs), price(truth.n_edges, n_pairs))
    for x in range(n):
        ys = np.delete(np.arange(n, dtype=np.int32), x)
        numbers = separators.numbers(np.full(n - 1, x, dtype=np.int32), ys)
        for number, present in sorted(set(zip(numbers.tolist(), edge[x, ys].tolist(), strict=True))):
            some = ys[(numbers == number) & (edge[x, ys] == present)]
            above = -inf if present else float(prices[x, some[0]]) - NEAR  # edges are fitted, others where it matters
            found = score.pairs([x], [separators.set(number)], [some], fit_above=above)
            evidence[x, some] = found[0].log_factor
    return np.asarray((evidence + evidence.T) / 2 - prices)


def adjacency(graph: Graph) -> BoolArray:
    """Return the symmetric matrix of a graph."""
    found = np.zeros((graph.n_variables, graph.n_variables), dtype=np.bool_)
    for u, v in graph.edges:
        found[u, v] = found[v, u] = True
    return found


def counted(log_odds: FloatArray, truth: Graph) -> Counted:
    """Count the errors of the pairs with a probability above one half."""
    pairs = np.triu_indices(truth.n_variables, 1)
    odds, edge = log_odds[pairs], adjacency(truth)[pairs]
    drawn = odds > 0
    false, missing = np.count_nonzero(drawn & ~edge), np.count_nonzero(edge & ~drawn)
    return Counted(int(false), int(missing), float((1 / (1 + np.exp(np.minimum(odds[drawn], 700)))).sum()))


def compared(kind: str, n_rows: int, case: Case) -> Compared:
    """Learn one data set by `sep`, and judge it given the truth."""
    result = mn.learn(case.data, "sep", keep_pairs=True, n_jobs=1).result
    assert result.log_odds is not None
    score = HybridEvidence(Counts(case.data, n_jobs=1))
    return Compared(
        kind, n_rows, counted(result.log_odds, case.truth), counted(given_truth(score, case.truth), case.truth)
    )


def shown(found: Sequence[Compared]) -> str:
    """Return the table: mean errors of both by family and number of rows, and their paired difference."""
    groups = {
        (family, size): [line for line in found if line.kind in members and line.n_rows == size]
        for family, members in FAMILIES.items()
        for size in sorted({line.n_rows for line in found})
    }
    sizes = {("all", size): [line for line in found if line.n_rows == size] for _, size in groups}
    counts = ("false (expected)", "missing")
    header = ("family", "rows", "data sets", "sep: errors", *counts, "floor: errors", *counts, "sep − floor")
    lines = []
    for (family, size), mine in {**groups, **sizes, ("all", 0): list(found)}.items():
        if mine:
            means = (*_means(line.ours for line in mine), *_means(line.floor for line in mine))
            apart = Difference.of([line.ours.errors - line.floor.errors for line in mine])
            lines.append((family, f"{size:,}" if size else "", len(mine), *means, apart.shown(1)))
    return table(header, lines)


def _means(mine: Iterable[Counted]) -> tuple[str, str, str]:
    """Return the mean errors, the mean false edges with those expected, and the mean missing edges."""
    numbers = [(line.errors, line.false, line.expected, line.missing) for line in mine]
    errors, false, expected, missing = np.mean(numbers, axis=0).tolist()
    return f"{errors:.1f}", f"{false:.1f} ({expected:.1f})", f"{missing:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("MNLEARN_DATA", beside))
    sources = kinds(folder if folder.is_dir() else None)
    found = [
        compared(kind, size, source(size, generator_of("accuracy-development", kind, size, draw)))
        for kind, source in sources.items()
        for size in SIZES
        for draw in range(options.draws)
    ]
    print(shown(found))


if __name__ == "__main__":
    main()
