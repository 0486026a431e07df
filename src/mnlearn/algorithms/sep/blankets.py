"""Blankets by evidence, where separator evidence starts: the best addition, then every removal that improves.

The objective of a blanket Z of x is H(x | Z) − c |Z|, with c = ln n, or half of it for a dense start of the separator
phase: edges of a clique need one another, and flips are single, so pruning is easier than growing. Every step raises
the objective, so the climb ends.

With missing values each set of variables has its own rows, and a judge gives only differences of H on the same rows
(`relative`): what a newcomer adds, what a member takes away. A climb may then go in circles, and its steps are limited.

The screen of separator evidence: pairs to weigh by marginal evidence, and by evidence given blankets.

The screen takes every variable's strongest partners by marginal evidence in one pass over all pairs, and later the best
of all others given the blanket found so far. Of very many variables the judge itself finds both, by a statistic that is
counted faster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, sqrt
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Constraints, EvidenceAssociation, check_cancelled
from mnlearn.algorithms.screening import Screening
from mnlearn.graphs.candidates import Candidates, Keys, StrongestPairs, keys_of, near_pairs
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import ABSOLUTE, exp, first_best, log, tolerance
from mnlearn.protocols import (
    BatchedEvidence,
    BoolArray,
    EvidenceScore,
    FloatArray,
    Indices,
    Monitor,
    PairEvidence,
    RescanningJudge,
    ScreeningJudge,
    VarSet,
)

MOST_FOR_ALL_PAIRS = 1000  # variables; of more a screen chooses the candidates
MOST_FOR_EVIDENCE = 5000  # variables; of more, all pairs are ranked by a faster statistic of the judge
MOST_GIVEN = 4  # members of a blanket that all others are ranked given, of more than MOST_FOR_EVIDENCE variables
STRONGEST, RESCANNED = 20, 20  # least partners of each variable by marginal evidence, and given a blanket
PAIRS_TOGETHER = 1 << 18  # pairs in one call; the monitor is polled between calls
PAIRS_SAMPLED, LEAST_SAMPLED = 1 << 23, 32  # pairs, and least variables, of the sample for the odds of other pairs


def highest(values: FloatArray, k: int) -> NDArray[np.intp]:
    """Return the places of the k highest values, ascending; of equal ones the first."""
    if len(values) <= k:
        return np.arange(len(values))
    bar = np.partition(values, len(values) - k)[-k]
    above, level = np.flatnonzero(values > bar), np.flatnonzero(values == bar)
    return np.sort(np.concatenate([above, level[: k - len(above)]]))


def strongest_pairs(
    judge: EvidenceScore, known: Constraints, monitor: Monitor, screening: Screening | None = None
) -> tuple[Candidates, BoolArray]:
    """Return the pairs that are among the strongest of either variable by marginal evidence, to first order.

    And for each variable, whether it has evidence with any other: a constant has none. Evidence for an edge of a pair
    that is not listed is explained by its neighbours, so the odds of the others are those against an edge. Of more than
    MOST_FOR_EVIDENCE variables the judge lists the pairs by a statistic of its own, and the odds are those of a sample.
    """
    n = judge.n_variables
    k = listed_partners(n) if screening is None else screening.k
    listed = None if screening is None else screening.listed
    if listed is None and (n <= MOST_FOR_EVIDENCE or not getattr(judge, "can_screen", False)):
        strongest = StrongestPairs(n, k)
        for x, row in _marginal_rows(judge, range(n - 1), [range(x + 1, n) for x in range(n - 1)], monitor):
            strongest.add(x, row)
        found = Candidates(n, strongest.keys(), strongest.mean_odds_of_others())
        return found.without(known.fixed), strongest.varies()
    given = Screening(k=k, listed=listed).strongest(cast(ScreeningJudge, judge), monitor)
    check_cancelled(monitor)
    return replace(given, mean_odds_of_others=sampled_odds(judge, given, monitor)).without(known.fixed), _vary(given)


def sampled_odds(judge: EvidenceScore, listed: Candidates, monitor: Monitor) -> float:
    """Return the mean of exp(evidence) of the pairs that are not listed and have evidence against an edge, by a sample.

    The sample is every pair of some variables, which are evenly spaced in the order of their numbers of partners.
    """
    n = judge.n_variables
    starts, partners = listed.lists()
    size = min(n, max(LEAST_SAMPLED, PAIRS_SAMPLED // n))
    order = np.lexsort((np.arange(n), np.diff(starts)))
    xs = np.sort(order[np.arange(size) * n // size]).tolist()
    yss = [np.delete(np.arange(n, dtype=np.int32), [x, *partners[starts[x] : starts[x + 1]]]) for x in xs]
    count, odds = 0, 0.0
    for _, row in _marginal_rows(judge, xs, yss, monitor):
        against = row[row < 0.0]
        count, odds = count + len(against), odds + float(exp(against).sum())
    return odds / count if count else 0.0


def _marginal_rows(
    judge: EvidenceScore, xs: Sequence[int], yss: Sequence[Indices], monitor: Monitor
) -> Iterator[tuple[int, FloatArray]]:
    """Yield each x with its marginal evidence, to first order, with its ys."""
    for part in _blocks(range(len(xs)), [len(ys) for ys in yss]):
        check_cancelled(monitor)
        monitor.progress(part[0], len(xs), "screen")
        others = [np.asarray(yss[k], dtype=np.int32) for k in part]
        found = judge.pairs([xs[k] for k in part], [frozenset()] * len(part), others, fit_above=inf)
        for k, row in zip(part, found, strict=True):
            yield xs[k], row.log_factor


def _vary(listed: Candidates) -> BoolArray:
    """Return, for each variable, whether it is listed with any other."""
    found = np.zeros(listed.n_variables, dtype=np.bool_)
    found[listed.u] = found[listed.v] = True
    return found


def listed_partners(n_variables: int) -> int:
    """Return how many partners of each variable are listed: about as many pairs in all as without a screen."""
    return max(STRONGEST, MOST_FOR_ALL_PAIRS**2 // (2 * n_variables))


def rescanned_pairs(
    judge: EvidenceScore, xs: Sequence[int], blankets: Sequence[VarSet], varies: BoolArray, monitor: Monitor
) -> Keys:
    """Return the keys of the pairs of each x with the RESCANNED best of all others given its blanket.

    They are ranked by `rankings` of the judge, or to first order. Others that do not vary are left out. Of more than
    MOST_FOR_EVIDENCE variables a judge that can screen ranks them by a statistic of its own.
    """
    can_screen = getattr(judge, "can_screen", False)
    if judge.n_variables > MOST_FOR_EVIDENCE and can_screen and isinstance(judge, RescanningJudge):
        keys: Keys = judge.strongest_given(xs, blankets, RESCANNED, monitor).keys
        check_cancelled(monitor)
        return keys
    rank = getattr(judge, "rankings", judge.estimates)
    n, found = judge.n_variables, [np.empty((0, 2), dtype=np.int64)]
    for part in _blocks(range(len(xs)), [n] * len(xs)):
        check_cancelled(monitor)
        monitor.progress(part[0], len(xs), "screen given blankets")
        outside = []
        for k in part:
            may = varies.copy()
            may[[xs[k], *blankets[k]]] = False
            outside.append(np.flatnonzero(may).astype(np.int32))
        rows = rank([xs[k] for k in part], [blankets[k] for k in part], outside)
        for k, ys, row in zip(part, outside, rows, strict=True):
            best = ys[highest(row, RESCANNED)].astype(np.int64)
            found.append(np.stack([np.full(len(best), xs[k]), best], axis=1))
    return keys_of(n, np.concatenate(found))


def _blocks(things: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Split them into blocks with not too many pairs in each."""
    block, total = list[int](), 0
    for thing, size in zip(things, sizes, strict=True):
        if block and total + size > PAIRS_TOGETHER:
            yield block
            block, total = [], 0
        block.append(thing)
        total += size
    if block:
        yield block


