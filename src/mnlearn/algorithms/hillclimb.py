"""Hill climbing over edge flips, for any score that can be updated from flip to flip.

IBMAP-HC (ibmap.py) tries one flip at each step and stops when it fails: cheap, and weak. Each setting here removes one
of its weaknesses: take the flip that gains most (steepest), go on after a failure (patience), and go downhill without
turning back (tabu).

The pair that hill climbing flips next: the one that fits worst, or the one whose flip gains most.

Pairs can be barred: fixed ones, those that failed, and those that are tabu. Pairs within rounding of the best one are
tied; the search that made the proposals chooses one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import inf, isfinite
from time import perf_counter
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.algorithms.base import Cancelled, Constraints, check_parts
from mnlearn.algorithms.screening import CandidateRule, check_rule, closed_candidates, stated
from mnlearn.errors import InputError, UnsuitableError, check_name, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import preferred, tolerance
from mnlearn.protocols import (
    SILENT,
    BoolArray,
    FloatArray,
    IntArray,
    Monitor,
    PairwiseScored,
    Result,
    ScoredGraph,
    SearchableScore,
    Step,
    VarSet,
)

_FEW = 8  # up to so many rows are searched one by one: faster than a copy of all of them
_POLLED = 256  # gains evaluated between two polls of the monitor: about 10 ms for a few hundred variables
_POLLED_IN_BATCHES = 1 << 16  # for scores that evaluate many together, the cheaper the more there are

Choice: TypeAlias = Callable[[IntArray, IntArray], int]
"""The first and the second ends of tied pairs, in lexicographic order -> the place of the chosen one."""


def first_pair(us: IntArray, vs: IntArray) -> int:  # noqa: ARG001 - the same for all pairs
    """Choose the first of tied pairs."""
    return 0


def require_numbers(gains: FloatArray) -> FloatArray:
    """Return the gains; raise InputError for NaN, and for the gain of an infinite score. Minus infinity is a number."""
    if len(gains) and not gains[gains.argmax()] < inf:  # NaN counts as the largest
        raise InputError(
            f"judge must give the gain of every flip a number; got {gains[gains.argmax()]}. Correct the score: it may "
            "be -inf for an impossible graph, never NaN or inf."
        )
    return gains


class WeakestPairs:
    """The pair with the lowest part in the score  [IBMAP14, Algorithm 2, line 1].

    The weakest pair of each variable is stored. A flip changes two rows of the parts: the other variables compare two
    new numbers with their weakest, and only those whose weakest pair it was search their row again.
    """

    def __init__(self, state: PairwiseScored, barred: BoolArray, choose: Choice = first_pair) -> None:
        self._parts, self._barred, self._choose = state.pairwise, barred, choose
        self._anything_barred = bool(barred.sum() > len(barred))  # beyond the diagonal
        self._low: FloatArray = np.empty(len(barred))
        self._at: IntArray = np.empty(len(barred), dtype=np.int64)
        self._search(np.arange(len(barred)))

    def best(self) -> tuple[Edge, None] | None:
        """Return the pair to flip, without its gain; None if all are barred."""
        x = int(self._low.argmin())
        lowest = float(self._low[x])
        if lowest == inf:
            return None
        reach = lowest + tolerance([lowest])
        close = self._low <= reach
        if np.count_nonzero(close) > 2:  # the two ends of the weakest pair, and of others
            return self._chosen(close.nonzero()[0], reach), None
        y = int(self._at[x])
        return (min(x, y), max(x, y)), None

    def bar(self, edge: Edge) -> None:
        """Exclude a pair."""
        self._anything_barred = True
        self._set(edge, barred=True)

    def unbar(self, edge: Edge) -> None:
        """Include a pair again."""
        self._set(edge, barred=False)

    def flipped(self, edge: Edge, touched: VarSet | None) -> None:  # noqa: ARG002 - parts change at the ends only
        """Update the weakest pairs after a flip."""
        u, v = edge
        again = (self._at == u) | (self._at == v)
        again[[u, v]] = True
        for x in edge:
            part = self._row(x)
            for y in (part <= self._low).nonzero()[0].tolist():
                if part[y] < self._low[y] or x < self._at[y]:
                    self._low[y], self._at[y] = part[y], x
        self._search(again.nonzero()[0])

    def _chosen(self, rows: IntArray, reach: float) -> Edge:
        """Return the chosen one of the pairs of these variables whose parts are within reach."""
        tied = np.array([self._row(x)[rows] for x in rows.tolist()]) <= reach
        us, vs = (rows[ends] for ends in np.triu(tied, 1).nonzero())
        k = self._choose(us, vs)
        return int(us[k]), int(vs[k])

    def _set(self, edge: Edge, *, barred: bool) -> None:
        u, v = edge
        self._barred[u, v] = self._barred[v, u] = barred
        self._search(np.array([u, v]))

    def _row(self, x: int) -> FloatArray:
        """Return the parts of the pairs of x, inf where barred."""
        return np.where(self._barred[x], inf, self._parts[x]) if self._anything_barred else self._parts[x]

    def _search(self, rows: IntArray) -> None:
        """Find the weakest pair of these variables, by blocks of rows to avoid a copy of all parts."""
        if len(rows) <= _FEW:
            for x in rows.tolist():
                part = self._row(x)
                self._at[x] = at = part.argmin()
                self._low[x] = part[at]
            return
        step = max(1, (1 << 17) // len(self._low))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            parts = self._parts[some]
            if self._anything_barred:
                parts[self._barred[some]] = inf
            at = parts.argmin(axis=1)
            self._at[some], self._low[some] = at, parts[np.arange(len(some)), at]


class SteepestPairs:
    """The pair whose flip gains most.

    All gains are exact when they are compared. A flip makes the gains stale that it may have changed, as the score
    says; these alone are evaluated again. No stale gain serves as a bound: after a flip any gain may rise.
    """

    def __init__(
        self,
        state: ScoredGraph,
        known: Constraints,
        choose: Choice = first_pair,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self._state, self._n, self._choose, self._poll = state, known.n_variables, choose, poll
        self._rounding = tolerance([state.value])
        self._listed = known.candidates
        if self._listed is None:
            self._us, self._vs = (ends.astype(np.int64) for ends in np.triu_indices(self._n, 1))
        else:
            self._us, self._vs = self._listed.u.astype(np.int64), self._listed.v.astype(np.int64)
            self._starts, _, self._directed = self._listed.directed()
        self._free = np.ones(len(self._us), dtype=np.bool_)
        for u, v in known.fixed:
            self._free[self._place(u, v)] = False
        self._stale = np.ones(len(self._us), dtype=np.bool_)
        self._gains = np.zeros(len(self._us))

    def best(self) -> tuple[Edge, float] | None:
        """Return the pair to flip and its gain; None if all are barred."""
        self._evaluate((self._stale & self._free).nonzero()[0])
        gains = np.where(self._free, self._gains, -inf)
        best = gains.max(initial=-inf)
        if best == -inf:
            return None
        tied = (gains >= best - self._rounding).nonzero()[0]
        k = int(tied[self._choose(self._us[tied], self._vs[tied]) if len(tied) > 1 else 0])
        return (int(self._us[k]), int(self._vs[k])), float(self._gains[k])

    def bar(self, edge: Edge) -> None:
        """Exclude a pair."""
        self._free[self._place(*edge)] = False

    def unbar(self, edge: Edge) -> None:
        """Include a pair again."""
        self._free[self._place(*edge)] = True

    def flipped(self, edge: Edge, touched: VarSet | None) -> None:
        """Mark the gains of the flipped pair and of all pairs with a `touched` end as stale; None: all gains."""
        if touched is None:
            self._stale[:] = True
            return
        for x in {*edge, *touched}:
            if self._listed is not None:
                self._stale[self._directed[self._starts[x] : self._starts[x + 1]]] = True
                continue
            self._stale[self._place(np.arange(x), x)] = True
            self._stale[self._place(x, x + 1) : self._place(x, self._n)] = True

    def _place(self, u: Any, v: Any) -> Any:
        """Return the place of the pair u < v in lexicographic order; arrays of places for arrays of ends.

        A pair that is not listed has an empty array of places.
        """
        if self._listed is not None:
            return self._listed.places([(u, v)])
        return u * (2 * self._n - u - 1) // 2 + v - u - 1

    def _evaluate(self, some: IntArray) -> None:
        """Evaluate these gains by blocks, polling in between: all pairs of a few hundred variables may take minutes."""
        step = _POLLED if hasattr(self._state, "pairwise") else _POLLED_IN_BATCHES
        for start in range(0, len(some), step):
            self._poll()
            few = some[start : start + step]
            pairs = list(zip(self._us[few].tolist(), self._vs[few].tolist(), strict=True))
            self._gains[few] = require_numbers(self._state.gains(pairs))
            self._stale[few] = False


Proposals = Literal["steepest", "weakest"]


@dataclass(frozen=True, kw_only=True)
class HillClimb:
    """Flip one pair at a time for as long as the score rises.

    Parameters
    ----------
    proposals
        ``"steepest"``: the flip that gains most. ``"weakest"``: the pair with the lowest part in the score, which needs
        a score that is a sum over pairs, such as IB or BJP.
    patience
        The number of proposals in a row that may fail before the climb ends. With ``tabu``: the number of steps without
        a better score than the best so far.
    tabu
        Go on from a local optimum by the proposed flips, better or not, and bar each pair for so many steps after its
        flip; 0 stops at the local optimum.
    start
        The graph to begin with, or the result of another search; no edges by default.
    required, forbidden
        Edges that every graph of the search has, or none, as pairs of indices.
    max_steps
        Stop after so many flips, unconverged; None for no limit.
    keep_steps
        Whether the result stores every flip with the score after it.
    keep_absent
        Whether the result stores the log-odds of the pairs without an edge, too.
    candidates
        The pairs that may be edges: a closed list, a `Screening` for the strongest pairs, or None for all pairs.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables, the start has others, or
        the score of the start is not finite or a gain is not a number.
    UnsuitableError
        From `learn`, if proposals are ``"weakest"`` and the score is not a sum over pairs.

    Notes
    -----
    The result is the best graph of the search, ties to the first. Of proposals that are equal up to rounding the pair
    with the strongest marginal association comes first (what it gains, or how little it fits, in the graph without
    edges); then the pair with the fewest edges at its ends; then the pair whose ends have the strongest association
    with all variables; then the one with the lowest indices. The order of the columns matters only for that last
    choice.

    The support of an edge is its log-odds, present
    against absent given its context (higher is stronger): from the posterior if the score is a sum over pairs, else the
    loss of score without it. Steepest climbing evaluates all n(n − 1)/2 flips before its first step; after each step,
    all flips whose gain may have changed.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.scores import MPL
    >>> from mnlearn.statistics import Counts
    >>> score = MPL(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> HillClimb().learn(score).graph
    Graph(3, [(0, 1)])
    """

    proposals: Proposals = "steepest"
    patience: int = 1
    tabu: int = 0
    start: Graph | Result | None = None
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()
    max_steps: int | None = None
    keep_steps: bool = False
    keep_absent: bool = False
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        check_rule(self.candidates)
        check_name("proposals", self.proposals, get_args(Proposals))
        whole_number("patience", self.patience, least=1, hint="Use 1 to stop at the first that fails.")
        true_or_false(keep_steps=self.keep_steps, keep_absent=self.keep_absent)
        whole_number("tabu", self.tabu, least=0, hint="Use 0 for none.")
        if self.max_steps is not None:
            whole_number("max_steps", self.max_steps, least=0, hint="Use None for no limit.")
        if not isinstance(self.start, Graph | Result | None):
            raise InputError(
                f"start must be a Graph or the result of a search; got a {type(self.start).__name__}. "
                "Leave it out to start without edges."
            )

    def learn(self, judge: SearchableScore, monitor: Monitor = SILENT) -> Result:
        """Return the best graph of the search; see the class for the order of the steps."""
        run = Climb(self, judge, monitor)
        converged = True
        try:
            self.climb(run)
        except Cancelled:
            converged = False
        return run.result(converged=converged)

    def climb(self, run: Climb) -> None:
        """Climb to a local optimum; downhill before that, with `tabu`."""
        if self.tabu:
            run.tabu_search()
        while run.improve():
            pass

    def start_graph(self, known: Constraints) -> Graph:
        """Return the given start, or the graph without edges; with the required edges, without the forbidden ones."""
        given = self._given_start()
        if given is None:
            given = Graph.empty(known.n_variables)
        if given.n_variables != known.n_variables:
            raise InputError(
                f"start must have the {known.n_variables} variables of the score; got {given.n_variables}. "
                "Make it over the same columns."
            )
        return known.apply(given)

    def settings(self) -> dict[str, object]:
        """Return the settings, enough to run the search again; a start as its edges."""
        given = self._given_start()
        start = None if given is None else given.edges
        return stated(replace(self, start=None)) | {"start": start}

    def _given_start(self) -> Graph | None:
        return self.start.graph if isinstance(self.start, Result) else self.start


class Climb:
    """One run of hill climbing: the current graph, the best so far, and the cost."""

    def __init__(self, settings: HillClimb, judge: SearchableScore, monitor: Monitor) -> None:
        check_parts(judge, monitor, ("on",), "Use a score, such as MPL(Counts(data)).")
        listed = closed_candidates(settings.candidates, judge, monitor)
        self._known = Constraints(judge.n_variables, settings.required, settings.forbidden, listed)
        self._settings, self._judge, self._monitor = settings, judge, monitor
        self._started = perf_counter()
        self._state = judge.on(settings.start_graph(self._known))
        if settings.proposals == "weakest" and not hasattr(self._state, "pairwise"):
            raise UnsuitableError(
                f"proposals='weakest' needs a score that is a sum over pairs; {type(judge).__name__} is not. "
                "Use proposals='steepest', or IBScore or BJPScore."
            )
        self._best, self._best_score = self._state.graph, self._require_finite(self._state.value)
        self._rounding = tolerance([self._best_score])
        self._flips = self._proposed = 0
        self._cost: dict[str, float] = {}
        self._steps = [Step(None, self._state.value)]
        self._pairs = self._proposals()

    def propose(self) -> tuple[Edge, float | None] | None:
        """Return the pair to flip next, with its gain if that is known; None if all pairs are barred."""
        self._poll()
        proposal = self._pairs.best()
        self._proposed += proposal is not None
        return proposal

    def improves(self, pair: Edge, gain: float | None = None) -> bool:
        """Return whether the flip of the pair raises the score by more than rounding."""
        if gain is None:
            gains = self._state.gains([pair])
            gain = float(gains[0])
            if not gain < inf:
                require_numbers(gains)
        return gain > self._rounding

    def flip(self, pair: Edge) -> None:
        """Flip the pair and record the step."""
        self._pairs.flipped(pair, self._state.flip(pair))
        self._flips += 1
        self._steps.append(Step(pair, self._require_finite(self._state.value)))
        self._compare()

    def improve(self) -> bool:
        """Flip the first proposal that improves; return False if `patience` proposals fail."""
        failed: list[Edge] = []
        for _ in range(self._settings.patience):
            proposal = self.propose()
            if proposal is None:
                break
            if self.improves(*proposal):
                self.flip(proposal[0])
                self._unbar(failed)
                return True
            self._pairs.bar(proposal[0])
            failed.append(proposal[0])
        self._unbar(failed)
        return False

    def tabu_search(self) -> None:
        """Flip every proposal, bar it for `tabu` steps, and return to the best graph at the end."""
        barred: list[Edge] = []
        since_best = 0
        while since_best < self._settings.patience:
            proposal = self.propose()
            if proposal is None:
                break
            best = self._best_score
            self.flip(proposal[0])
            since_best = 0 if self._best_score > best else since_best + 1
            self._pairs.bar(proposal[0])
            barred.append(proposal[0])
            if len(barred) > self._settings.tabu:
                self._pairs.unbar(barred.pop(0))
        self._unbar(barred)
        if self._state.graph != self._best:
            self._move_to(self._best)

    def result(self, *, converged: bool) -> Result:
        """Return the best graph with its support."""
        if self._state.graph != self._best:
            self._add_cost(self._state)
            self._state = self._judge.on(self._best)
        support, absent = self._support()
        self._add_cost(self._state)
        seconds = perf_counter() - self._started
        return Result(
            graph=self._best,
            score=self._state.value,
            support=support,
            converged=converged,
            cost=self._cost | {"flips": self._flips, "proposed": self._proposed, "seconds": seconds},
            settings=self._settings.settings(),
            support_scale="log_odds",
            steps=tuple(self._steps) if self._settings.keep_steps else None,
            absent=absent,
        )

    def _proposals(self) -> WeakestPairs | SteepestPairs:
        if self._settings.proposals == "steepest":
            return SteepestPairs(self._state, self._known, self._choose, self._poll)
        barred = ~self._known.mask()  # the parts are a matrix, too
        return WeakestPairs(cast(PairwiseScored, self._state), barred, self._choose)  # checked when the run starts

    def _choose(self, us: IntArray, vs: IntArray) -> int:
        """Return the place of one of several tied pairs; see the notes of `HillClimb`."""
        degrees, strength = self._state.graph.degrees(), self._association.strength
        return preferred(
            np.arange(len(us)),
            lambda tied: self._association.of(us[tied], vs[tied]),
            lambda tied: -(degrees[us[tied]] + degrees[vs[tied]]).astype(np.float64),
            lambda tied: strength[us[tied]] + strength[vs[tied]],
            rounding=self._rounding,
        )

    @cached
    def _association(self) -> _PairAssociation:
        """Marginal association of each pair: how little it fits the graph without edges, or its gain there.

        Computed when pairs tie for the first time.
        """
        n, listed = self._known.n_variables, self._known.candidates
        bare = self._judge.on(Graph.empty(n))
        us, vs = np.triu_indices(n, 1) if listed is None else (listed.u, listed.v)
        if hasattr(bare, "pairwise"):
            values = -bare.pairwise[us, vs]
        else:
            values = bare.gains(list(zip(us.tolist(), vs.tolist(), strict=True)))
        self._add_cost(bare)
        return _PairAssociation(n, us, vs, np.where(np.isfinite(values), values, 0.0))

    def _move_to(self, graph: Graph) -> None:
        """Continue from this graph, as a new step without a flip."""
        self._add_cost(self._state)
        self._state = self._judge.on(graph)
        self._steps.append(Step(None, self._state.value))
        self._pairs = self._proposals()

    def _require_finite(self, value: float) -> float:
        """Return the score; raise InputError if it is infinite or NaN."""
        if not isfinite(value):
            raise InputError(
                f"judge must give every graph of the search a finite score; {type(self._judge).__name__} gives {value} "
                f"for one with {self._state.graph.n_edges} edges. Correct the score, or use another start."
            )
        return value

    def _compare(self) -> None:
        """Store the current graph if it is the best."""
        if self._state.value > self._best_score + self._rounding:
            self._best, self._best_score = self._state.graph, self._state.value

    def _unbar(self, pairs: list[Edge]) -> None:
        for pair in pairs:
            self._pairs.unbar(pair)

    def _poll(self) -> None:
        """Report the progress; raise Cancelled if the monitor cancels or no flip is left."""
        self._monitor.progress(self._flips, None, f"{self._flips} flips, score {self._best_score:.2f}")
        steps = self._settings.max_steps
        if self._monitor.cancelled() or (steps is not None and self._flips >= steps):
            raise Cancelled

    def _add_cost(self, state: ScoredGraph) -> None:
        """Add the cost of a state that is left or finished."""
        for name, spent in getattr(state, "cost", {}).items():
            self._cost[name] = self._cost.get(name, 0) + spent

    def _support(self) -> tuple[dict[Edge, float], dict[Edge, float] | None]:
        """Return the log-odds of the edges, and with `keep_absent` of the other pairs."""
        state, keep_absent = self._state, self._settings.keep_absent
        if hasattr(state, "log_odds"):
            odds: dict[Edge, float] = state.log_odds(absent=keep_absent)
        else:
            n = self._known.n_variables
            pairs = [(u, v) for u in range(n) for v in range(u + 1, n)] if keep_absent else list(state.graph.edges)
            signs = [-1.0 if pair in state.graph else 1.0 for pair in pairs]
            odds = {pair: sign * float(gain) for pair, sign, gain in zip(pairs, signs, state.gains(pairs), strict=True)}
        edges = set(state.graph.edges)
        absent = {pair: value for pair, value in odds.items() if pair not in edges} if keep_absent else None
        return {pair: value for pair, value in odds.items() if pair in edges}, absent


class _PairAssociation:
    """Marginal association of pairs u < v in lexicographic order; 0 for all others."""

    def __init__(self, n_variables: int, us: NDArray[Any], vs: NDArray[Any], values: FloatArray) -> None:
        self._n, self._values = n_variables, values
        self._keys = us.astype(np.int64) * n_variables + vs
        ends = np.concatenate([us, vs])
        totals = np.bincount(ends, np.concatenate([values, values]), minlength=n_variables)
        self.strength: FloatArray = totals.astype(np.float64)

    def of(self, us: IntArray, vs: IntArray) -> FloatArray:
        """Return the association of each pair u < v."""
        wanted = us.astype(np.int64) * self._n + vs
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.asarray(np.where(self._keys[places] == wanted, self._values[places], 0.0))
