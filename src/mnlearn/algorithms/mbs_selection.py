"""Choice of the penalty λ and the limit k of Markov blanket search, and the search for independent blankets.

The paper tries several λ and k and takes the best by the true network [MBS09, Sec. 3.1], which a user does not have.
Here a criterion or held-out rows decide. Independent blankets are the search that the paper compares with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Literal, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import exceeds, first_best, first_maximum, tolerance
from mnlearn.algorithms._association import ScoreAssociation
from mnlearn.algorithms.base import Constraints
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import log
from mnlearn.protocols import FloatArray, Indices, LocalScore, Monitor, Move, PenaltyTrial, Score, VarSet

STRENGTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The λ to try, in units of log(n) / N: about what the best of n useless neighbours seems to explain."""

Exchanges = Callable[[int, VarSet, Indices], Sequence[FloatArray]]
Stage = Callable[[int, int], None]  # changes the blanket of x in round k


@runtime_checkable
class Selectable(LocalScore, Protocol):
    """Local score without a penalty of its own, with the means to compare the graphs of different penalties."""

    @property
    def n_rows(self) -> int: ...
    def criterion(self, gamma: float) -> LocalScore:
        """Return a score that compares blankets of different sizes."""
        ...

    def folds(self, n_folds: int, seed: int) -> Sequence[tuple[LocalScore, Score]]:
        """Return for each fold the score by the other rows, and the score of a graph on the rows of the fold."""
        ...


class Regularized:
    """Local score less λ log |M|: the paper's −S(X | M) for any local score  [MBS09, Sec. 2.4].

    An empty blanket and one of a single neighbour have no penalty.
    """

    def __init__(self, judge: LocalScore, regularization: float) -> None:
        self.judge, self.n_variables, self.regularization = judge, judge.n_variables, regularization
        self._penalty = regularization * log(np.maximum(np.arange(judge.n_variables + 1), 1))
        self._exchanges = cast(Exchanges | None, getattr(judge, "exchanges", None))

    def __call__(self, graph: Graph) -> float:
        """Return −Σ S of a whole graph."""
        return self.judge(graph) - fsum(self._penalty[graph.degrees()])

    def local(self, x: int, blanket: VarSet) -> float:
        """Return −S(x | blanket)."""
        return self.judge.local(x, blanket) - float(self._penalty[len(blanket)])

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return −S of each x with one more neighbour, each y in turn."""
        found = self.judge.additions(xs, blankets, yss)
        return [values - self._penalty[len(blanket) + 1] for values, blanket in zip(found, blankets, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return −S of each x with one neighbour less, each in turn in ascending order."""
        found = self.judge.removals(xs, blankets)
        return [values - self._penalty[len(blanket) - 1] for values, blanket in zip(found, blankets, strict=True)]

    def exchanges(self, x: int, blanket: VarSet, ys: Indices) -> FloatArray:
        """Return −S of x with y in place of a member: a row of all y for each member in ascending order."""
        if self._exchanges is not None:
            found = self._exchanges(x, blanket, ys)
        else:
            rest = [blanket - {member} for member in sorted(blanket)]
            found = self.judge.additions([x] * len(rest), rest, [ys] * len(rest))
        return np.asarray(np.asarray(found) - self._penalty[len(blanket)])


class BlanketSearch(Protocol):
    """State of one search: the blankets, and the stages that change those of one variable in round k."""

    score: Regularized
    moves: list[Move]
    scored: int
    stages: Sequence[Stage]

    def start(self, monitor: Monitor) -> None: ...
    def graph(self) -> Graph: ...
    def largest(self) -> int: ...


class SearchRun(NamedTuple):
    """A finished search: the graph after each round and its value by the criterion."""

    search: BlanketSearch
    graphs: list[Graph]
    values: list[float]
    k: int  # the round whose graph counts, from 1
    converged: bool

    def trials(self) -> list[PenaltyTrial]:
        """Return the value of each k."""
        regularization = self.search.score.regularization
        return [PenaltyTrial(regularization, k, value) for k, value in enumerate(self.values, start=1)]


class RunSearch(Protocol):
    """Function that runs one search; with a criterion it ends some rounds after the best graph."""

    def __call__(
        self, judge: LocalScore, regularization: float, criterion: Score | None = None, k_max: int | None = None
    ) -> SearchRun: ...


def choose_by_criterion(run_search: RunSearch, judge: Selectable, gamma: float) -> tuple[SearchRun, list[PenaltyTrial]]:
    """Return the best search over all λ by the criterion, of equals the smallest λ; and all trials."""
    criterion, trials, best = judge.criterion(gamma), list[PenaltyTrial](), None
    for regularization in penalties(judge):
        run = run_search(judge, regularization, criterion)
        trials += run.trials()
        if best is None or exceeds(run.values[run.k - 1], best.values[best.k - 1]):
            best = run
        if not run.converged:
            return best._replace(converged=False), trials
    return cast(SearchRun, best), trials


