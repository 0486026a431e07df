"""Rival edges: two variables that compete for one neighbour are judged against each other.

If x − y and y − b are edges and x − b is none, b may be the true neighbour of x and y only its near-copy, or joined to
x by mistake. With S = sep(x; y), which separates x from b as well once x − y is gone, four local models compare:

    neither: 1      x − y: exp(l)      x − b in its place: exp(m)      both: exp(l + a)

l and a are the log-odds of the two pairs in the graph, and m = l + ev(x, b | S) − ev(x, y | S), less the difference of
the prior penalties. So the odds of x − y, with all its rivals b, are exp(l) (1 + Σ exp(a)) / (1 + Σ exp(m)). An edge
that a rival explains as well has a probability of about one half, however strong its own evidence. A rival b has the
odds (exp(m) + exp(l + a)) (1 + A) / (1 + M + exp(l) (1 + A)), A and M being these sums over the other rivals of x − y.
Where x − y says nothing about x − b, m = a, and all odds stay as they are. A rival that has not replaced an edge is no
better than it: its probability is at most one half, and that of the edge at least one half.

Joint moves of the separator phase: a variable joins both ends of an edge at once.

Edges of a clique support one another, and so do those of two parents and their child: each alone is below its price,
while both are worth it. Where no single flip is left, a variable x and an edge a − b are tried if x − a and x − b are
absent and x − a is at most SHORTFALL below its price. With x − a in the graph, a is in the separator of x and b: the
evidence of both is e_G(x, a) + e_G+xa(x, b).

Both together have a price of their own. An edge and a third variable can be chosen in E (n − 2) ways, of which 3 T are
triangles of the graph. If their number is uniform a priori, one more costs ln((E (n − 2) − 3 T) / (3 T + 1)). So a
triangle costs more than two edges in a tree or a grid, and less among cliques. Each of the two edges must also exceed
its own price given the other, or a single flip would remove it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import EvidenceAssociation, check_cancelled
from mnlearn.graphs.candidates import MOST_AROUND, Candidates
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.separators import Numbers, Separators
from mnlearn.numbers import add_logs_at, exp, expm1, first_best, log, log1p, log_add_exp
from mnlearn.protocols import BoolArray, EvidenceScore, FloatArray, Monitor, VarSet

TINY = 1e-15
CLEAR = 4.0  # rivals with so much less evidence need no fit
SUPPORTED = 2.0
"""Rivals are judged given sep(x; y) only if x − y has the evidence of an edge there, up to this: where it has much less
than given sep(y; x), the set explains the edge away, and nothing can be said about what competes with it."""


@dataclass(frozen=True)
class Rivals:
    """Edges and the pairs that compete with them, by their places among the candidate pairs.

    Parameters
    ----------
    edge
        The edge x − y.
    pair
        The pair x − b.
    advantage
        ev(x, b | S) − ev(x, y | S), less the difference of their prior penalties.
    """

    edge: NDArray[np.intp]
    pair: NDArray[np.intp]
    advantage: FloatArray

    def revised(self, log_odds: FloatArray, even: float = 0.0) -> FloatArray:
        """Return the log-odds of all candidate pairs with the rivals taken into account.

        Parameters
        ----------
        log_odds
            Of each pair, the other pairs as they are.
        even
            The least log-odds of an edge with rivals, if it has as much without them: as much as rounding needs.
        """
        with_edge, with_pair = log_odds[self.edge], log_odds[self.pair]
        instead = with_edge + self.advantage
        beside, replaced = np.zeros(len(log_odds)), np.zeros(len(log_odds))  # ln(1 + Σ exp a), ln(1 + Σ exp m)
        add_logs_at(beside, self.edge, with_pair)
        add_logs_at(replaced, self.edge, instead)
        found = log_odds + beside - replaced
        others = _without(beside[self.edge], with_pair)  # the same sums over the other rivals of the edge
        having = others + log_add_exp(instead, with_edge + with_pair)
        lacking = log_add_exp(_without(replaced[self.edge], instead), with_edge + others)
        change = having - lacking - with_pair
        rise = np.zeros(len(log_odds))  # of a rival of several edges the odds add up
        upward = np.maximum(change, TINY)
        add_logs_at(rise, self.pair, upward + log(-expm1(-upward)))  # ln(exp(change) − 1)
        np.add.at(rise, self.pair, np.minimum(change, 0.0))
        found += rise
        found[self.edge] = np.maximum(found[self.edge], np.minimum(with_edge, even))
        found[self.pair] = np.minimum(found[self.pair], np.maximum(with_pair, 0.0))
        return found


def _without(log_sum: FloatArray, part: FloatArray) -> FloatArray:
    """Return ln(exp(log_sum) − exp(part)), of a sum that is at least 1 without the part."""
    return np.maximum(log_sum + log1p(-np.minimum(exp(part - log_sum), 1.0 - TINY)), 0.0)


def find_rivals(
    judge: EvidenceScore,
    candidates: Candidates,
    set_of: Callable[[int], VarSet],
    *,
    present: BoolArray,
    allowed: BoolArray,
    evidence: FloatArray,
    log_factor: FloatArray,
    given: Numbers,
    prices: FloatArray | None = None,
    known: dict[tuple[int, int, int], float],
) -> Rivals:
    """Return the rivals of all edges.

    Parameters
    ----------
    judge
        Weighs pairs.
    candidates
        The candidate pairs, to whose places the arrays belong.
    set_of
        The separating set of a number.
    present, allowed
        Whether a pair is an edge, and whether it may be or not be one.
    evidence
        e_G.
    log_factor, given
        In two rows: ev(u, v | S) given sep(u; v) and given sep(v; u), and the number of S.
    prices
        Prior penalty of each pair; None if it is the same for all.
    known
        ev(x, b | S) by x, the number of S and b, as far as known from earlier graphs; what is computed is added.
    """
    edge, end, pair = _triangles(candidates, present, allowed)
    ends = np.stack([candidates.u, candidates.v])
    own = log_factor[end, edge]
    judged = own >= evidence[edge] - SUPPORTED
    edge, end, pair, own = edge[judged], end[judged], pair[judged], own[judged]
    if not len(edge):
        return Rivals(edge, pair, own)
    x, number = ends[end, edge], given[end, edge]
    b = ends[0, pair] + ends[1, pair] - x
    order = np.lexsort((b, number, x))
    x, number, b, own, edge, pair = x[order], number[order], b[order], own[order], edge[order], pair[order]
    values = _weigh(judge, set_of, (x, number, b), own - CLEAR, known)
    return Rivals(edge, pair, values - own - (0.0 if prices is None else prices[pair] - prices[edge]))


def _weigh(
    judge: EvidenceScore,
    set_of: Callable[[int], VarSet],
    questions: tuple[Numbers, Numbers, Numbers],
    fit_above: FloatArray,
    known: dict[tuple[int, int, int], float],
) -> FloatArray:
    """Return ev(x, b | S) of each x, number of S and b, sorted by these; those that are not known yet are asked."""
    keys = list(zip(*(column.tolist() for column in questions), strict=True))
    new = np.array([key not in known for key in keys]) & _changes(*questions)
    x, number, b = (column[new] for column in questions)
    if len(x):
        starts = np.flatnonzero(_changes(x, number))
        sets = [set_of(int(k)) for k in number[starts]]
        bounds = np.minimum.reduceat(fit_above[new], starts)
        found = judge.pairs(x[starts], sets, np.split(b, starts[1:]), fit_above=bounds)
        values = np.concatenate([scan.log_factor for scan in found]).tolist()
        known.update(zip([keys[k] for k in np.flatnonzero(new).tolist()], values, strict=True))
    return np.array([known[key] for key in keys])


def _triangles(
    candidates: Candidates, present: BoolArray, allowed: BoolArray
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return x − y, which of its ends x is (0 or 1), and x − b, for all edges x − y and y − b without x − b.

    y has at most MOST_AROUND neighbours; x − y and x − b may flip.
    """
    n, ends = candidates.n_variables, np.stack([candidates.u, candidates.v])
    u, v = ends[:, present]
    middle, around = np.concatenate([u, v]), np.concatenate([v, u])
    around = around[np.argsort(middle, kind="stable")]
    degree = np.bincount(middle, minlength=n)
    start = np.cumsum(degree) - degree
    places = np.flatnonzero(present & allowed)
    edge, end = np.tile(places, 2), np.repeat([0, 1], len(places))
    y = ends[1 - end, edge]
    edge, end, y = (part[degree[y] <= MOST_AROUND] for part in (edge, end, y))
    size = degree[y]
    which = np.repeat(np.arange(len(edge)), size)
    within = np.arange(len(which)) - np.repeat(np.cumsum(size) - size, size)
    b = around[start[y][which] + within].astype(np.int64)
    edge, end = edge[which], end[which]
    x = ends[end, edge].astype(np.int64)
    keys = np.minimum(x, b) * n + np.maximum(x, b)
    pair = np.minimum(np.searchsorted(candidates.keys, keys), len(candidates.keys) - 1)
    rival = (b != x) & (candidates.keys[pair] == keys) & ~present[pair] & allowed[pair]
    return edge[rival], end[rival], pair[rival]