MOST_FOR_DENSE = 200  # variables; for 1000 the whole search takes two to three times as long, errors hardly change
MOST_BEFORE_PAIRS = 3  # pairs are searched only for blankets of at most so many members
ALL_IN_PAIRS, LEAST_IN_PAIRS = 200, 20
"""Up to so many variables all pairs of them are tried for each x; of more variables only the strongest partners of x,
as many as keep the time the same, and at least the second number."""
LEAST_STEPS = 60  # joins that every blanket may have, where values are relative; more for more than 30 variables
CANDIDATES_TOGETHER = 1 << 18  # candidates in one call; the monitor is polled between calls


@dataclass(slots=True)
class _Climb:
    """The blanket of one variable during the climb."""

    x: int
    required: VarSet
    outside: NDArray[np.int32]  # variables that may join, ascending
    blanket: VarSet
    value: float = 0.0
    joined: dict[int, float] = field(default_factory=dict)  # the evidence for each member when it joined
    strongest: NDArray[np.int32] | None = None  # partners for the search over pairs; None for all
    paired: VarSet | None = None  # the blanket for which pairs were tried last
    relative: bool = False  # whether values are relative to the blanket, whose own value is then 0
    n_joined: int = 0
    most_joined: int = LEAST_STEPS

    @property
    def may_go_on(self) -> bool:
        """Whether the climb may take another step: without limit, unless values are relative."""
        return not self.relative or self.n_joined < self.most_joined

    def offer(self, candidates: NDArray[np.int32]) -> None:
        """Let more variables join."""
        new = [y for y in candidates.tolist() if y not in self.blanket]
        self.outside = np.sort(np.concatenate([self.outside, np.array(new, dtype=np.int32)]))

    def join(self, newcomers: Sequence[int], value: float) -> None:
        """Add members; the value is that of the larger blanket."""
        self.joined.update(dict.fromkeys(newcomers, (value - self.value) / len(newcomers)))
        self.blanket |= frozenset(newcomers)
        self.value = 0.0 if self.relative else value
        self.n_joined += 1
        for y in newcomers:
            self.outside = self.outside[self.outside != y]

    def strongest_members(self, most: int | None) -> VarSet:
        """Return at most so many members: those with the most evidence when they joined, required ones first."""
        if most is None or len(self.blanket) <= most:
            return self.blanket
        order = sorted(self.blanket, key=lambda y: (-self.joined.get(y, inf), y))
        return frozenset(order[:most])

    def leave(self, member: int, value: float) -> None:
        """Remove a member."""
        self.blanket -= {member}
        self.value = 0.0 if self.relative else value
        self.outside = np.insert(self.outside, np.searchsorted(self.outside, member), member)


