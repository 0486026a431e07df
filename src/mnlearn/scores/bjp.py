"""BJP: the joint posterior of all Markov blankets, each taking for granted what those before it settled.

Schlüter, Strappa, Milone & Bromberg, IJAR (2018)  [BJP18]. Earlier scores treat the blankets as independent of one
another and weigh every pair twice. Here the blankets come one after the other, small ones first, and a pair is weighed
once, by its end with the smaller blanket: the other one's claim follows from it and counts as log 1.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.errors import InputError, tuple_of
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import ranks
from mnlearn.protocols import BoolArray, FloatArray, IndependencePosterior, Indices, IntArray, VarSet
from mnlearn.scores.pairwise import (
    PairwiseState,
    Proposal,
    bare_claims,
    check_pairs_fit,
    claims,
    log_odds,
    members_mask,
    require_posterior,
    require_variables,
    weigh,
)

_MOST_KEPT = 1 << 25  # claims of flipped blankets in the cache, 256 MiB: all of them for up to 322 variables
_BLOCK = 256  # gains evaluated at once: bounds the memory of their claims


@dataclass(frozen=True)
class BJPScore:
    """BJP(G) = Σ_i log Pr(B_ψ(i) | B_ψ(0..i−1), D): of each pair the claim of who comes first  [BJP18, Eq. 11-14].

    Parameters
    ----------
    posterior
        Any independence posterior, such as ``BayesianTest(Counts(data))``.
    order
        ψ, each variable once; None sorts by number of blanket configurations, ascending, as the paper advises. Other
        orders are for studying what the order does (Appendix B).

    Raises
    ------
    UnsuitableError
        If the judge decides but does not weigh.
    InputError
        If the order is not one of all variables.

    Notes
    -----
    The paper does not say which of two blankets of equal size comes first. Here it is the one of the variable with the
    stronger marginal association, the lower Σ_y log Pr(x ⟂ y); that takes n(n − 1)/2 marginal terms, once for each
    score object. Variables with equal sums, such as copies of a column, come in the order of their indices: only for
    these does the score depend on the order of the columns.

    A continuous variable counts as if it had two states: sizes are then those of the neighbourhoods. A score costs
    n(n − 1)/2 terms; a flip, only the pairs of its two ends that are now weighed under another blanket. A claim of
    log probability -inf counts as -744.4.

    Examples
    --------
    The paper's example, a hub 0 with three leaves: the hub is last, and all it could claim is settled by then.

    >>> from mnlearn.data import Dataset
    >>> from mnlearn.graphs import star
    >>> from mnlearn.independence import BayesianTest
    >>> from mnlearn.statistics import Counts
    >>> score = BJPScore(BayesianTest(Counts(Dataset.from_codes(np.eye(4, dtype=int)))))
    >>> score.visit_order(star(4))
    [1, 2, 3, 0]
    >>> round(score(star(4)), 3), round(BJPScore(score.posterior, order=(0, 1, 2, 3))(star(4)), 3)
    (-4.404, -4.009)
    """

    posterior: IndependencePosterior
    order: Sequence[int] | None = None
    _places: tuple[int, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        require_posterior("BJPScore", self.posterior)
        if self.order is not None:
            order = tuple_of("order", self.order, "variables")
            given = set(map(repr, order))
            if len(order) != self.n_variables or given != set(map(repr, range(self.n_variables))):
                raise InputError(
                    f"order must hold each of 0 to {self.n_variables - 1} once; got {list(order)[:12]}. "
                    "Leave it out to sort by the size of the blankets."
                )
            object.__setattr__(self, "order", tuple(int(x) for x in order))
            object.__setattr__(self, "_places", tuple(np.argsort(self.order).tolist()))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.posterior.n_variables

    def __call__(self, graph: Graph) -> float:
        """Return the score of a graph; higher is better."""
        require_variables(graph, self.n_variables)
        order = self.visit_order(graph)
        undecided = np.ones((len(order), len(order)), dtype=np.bool_)
        for i, x in enumerate(order):
            undecided[i:, x] = False  # Eq. 13-14: claims about earlier variables are settled and add log 1
        blankets = [graph.neighbors(x) for x in order]
        rows = weigh(self.posterior, order, blankets, members_mask(order, blankets, len(order)), undecided)
        return float(rows[undecided].sum())

    def on(self, graph: Graph) -> BJPState:
        """Return the graph with its score, to be updated flip by flip."""
        return BJPState(self, graph)

    def visit_order(self, graph: Graph) -> list[int]:
        """Return ψ, the variables in visiting order."""
        require_variables(graph, self.n_variables)
        return sorted(range(self.n_variables), key=lambda x: self.key(x, graph.neighbors(x)))

    def key(self, x: int, blanket: VarSet) -> int:
        """Return the sort key of ψ, different for any two variables: by the configurations of the blanket.

        A Python integer: 1024 binary neighbours have more configurations than a float can count.
        """
        if self.order is not None:
            return self._places[x]
        cards = self.posterior.cards
        return prod(cards[y] or 2 for y in blanket) * self.n_variables + self._precedence[x]

    @cached
    def bare(self) -> FloatArray:
        """The claims of empty blankets, log Pr(x ⟂ y) of each pair; 0 on the diagonal."""
        n = self.n_variables
        found = bare_claims(self.posterior)
        return claims(self.posterior, range(n), [frozenset()] * n) if found is None else found

    @cached
    def _precedence(self) -> list[int]:
        """The place of each variable among those with blankets of equal size."""
        strongest = ranks(np.array([fsum(row) for row in self.bare]))
        return [int(place) for place in np.argsort(np.argsort(strongest, kind="stable"))]

    def terms(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """Return a row per x with its blanket: its claims about every variable if x came first; 0 for x."""
        return claims(self.posterior, [int(x) for x in xs], blankets)

    def ranks(self, xs: Indices, blankets: Sequence[VarSet]) -> NDArray[np.object_]:
        """Return the `key` of each x with its blanket: of two ends the lower one comes first."""
        return np.array([self.key(int(x), blanket) for x, blanket in zip(xs, blankets, strict=True)], dtype=object)


class BJPState(PairwiseState):
    """A graph with its BJP score: the part of a pair is the claim of the end that comes first in ψ.

    A flip of {u, v} changes the blankets and the places of both. Computed again are the claims of u about variables
    after it. If another variable now precedes u, its claim about u is needed too; it is cached until its blanket
    changes. A missing claim is computed together with all other claims of that variable in one scan: its blanket is
    small, and the next flip is likely to need the rest.

    The gains of many pairs take the claims of each end as if the pair were flipped. These depend on one blanket only
    and are cached until it changes; the places of the variables, which any flip may change, only choose among them.
    """

    def __init__(self, score: BJPScore, graph: Graph) -> None:
        require_variables(graph, score.n_variables)
        check_pairs_fit(graph.n_variables)
        self._score = score
        visits = score.visit_order(graph)
        self._order = [score.key(x, graph.neighbors(x)) for x in visits]
        self._place = np.argsort(visits)
        # [x, y]: the key and the claims of x if x and y were flipped; which are known, until the blanket of x changes.
        self._known = np.zeros((len(visits), len(visits)), dtype=np.bool_)
        self._flipped_keys: NDArray[np.object_] = np.empty((0, 0), dtype=object)
        self._flipped_claims: FloatArray = np.empty((0, 0, 0))
        super().__init__(score.posterior, graph)

    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        """Return the change of the score for each pair, if it alone were flipped."""
        if len(edges) == 1:  # a search that scores one pair is likely to flip it: cache the effect
            return super().gains(edges)
        pairs = np.array([self._checked(edge) for edge in edges], dtype=np.int64).reshape(-1, 2)
        self._complete()
        blocks = [self._gains_of(*pairs[start : start + _BLOCK].T) for start in range(0, len(pairs), _BLOCK)]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def propose(self, u: int, v: int) -> Proposal:
        """Return the effect of a flip: after it, each pair takes the claim of the end that comes first  [Eq. 11-14]."""
        ends = [u, v]
        blankets, around_them = self._flipped(u, v)
        keys = [self._score.key(x, blanket) for x, blanket in zip(ends, blankets, strict=True)]
        u_first = keys[0] < keys[1]
        # after[i]: the variables that end i precedes in the new order, whose pairs take its claims; before: the others.
        after = self._place >= np.array([[bisect_left(self._order, key)] for key in keys])  # right of all but u and v
        after[0, u] = after[1, v] = False
        after[0, v], after[1, u] = u_first, not u_first
        before = ~after
        before[:, u] = before[:, v] = False
        rows, about = self._ask(ends, blankets, around_them, after, before)
        parts = np.where(after, rows, about)  # Eq. 12-13: the earlier variable of a pair decides it
        parts[0, v] = parts[1, u] = rows[0, v] if u_first else rows[1, u]
        change = parts - np.array((self._parts[u], self._parts[v]))
        change[:, u] = change[:, v] = 0.0  # the pair (u, v) is in both rows: count it once, below
        gain = float(change.sum() + parts[0, v] - self._parts[u, v])
        parts[0, u] = parts[1, v] = np.inf
        overtaken = before & (self._place > self._place[ends, None])
        return Proposal((u, v), rows, parts, gain, int(after.sum()) + int(overtaken.sum()))

    def log_odds(self, *, absent: bool = False) -> dict[Edge, float]:
        """Return the log odds of each pair by the end that comes first."""
        n = self._graph.n_variables
        first = self._place[:, None] < self._place
        judged = self._blankets()
        for x in range(n):
            if not (absent or any(first[x, y] for y in judged[x])):
                judged[x] = frozenset()  # a hub: the other ends decide all its edges
        odds = log_odds(self._posterior, judged, absent=first if absent else None)
        odds = np.where(first, odds, odds.T)
        pairs = zip(*np.triu_indices(n, 1), strict=True) if absent else self._graph.edges
        return {(int(u), int(v)): float(odds[u, v]) for u, v in pairs}

    def _gains_of(self, us: IntArray, vs: IntArray) -> FloatArray:
        """Return the gains of some pairs together; all present claims are known."""
        keys_u, of_u = self._if_flipped(us, vs)
        keys_v, of_v = self._if_flipped(vs, us)
        k = np.arange(len(us))
        own = np.where(keys_u < keys_v, of_u[k, vs], of_v[k, us]) - self._parts[us, vs]
        return np.asarray(own + self._others(us, vs, keys_u, of_u) + self._others(vs, us, keys_v, of_v))

    def _others(self, xs: IntArray, ys: IntArray, keys: NDArray[Any], rows: FloatArray) -> FloatArray:
        """Return the change of the parts of x with all others than y, if x and y were flipped."""
        after = self._place >= np.searchsorted(_sortable(self._order), keys)[:, None]
        change = np.where(after, rows, self._claims.T[xs]) - self._parts[xs]
        k = np.arange(len(xs))
        change[k, xs] = change[k, ys] = 0.0
        return np.asarray(change.sum(axis=1))

    def _if_flipped(self, xs: IntArray, ys: IntArray) -> tuple[NDArray[Any], FloatArray]:
        """Return the sort key of each x, and a row of its claims, if x and y were flipped."""
        n = self._graph.n_variables
        if n**3 > _MOST_KEPT:
            halves = list(zip(xs.tolist(), ys.tolist(), strict=True))
            return _sortable(self._keys_of(halves)), np.concatenate([rows for _, rows in self._halves(halves)])
        if not self._flipped_claims.size:
            self._flipped_keys, self._flipped_claims = np.empty((n, n), dtype=object), np.empty((n, n, n))
        new = ~self._known[xs, ys]
        for some, rows in self._halves(list(zip(xs[new].tolist(), ys[new].tolist(), strict=True))):
            at = tuple(np.array(some).T)
            self._flipped_keys[at], self._flipped_claims[at], self._known[at] = self._keys_of(some), rows, True
        return _sortable(self._flipped_keys[xs, ys].tolist()), self._flipped_claims[xs, ys]

    def _keys_of(self, halves: Sequence[Edge]) -> list[int]:
        """Return the sort key of x if x and y were flipped, for each (x, y)."""
        return [self._score.key(x, self._graph.neighbors(x) ^ {y}) for x, y in halves]

    def _complete(self) -> None:
        """Compute the claims under present blankets that no flip has needed yet."""
        missing = np.flatnonzero(np.isnan(self._claims).any(axis=1)).tolist()
        for start in range(0, len(missing), _BLOCK):
            xs = missing[start : start + _BLOCK]
            self._claims[xs] = self._claims_of(xs, [self._graph.neighbors(x) for x in xs], self._around[xs])

    def _ask(
        self, ends: list[int], blankets: list[VarSet], around: BoolArray, after: BoolArray, before: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the claims of each end about variables after it, and the claims about it of variables before it."""
        about = self._about(ends)
        missing = before & np.isnan(about)
        others = np.flatnonzero(missing.any(axis=0)).tolist()
        if not others:
            return self._claims_of(ends, blankets, around, after), about
        theirs = [self._graph.neighbors(x) for x in others]
        unknown = np.array([np.isnan(self._claims[x]) for x in others])
        for k, (x, blanket) in enumerate(zip(others, theirs, strict=True)):
            if not any(end in blanket and missing[i, x] for i, end in enumerate(ends)):
                unknown[k, list(blanket)] = False  # members cost a table of their own: not ahead of need
        everyone = np.concatenate((around, self._around[others])), np.concatenate((after, unknown))
        rows = self._claims_of([*ends, *others], [*blankets, *theirs], *everyone)
        for k, x in enumerate(others):
            np.copyto(self._claims[x], rows[2 + k], where=unknown[k])
        return rows[:2], self._about(ends)

    def _about(self, ends: list[int]) -> FloatArray:
        """Return the claims of all variables about each end: two rows."""
        return np.array((self._claims[:, ends[0]], self._claims[:, ends[1]]))

    def _bare_claims(self) -> FloatArray:
        return self._score.bare.copy()

    def _needed(self, x: int) -> BoolArray:
        return np.asarray(self._place > self._place[x])

    def _all_parts(self) -> FloatArray:
        first = self._place[:, None] < self._place
        parts = np.where(first, self._claims, self._claims.T)
        np.fill_diagonal(parts, 0.0)
        return parts

    def _moved(self, made: Proposal) -> VarSet | None:
        for x in made.edge:
            old, key = int(self._place[x]), self._score.key(x, self._graph.neighbors(x))
            del self._order[old]
            new = bisect_left(self._order, key)
            self._order.insert(new, key)
            if new > old:
                self._place[(self._place > old) & (self._place <= new)] -= 1
            elif new < old:
                self._place[(self._place < old) & (self._place >= new)] += 1
            self._place[x] = new
            self._known[x] = False
        return None  # the gain of any pair depends on the places of u and v


def _sortable(keys: list[int]) -> NDArray[Any]:
    """Return an array of these keys: Python integers where one is too large for 64 bits."""
    return np.array(keys, dtype=np.int64 if max(keys) < 1 << 62 else object)
