"""Separator phase: flip the pair that the evidence given its separators contradicts most, until none is.

The prior penalty of an edge grows as the number of edges falls. Absent edges with some probability count, too: when no
pair is contradicted any more, the sum of all edge probabilities replaces the number of present edges (`_recount`).

The search is over candidate pairs: all, or those of a screen and the pairs at distance two in the graph as it changes.
The other pairs count in the sum by their mean odds alone.

The pairs that the evidence contradicts most, found without a pass over all of them.

After a flip the evidence of a few pairs changes, and the price of all. Pairs are kept in blocks with the largest excess
of evidence over price in each, apart for absent pairs, absent pairs whose evidence is only estimated, and present ones.
A price that all pairs share changes no order within these three. So a change costs the blocks of the changed pairs, and
a question the blocks that may have the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Constraints, EvidenceAssociation, check_cancelled
from mnlearn.algorithms.sep.hubs import JudgedPairs, hub_prices
from mnlearn.algorithms.sep.moves import JointMoves, OpenPairs, Rivals, find_rivals
from mnlearn.graphs.candidates import Candidates, PlacesByVariable, every_pair
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.separators import Numbers, Separators
from mnlearn.numbers import ABSOLUTE, Criterion, exp, first_best, log, logistic
from mnlearn.protocols import BoolArray, EvidenceScore, FloatArray, IntArray, Monitor

BLOCK = 256  # pairs; of 10,000 to 3 million pairs 128 to 512 take about the same time
BLOCKS_TOGETHER = 1024  # blocks in one step, to bound the memory
SLACK = 1e-6  # more than the rounding error of evidence less price


class Contradictions:
    """Blocks of pairs with the largest excess in each.

    Parameters
    ----------
    evidence, present, fitted, free
        Of each pair: its evidence, whether it is an edge, whether its evidence is fitted, whether it may be flipped.
        The arrays are shared: `update` says where they have changed.
    prices
        Price of each pair; None if all share one.

    Examples
    --------
    >>> evidence, present = np.array([3.0, 5.0, 1.0]), np.array([False, False, True])
    >>> found = Contradictions(evidence, present, np.array([True, False, True]), np.ones(3, dtype=bool), None)
    >>> found.estimated(above=4.0).tolist()
    [1]
    >>> sorted(found.leading(2.0, 2.0, 0.0).tolist())
    [0, 2]
    """

    def __init__(
        self, evidence: FloatArray, present: BoolArray, fitted: BoolArray, free: BoolArray, prices: FloatArray | None
    ) -> None:
        self._evidence, self._present, self._fitted, self._free = evidence, present, fitted, free
        self._prices = prices
        self._largest = np.empty((3, -(-len(evidence) // BLOCK)))
        self.update(np.arange(0, len(evidence), BLOCK))

    def update(self, places: IntArray) -> None:
        """Take in what has changed at these places."""
        blocks = np.unique(places // BLOCK)
        for begin in range(0, len(blocks), BLOCKS_TOGETHER):
            some = blocks[begin : begin + BLOCKS_TOGETHER]
            self._largest[:, some] = [excess.max(axis=1) for excess in self._excess(self._places(some))]

    def estimated(self, above: float) -> IntArray:
        """Return the absent pairs whose evidence is only estimated, and exceeds price and bound, up to rounding."""
        places = self._places(self._blocks(1, above)).ravel()
        excess = self._excess(places)[1]
        return np.unique(places[excess > above - SLACK])

    def leading(self, price_absent: float, price_present: float, rounding: float) -> IntArray:
        """Return places that include those within rounding of the largest violation; none if it is not positive."""
        fitted, _, present = self._largest.max(axis=1, initial=-inf)
        best = np.maximum(fitted - price_absent, present + price_present)
        if best <= 0.0:
            return np.empty(0, dtype=np.intp)
        least = best - rounding
        blocks = [self._blocks(0, least + price_absent), self._blocks(2, least - price_present)]
        places = self._places(np.union1d(*blocks)).ravel()
        chosen = self._free[places] & (self._present[places] | self._fitted[places])
        return np.unique(places[chosen])

    def _blocks(self, kind: int, above: float) -> IntArray:
        """Return the blocks whose largest excess of a kind is above a bound, up to rounding; or NaN."""
        return np.flatnonzero(~(self._largest[kind] <= above - SLACK))

    def _places(self, blocks: IntArray) -> IntArray:
        """Return the places in each block, in rows; the last block repeats its last place."""
        return np.asarray(np.minimum(blocks[:, None] * BLOCK + np.arange(BLOCK), len(self._evidence) - 1))

    def _excess(self, places: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return evidence less price of absent pairs, and of those only estimated; and the reverse of present ones."""
        excess = self._evidence[places] if self._prices is None else self._evidence[places] - self._prices[places]
        present, fitted, free = self._present[places], self._fitted[places], self._free[places]
        absent = free & ~present
        return (
            np.where(absent & fitted, excess, -inf),
            np.where(absent & ~fitted, excess, -inf),
            np.where(free & present, -excess, -inf),
        )


