"""IB-score: the probability of all claims of all Markov blankets, taken as independent of one another.

Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14]; as given by Schlüter, Strappa, Milone & Bromberg, IJAR (2018),
Eq. 7-8  [BJP18]. Its idea: weight the outcomes of tests instead of trusting them, and add them
up to the score of a structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

import numpy as np

from mnlearn.errors import InputError, MnlearnError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import in_order
from mnlearn.protocols import BoolArray, FloatArray, IndependencePosterior, Indices, VarSet
from mnlearn.scores.local import as_set
from mnlearn.scores.pairwise import PairwiseState, Proposal, claims, log_odds, require_posterior, require_variables


@dataclass(frozen=True)
class IBScore:
    """IB(G) = Σ_x [Σ_{y ∉ B_x} log Pr(x ⟂ y | B_x) + Σ_{y ∈ B_x} log Pr(x ⟂̸ y | B_x − y)]   [BJP18, Eq. 7-8].

    Parameters
    ----------
    posterior
        Any independence posterior, such as ``BayesianTest(Counts(data))``.

    Raises
    ------
    UnsuitableError
        If the test is not an independence posterior.

    Notes
    -----
    A sum over variables of their claims, so it is a `LocalScore` too; and a sum over pairs with two directed terms
    each, which `on` updates from flip to flip. A score costs n(n − 1) terms, in n scans and one table
    per variable with neighbours; a flip, 2(n − 1). A claim of log probability -inf counts as -744.4.
    Independent of the order of the columns up to rounding.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.independence import BayesianTest
    >>> from mnlearn.statistics import Counts
    >>> score = IBScore(BayesianTest(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10]))))
    >>> empty = Graph.empty(score.n_variables)
    >>> state = score.on(empty)
    >>> _ = state.flip((0, 1))
    >>> bool(np.isclose(state.value, score(empty.flip(0, 1))))
    True
    """

    posterior: IndependencePosterior

    def __post_init__(self) -> None:
        require_posterior("IBScore", self.posterior)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.posterior.n_variables

    def __call__(self, graph: Graph) -> float:
        """Return the score of a graph; higher is better."""
        require_variables(graph, self.n_variables)
        return in_order(self.local(x, graph.neighbors(x)) for x in range(self.n_variables))

    def on(self, graph: Graph) -> IBState:
        """Return the graph with its score, to be updated flip by flip."""
        return IBState(self.posterior, graph)

    def terms(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """Return a row per x with its blanket: its claims about every variable; 0 for x  [Eq. 8]."""
        try:
            places = [index(x) for x in xs]
        except TypeError:
            raise InputError(f"xs must be indices of variables; got {xs!r:.80}. Use dataset.index(name).") from None
        return claims(self.posterior, places, blankets)

    def local(self, x: int, blanket: VarSet) -> float:
        """Return the sum of the claims of x."""
        return float(self.terms([x], [as_set(blanket)]).sum())

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each x with its blanket and each of its ys."""
        try:
            asked = [(int(x), blanket, [int(y) for y in ys]) for x, blanket, ys in zip(xs, blankets, yss, strict=True)]
            return [np.array([self.local(x, z | {y}) for y in ys], dtype=np.float64) for x, z, ys in asked]
        except MnlearnError:
            raise
        except (TypeError, ValueError, OverflowError, np.ma.MaskError):
            raise InputError(
                "xs, blankets and yss must be sequences of indices, of sets and of lists of indices, one entry each; "
                f"got xs={xs!r:.40}, blankets={blankets!r:.40}, yss={yss!r:.40}. Use dataset.index(name)."
            ) from None

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each x with its blanket, members in ascending order."""
        return [
            np.array([self.local(int(x), blanket - {y}) for y in sorted(blanket)], dtype=np.float64)
            for x, blanket in zip(xs, blankets, strict=True)
        ]


class IBState(PairwiseState):
    """A graph with its IB-score: the part of a pair is both its claims; a flip changes those of two variables."""

    def __init__(self, posterior: IndependencePosterior, graph: Graph) -> None:
        super().__init__(posterior, graph)
        # [x][y]: how local(x) would change if x and y were flipped, cached until the blanket of x changes.
        self._changes: list[dict[int, float]] = [{} for _ in range(graph.n_variables)]

    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        """Return the change of the score for each pair, if it alone were flipped."""
        if len(edges) == 1:  # a search that scores one pair is likely to flip it: cache the effect
            return super().gains(edges)
        pairs = [self._checked(edge) for edge in edges]
        halves = [half for u, v in pairs for half in ((u, v), (v, u)) if half[1] not in self._changes[half[0]]]
        for some, rows in self._halves(halves):
            changes = (rows - self._claims[[x for x, _ in some]]).sum(axis=1)
            for (x, y), change in zip(some, changes.tolist(), strict=True):
                self._changes[x][y] = change
        return np.array([self._changes[u][v] + self._changes[v][u] for u, v in pairs], dtype=np.float64)

    def propose(self, u: int, v: int) -> Proposal:
        """Return the effect of a flip: all claims of both ends under their new blankets."""
        rows = self._claims_of((u, v), *self._flipped(u, v))
        of_u, of_v = float((rows[0] - self._claims[u]).sum()), float((rows[1] - self._claims[v]).sum())
        self._changes[u][v], self._changes[v][u] = of_u, of_v
        parts = np.array((self._claims[:, u], self._claims[:, v]))
        parts += rows
        parts[0, v] = parts[1, u] = rows[0, v] + rows[1, u]
        parts[0, u] = parts[1, v] = np.inf
        return Proposal((u, v), rows, parts, of_u + of_v, 2 * (self._graph.n_variables - 1))

    def log_odds(self, *, absent: bool = False) -> dict[Edge, float]:
        """Return the sum of the two directed log odds of each pair."""
        n = self._graph.n_variables
        everyone = np.ones((n, n), dtype=np.bool_)
        odds = log_odds(self._posterior, self._blankets(), absent=everyone if absent else None)
        odds += odds.T
        pairs = zip(*np.triu_indices(n, 1), strict=True) if absent else self._graph.edges
        return {(int(u), int(v)): float(odds[u, v]) for u, v in pairs}

    def _needed(self, x: int) -> BoolArray:  # noqa: ARG002 - of everyone
        return np.ones(self._graph.n_variables, dtype=np.bool_)

    def _all_parts(self) -> FloatArray:
        return np.asarray(self._claims + self._claims.T)

    def _moved(self, made: Proposal) -> VarSet | None:
        for x in made.edge:
            self._changes[x] = {}
        return frozenset(made.edge)