def choose_by_folds(
    run_search: RunSearch, judge: Selectable, n_folds: int, seed: int, *, given_k: bool
) -> tuple[SearchRun, list[PenaltyTrial]]:
    """Return the search with the λ and k that predict held-out rows best, and all trials summed over the folds."""
    folds, trials = judge.folds(n_folds, seed), list[PenaltyTrial]()
    for regularization in penalties(judge):
        runs = [run_search(train, regularization, heldout) for train, heldout in folds]
        if not all(run.converged for run in runs):
            return run_search(judge, regularization)._replace(converged=False), trials
        longest = max(len(run.values) for run in runs)
        # A search that ended earlier would have stayed as it was, or become worse.
        ended = [[*run.values, *[run.values[-1]] * (longest - len(run.values))] for run in runs]
        sums = [fsum(values) for values in zip(*ended, strict=True)]
        trials += [PenaltyTrial(regularization, k, value) for k, value in enumerate(sums, start=1)]
    last = {trial.regularization: trial for trial in trials}  # with a given k only the last round counts
    tried = list(last.values()) if given_k else trials
    best = tried[first_maximum([trial.value for trial in tried])]
    return run_search(judge, best.regularization, k_max=None if given_k else best.k_max), trials


def penalties(judge: Selectable) -> list[float]:
    """Return the λ to try."""
    return [strength * log(judge.n_variables) / judge.n_rows for strength in STRENGTHS]


class IndependentBlankets:
    """Blankets that need not agree; the graph joins two variables if both choose each other, or if one does.

    The add and swap stages are those of Algorithm 1, for every blanket by itself  [MBS09, Sec. 2.4].
    """

    def __init__(
        self, score: Regularized, known: Constraints, *, combine: Literal["and", "or"], deletions: bool
    ) -> None:
        n = known.n_variables
        self.moves: list[Move] = []
        self.scored = 0
        self.score, self._combine, self._deletions = score, combine, deletions
        self.stages: Sequence[Stage] = (self._change,)
        start = Graph(n, known.required)
        self._required = [start.neighbors(x) for x in range(n)]
        self._blankets: list[VarSet] = list(self._required)
        self._allowed = known.mask()
        self._scores = [score.local(x, blanket) for x, blanket in enumerate(self._blankets)]
        self._rounding, self._association = 3 * tolerance(self._scores), ScoreAssociation(score)

    def start(self, monitor: Monitor) -> None:
        """Do nothing: there are no gains to compute in advance."""

    def graph(self) -> Graph:
        """Return the graph of the current blankets."""
        chosen = [(x, y) for x, blanket in enumerate(self._blankets) for y in blanket]
        if self._combine == "and":
            chosen = [(x, y) for x, y in chosen if x in self._blankets[y]]
        return Graph(len(self._blankets), chosen)

    def largest(self) -> int:
        """Return the size of the largest blanket."""
        return max(map(len, self._blankets))

    def _change(self, x: int, k: int) -> None:
        """Add one neighbour if there are fewer than k, then swap, then delete."""
        if len(self._blankets[x]) < k:
            self._take(x, None, k)
        for y in sorted(self._blankets[x] - self._required[x]):
            if self._take(x, y, k):
                self._allowed[x, y] = False  # tabu from now on
        while self._deletions and self._delete(x, k):
            pass

    def _take(self, x: int, leaving: int | None, k: int) -> bool:
        """Add the best neighbour, in place of the one that leaves if there is one; return False if none improves."""
        rest = self._blankets[x] if leaving is None else self._blankets[x] - {leaving}
        ys = outside(x, self._blankets[x], len(self._blankets))
        ys = ys[self._allowed[x, ys]]
        values = self.score.additions([x], [rest], [ys])[0]
        self.scored += len(ys)
        best = first_best(values, self._scores[x], self._rounding, *self._association.joining(x, ys))
        if best is None:
            return False
        y = int(ys[best])
        self._record(Move(k, x, y, leaving, float(values[best]) - self._scores[x]), rest | {y}, float(values[best]))
        return True

    def _delete(self, x: int, k: int) -> bool:
        """Remove the neighbour without which x scores best; return False if none improves."""
        members = sorted(self._blankets[x])
        if not members:
            return False
        fixed = [y in self._required[x] for y in members]
        values = np.where(fixed, -np.inf, self.score.removals([x], [self._blankets[x]])[0])
        self.scored += len(members)
        best = first_best(values, self._scores[x], self._rounding, *self._association.leaving(x, members))
        if best is None:
            return False
        y, value = members[best], float(values[best])
        self._record(Move(k, x, None, y, value - self._scores[x]), self._blankets[x] - {y}, value)
        return True

    def _record(self, move: Move, blanket: VarSet, score: float) -> None:
        self.moves.append(move)
        self._blankets[move.x], self._scores[move.x] = blanket, score


def outside(x: int, blanket: VarSet, n_variables: int) -> NDArray[np.int64]:
    """Return all variables but x and its blanket, in ascending order."""
    free = np.ones(n_variables, dtype=np.bool_)
    free[[x, *blanket]] = False
    return np.flatnonzero(free)