MOST_FLIPS_OF_A_PAIR = 4
MOST_FLIPS = 40  # times the number of variables
MOST_RECOUNTS = 20
MOST_HUB_PRICES, SAME_PRICE = 6, 0.05  # times that hub prices are computed; and their tolerance
MOST_ROUNDS, SETTLED = 100, 1e-6  # limit of iterations in a recount; and its tolerance, in edges
SCANS_TOGETHER = 512  # scans in one call; the monitor is polled between calls
ALL = slice(None)
Places: TypeAlias = NDArray[np.intp]


def price(n_edges: float, n_pairs: int) -> float:
    """Return k(E), the penalty of the (E + 1)-th edge under a uniform prior on the number of edges."""
    return max(0.0, log((n_pairs - n_edges) / (n_edges + 1))) if n_edges < n_pairs else 0.0


class SeparatorPhase:
    """Search by flips over a graph, with the evidence of every candidate pair given its separators.

    Parameters
    ----------
    judge
        Weighs pairs.
    graph
        The start.
    known
        Required and forbidden edges, which never flip.
    monitor
        May cancel the search.
    near
        Absent pairs are fitted where an estimate is this close to the threshold.
    candidates
        Pairs to weigh; None for all.
    closed
        Whether no other pair may become a candidate.
    ties
        Association of the variables, and the rounding error of scores.
    surcharge
        Added to the price of every pair, where these are only some of the variables of a larger network.
    """

    def __init__(
        self,
        judge: EvidenceScore,
        graph: Graph,
        known: Constraints,
        monitor: Monitor,
        *,
        near: float,
        candidates: Candidates | None = None,
        closed: bool = False,
        ties: tuple[EvidenceAssociation, float] | None = None,
        surcharge: float = 0.0,
    ) -> None:
        n = judge.n_variables
        self._surcharge = surcharge
        self.n_flips = 0
        self._n_recounts = 0
        self._missed = 0.0  # expected edges beyond those in the graph
        self._n_hub_prices = 0
        self._hub_prices: FloatArray | None = None  # of each candidate pair; None for equal prices
        self.weighed = False  # whether the evidence of all candidate pairs is known
        self._near = near
        self._judge, self._monitor, self._n, self._known = judge, monitor, n, known
        self._separators = Separators(graph)
        self._n_pairs = n * (n - 1) // 2
        self._closed = closed
        self._candidates = every_pair(n) if candidates is None else candidates.around(graph, closed=closed)
        self._flips: Counter[Edge] = Counter()
        self._rivals: Rivals | None = None  # of the graph as it is; known in the end
        self._rival_evidence: dict[tuple[int, int, int], float] = {}
        self._set_up()
        self._association, self._rounding = (EvidenceAssociation(judge), ABSOLUTE) if ties is None else ties
        self._ties = self._association.flipping(self._pair_at, lambda: self.graph)
        self._joint_moves = JointMoves(judge, monitor, self._association, self._rounding)

    def _set_up(self) -> None:
        """Make the arrays over candidate pairs; in two rows: given sep(u; v), and given sep(v; u)."""
        listed, size = self._candidates, len(self._candidates.u)
        self._ends = np.stack([listed.u, listed.v])
        self._index = PlacesByVariable(listed)
        self._log_factor = np.zeros((2, size))
        self._given = np.full((2, size), -1, dtype=np.int32)  # the number of the separator of this evidence
        self._exact = np.zeros((2, size), dtype=np.bool_)
        self._evidence = np.zeros(size)  # e_G: the mean of both
        self._fitted = np.zeros(size, dtype=np.bool_)
        self._stale = np.ones((2, size), dtype=np.bool_)  # whether the separator may have changed
        self._present = np.zeros(size, dtype=np.bool_)
        self._present[listed.places(self.graph.edges)] = True
        self._allowed = np.ones(size, dtype=np.bool_)
        self._allowed[listed.places(self._known.fixed)] = False
        self._free = self._allowed.copy()  # may be flipped once more
        self._contradictions: Contradictions | None = None  # of the arrays as they are; None if it is to be made

    @property
    def graph(self) -> Graph:
        """The current graph."""
        return self._separators.graph

    @property
    def expected_edges(self) -> float:
        """Number of edges that the price counts: those present, and those expected beyond them."""
        return self._separators.n_edges + self._missed

    @property
    def n_weighed(self) -> int:
        """Number of candidate pairs."""
        return len(self._evidence)

    def run(self) -> bool:
        """Flip until no pair is contradicted; return False if the limit of flips is reached before."""
        self._refresh_all()
        self.weighed = True
        while self.n_flips < MOST_FLIPS * self._n:
            check_cancelled(self._monitor)
            worst = self._most_contradicted()
            if worst is None:
                quiet = not self._refresh_all() or self._most_contradicted() is None
                if quiet and not (self._recount() or self._swap() or self._join_edges()):
                    return True
            elif not self._refresh(np.array([worst])):
                self._flip(worst)
        return False

    def log_odds(self) -> FloatArray:
        """Return the log-odds of every pair; pairs that are no candidates have their mean.

        −inf on the diagonal, for forbidden pairs, and for those that a list of candidates leaves out.
        """
        mean = self._candidates.mean_odds_of_others
        odds = np.full((self._n, self._n), log(mean) - self._prices()[0] if mean else -inf)
        u, v = self._ends
        odds[u, v] = odds[v, u] = np.where(self._allowed | self._present, self._odds(), -inf)
        np.fill_diagonal(odds, -inf)
        return odds

    def drawn(self) -> tuple[Graph, dict[Edge, float]]:
        """Return the graph of the pairs that are more likely an edge than not, and their log-odds.

        Required edges are drawn, forbidden ones are not. Of a search that was cancelled the graph is the current one.
        """
        odds = self._odds()
        chosen = (
            self._present if self._rivals is None else np.where(self._allowed, odds > self._rounding, self._present)
        )
        edges = [(u, v) for u, v in self._ends[:, chosen].T.tolist()]
        return Graph(self._n, edges), dict(zip(edges, odds[chosen].tolist(), strict=True))

    def sum_of_probabilities(self) -> float:
        """Return the expected number of edges: the sum of the probabilities of all pairs, fixed ones as they are."""
        chances = np.where(self._allowed, logistic(self._odds()), self._present)
        return float(chances.sum()) + self._others()

    def _others(self) -> float:
        """Return the expected number of edges among the pairs that are no candidates."""
        odds = self._candidates.mean_odds_of_others * exp(-self._prices()[0])
        return self._candidates.n_others * odds / (1 + odds)

    def _odds(self) -> FloatArray:
        """Return the log-odds of the candidate pairs: e_G − k, k counting the other edges; in the end with rivals."""
        odds = self._evidence - self._price_of_pairs()
        return odds if self._rivals is None else self._rivals.revised(odds, 2 * self._rounding)

    def _prices(self) -> tuple[float, float]:
        """Return k for one more edge, and k for the last of the present edges."""
        one_less = max(0.0, self.expected_edges - 1)
        more, last = price(self.expected_edges, self._n_pairs), price(one_less, self._n_pairs)
        return more + self._surcharge, last + self._surcharge if self._separators.n_edges else 0.0

    def _price_of_pairs(self, places: Places | slice = ALL) -> FloatArray:
        """Return k of each candidate pair as it is: one more edge, or the last of the present ones."""
        if self._hub_prices is not None:
            return self._hub_prices[places]
        k_absent, k_present = self._prices()
        return np.where(self._present[places], k_present, k_absent)

    def _reprice(self) -> bool:
        """Compute the prices of pairs by the hub prior; return False if they have not changed."""
        if self._n_hub_prices == MOST_HUB_PRICES:
            return False
        self._n_hub_prices += 1
        before = self._price_of_pairs()
        known = np.where(self._allowed, logistic(self._evidence - before), self._present)
        odds = self._candidates.mean_odds_of_others
        pairs = JudgedPairs(self._n, self._ends, self._evidence, known, ~self._allowed, odds)
        found = hub_prices(pairs, self.graph.n_edges, self._prices()[0])
        if found is None:
            changed = self._hub_prices is not None
            self._n_hub_prices, self._hub_prices, self._contradictions = MOST_HUB_PRICES, None, None
            return changed
        found = found + self._surcharge
        if np.abs(found - before).max() <= SAME_PRICE:
            return False
        self._hub_prices, self._contradictions = found, None
        return True

    def _recount(self) -> bool:
        """Compute the expected number of edges beyond those in the graph; return False if it has not changed.

        It is the sum of all probabilities less the present edges, with penalties that count it already. It is at least
        0 and at most the number of present edges: many weak probabilities must not add up to much. (With one allowed
        where none is present, independent data had false edges in 9 of 120 draws instead of 4.)
        """
        if self._n_recounts == MOST_RECOUNTS:
            return False
        self._n_recounts += 1
        before, n_edges = self._missed, self.graph.n_edges
        for _ in range(MOST_ROUNDS):
            probability = logistic(self._evidence - self._price_of_pairs())
            expected = float((probability - self._present)[self._allowed].sum()) + self._others()
            last, self._missed = self._missed, min(max(0.0, expected), float(n_edges))
            if abs(self._missed - last) < SETTLED:
                break
        return abs(self._missed - before) > SETTLED or self._reprice()

    def _swap(self) -> bool:
        """Replace edges by rivals with more evidence, the clearest first; return False if there is none.

        A variable takes part in one swap at a time: the next one is judged in the new graph.
        """
        self._rivals = rivals = find_rivals(
            self._judge,
            self._candidates,
            self._separators.set,
            present=self._present,
            allowed=self._allowed,
            evidence=self._evidence,
            log_factor=self._log_factor,
            given=self._given,
            prices=self._hub_prices,
            known=self._rival_evidence,
        )
        open_ = self._free[rivals.edge] & self._free[rivals.pair] & ~(rivals.advantage <= self._rounding)
        edge, pair, gain = rivals.edge[open_], rivals.pair[open_], rivals.advantage[open_]
        variables = np.concatenate([self._ends[:, edge], self._ends[:, pair]])
        swaps = []
        ties = self._association.flipping(lambda k: self._pair_at(int(pair[k])), lambda: self.graph)
        while (best := first_best(gain, 0.0, self._rounding, *ties)) is not None:
            swaps += [int(edge[best]), int(pair[best])]
            gain[np.isin(variables, variables[:, best]).any(axis=0)] = -inf
        for place in swaps:
            self._flip(place)
        return bool(swaps)

    def _most_contradicted(self) -> int | None:
        """Return the place of the free pair with the largest violation, fitted; None if there is none."""
        k_absent, k_present = self._prices() if self._hub_prices is None else (0.0, 0.0)
        while len(near := self._doubtful(k_absent - self._near)):
            self._fit(near)
        places = self._pairs().leading(k_absent, k_present, self._rounding)
        k, evidence = self._price_of_pairs(places), self._evidence[places]
        violation = np.where(self._present[places], k - evidence, evidence - k)
        worst = first_best(violation, 0.0, self._rounding, *self._ties_at(places))
        return None if worst is None else int(places[worst])

    def _doubtful(self, above: float) -> Places:
        """Return the free absent pairs whose evidence is only estimated, and near their price."""
        places = self._pairs().estimated(above)
        return places[self._evidence[places] > self._price_of_pairs(places) - self._near]

    def _pairs(self) -> Contradictions:
        """Return the pairs by what contradicts them."""
        if self._contradictions is None:
            self._contradictions = Contradictions(
                self._evidence, self._present, self._fitted, self._free, self._hub_prices
            )
        return self._contradictions

    def _ties_at(self, places: Places) -> Iterator[Criterion]:
        """Return the criteria for ties among the pairs at these places."""
        return (lambda tied, by=by: by(places[tied]) for by in self._ties)  # type: ignore[misc]

    def _join_edges(self) -> bool:
        """Join variables to both ends of an edge where both together are worth it; return False if nowhere."""
        may_join = self._free & ~self._present
        pairs = OpenPairs(self._candidates, self._evidence, self._price_of_pairs(), may_join)
        places = self._joint_moves.find(self.graph, pairs)
        for place in places:
            self._flip(place)
        return bool(places)

    def _pair_at(self, place: int) -> Edge:
        """Return the pair at a place of the arrays."""
        return int(self._ends[0, place]), int(self._ends[1, place])

    def _flip(self, place: int) -> None:
        """Flip the pair, and compute the evidence of the edges whose separators have changed."""
        edge = self._pair_at(place)
        self._rivals = None
        self.n_flips += 1
        self._flips[edge] += 1
        if self._flips[edge] == MOST_FLIPS_OF_A_PAIR:
            self._free[place] = False
        around, side = self._separators.flip(*edge)
        self._present[place] ^= True
        changed = self._mark_stale(around, side)
        self._changed(np.array([place]))
        self._monitor.progress(self.n_flips, None, f"separators, {self._separators.n_edges} edges")
        self._refresh(changed[self._present[changed]])

    def _mark_stale(self, around: Numbers, side: Numbers) -> Places:
        """Mark pairs whose separators may have changed; return their places.

        They are sep(x; y) of every x around, and of x and y of which exactly one is at the side.
        """
        first, second = self._index.with_first(around), self._index.with_second(around)
        self._stale[0, first] = self._stale[1, second] = True
        among = np.zeros(self._n, dtype=np.bool_)
        among[side] = True
        out, back = self._index.with_first(side), self._index.with_second(side)
        between = np.concatenate([out[~among[self._ends[1, out]]], back[~among[self._ends[0, back]]]])
        self._stale[:, between] = True
        return np.unique(np.concatenate([first, second, between]))

    def _changed(self, places: Places) -> None:
        """Say that evidence or presence have changed at these places."""
        if BLOCK * len(places) > len(self._evidence):
            self._contradictions = None
        elif self._contradictions is not None:
            self._contradictions.update(places)

    def _refresh_all(self) -> bool:
        """Compute the evidence of all pairs whose separators have changed; return False if none has."""
        if self._candidates.n_others and not self._closed:
            self._extend()
        return self._refresh(np.flatnonzero(self._stale[0] | self._stale[1]))

    def _extend(self) -> None:
        """Add the pairs at distance two in the graph to the candidates."""
        before, kept = self._candidates, self._arrays()
        self._candidates = before.with_graph(self.graph)
        if self._candidates is before:
            return
        places = np.searchsorted(self._candidates.keys, before.keys)
        self._set_up()
        if self._hub_prices is not None:  # the new pairs have the equal price until hub prices are computed again
            hub_prices_before, self._hub_prices = self._hub_prices, np.full(len(self._evidence), self._prices()[0])
            self._hub_prices[places] = hub_prices_before
        for new, old in zip(self._arrays(), kept, strict=True):
            new[..., places] = old

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        """Return what is known of each candidate pair, apart from the graph."""
        known = (self._log_factor, self._given, self._exact, self._evidence, self._fitted)
        return (*known, self._stale, self._free)

    def _refresh(self, places: Places) -> bool:
        """Compute the evidence of these pairs where their separators have changed; return False if none has."""
        stale = self._stale[:, places]
        if not stale.any():
            return False
        self._stale[:, places] = False
        ends, given = self._ends[:, places], self._given[:, places]
        numbers = given.copy()
        numbers[stale] = self._separators.numbers(*(side[stale] for side in (ends, ends[::-1])))
        stale_there, stale_back = numbers != given
        if not (stale_there.any() or stale_back.any()):
            return False
        self._weigh(places, numbers, (stale_there, stale_back), self._prices()[0] - self._near)
        return True

    def _fit(self, places: Places) -> None:
        """Fit the evidence of these pairs where it is only estimated."""
        estimated = ~self._exact[:, places]
        self._weigh(places, self._given[:, places], (estimated[0], estimated[1]), -inf)

    def _weigh(self, places: Places, numbers: Numbers, ask: tuple[BoolArray, BoolArray], fit_above: float) -> None:
        """Compute the evidence given sep(u; v), then given sep(v; u); fits once, where both separators are equal.

        Estimates are those of the end that is asked about: each end is asked.
        """
        there, back = ask
        equal = (numbers[0] == numbers[1]) & (there | back)
        self._compute(places[there], numbers[0, there], fit_above)
        same = equal & self._exact[0, places]
        self._copy(places[same], 0, 1)
        back = back & ~same
        self._compute(places[back] + len(self._evidence), numbers[1, back], fit_above)
        self._copy(places[equal & ~same & self._exact[1, places]], 1, 0)
        self._evidence[places] = (self._log_factor[0, places] + self._log_factor[1, places]) / 2
        self._fitted[places] = self._exact[0, places] & self._exact[1, places]
        self._changed(places)

    def _copy(self, places: Places, source: int, target: int) -> None:
        """Take what is known given one separator as known given the other, which is equal."""
        for known in (self._log_factor, self._exact, self._given):
            known[target, places] = known[source, places]

    def _compute(self, sides: Places, given: Numbers, fit_above: float) -> None:
        """Compute ev(x, y | the separator of that number) at places of the flattened rows; edges are always fitted."""
        present = self._present[sides % len(self._evidence)]
        for chosen, above in ((present, -inf), (~present, fit_above)):
            if chosen.any():
                self._scan(sides[chosen], given[chosen], above)

    def _scan(self, sides: Places, given: Numbers, fit_above: float) -> None:
        """Compute them in scans, all y with one x and one separator together."""
        size = len(self._evidence)
        x, y = (self._ends.ravel()[at] for at in (sides, (sides + size) % (2 * size)))
        order = np.lexsort((y, given, x))
        sides, x, y, given = sides[order], x[order], y[order], given[order]
        new = np.ones(len(x), dtype=np.bool_)
        new[1:] = (np.diff(x) != 0) | (np.diff(given) != 0)
        starts = np.append(np.flatnonzero(new), len(x)).tolist()
        for begin in range(0, len(starts) - 1, SCANS_TOGETHER):
            check_cancelled(self._monitor)
            part = starts[begin : begin + SCANS_TOGETHER + 1]
            sets = [self._separators.set(number) for number in given[part[:-1]].tolist()]
            yss = [y[first:last] for first, last in pairwise(part)]
            found = self._judge.pairs(x[part[:-1]], sets, yss, fit_above=fit_above)
            here = sides[part[0] : part[-1]]
            self._log_factor.ravel()[here] = np.concatenate([scan.log_factor for scan in found])
            self._exact.ravel()[here] = np.concatenate([scan.exact for scan in found])
            self._given.ravel()[here] = given[part[0] : part[-1]]