class EvidenceBlankets:
    """Blankets by evidence, from the required neighbours.

    Parameters
    ----------
    judge
        Scores blankets.
    known
        Required neighbours never leave, forbidden ones never join.
    look_ahead
        Whether to try pairs of variables, with the full table, where no single one improves.
    dense
        Whether a member costs half of ln n, up to 200 variables. Pairs that join together cost 2 ln n in any case.
    monitor
        May cancel the climb.
    surcharge
        Added to ln n, where these are only some of the variables of a larger network.
    candidates
        The only pairs that may join, or how they are found; None for all pairs of few variables and a screen of many.
    """

    def __init__(
        self,
        judge: EvidenceScore,
        known: Constraints,
        *,
        look_ahead: bool,
        dense: bool,
        monitor: Monitor,
        surcharge: float = 0.0,
        candidates: Candidates | Screening | None = None,
    ) -> None:
        n = judge.n_variables
        self._judge, self._known, self._look_ahead, self._monitor = batched(judge), known, look_ahead, monitor
        log_n = log(n) + surcharge
        self._penalty = log_n / 2 if dense and log_n <= log(MOST_FOR_DENSE) else log_n
        self.rounding, self.association = ABSOLUTE, EvidenceAssociation(judge)
        self.n_in_pairs = partners_in_pairs(n)
        self.candidates: Candidates | None = None  # None for all pairs
        self._given, self.closed = candidates, isinstance(candidates, Candidates)
        self._screened = n > MOST_FOR_ALL_PAIRS if candidates is None else not self.closed
        self._varies = np.ones(n, dtype=np.bool_)
        required, fixed = _neighbors(n, known.required), _neighbors(n, known.fixed)
        everyone = np.arange(n, dtype=np.int32)
        self._relative = bool(getattr(judge, "relative", False))
        self.climbs = [
            _Climb(
                x,
                frozenset(required[x]),
                everyone[:0],
                frozenset(required[x]),
                relative=self._relative,
                most_joined=max(LEAST_STEPS, 2 * n),
            )
            for x in range(n)
        ]
        if not self._screened and not self.closed:
            for climb in self.climbs:
                climb.outside = np.delete(everyone, [climb.x, *fixed[climb.x]])

    def screen(self) -> None:
        """Choose the candidates by marginal evidence, unless all pairs are candidates, or those of a list."""
        if self._screened:
            how = self._given if isinstance(self._given, Screening) else None
            self.candidates, self._varies = strongest_pairs(self._judge, self._known, self._monitor, how)
        elif isinstance(self._given, Candidates):
            self.candidates = self._given.without(self._known.fixed)

    def run(self) -> None:
        """Climb until no blanket improves; among candidates, also look again at all variables given the blankets."""
        n = len(self.climbs)
        values = self._judge.locals(range(n), [c.blanket for c in self.climbs]).tolist()
        for climb, value in zip(self.climbs, values, strict=True):
            climb.value = value
        self.rounding = tolerance(values)
        self.screen()
        if self.candidates is None:
            self._climb(self.climbs)
            return
        strongest, self.candidates = self.candidates, replace(self.candidates, keys=np.empty(0, dtype=np.int64))
        self._offer(strongest.keys)
        if self.closed:
            self._climb(self.climbs)
        elif isinstance(self._given, Screening) and not self._given.rescans:
            self._climb_among_candidates(self.climbs)
        else:
            self._rescan(self._grow(self.climbs))
            self._climb_among_candidates(self.climbs)
            self._climb_among_candidates(self._rescan([climb for climb in self.climbs if len(climb.blanket) > 1]))

    def run_for(self, xs: Sequence[int]) -> list[VarSet]:
        """Climb the blankets of these variables only, each among all others; return them."""
        climbs = [self.climbs[x] for x in xs]
        values = self._judge.locals(xs, [climb.blanket for climb in climbs]).tolist()
        everyone = np.arange(len(self.climbs), dtype=np.int32)
        for climb, value in zip(climbs, values, strict=True):
            climb.value = value
            if self._screened or self.closed:
                fixed = {y for edge in self._known.fixed if climb.x in edge for y in edge}
                climb.outside = np.delete(everyone, [climb.x, *sorted(fixed - {climb.x})])
        self.rounding = tolerance(values)
        self._climb(climbs)
        return [climb.blanket for climb in climbs]

    def graph(self) -> Graph:
        """Return the graph that joins x and y when one is in the blanket of the other."""
        return Graph(len(self.climbs), [(c.x, y) for c in self.climbs for y in c.blanket])

    def release(self) -> None:
        """Free the memory of the climbs, of which only the blankets are kept."""
        nothing = np.empty(0, dtype=np.int32)
        for climb in self.climbs:
            climb.outside, climb.strongest, climb.paired = nothing, None, None

    def evidence(self) -> dict[tuple[int, int], float]:
        """Return the evidence for y to x given the rest of its blanket, where y is in that of x or x in that of y."""
        found: dict[tuple[int, int], float] = {}
        leaving = self._judge.removals([c.x for c in self.climbs], [c.blanket for c in self.climbs])
        for climb, values in zip(self.climbs, leaving, strict=True):
            pairs = zip(sorted(climb.blanket), values.tolist(), strict=True)
            found.update({(climb.x, y): climb.value - h for y, h in pairs})
        missed: list[list[int]] = [[] for _ in self.climbs]  # for x: outside its blanket, with x in theirs
        for climb in self.climbs:
            for y in climb.blanket:
                if climb.x not in self.climbs[y].blanket:
                    missed[y].append(climb.x)
        for climb, ys, values in zip(self.climbs, missed, self._additions(self.climbs, missed), strict=True):
            found.update({(climb.x, y): h - climb.value for y, h in zip(ys, values.tolist(), strict=True)})
        return found

    def first_evidence(self) -> dict[tuple[int, int], float]:
        """Return the evidence for each member when it joined: the only evidence of a cancelled climb."""
        return {(climb.x, y): climb.joined[y] for climb in self.climbs for y in climb.blanket if y in climb.joined}

    def _climb_among_candidates(self, active: Sequence[_Climb]) -> None:
        """Climb, and again with the neighbours of neighbours as candidates, until there is no new one."""
        assert self.candidates is not None
        while active:
            self._climb(active)
            active = self._offer(keys_of(len(self.climbs), near_pairs(self.graph())))

    def _rescan(self, climbs: Sequence[_Climb]) -> list[_Climb]:
        """Make the best of all variables given the blanket candidates; return the climbs with new ones."""
        most = None if len(self.climbs) <= MOST_FOR_EVIDENCE else MOST_GIVEN
        xs, blankets = [climb.x for climb in climbs], [climb.strongest_members(most) for climb in climbs]
        return self._offer(rescanned_pairs(self._judge, xs, blankets, self._varies, self._monitor))

    def _offer(self, keys: Keys) -> list[_Climb]:
        """Let the variables of these pairs join one another; return the climbs with new candidates."""
        assert self.candidates is not None
        before = self.candidates
        self.candidates = before.with_keys(keys).without(self._known.fixed)
        u, v = np.divmod(before.others(self.candidates.keys), len(self.climbs))
        xs, ys = np.concatenate([u, v]), np.concatenate([v, u]).astype(np.int32)
        order = np.lexsort((ys, xs))
        offered, starts = np.unique(xs[order], return_index=True)
        ends = np.append(starts, len(order))
        climbs = [self.climbs[x] for x in offered.tolist()]
        for climb, (first, last) in zip(climbs, pairwise(ends.tolist()), strict=True):
            climb.offer(ys[order[first:last]])
        return climbs

    def _climb(self, active: Sequence[_Climb]) -> None:
        """Climb from where these blankets are, until none improves."""
        n = len(self.climbs)
        while active:
            check_cancelled(self._monitor)
            self._monitor.progress(n - len(active), n, "blankets")
            grown = self._grow(active)
            self._shrink(grown)
            if self._look_ahead:
                done = {c.x for c in grown}
                grown += [c for c in active if c.x not in done and self._add_pair(c)]
            active = sorted((c for c in grown if c.may_go_on), key=lambda climb: climb.x)

    def _grow(self, active: Sequence[_Climb]) -> list[_Climb]:
        """Add to each the y that raises it most, if by more than the penalty; return those that grew."""
        grown = []
        for part in _parts(active):
            above = np.array([climb.value for climb in part]) + self._penalty
            xs, blankets, outside = [c.x for c in part], [c.blanket for c in part], [c.outside for c in part]
            rows = self._judge.leaders(xs, blankets, outside, above)
            for climb, now, row in zip(part, above.tolist(), rows, strict=True):
                if self._look_ahead and climb.strongest is None and len(climb.outside) > self.n_in_pairs:
                    climb.strongest = climb.outside[highest(row.log_factor, self.n_in_pairs)]
                best = self._best(climb, row, now)
                if best is not None:
                    climb.join([int(climb.outside[best])], float(row.log_factor[best]))
                    grown.append(climb)
            check_cancelled(self._monitor)
        return grown

    def _best(self, climb: _Climb, row: PairEvidence, now: float) -> int | None:
        """Return the place of the y to add, fitted: of tied ones that with the strongest association."""
        values, exact = row
        while True:
            best = first_best(values, now, self.rounding, *self.association.joining(climb.x, climb.outside))
            if best is None or exact[best]:
                return best
            (fitted,) = self._additions([climb], [climb.outside[[best]]])
            values, exact = values.copy(), exact.copy()
            values[best], exact[best] = fitted[0], True

    def _shrink(self, climbs: Sequence[_Climb]) -> None:
        """Remove from each the member with the least evidence, while that is less than the penalty."""
        climbs = [climb for climb in climbs if len(climb.blanket) > 1]  # the last to join has more
        while climbs:
            check_cancelled(self._monitor)
            above = np.array([climb.value for climb in climbs]) - self._penalty
            smaller = self._judge.removals([c.x for c in climbs], [c.blanket for c in climbs], fit_above=above)
            dropped = []
            for climb, now, row in zip(climbs, above.tolist(), smaller, strict=True):
                if row.max() <= now:
                    continue
                members = sorted(climb.blanket)
                values = np.where([y in climb.required for y in members], -np.inf, row)
                worst = first_best(values, now, self.rounding, *self.association.leaving(climb.x, members))
                if worst is not None:
                    climb.leave(members[worst], float(values[worst]))
                    dropped.append(climb)
            climbs = [climb for climb in dropped if climb.blanket]

    def _add_pair(self, climb: _Climb) -> bool:
        """Add the best pair of variables, if it raises the score by more than 2 ln n; return whether it does."""
        if len(climb.blanket) > MOST_BEFORE_PAIRS or climb.paired == climb.blanket:
            return False
        check_cancelled(self._monitor)
        climb.paired = climb.blanket
        partners = climb.outside if climb.strongest is None else climb.strongest
        for y in climb.blanket:
            partners = partners[partners != y]
        found = self._judge.best_pair(climb.x, climb.blanket, partners)
        if found is None or found[1] - climb.value <= 2 * log(len(self.climbs)) + self.rounding:
            return False
        pair = frozenset(found[0])
        climb.join(found[0], found[1] if self._relative else self._judge.local(climb.x, climb.blanket | pair))
        return True

    def _additions(self, climbs: Sequence[_Climb], yss: Sequence[Indices]) -> list[FloatArray]:
        return self._judge.additions([c.x for c in climbs], [c.blanket for c in climbs], yss)