def _changes(*columns: NDArray[np.int32]) -> BoolArray:
    """Return where a row of these columns differs from the one before."""
    found = np.zeros(len(columns[0]), dtype=np.bool_)
    found[0] = True
    for column in columns:
        found[1:] |= np.diff(column) != 0
    return found


SHORTFALL = 3.0
"""The first of the two edges is at most so far below its price. At 4 there are 0.1 errors fewer on average (28 samples
of cliques and Bayesian networks), and the moves take almost twice as long."""
SLACK = 3.0  # a move is fitted if it is at most so far below its price by estimates, given one of two separators
MOVES_TOGETHER = 512  # scans in one call; the monitor is polled between calls


@dataclass(frozen=True)
class OpenPairs:
    """Candidate pairs with their evidence.

    Parameters
    ----------
    candidates
        The pairs.
    evidence, price
        Evidence and price of each.
    may_join
        Whether it is absent and may become an edge.
    """

    candidates: Candidates
    evidence: FloatArray
    price: FloatArray
    may_join: BoolArray

    def places(self, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.intp]:
        """Return the place of each pair u − v; −1 where it is not listed."""
        keys = self.candidates.keys
        wanted = np.minimum(u, v) * np.int64(self.candidates.n_variables) + np.maximum(u, v)
        places = np.searchsorted(keys, wanted)
        return np.where(np.append(keys, -1)[places] == wanted, places, -1)


