"""Climbing over edge flips, for any score that can be followed from flip to flip.

IBMAP-HC (ibmap.py) tries one flip at each step and stops when it fails: cheap, and weak. The settings here each remove
one of its weaknesses: it need not guess which flip is best (steepest), need not stop at the first failure (patience),
may move an edge in one step (swaps), may go downhill without turning back (tabu), and may start again (restarts).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Literal, cast, get_args

import numpy as np

from mnlearn.algorithms._search import Cancelled, Constraints
from mnlearn.algorithms.proposals import SteepestPairs, WeakestPairs
from mnlearn.errors import InputError, UnsuitableError, check_name, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, Monitor, PairwiseScored, Result, SearchableScore, Step

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
        How many proposals in a row may fail before the climb ends. With ``tabu``: how many steps may pass without a
        better score than the best so far.
    swaps
        Whether to try, when no flip is left to propose, to move one end of an edge: two flips at once.
    tabu
        Go on from the top by the proposed flips, better or not, and leave each pair alone for so many steps after
        its flip; 0 stops at the top.
    restarts
        How often to climb again from the best graph with some pairs flipped at random.
    seed
        Of the random flips.
    start
        The graph to begin with, or the result of another search; no edges if left out.
    required, forbidden
        Edges known beforehand, as pairs of indices: in every graph of the search, or in none.
    max_steps
        Stop after so many flips, unconverged; None for no limit.
    keep_steps
        Whether the result keeps every flip with the score after it.
    keep_absent
        Whether the result keeps the log-odds of the pairs without an edge, too.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables, or the start has others.
    UnsuitableError
        From `learn`, if the score has no parts by pairs and proposals are to be the weakest.

    Notes
    -----
    The result is the best graph met, ties to the first. The support of an edge is its log-odds, present against
    absent given its context (higher is stronger): from the posterior if the score is a sum over pairs, else the
    score lost without it. Steepest climbing evaluates all n(n − 1)/2 flips before it stops, each at the price of
    a flip.

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
    swaps: bool = False
    tabu: int = 0
    restarts: int = 0
    seed: int | np.random.Generator = 0
    start: Graph | Result | None = None
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()
    max_steps: int | None = None
    keep_steps: bool = False
    keep_absent: bool = False

    def __post_init__(self) -> None:
        check_name("proposals", self.proposals, get_args(Proposals))
        whole_number("patience", self.patience, least=1, way_out="Use 1 to stop at the first that fails.")
        true_or_false(swaps=self.swaps, keep_steps=self.keep_steps, keep_absent=self.keep_absent)
        if not isinstance(self.seed, np.random.Generator):
            whole_number("seed", self.seed, least=0, way_out="Use 0, or a numpy.random.Generator.")
        whole_number("tabu", self.tabu, least=0, way_out="Use 0 for none.")
        whole_number("restarts", self.restarts, least=0, way_out="Use 0 for none.")
        if self.max_steps is not None:
            whole_number("max_steps", self.max_steps, least=0, way_out="Use None for no limit.")
        if not isinstance(self.start, Graph | Result | None):
            raise InputError(
                f"start must be a Graph or the result of a search; got a {type(self.start).__name__}. "
                "Leave it out to start without edges."
            )

    def learn(self, judge: SearchableScore, monitor: Monitor = SILENT) -> Result:
        """Climb; see the class for what is tried and in which order."""
        climb = Climb(self, judge, monitor)
        converged = True
        try:
            climb.to_the_top()
            rng = np.random.default_rng(self.seed)
            for _ in range(self.restarts):
                climb.start_again(rng)
                climb.to_the_top()
        except Cancelled:
            converged = False
        return climb.result(converged=converged)

    def first_graph(self, known: Constraints) -> Graph:
        """Where to begin: what was given, or no edges; in either case with what is known beforehand."""
        given = self.start.graph if isinstance(self.start, Result) else self.start
        if given is None:
            given = Graph.empty(known.n_variables)
        if given.n_variables != known.n_variables:
            raise InputError(
                f"start must have the {known.n_variables} variables of the score; got {given.n_variables}. "
                "Make it over the same columns."
            )
        return known.apply(given)

    def described(self) -> dict[str, object]:
        """The settings, enough to run it again; a start by its edges."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        given = self.start.graph if isinstance(self.start, Result) else self.start
        return told | {"start": None if given is None else given.edges}