def _neighbors(n_variables: int, edges: Collection[Edge]) -> list[list[int]]:
    """Return the neighbours of each variable by these edges."""
    found: list[list[int]] = [[] for _ in range(n_variables)]
    for u, v in edges:
        found[u].append(v)
        found[v].append(u)
    return found


def partners_in_pairs(n_variables: int) -> int:
    """Return how many partners of each x are tried in pairs: so many that the time, n m², stays that of 200."""
    if n_variables <= ALL_IN_PAIRS:
        return n_variables
    return max(LEAST_IN_PAIRS, int(ALL_IN_PAIRS * sqrt(ALL_IN_PAIRS / n_variables)))


def _parts(climbs: Sequence[_Climb]) -> Iterator[Sequence[_Climb]]:
    """Split them into parts with not too many candidates."""
    begin, size = 0, 0
    for end, climb in enumerate(climbs):
        if size + len(climb.outside) > CANDIDATES_TOGETHER and end > begin:
            yield climbs[begin:end]
            begin, size = end, 0
        size += len(climb.outside)
    if begin < len(climbs):
        yield climbs[begin:]


# Judges that do not choose by themselves what to fit.


def batched(judge: EvidenceScore) -> BatchedEvidence:
    """Return the judge, with `leaders` and a bound for the fits of `removals` where it has none."""
    return judge if hasattr(judge, "leaders") else _Batched(judge)  # type: ignore[return-value]