def triangle_price(graph: Graph) -> float:
    """Return ln((E (n − 2) − 3 T) / (3 T + 1)), the penalty of one more triangle on an edge; at least 0."""
    closed = sum(len(graph.neighbors(u) & graph.neighbors(v)) for u, v in graph.edges)  # 3 T
    choices = graph.n_edges * (graph.n_variables - 2)
    return max(0.0, log((choices - closed) / (closed + 1))) if closed < choices else 0.0


class JointMoves:
    """Search for variables that join both ends of an edge.

    Parameters
    ----------
    judge
        Weighs pairs.
    monitor
        May cancel the search.
    association, rounding
        Decides between moves of equal gain: the stronger association joins. Gains tie if they differ by less than
        `rounding`.
    """

    def __init__(
        self, judge: EvidenceScore, monitor: Monitor, association: EvidenceAssociation, rounding: float
    ) -> None:
        self._judge, self._monitor, self._association, self._rounding = judge, monitor, association, rounding

    def find(self, graph: Graph, pairs: OpenPairs) -> list[int]:
        """Return the places of the pairs to join, two for each move, the best move first; moves share no variable."""
        choices = _choices(graph, pairs)
        if not len(choices):
            return []
        price, separators = triangle_price(graph), Separators(graph)
        estimates = self._estimates(choices, pairs, separators)
        tried = sorted({(x, min(a, b), max(a, b)) for x, a, b in choices[estimates > price - SLACK].tolist()})
        values = self._fits(tried, pairs, separators) - price
        good = np.flatnonzero(~(values <= self._rounding)).tolist()
        tried, values = [tried[place] for place in good], values[good]
        variables = np.array(tried, dtype=np.int32).reshape(-1, 3)

        def association(tied: NDArray[np.intp]) -> FloatArray:
            edges = [(x, end) for x, a, b in (tried[place] for place in tied.tolist()) for end in (a, b)]
            return np.asarray(self._association.of(edges).reshape(-1, 2).sum(axis=1))

        found: list[int] = []
        while (best := first_best(values, 0.0, self._rounding, association)) is not None:
            x, a, b = tried[best]
            found += pairs.places(np.array([x, x]), np.array([a, b])).tolist()
            values[np.isin(variables, variables[best]).any(axis=1)] = -inf
        return found

    def _estimates(self, choices: Numbers, pairs: OpenPairs, separators: Separators) -> FloatArray:
        """Return the evidence of each choice; that of x − b to first order, given sep(b; x) and a."""
        x, a, b = choices.T
        total: FloatArray = pairs.evidence[pairs.places(x, a)]
        given = separators.numbers(b.copy(), x.copy())
        order = np.lexsort((x, given, a, b))
        same = [np.diff(row[order]) == 0 for row in (b, a, given)]
        starts = np.append(np.flatnonzero(np.append(True, ~np.logical_and.reduce(same))), len(x))
        groups = [order[begin:end] for begin, end in pairwise(starts.tolist())]
        scans = [(int(b[g[0]]), separators.set(int(given[g[0]])) | {int(a[g[0]])}, x[g]) for g in groups]
        for group, values in zip(groups, self._weigh(scans, fit_above=inf), strict=True):
            total[group] += values
        return total

    def _fits(self, tried: Sequence[tuple[int, int, int]], pairs: OpenPairs, separators: Separators) -> FloatArray:
        """Return the evidence of each move; −inf where an edge is below its own price given the other."""
        scans: list[tuple[int, VarSet, Numbers]] = []
        for variable, *ends in tried:
            for end in ends:
                separators.flip(variable, end)
            sides = [(u, v) for end in ends for u, v in ((variable, end), (end, variable))]
            scans += [(u, separators.of(u, v), np.array([v], dtype=np.int32)) for u, v in sides]
            for end in ends:
                separators.flip(variable, end)
        both = np.array([values[0] for values in self._weigh(scans, fit_above=-inf)]).reshape(-1, 2, 2).mean(axis=2)
        x, a, b = np.array(tried, dtype=np.int32).reshape(-1, 3).T
        places = np.stack([pairs.places(x, a), pairs.places(x, b)], axis=1)
        gains: FloatArray = (pairs.evidence[places] + both[:, ::-1]).max(axis=1)
        gains[(both <= pairs.price[places]).any(axis=1)] = -inf
        return gains

    def _weigh(self, scans: Sequence[tuple[int, VarSet, Numbers]], *, fit_above: float) -> Iterator[FloatArray]:
        """Yield the evidence of each scan: a variable, a separator, the others."""
        for begin in range(0, len(scans), MOVES_TOGETHER):
            check_cancelled(self._monitor)
            xs, sets, yss = zip(*scans[begin : begin + MOVES_TOGETHER], strict=True)
            for found in self._judge.pairs(xs, sets, yss, fit_above=fit_above):
                yield found.log_factor


def _choices(graph: Graph, pairs: OpenPairs) -> Numbers:
    """Return the rows x, a, b to try: an edge a − b, and x − a and x − b that may join, x − a near its price."""
    near = pairs.candidates.keys[pairs.may_join & (pairs.evidence > pairs.price - SHORTFALL)]
    u, v = np.divmod(near, graph.n_variables)
    x, a = np.concatenate([u, v]), np.concatenate([v, u])
    b = np.array([y for end in a.tolist() for y in sorted(graph.neighbors(end))], dtype=np.int64)
    x, a = np.repeat([x, a], graph.degrees()[a], axis=1)
    places = pairs.places(x, b)
    chosen: Numbers = np.stack([x, a, b], axis=1)[(places >= 0) & pairs.may_join[places]].astype(np.int32)
    return chosen
