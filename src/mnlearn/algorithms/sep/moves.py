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
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs.candidates import MOST_AROUND, Candidates
from mnlearn.graphs.separators import Numbers
from mnlearn.numbers import add_logs_at, exp, expm1, log, log1p, log_add_exp
from mnlearn.protocols import BoolArray, EvidenceScore, FloatArray, VarSet

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