class _Batched:
    """A judge with `leaders`: estimates, and single fits of whatever leads."""

    def __init__(self, judge: EvidenceScore) -> None:
        self._judge = judge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    def removals(
        self,
        xs: Indices,
        blankets: Sequence[VarSet],
        fit_above: FloatArray | None = None,  # noqa: ARG002 - all are fitted
    ) -> list[FloatArray]:
        return self._judge.removals(xs, blankets)

    def leaders(
        self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices], above: FloatArray
    ) -> list[PairEvidence]:
        found = [
            PairEvidence(np.array(row), np.zeros(len(row), dtype=np.bool_))
            for row in self._judge.estimates(xs, blankets, yss)
        ]
        todo = list(range(len(found)))
        while todo:
            places = {k: self._leading(found[k], float(above[k])) for k in todo}
            todo = [k for k in todo if len(places[k])]
            ys = [np.asarray(yss[k])[places[k]] for k in todo]
            fitted = self._judge.additions([xs[k] for k in todo], [blankets[k] for k in todo], ys)
            for k, values in zip(todo, fitted, strict=True):
                found[k].log_factor[places[k]], found[k].exact[places[k]] = values, True
        return found

    @staticmethod
    def _leading(row: PairEvidence, above: float) -> NDArray[np.intp]:
        """Return the places of the largest values above the bound that are only estimated."""
        best = float(row.log_factor.max(initial=-np.inf))
        if not best > above:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero((row.log_factor >= best - tolerance([best])) & ~row.exact)