# One run of a climb over edge flips: the graph as it is, the best so far, what is tried next, and the account.


TOLERANCE, RELATIVE = 1e-9, 1e-12
"""An improvement is more than this, in natural-log units and of the score: less is rounding, and may go in circles."""


class Climb:
    """One run: the graph as it is, the best so far, and the account."""

    def __init__(self, settings: HillClimb, judge: SearchableScore, monitor: Monitor) -> None:
        if judge.n_variables < 2:
            raise InputError(
                f"judge must know at least 2 variables; got {judge.n_variables}. There is no structure to learn from "
                "fewer."
            )
        self._known = Constraints(judge.n_variables, settings.required, settings.forbidden)
        self._settings, self._judge, self._monitor = settings, judge, monitor
        self._began = perf_counter()
        self._state = judge.on(settings.first_graph(self._known))
        if settings.proposals == "weakest" and not hasattr(self._state, "pairwise"):
            raise UnsuitableError(
                f"proposals='weakest' needs a score that is a sum over pairs; {type(judge).__name__} is none. "
                "Use proposals='steepest', or IBScore or BJPScore."
            )
        self._best, self._best_value = self._state.graph, self._state.value
        self._enough = max(TOLERANCE, RELATIVE * abs(self._best_value))
        self._flips = self._proposed = 0
        self._cost: dict[str, float] = {}
        self._steps = [Step(None, self._state.value)]
        self._pairs = self._propose()

    def to_the_top(self) -> None:
        """Climb until patience ends; downhill too, if pairs can be tabu."""
        if self._settings.tabu:
            self._wander()
        while self._one_up() or (self._settings.swaps and self._swap()):
            pass

    def start_again(self, rng: np.random.Generator) -> None:
        """Go back to the best graph and flip about half as many pairs as there are variables, drawn at random."""
        free = self._known.free()
        drawn = rng.choice(len(free), min(len(free), 1 + self._known.n_variables // 2), replace=False)
        start = self._best
        for k in sorted(drawn.tolist()):
            start = start.flip(*free[k])
        self._leave()
        self._state = self._judge.on(start)
        self._steps.append(Step(None, self._state.value))
        self._note()
        self._pairs = self._propose()

    def result(self, *, converged: bool) -> Result:
        """The best graph with its support."""
        if self._state.graph != self._best:
            self._leave()
            self._state = self._judge.on(self._best)
        support, absent = self._support()
        self._leave()
        cost = self._cost | {"flips": self._flips, "proposed": self._proposed, "seconds": perf_counter() - self._began}
        return Result(
            graph=self._best,
            score=self._state.value,
            support=support,
            converged=converged,
            cost=cost,
            settings=self._settings.described(),
            support_scale="log_odds",
            steps=tuple(self._steps) if self._settings.keep_steps else None,
            absent=absent,
        )

    def _one_up(self) -> bool:
        """Take the first proposal that improves; whether there was one before patience ended."""
        tried: list[Edge] = []
        for _ in range(self._settings.patience):
            self._listen()
            found = self._pairs.best()
            if found is None:
                break
            edge, gain = found
            self._proposed += 1
            if (self._state.gains([edge])[0] if gain is None else gain) > self._enough:
                self._take(edge)
                self._unbar(tried)
                return True
            self._pairs.bar(edge)
            tried.append(edge)
        self._unbar(tried)
        return False

    def _wander(self) -> None:
        """Tabu search: take every proposal, leave alone for a while what was flipped, and end at the best graph met."""
        barred: list[Edge] = []
        since_best = 0
        while since_best < self._settings.patience:
            self._listen()
            found = self._pairs.best()
            if found is None:
                break
            self._proposed += 1
            best = self._best_value
            self._take(found[0])
            since_best = 0 if self._best_value > best else since_best + 1
            self._pairs.bar(found[0])
            barred.append(found[0])
            if len(barred) > self._settings.tabu:
                self._pairs.unbar(barred.pop(0))
        self._unbar(barred)
        if self._state.graph != self._best:
            self._leave()
            self._state = self._judge.on(self._best)
            self._steps.append(Step(None, self._state.value))
            self._pairs = self._propose()

    def _swap(self) -> bool:
        """Move one end of an edge where that improves: the first edge for which it does, and its best new end."""
        for edge in self._state.graph.edges:
            if not self._known.allows(*edge):
                continue
            self._listen(flips=2)
            lost = float(self._state.gains([edge])[0])
            self._tell(edge)
            others = [y for y in range(self._known.n_variables) if y not in edge]
            ends = [(min(x, y), max(x, y)) for x in edge for y in others]
            moves = [pair for pair in ends if self._known.allows(*pair) and pair not in self._state.graph]
            gains = self._state.gains(moves)
            self._proposed += len(moves)
            k = int(gains.argmax()) if moves else -1
            if k >= 0 and lost + gains[k] > self._enough:
                self._steps.append(Step(edge, self._state.value))
                self._flips += 1
                self._take(moves[k])
                return True
            self._tell(edge)
        return False

    def _take(self, edge: Edge) -> None:
        """Flip a pair and write it down."""
        self._tell(edge)
        self._flips += 1
        self._steps.append(Step(edge, self._state.value))
        self._note()

    def _tell(self, edge: Edge) -> None:
        self._pairs.flipped(edge, self._state.flip(edge))

    def _note(self) -> None:
        """Remember the best."""
        if self._state.value > self._best_value + self._enough:
            self._best, self._best_value = self._state.graph, self._state.value

    def _unbar(self, edges: list[Edge]) -> None:
        for edge in edges:
            self._pairs.unbar(edge)

    def _propose(self) -> WeakestPairs | SteepestPairs:
        barred = ~self._known.mask()
        if self._settings.proposals == "steepest":
            return SteepestPairs(self._state, barred, self._listen)
        return WeakestPairs(cast(PairwiseScored, self._state), barred)  # checked when the run began

    def _listen(self, flips: int = 1) -> None:
        """Tell how far it is; stop if somebody wants it so, or if no so many flips are left."""
        self._monitor.progress(self._flips, None, f"{self._flips} flips, score {self._best_value:.2f}")
        steps = self._settings.max_steps
        if self._monitor.cancelled() or (steps is not None and self._flips + flips > steps):
            raise Cancelled

    def _leave(self) -> None:
        """Add what a state that is left behind has cost."""
        for name, spent in getattr(self._state, "cost", {}).items():
            self._cost[name] = self._cost.get(name, 0) + spent

    def _support(self) -> tuple[dict[Edge, float], dict[Edge, float] | None]:
        """The log-odds of the edges, and of the other pairs if asked for."""
        state, wanted = self._state, self._settings.keep_absent
        if hasattr(state, "log_odds"):
            odds: dict[Edge, float] = state.log_odds(absent=wanted)
        else:
            n = self._known.n_variables
            pairs = [(u, v) for u in range(n) for v in range(u + 1, n)] if wanted else list(state.graph.edges)
            signs = [-1.0 if pair in state.graph else 1.0 for pair in pairs]
            odds = {pair: sign * float(gain) for pair, sign, gain in zip(pairs, signs, state.gains(pairs), strict=True)}
        edges = set(state.graph.edges)
        absent = {pair: value for pair, value in odds.items() if pair not in edges} if wanted else None
        return {pair: value for pair, value in odds.items() if pair in edges}, absent
