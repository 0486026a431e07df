"""Slow twins: the pseudocode of [JAIR09] with lists, sets and one test at a time; forward chaining by brute force.
Below them, the worked example of the paper.

Nothing is shared with the library but the judge. Every question, asked or inferred, is kept in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations
from math import fsum, isinf

import numpy as np

from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import ChiSquare, SeparationOracle
from mnlearn.protocols import IndependenceTest, Indices, Result, VarSet, Verdict, Verdicts
from mnlearn.statistics import Counts

from references import counts as reference

Line = tuple[int, int, frozenset[int], bool, str]  # x, y, z, independent, source
Fact = tuple[frozenset[int], bool]
Statement = tuple[int, int, frozenset[int]]  # x < y, and what is given


def tied_ranks(values: list[float]) -> list[int]:
    """The rank of each value; one that exceeds the one before it by rounding at most has the same."""
    found, rank = dict[int, int](), 0
    order = sorted(range(len(values)), key=values.__getitem__)
    for k, place in enumerate(order):
        before = values[order[k - 1]] if k else values[place]
        rank += values[place] != before and (isinf(before) or values[place] - before > max(1e-9, 1e-12 * abs(before)))
        found[place] = rank
    return [found[place] for place in range(len(values))]


@dataclass
class Outline:
    """GSMN: Algorithms 1 and 2, in order of index."""

    judge: IndependenceTest
    lines: list[Line] = field(default_factory=list)

    def run(self) -> Graph:
        n = self.judge.n_variables
        return Graph(n, [(x, y) for x in range(n) for y in self.blanket(x)])

    def blanket(self, x: int) -> list[int]:
        blanket: list[int] = []
        restart = True
        while restart:
            restart = False
            for y in range(self.judge.n_variables):
                if y != x and y not in blanket and not self.independent(x, y, frozenset(blanket)):
                    blanket.append(y)
                    restart = True
                    break
        restart = True
        while restart:
            restart = False
            for y in sorted(blanket):
                if self.independent(x, y, frozenset(blanket) - {y}):
                    blanket.remove(y)
                    restart = True
                    break
        return blanket

    def independent(self, x: int, y: int, z: frozenset[int]) -> bool:
        answer = self.judge(x, y, z).independent
        self.lines.append((x, y, z, answer, "data"))
        return answer


@dataclass
class Concrete:
    """GSMN* and GSIMN: Algorithm 3 with Algorithm 4 or, when it infers, Algorithm 5."""

    judge: IndependenceTest
    infers: bool = False
    propagation: bool = True
    skip_marginal: bool = True
    mirrored: bool = False
    seed_dependences: bool = False
    lines: list[Line] = field(default_factory=list)
    visited: list[int] = field(default_factory=list)
    grow_orders: dict[int, list[int]] = field(default_factory=dict)
    blankets: dict[int, list[int]] = field(default_factory=dict)
    known: dict[tuple[int, int], list[Fact]] = field(default_factory=dict)

    def run(self) -> Graph:
        everyone = range(self.judge.n_variables)
        log_p = {(x, x): 0.0 for x in everyone}
        marginal: dict[tuple[int, int], bool] = {}
        for x, y in combinations(everyone, 2):
            verdict = self.judge(x, y, frozenset())
            assert verdict.log_support is not None
            log_p[x, y] = log_p[y, x] = verdict.log_support
            marginal[x, y] = marginal[y, x] = verdict.independent
            self.lines.append((x, y, frozenset(), verdict.independent, "data"))
            if self.seed_dependences and not verdict.independent:
                self.learn(x, y, frozenset(), False)
        n = len(everyone)
        mean = tied_ranks([fsum(log_p[x, y] for y in everyone) / (n - 1) for x in everyone])
        again = tied_ranks([fsum((1 + mean[y]) * log_p[x, y] for y in everyone) / (n - 1) for x in everyone])
        pi = sorted(everyone, key=lambda x: (mean[x], again[x], x))
        for x in everyone:
            near = tied_ranks([log_p[x, y] for y in everyone])
            keys = sorted((near[y], mean[y], again[y], y) for y in everyone if y != x)
            self.grow_orders[x] = [key[-1] for key in keys]
        while pi:
            x = pi.pop(0)
            self.visited.append(x)
            self.examine(x, pi, marginal)
        return Graph(len(everyone), [(x, y) for x, blanket in self.blankets.items() for y in blanket])

    def examine(self, x: int, pi: list[int], marginal: dict[tuple[int, int], bool]) -> None:
        order, examined = self.grow_orders[x], self.blankets if self.propagation else {}
        inside = [y for y in order if y in examined and x in examined[y]]
        outside = [y for y in order if y in examined and x not in examined[y]]
        for y in inside + outside:
            order.remove(y)
            order.append(y)
        s: list[int] = []
        while order:
            y = order.pop(0)
            skipped = self.skip_marginal and marginal[x, y]
            if not skipped and not self.independent(x, y, frozenset(s), inside, outside):
                s.append(y)
                for w in [x, *reversed(s[:-1])]:
                    if w in self.grow_orders[y]:
                        self.grow_orders[y].remove(w)
                        self.grow_orders[y].insert(0, w)
        for w in reversed(s):
            if w in pi:
                pi.remove(w)
                pi.insert(0, w)
                break
        for y in reversed(tuple(s)):
            if self.independent(x, y, frozenset(s) - {y}, inside, outside):
                s.remove(y)
        self.blankets[x] = s

    def independent(self, x: int, y: int, s: frozenset[int], inside: list[int], outside: list[int]) -> bool:
        if y in inside or y in outside:
            answer, source = y in outside, "propagation"
        else:
            inferred = self.infer(x, y, s) if self.infers else None
            answer, source = inferred or (self.judge(x, y, s).independent, "data")
            if source == "data":
                self.learn(x, y, s, answer)
        self.lines.append((x, y, s, answer, source))
        return answer

    def infer(self, x: int, y: int, s: frozenset[int]) -> tuple[bool, str] | None:
        """Lines 7-22 of Algorithm 5, w ranging over all variables."""
        if any(a >= s for a in self.facts(x, y, False)):
            return False, "dependent_by_strong_union"
        others = [w for w in range(self.judge.n_variables) if w not in (x, y)]
        for w in others:
            above = [[a for a in self.facts(u, w, False) if a >= s] for u in (x, y)]
            if all(above):
                self.learn(x, y, above[0][0] & above[1][0], False)
                return False, "dependent_by_triangle"
        if any(a <= s for a in self.facts(x, y, True)):
            return True, "independent_by_strong_union"
        for u, v, name in ((x, y, "independent_by_triangle"), (y, x, "independent_by_mirrored_triangle")):
            for a in self.explained(u, v, s, others):
                if u == x or self.mirrored:
                    self.learn(x, y, a, True)
                    return True, name
        return None

    def explained(self, u: int, v: int, s: frozenset[int], others: list[int]) -> Iterator[frozenset[int]]:
        for w in others:
            for a in self.facts(u, w, True):
                if a <= s and any(b >= a for b in self.facts(w, v, False)):
                    yield a

    def facts(self, x: int, y: int, independent: bool) -> list[frozenset[int]]:
        return [a for a, truth in self.known.get((min(x, y), max(x, y)), []) if truth == independent]

    def learn(self, x: int, y: int, s: frozenset[int], independent: bool) -> None:
        self.known.setdefault((min(x, y), max(x, y)), []).append((s, independent))


def consequences(n: int, facts: dict[Statement, bool]) -> dict[Statement, bool]:
    """All that follows from consistent facts by the axioms of Eq. (1) for single variables, and contrapositives."""
    known = dict(facts)
    while True:
        fresh = {key: truth for key, truth in _steps(n, known) if key not in known}
        if not fresh:
            return known
        known.update(fresh)


def _steps(n: int, known: dict[Statement, bool]) -> Iterator[tuple[Statement, bool]]:
    """Return the consequences of one rule."""
    everyone = frozenset(range(n))
    for x, y, w in permutations(range(n), 3):
        rest = sorted(everyone - {x, y, w})
        for z in (frozenset(c) for size in range(len(rest) + 1) for c in combinations(rest, size)):
            xy, xw, wy = _pair(x, y, z), _pair(x, w, z), _pair(w, y, z)
            xy_w, xw_y = _pair(x, y, z | {w}), _pair(x, w, z | {y})
            if known.get(xy) is True:  # strong union
                yield xy_w, True
            if known.get(xy_w) is False:
                yield xy, False
            if known.get(xw) is False and wy in known:  # transitivity, in both forms
                yield xy, known[wy]
            if known.get(xw_y) is True and known.get(xy_w) is True:  # intersection
                yield xy, True
                yield xw, True
            if known.get(xw_y) is True and False in (known.get(xy), known.get(xw)):
                yield xy_w, False


def _pair(x: int, y: int, z: frozenset[int]) -> Statement:
    return min(x, y), max(x, y), z


# Figure 1 of [JAIR09] is only drawn. This graph has every (in)dependence that the text reads off it.
FIGURE_1 = Graph(8, [(3, 5), (4, 5), (5, 6), (5, 7), (1, 3), (0, 4), (0, 2)])


class PaperExample:
    """The oracle of Figure 1, with marginal log p that give the orders of Figures 2 and 5."""

    n_variables = 8

    def __init__(self) -> None:
        self.oracle = SeparationOracle(FIGURE_1)
        log_p = np.zeros((8, 8))
        log_p[5, [3, 4, 1, 6, 2, 7, 0]] = [-100, -90, -80, -70, -60, -50, -40]
        log_p[7, [2, 6, 3, 0, 4, 1, 5]] = [-56, -55, -54, -53, -52, -51, -50]
        # The other pairs: u_i + u_j, the u chosen so that the sums come in the order of the visits.
        others = [3, 0, 1, 6, 2, 4]
        missing = np.array([-450, -360, -350, -340, -330, -320]) - log_p[5, others] - log_p[7, others]
        u = (missing - missing.sum() / 10) / 4
        log_p[np.ix_(others, others)] = u[:, None] + u[None, :]
        log_p[:, 5], log_p[:, 7] = log_p[5], log_p[7]
        log_p[7, 5] = log_p[5, 7] = -50
        np.fill_diagonal(log_p, 0)
        self.log_p = log_p

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        return self.scan(x, [y], z).one(0)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        answers = self.oracle.scan(x, ys, z)
        return answers if z else Verdicts(answers.independent, self.log_p[x, list(ys)])


def asked_about(result: Result, x: int, phase: str) -> list[tuple[int, set[int], bool, str]]:
    """Return the questions of the examination of x: y, the conditioning set, the answer, its source."""
    assert result.trace is not None
    return [(q.y, set(q.z), q.independent, q.source) for q in result.trace if q.x == x and q.phase == phase]


def visited(result: Result) -> list[int]:
    """The variables in the order in which they were examined."""
    assert result.trace is not None
    return list(dict.fromkeys(q.x for q in result.trace if q.phase != "initial"))


def lines(result: Result) -> list[Line]:
    """The trace in the form of the twins, without what line 22 passes over."""
    assert result.trace is not None
    return [(q.x, q.y, q.z, q.independent, q.source) for q in result.trace if q.source != "marginal"]


def any_judge(kind: str, seed: int) -> IndependenceTest:
    """A judge of 2 to 12 variables: the oracle of a random graph, or a test on few rows, which is often wrong."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 13))
    if kind == "oracle":
        return SeparationOracle(random_graph(n, float(rng.uniform(0, min(8, n - 1))), seed))
    data = reference.random_dataset(rng, n_rows=int(rng.integers(30, 400)), cards=rng.integers(2, 4, n).tolist())
    return ChiSquare(Counts(data, n_jobs=1), alpha=float(rng.uniform(0.01, 0.3)), dof="all")
