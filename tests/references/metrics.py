"""The measures once more, by their definitions: pair by pair, path by path, set by set."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from itertools import combinations, permutations

import networkx as nx

from mnlearn.graphs import Graph


def confusion(learned: Graph, truth: Graph, positive: bool) -> tuple[int, int, int, int]:
    """TP, FP, FN, TN over all pairs; `positive` says whether a pair with an edge is one."""
    tp = fp = fn = tn = 0
    for u, v in combinations(range(truth.n_variables), 2):
        found, there = learned.has_edge(u, v) == positive, truth.has_edge(u, v) == positive
        tp += found and there
        fp += found and not there
        fn += there and not found
        tn += not there and not found
    return tp, fp, fn, tn


def f_score(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """2 |A ∩ B| / (|A| + |B|)."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def subgraphs(truth: Graph, kind: str) -> list[frozenset[int]]:
    """The vertex sets of one kind, found by trying everything."""
    graph = truth.to_networkx()
    everyone = range(truth.n_variables)
    if kind in ("1N", "2N"):
        return [frozenset(nx.ego_graph(graph, x, radius=int(kind[0]))) for x in everyone]
    if kind == "SPN":
        joined = [(u, v) for u, v in combinations(everyone, 2) if nx.has_path(graph, u, v)]
        return [frozenset(w for path in nx.all_shortest_paths(graph, u, v) for w in path) for u, v in joined]
    size = int(kind[0])
    on_cycle: Callable[[tuple[int, ...]], bool] = lambda p: all(graph.has_edge(p[i - 1], p[i]) for i in range(size))  # noqa: E731
    return [frozenset(s) for s in combinations(everyone, size) if any(map(on_cycle, permutations(s)))]


def ev(learned: Graph, truth: Graph, kind: str) -> tuple[float, float, int] | None:
    """Mean E, mean V and how many."""
    e, v = [], []
    for s in subgraphs(truth, kind):
        inside = [{edge for edge in graph.edges if s.issuperset(edge)} for graph in (truth, learned)]
        e.append(f_score(*inside))
        v.append(sum(f_score(truth.neighbors(x), learned.neighbors(x)) for x in s) / len(s))
    return (sum(e) / len(e), sum(v) / len(v), len(e)) if e else None
