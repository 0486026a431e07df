"""All graphs of six variables by table, against the obvious ways to score them.

The slow way scores graph by graph through the score's own `__call__`; the least one would do is to remember its local
terms in a dictionary, here already filled. Both are measured on a part of the graphs and scaled up. CPU time of one
thread, best of five.

Run: python benchmarks/exhaustive.py [--rows 2000] [--variables 6]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from time import thread_time
from typing import Any

import numpy as np

from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.graphs import random_graph
from mnlearn.graphs.graph import Graph
from mnlearn.learning import make_score
from mnlearn.protocols import Score
from mnlearn.simulate import sample, uniform_factors

PART = 200  # graphs that the slow ways score


def seconds(work: Callable[[], Any], repetitions: int = 5) -> float:
    """The least CPU time of a few runs."""
    times = []
    for _ in range(repetitions):
        start = thread_time()
        work()
        times.append(thread_time() - start)
    return min(times)


class WithMemory:
    """A score as a sum of local terms, each asked once: what brute force in plain Python looks like."""

    def __init__(self, score: Any) -> None:
        self.n_variables = score.n_variables
        if hasattr(score, "ranks"):
            self._claims = cache(lambda x, blanket: (score.terms([x], [blanket])[0], score.ranks([x], [blanket])[0]))
            self._sum = self._by_pairs
        else:
            self._local = cache(score.local)
            self._sum = self._by_variables

    def __call__(self, graph: Graph) -> float:
        return self._sum(graph)

    def _by_variables(self, graph: Graph) -> float:
        return float(sum(self._local(x, graph.neighbors(x)) for x in range(self.n_variables)))

    def _by_pairs(self, graph: Graph) -> float:
        told = [self._claims(x, graph.neighbors(x)) for x in range(self.n_variables)]
        everyone = range(self.n_variables)
        return float(
            sum(
                told[x][0][y] if told[x][1] <= told[y][1] else told[y][0][x]
                for x in everyone
                for y in everyone
                if x < y
            )
        )


def main() -> None:
    """Print one line per score, and their sum."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=2000)
    options.add_argument("--variables", type=int, default=6)
    chosen = options.parse_args()
    n = chosen.variables
    data = sample(uniform_factors(random_graph(n, 2, seed=1), seed=2), chosen.rows, seed=3).dataset()
    graphs = 2 ** (n * (n - 1) // 2)
    numbers = np.random.default_rng(4).choice(graphs, size=PART, replace=False).tolist()
    print(f"{graphs:,} graphs of {n} variables, {chosen.rows} rows, one thread")
    print(f"{'score':6} {'tables, s':>10} {'graph by graph':>15} {'with a memory':>14}")
    total = 0.0
    for name in ("ib", "bjp", "mpl", "pic"):
        score: Score = make_score(name, data, n_jobs=1)
        found = Exhaustive(keep_all=True).learn(score).all_graphs
        assert found is not None
        some = [found.graph(number) for number in numbers]
        ours = seconds(lambda score=score: Exhaustive().learn(score))  # type: ignore[misc]
        plain = seconds(lambda score=score, some=some: [score(graph) for graph in some], 1) / PART * graphs  # type: ignore[misc]
        warm = WithMemory(score)
        for graph in some:
            warm(graph)
        kept = seconds(lambda warm=warm, some=some: [warm(graph) for graph in some]) / PART * graphs  # type: ignore[misc]
        print(f"{name:6} {ours:10.3f} {plain / ours:14.0f}x {kept / ours:13.0f}x")
        total += ours if name != "pic" else 0.0
    print(f"ib, bjp and mpl together: {total:.3f} s")


if __name__ == "__main__":
    main()
