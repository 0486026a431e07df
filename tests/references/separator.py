"""The slow, obvious twin of separator evidence: every number fitted anew, every separator flooded anew."""

from __future__ import annotations

from itertools import combinations
from math import exp, log

from mnlearn.graphs import Graph
from mnlearn.protocols import EvidenceScore, VarSet

RISE = 1e-9


def flood(graph: Graph, x: int, y: int) -> VarSet:
    """sep(x; y): walk from y without entering x; a neighbour of x is met and not passed."""
    around, seen, todo, met = graph.neighbors(x) - {y}, {x, y}, [y], set[int]()
    while todo:
        for v in graph.neighbors(todo.pop()) - seen:
            seen.add(v)
            (met.add if v in around else todo.append)(v)
    return frozenset(met)


def price(n: int, n_edges: float) -> float:
    """k(E)."""
    n_pairs = n * (n - 1) / 2
    return max(0.0, log((n_pairs - n_edges) / (n_edges + 1))) if n_edges < n_pairs else 0.0


def recounted(n: int, graph: Graph, evidence: dict[tuple[int, int], float], missed: float) -> float:
    """How many edges are expected beyond those in the graph, at prices that count them: by putting it in again."""
    for _ in range(100):
        more, last = price(n, graph.n_edges + missed), price(n, max(0.0, graph.n_edges + missed - 1))
        total = sum(1 / (1 + exp(-(e - (last if pair in graph else more)))) for pair, e in evidence.items())
        before, missed = missed, min(max(0.0, total - graph.n_edges), float(graph.n_edges))
        if abs(missed - before) < 1e-6:
            break
    return missed


def edge_evidence(judge: EvidenceScore, x: int, y: int, z: VarSet) -> float:
    """ev(x, y | z)."""
    there = judge.local(x, z | {y}) - judge.local(x, z)
    return (there + judge.local(y, z | {x}) - judge.local(y, z)) / 2


def separator_evidence(judge: EvidenceScore, graph: Graph, x: int, y: int) -> float:
    """e_G(x, y)."""
    return sum(edge_evidence(judge, x, y, flood(graph, a, b)) for a, b in ((x, y), (y, x))) / 2


def leader(judge: EvidenceScore, x: int, z: VarSet, ys: list[int], cost: float) -> int | None:
    """Rank by estimates, fit the first, until the first is fitted; None if it is not worth the cost."""
    now, exact = judge.local(x, z), set[int]()
    gains = {y: float(judge.estimates([x], [z], [[y]])[0][0]) - now for y in ys}
    while gains:
        best = max(gains, key=gains.__getitem__)
        if gains[best] <= cost + RISE:
            break
        if best in exact:
            return best
        gains[best] = judge.local(x, z | {best}) - now
        exact.add(best)
    return None


def blanket(judge: EvidenceScore, x: int, *, look_ahead: bool, dense: bool) -> VarSet:
    """The climb of one variable; pairs are tried with the full table."""
    n, z = judge.n_variables, frozenset[int]()
    cost = log(n) / 2 if dense else log(n)
    others = [y for y in range(n) if y != x]
    while True:
        best, added = leader(judge, x, z, [y for y in others if y not in z], cost), False
        if best is not None:
            z, added = z | {best}, True
        while len(z) > 1:
            losses = {y: judge.local(x, z - {y}) - judge.local(x, z) + cost for y in sorted(z)}
            least = max(losses, key=losses.__getitem__)
            if losses[least] <= RISE:
                break
            z -= {least}
        if not added and look_ahead and len(z) <= 3:
            found = judge.best_pair(x, z, [y for y in others if y not in z])
            if found is not None and found[1] - judge.local(x, z) > 2 * log(n) + RISE:
                z, added = z | frozenset(found[0]), True
        if not added:
            return z


def separator_phase(judge: EvidenceScore, graph: Graph) -> tuple[Graph, int]:
    """Flip the worst violation, weighing with separators as they were when a pair was last looked at."""
    n = judge.n_variables
    pairs = list(combinations(range(n), 2))
    known: dict[tuple[int, int], tuple[tuple[VarSet, VarSet], float]] = {}
    flips = dict.fromkeys(pairs, 0)
    missed, recounts = 0.0, 0

    def update(pair: tuple[int, int]) -> bool:
        separators = (flood(graph, *pair), flood(graph, *pair[::-1]))
        if pair in known and known[pair][0] == separators:
            return False
        known[pair] = (separators, sum(edge_evidence(judge, *pair, z) for z in separators) / 2)
        return True

    def worst() -> tuple[int, int] | None:
        more = price(n, graph.n_edges + missed)
        last = price(n, max(0.0, graph.n_edges + missed - 1)) if graph.n_edges else 0.0
        violations = {p: last - known[p][1] if p in graph else known[p][1] - more for p in pairs if flips[p] < 4}
        found = max(violations, key=violations.__getitem__, default=None)
        return found if found is not None and violations[found] > RISE else None

    def refresh() -> bool:
        return any([update(pair) for pair in pairs])  # noqa: C419 - all of them, not up to the first

    refresh()
    for done in range(40 * n):
        found = worst()
        while found is None or update(found):
            if found is None and (not refresh() or worst() is None):
                before = missed
                if recounts < 20:
                    missed, recounts = recounted(n, graph, {p: e for p, (_, e) in known.items()}, missed), recounts + 1
                if abs(missed - before) <= 1e-6:
                    return graph, done
            found = worst()
        graph = graph.flip(*found)
        flips[found] += 1
        for edge in graph.edges:
            update(edge)
    return graph, 40 * n


def learn(judge: EvidenceScore, *, look_ahead: bool) -> tuple[Graph, int]:
    """Both phases."""
    n = judge.n_variables
    start = Graph(n, [(x, y) for x in range(n) for y in blanket(judge, x, look_ahead=look_ahead, dense=True)])
    return separator_phase(judge, start)
