"""The slow, obvious twin of separator evidence: every number fitted anew, every separator flooded anew."""

from __future__ import annotations

from itertools import combinations
from math import exp, log

import numpy as np
from numpy.typing import NDArray

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


def recounted(
    graph: Graph, evidence: dict[tuple[int, int], float], missed: float, hub: NDArray[np.float64] | None = None
) -> float:
    """How many edges are expected beyond those in the graph, at prices that count them: by putting it in again."""
    n = graph.n_variables
    for _ in range(100):
        more, last = price(n, graph.n_edges + missed), price(n, max(0.0, graph.n_edges + missed - 1))
        total = 0.0
        for pair, e in evidence.items():
            k = float(hub[pair]) if hub is not None else last if pair in graph else more
            total += 1 / (1 + exp(k - e))
        before, missed = missed, min(max(0.0, total - graph.n_edges), float(graph.n_edges))
        if abs(missed - before) < 1e-6:
            break
    return missed


def hub_chances(
    e: NDArray[np.float64], p: NDArray[np.float64], a: float, fixed: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """The chance of each pair by rates of shape a, and the log likelihood of the evidence; matrices of all pairs."""
    n = len(e)
    upper, off = np.triu_indices(n, 1), ~np.eye(n, dtype=bool)
    q = np.full(n, max(p[upper].sum(), 1.0) / n / (n - 1))
    for _ in range(30):
        own = p * q[:, None] / (q[:, None] + q[None, :])
        d = own.sum(axis=1)
        w = a / (max(p[upper].sum(), 1.0) / n / (n - 1))
        q = (d + a) / (n - 1 + w)
        rate = (d[:, None] - own + a) / (n - 2 + w)
        r = np.clip(rate + rate.T, 1e-9, 0.5)
        odds = np.exp(np.clip(e, -700, 700)) * r / (1 - r)
        new = np.where(fixed, p, np.where(off, odds / (1 + odds), 0.0))
        last, p = p, new
        if np.abs(p - last).max() < 1e-4:
            break
    likelihood = np.logaddexp(np.log1p(-r), np.log(r) + e)[upper][~fixed[upper]]
    return r, float(likelihood.sum())


def hub_prices(
    e: NDArray[np.float64], p: NDArray[np.float64], n_edges: int, fixed: NDArray[np.bool_] | None = None
) -> NDArray[np.float64] | None:
    """The price of each pair by the hub prior; None for equal prices."""
    if not n_edges:
        return None
    fixed = np.zeros(e.shape, dtype=bool) if fixed is None else fixed
    found = [hub_chances(e, p, a, fixed) for a in (0.3, 1, 3, 10, 100)]
    scores = np.array([score - log(2) * n_edges * (k < 4) for k, (_, score) in enumerate(found)])
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    if weights[4] > 0.5:
        return None
    chance = sum(weight * r for weight, (r, _) in zip(weights, found, strict=True))
    return np.asarray(np.log((1 - chance) / chance))


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


def triangle_price(graph: Graph) -> float:
    """The price of a variable that joins both ends of an edge."""
    closed = 3 * sum(
        all(p in graph for p in combinations(three, 2)) for three in combinations(range(graph.n_variables), 3)
    )
    ways = graph.n_edges * (graph.n_variables - 2)
    return max(0.0, log((ways - closed) / (closed + 1))) if closed < ways else 0.0


def joint_moves(
    judge: EvidenceScore, graph: Graph, short: dict[tuple[int, int], tuple[float, float]]
) -> list[tuple[int, int]]:
    """The pairs to join two by two, of absent ones with their evidence and price: every x and every edge."""
    gains: dict[tuple[tuple[int, int], ...], float] = {}
    for x in range(graph.n_variables):
        for edge in graph.edges:
            both = [(min(x, end), max(x, end)) for end in edge]
            if not all(pair in short for pair in both):
                continue
            joined = graph.add(both)
            then = [separator_evidence(judge, joined, *pair) for pair in both]
            if all(e > short[pair][1] for pair, e in zip(both, then, strict=True)) and any(
                short[pair][0] > short[pair][1] - 3 for pair in both
            ):
                gains[tuple(both)] = max(short[both[0]][0] + then[1], short[both[1]][0] + then[0])
    found: list[tuple[int, int]] = []
    for move, gain in sorted(gains.items(), key=lambda item: -item[1]):
        if gain > triangle_price(graph) + RISE and {v for p in move for v in p}.isdisjoint(v for p in found for v in p):
            found += move
    return found


def rivals(
    judge: EvidenceScore, graph: Graph, hub: NDArray[np.float64] | None
) -> list[tuple[tuple[int, int], tuple[int, int], float]]:
    """Each edge x − y with each pair x − b that may replace it, y − b being an edge; and what the pair is better by."""
    found = []
    for edge in graph.edges:
        for x, y in (edge, edge[::-1]):
            z = flood(graph, x, y)
            own = edge_evidence(judge, x, y, z)
            if own < separator_evidence(judge, graph, x, y) - 2:
                continue
            for b in sorted(graph.neighbors(y) - graph.neighbors(x) - {x}):
                pair = (min(x, b), max(x, b))
                more = 0.0 if hub is None else float(hub[pair] - hub[edge])
                found.append((edge, pair, edge_evidence(judge, x, b, z) - own - more))
    return found


def with_rivals(
    odds: dict[tuple[int, int], float], rivals: list[tuple[tuple[int, int], tuple[int, int], float]]
) -> dict[tuple[int, int], float]:
    """The log-odds of each pair from the weights of four models: neither, the edge, the rival instead, both."""
    found = dict(odds)
    rises = {pair: [1.0] for pair in odds}
    for edge in {edge for edge, _, _ in rivals}:
        against = [(pair, exp(odds[edge] + gain), exp(odds[pair])) for e, pair, gain in rivals if e == edge]
        m_all, a_all, edge_odds = sum(m for _, m, _ in against), sum(a for _, _, a in against), exp(odds[edge])
        found[edge] = max(log(edge_odds * (1 + a_all) / (1 + m_all)), min(odds[edge], 2 * RISE))
        for pair, m, a in against:
            m_others, a_others = m_all - m, a_all - a
            new = (m + edge_odds * a) * (1 + a_others) / (1 + m_others + edge_odds * (1 + a_others))
            rises[pair].append(new / a)
    for pair in {pair for _, pair, _ in rivals}:
        up = 1 + sum(rise - 1 for rise in rises[pair] if rise > 1)
        found[pair] += log(up) + sum(log(rise) for rise in rises[pair] if rise < 1)
        found[pair] = min(found[pair], max(odds[pair], 0.0))
    return found


def separator_phase(  # noqa: PLR0915 - what is written, in one place
    judge: EvidenceScore, graph: Graph
) -> tuple[Graph, int, dict[tuple[int, int], float]]:
    """Flip the worst violation, weighing with separators as they were when a pair was last looked at.

    The graph in the end, the number of flips, and the log-odds of all pairs.
    """
    n = judge.n_variables
    pairs = list(combinations(range(n), 2))
    known: dict[tuple[int, int], tuple[tuple[VarSet, VarSet], float]] = {}
    flips = dict.fromkeys(pairs, 0)
    missed, recounts, asked = 0.0, 0, 0
    hub: NDArray[np.float64] | None = None

    def update(pair: tuple[int, int]) -> bool:
        separators = (flood(graph, *pair), flood(graph, *pair[::-1]))
        if pair in known and known[pair][0] == separators:
            return False
        known[pair] = (separators, sum(edge_evidence(judge, *pair, z) for z in separators) / 2)
        return True

    def cost(pair: tuple[int, int]) -> float:
        if hub is not None:
            return float(hub[pair])
        others = graph.n_edges + missed - (pair in graph)
        return price(n, max(0.0, others))

    def worst() -> tuple[int, int] | None:
        violations = {p: (known[p][1] - cost(p)) * (-1 if p in graph else 1) for p in pairs if flips[p] < 4}
        found = max(violations, key=violations.__getitem__, default=None)
        return found if found is not None and violations[found] > RISE else None

    def recount() -> bool:
        nonlocal missed, recounts, asked, hub
        if recounts == 20:
            return False
        before, recounts = missed, recounts + 1
        missed = recounted(graph, {p: e for p, (_, e) in known.items()}, missed, hub)
        if abs(missed - before) > 1e-6:
            return True
        if asked == 6:
            return False
        e, p, k = np.zeros((3, n, n))
        for u, v in pairs:
            e[u, v] = e[v, u] = known[u, v][1]
            k[u, v] = k[v, u] = cost((u, v))
            p[u, v] = p[v, u] = 1 / (1 + exp(k[u, v] - e[u, v]))
        was, new, asked = hub, hub_prices(e, p, graph.n_edges), asked + 1
        if new is None:
            hub, asked = None, 6
            return was is not None
        if np.abs(new - k)[np.triu_indices(n, 1)].max() <= 0.05:
            return False
        hub = new
        return True

    def refresh() -> bool:
        return any([update(pair) for pair in pairs])  # noqa: C419 - all of them, not up to the first

    def flip(pair: tuple[int, int]) -> None:
        nonlocal graph
        graph = graph.flip(*pair)
        flips[pair] += 1
        for edge in graph.edges:
            update(edge)

    def swap() -> bool:
        found = [one for one in rivals(judge, graph, hub) if flips[one[0]] < 4 and flips[one[1]] < 4]
        chosen = list[tuple[int, int]]()
        while found:
            edge, pair, gain = max(found, key=lambda one: one[2])
            if gain <= RISE:
                break
            chosen += [edge, pair]
            busy = {*edge, *pair}
            found = [one for one in found if not busy & {*one[0], *one[1]}]
        for pair in chosen:
            flip(pair)
        return bool(chosen)

    def join() -> bool:
        moves = joint_moves(judge, graph, {p: (known[p][1], cost(p)) for p in pairs if p not in graph and flips[p] < 4})
        for pair in moves:
            flip(pair)
        return bool(moves)

    refresh()
    while sum(flips.values()) < 40 * n:
        found = worst()
        if found is not None:
            if not update(found):
                flip(found)
        elif (not refresh() or worst() is None) and not (recount() or swap() or join()):
            break
    odds = {p: known[p][1] - cost(p) for p in pairs}
    revised = with_rivals(odds, rivals(judge, graph, hub))
    return Graph(n, [p for p in pairs if revised[p] > RISE]), sum(flips.values()), revised


def learn(judge: EvidenceScore, *, look_ahead: bool) -> tuple[Graph, int, dict[tuple[int, int], float]]:
    """Both phases."""
    n = judge.n_variables
    start = Graph(n, [(x, y) for x in range(n) for y in blanket(judge, x, look_ahead=look_ahead, dense=True)])
    return separator_phase(judge, start)
