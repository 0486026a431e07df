"""Pairwise scores: sums over pairs, updated flip by flip.

A flip of {u, v} changes two blankets, so only pairs with u or v change their part in the score. What differs
from score to score, and is written in its own file, is which claims are asked again and how the two claims of
a pair make one part: see `PairwiseState.propose`.

Blanket claims: the Markov blanket closure, weighted by an independence posterior.

Schlüter, Bromberg & Edera, AMAI (2014), Definition 2  [IBMAP14]; Eq. 8 of [BJP18]. A variable x with the blanket B
claims x ⟂ y | B of every y outside B, and x ⟂̸ y | B − y of every y in B. IB adds up all claims of all variables; BJP,
one claim of each pair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, ulp
from typing import cast

import numpy as np

from mnlearn.errors import InputError, UnsuitableError, check_room
from mnlearn.graphs.graph import Edge, Graph, check_graph
from mnlearn.numbers import log
from mnlearn.protocols import BatchedPosterior, BoolArray, FloatArray, IndependencePosterior, Indices, LogOdds, VarSet

LEAST = log(ulp(0.0))
"""Log probability that stands for -inf: that of the smallest positive double, so that all sums stay finite.

`BayesianTest` and `GaussianPosterior` compute in logs and never give it; a posterior that takes the logarithm of a
probability does.
"""


def claims(posterior: IndependencePosterior, xs: Sequence[int], blankets: Sequence[VarSet]) -> FloatArray:
    """Return log Pr of the claim of each blanket about x and every other variable  [BJP18, Eq. 8]; 0 at x."""
    return weigh(posterior, xs, blankets, members_mask(xs, blankets, posterior.n_variables))


def check_pairs_fit(n_variables: int) -> None:
    """Raise InputError if the claims and parts of all pairs need more memory than there is."""
    advice = "Choose fewer columns, or a method that stores none: mpl, sep, gsmn*."
    what = f"the parts of every pair of {n_variables:,} variables"
    check_room("posterior", 17.0 * n_variables**2, what, advice)


def bare_claims(posterior: IndependencePosterior) -> FloatArray | None:
    """Return the claims of empty blankets, x ⟂ y for every pair, in one batch; None if the posterior has no batch."""
    pairs = cast(BatchedPosterior, posterior).independent_pairs() if hasattr(posterior, "independent_pairs") else None
    if pairs is None:
        return None
    n = posterior.n_variables
    rows = np.zeros((n, n))
    rows[np.triu_indices(n, 1)] = np.where(pairs == -inf, LEAST, pairs)
    return rows + rows.T


def members_mask(xs: Sequence[int], blankets: Sequence[VarSet], n_variables: int) -> BoolArray:
    """Return a boolean row per x that marks x and its blanket."""
    rows = np.zeros((len(xs), n_variables), dtype=np.bool_)
    try:
        for k, (x, blanket) in enumerate(zip(xs, blankets, strict=True)):
            rows[k, [x, *blanket]] = True
    except (TypeError, ValueError, IndexError, OverflowError):
        raise InputError(
            f"blankets must be sets of indices below {n_variables}, one for each x; got {blankets!r:.80}. Use "
            "dataset.index(name)."
        ) from None
    return rows


def weigh(
    posterior: IndependencePosterior,
    xs: Sequence[int],
    blankets: Sequence[VarSet],
    around: BoolArray,
    wanted: BoolArray | None = None,
) -> FloatArray:
    """Return the wanted `claims` given the mask `around` of each x and its blanket; others are NaN.

    All members of a blanket are computed if one of them is wanted: they cost nothing more.
    """
    rows, ks = np.full(around.shape, nan), range(len(xs))
    inside, outside = around.copy(), ~around
    for k in ks:
        inside[k, xs[k]] = False
    sets = [k for k in ks if blankets[k]]
    if wanted is not None:
        outside &= wanted
        used = np.asarray((inside & wanted).any(axis=1))
        inside &= used[:, None]
        sets = [k for k in sets if used[k]]
    yss = [row.nonzero()[0].astype(np.int32) for row in outside]
    asked = [k for k in ks if yss[k].size]
    if asked:
        some = ([xs[k] for k in asked], [yss[k] for k in asked], [blankets[k] for k in asked])
        rows[outside] = np.concatenate(_independent(posterior, *some))
    if sets:
        rows[inside] = _dependent(posterior, [xs[k] for k in sets], [blankets[k] for k in sets])
    rows[rows == -inf] = LEAST
    for k in ks:
        rows[k, xs[k]] = 0.0
    return rows


def log_odds(
    posterior: IndependencePosterior, blankets: Sequence[VarSet], *, absent: BoolArray | None = None
) -> FloatArray:
    """Return log Pr[x ⟂̸ y | B − y] − log Pr[x ⟂ y | B − y], a row for each x with its blanket B; NaN elsewhere.

    For every y in B, and for those outside that `absent` marks in the row of x.
    """
    n = posterior.n_variables
    rows, xs = np.full((n, n), nan), [x for x in range(n) if blankets[x]]
    for x, (independent, dependent) in zip(xs, _members(posterior, xs, [blankets[x] for x in xs]), strict=True):
        rows[x, sorted(blankets[x])] = dependent - independent
    for x, wanted in enumerate(() if absent is None else absent & ~members_mask(range(n), blankets, n)):
        independent, dependent = posterior.log_odds(x, wanted.nonzero()[0], blankets[x])
        rows[x, wanted] = dependent - independent
    return rows


def _independent(
    posterior: IndependencePosterior, xs: Sequence[int], yss: Sequence[Indices], zs: Sequence[VarSet]
) -> list[FloatArray]:
    """Return log Pr[x ⟂ y | z] for many scans, in one batch if the posterior has one."""
    if hasattr(posterior, "independent_many"):
        return cast(BatchedPosterior, posterior).independent_many(xs, yss, zs)
    return [posterior.log_odds(x, ys, z).independent for x, ys, z in zip(xs, yss, zs, strict=True)]


def _members(posterior: IndependencePosterior, xs: Sequence[int], zs: Sequence[VarSet]) -> list[LogOdds]:
    """Return the members of many sets, in one batch if the posterior has one."""
    if hasattr(posterior, "members_many"):
        return cast(BatchedPosterior, posterior).members_many(xs, zs)
    return [posterior.members(x, z) for x, z in zip(xs, zs, strict=True)]


def _dependent(posterior: IndependencePosterior, xs: Sequence[int], zs: Sequence[VarSet]) -> FloatArray:
    """log Pr[x ⟂̸ y | z − y] for every y in z, ascending; one set after the other."""
    return np.concatenate([odds.dependent for odds in _members(posterior, xs, zs)])


def require_posterior(score: str, posterior: object) -> None:
    """Raise UnsuitableError for a test that is not an independence posterior."""
    for method in ("log_odds", "members"):
        if not hasattr(posterior, method):
            raise UnsuitableError(
                f"{score} needs an independence posterior; a {type(posterior).__name__} has no {method}. "
                "Use BayesianTest(Counts(data)) for categorical data, GaussianPosterior(Moments(data)) for continuous."
            )


def require_variables(graph: Graph, n_variables: int) -> None:
    """Raise InputError for a graph over another number of variables."""
    check_graph("graph", graph)
    if graph.n_variables != n_variables:
        raise InputError(
            f"graph must have the {n_variables} variables of the posterior; got {graph.n_variables}. "
            "Make it over the same columns."
        )


_BLOCK = 128  # variables asked at once: bounds the memory of what is asked


@dataclass(frozen=True, eq=False)
class Proposal:
    """Effect of a flip of (u, v): the claims of both ends, the parts of their pairs, the gain, and its cost."""

    edge: Edge
    claims: FloatArray  # two rows
    parts: FloatArray  # two rows, inf at u and at v themselves
    gain: float
    terms: int  # how many parts the flip asks to be computed anew


class PairwiseState(ABC):
    """A `PairwiseScored` graph over an independence posterior; the scores of a file each fill in three methods.

    `_claims[x, y]` is log Pr of what x claims of y under its present blanket; NaN if not computed yet.
    """

    def __init__(self, posterior: IndependencePosterior, graph: Graph) -> None:
        require_variables(graph, posterior.n_variables)
        check_pairs_fit(graph.n_variables)
        self._posterior, self._graph = posterior, graph
        self._proposal: Proposal | None = None
        self._recomputed = self._scanned = 0
        self._around = members_mask(range(graph.n_variables), self._blankets(), graph.n_variables)
        self._claims = self._first_claims()
        self._parts = self._all_parts()
        self._value = 0.5 * float(self._parts.sum())  # each pair stands in it twice; 0 on the diagonal
        self._lost = 0.0  # what rounding has kept from the value so far (Neumaier)
        np.fill_diagonal(self._parts, inf)

    @property
    def graph(self) -> Graph:
        """The graph as it is now."""
        return self._graph

    @property
    def value(self) -> float:
        """Its score."""
        return self._value + self._lost

    @property
    def pairwise(self) -> FloatArray:
        """The part of each pair in the score: symmetric, inf on the diagonal; a read-only view of the present."""
        view = self._parts.view()
        view.flags.writeable = False
        return view

    @property
    def cost(self) -> Mapping[str, int]:
        """Parts of pairs that flips, made or tried, have recomputed; claims that the posterior was asked in all."""
        return {"recomputed": self._recomputed, "scanned": self._scanned}

    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        """Return the change of the score for each pair, if it alone were flipped."""
        return np.array([self._proposal_of(edge).gain for edge in edges], dtype=np.float64)

    def flip(self, edge: Edge) -> VarSet | None:
        """Flip a pair for good; returns the variables whose pairs may have other gains now, None for all."""
        made = self._proposal_of(edge)
        u, v = made.edge
        self._graph = self._graph.flip(u, v)
        self._around[u, v] = self._around[v, u] = not self._around[u, v]
        for x, row, parts in zip(made.edge, made.claims, made.parts, strict=True):
            self._claims[x] = row
            self._parts[x] = parts
            self._parts[:, x] = parts
        self._add(made.gain)
        self._proposal = None
        return self._moved(made)

    @abstractmethod
    def propose(self, u: int, v: int) -> Proposal:
        """Return the effect of a flip of u and v."""

    @abstractmethod
    def log_odds(self, *, absent: bool = False) -> dict[Edge, float]:
        """The log-odds of each edge being there, and if asked of each other pair, given its context."""

    @abstractmethod
    def _needed(self, x: int) -> BoolArray:
        """Return the variables about which the claims of x are part of the score."""

    @abstractmethod
    def _all_parts(self) -> FloatArray:
        """The symmetric matrix of the parts, from the claims; 0 on the diagonal."""

    @abstractmethod
    def _moved(self, made: Proposal) -> VarSet | None:
        """Bring up to date what a state keeps besides; the variables whose pairs may have other gains now."""

    def _blankets(self) -> list[VarSet]:
        """Everybody's blanket."""
        return [self._graph.neighbors(x) for x in range(self._graph.n_variables)]

    def _flipped(self, u: int, v: int) -> tuple[list[VarSet], BoolArray]:
        """The blankets of both ends after a flip, and who is around them then."""
        rows = np.array((self._around[u], self._around[v]))
        rows[0, v] = rows[1, u] = not rows[0, v]
        return [self._graph.neighbors(u) ^ {v}, self._graph.neighbors(v) ^ {u}], rows

    def _halves(self, halves: Sequence[Edge]) -> Iterator[tuple[Sequence[Edge], FloatArray]]:
        """Yield blocks of (x, y) with a row each: the claims of x if x and y were flipped."""
        for start in range(0, len(halves), _BLOCK):
            some = halves[start : start + _BLOCK]
            xs, ys = [x for x, _ in some], [y for _, y in some]
            around = self._around[xs]
            around[range(len(some)), ys] ^= True
            rows = self._claims_of(xs, [self._graph.neighbors(x) ^ {y} for x, y in some], around)
            self._recomputed += rows.size - len(some)
            yield some, rows

    def _checked(self, edge: Edge) -> Edge:
        """Return the pair with the smaller index first."""
        u, v = edge if edge[0] < edge[1] else (edge[1], edge[0])
        if u == v or not 0 <= u < v < self._graph.n_variables:
            raise InputError(
                f"edge must join two different variables, 0 to {self._graph.n_variables - 1}; got {tuple(edge)}. "
                "Correct it."
            )
        return u, v

    def _proposal_of(self, edge: Edge) -> Proposal:
        """The proposal at hand, if it is this one; else a new one."""
        u, v = self._checked(edge)
        if self._proposal is None or self._proposal.edge != (u, v):
            self._proposal = self.propose(u, v)
            self._recomputed += self._proposal.terms
        return self._proposal

    def _claims_of(
        self, xs: Sequence[int], blankets: Sequence[VarSet], around: BoolArray, wanted: BoolArray | None = None
    ) -> FloatArray:
        """Ask the posterior, a row for each x, and count."""
        rows = weigh(self._posterior, xs, blankets, around, wanted)
        self._scanned += rows.size - len(xs) - (0 if wanted is None else int(np.isnan(rows).sum()))
        return rows

    def _first_claims(self) -> FloatArray:
        """Compute all claims that are needed; the marginal claim x ⟂ y is shared by both ends and computed once."""
        n = self._graph.n_variables
        if not self._graph.n_edges and (claimed := self._bare_claims()) is not None:
            self._scanned += n * (n - 1) // 2
            return claimed
        bare, rows = self._graph.degrees() == 0, np.empty((n, n))
        for start in range(0, n, _BLOCK):
            xs = range(start, min(start + _BLOCK, n))
            wanted = np.array([self._needed(x) for x in xs])
            later = np.arange(n) > np.array(xs)[:, None]
            wanted = np.where(bare[list(xs), None] & bare, later, wanted)
            blankets = [self._graph.neighbors(x) for x in xs]
            rows[start : start + _BLOCK] = self._claims_of(xs, blankets, self._around[start : start + _BLOCK], wanted)
        block = np.ix_(bare, bare)
        half = np.triu(rows[block], 1)
        rows[block] = half + half.T
        return rows

    def _bare_claims(self) -> FloatArray | None:
        """Return the claims of empty blankets if they are at hand in one batch."""
        return bare_claims(self._posterior)

    def _add(self, gain: float) -> None:
        """Add to the value, keeping what rounding takes away."""
        total = self._value + gain
        larger, smaller = (self._value, gain) if abs(self._value) >= abs(gain) else (gain, self._value)
        self._lost += (larger - total) + smaller
        self._value = total
