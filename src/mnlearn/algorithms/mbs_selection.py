"""How strongly to penalise and how far to grow, when nobody says: by a criterion, or by rows held out.

The paper tries several λ and k and takes the best by the true network [MBS09, Sec. 3.1], which a user does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum, log
from typing import NamedTuple, Protocol, cast, runtime_checkable

from mnlearn.algorithms._mbs_search import ApartSearch, ConsistentSearch, Regularized
from mnlearn.algorithms._search import STOPPED
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import LocalScore, Monitor, PenaltyTrial, Score

STRENGTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The λ that are tried, in units of log(n) / N: about what the best of n useless neighbours seems to explain."""
_PATIENCE = 3  # rounds without a better graph before a search that is watched by a criterion ends

Search = ConsistentSearch | ApartSearch


@runtime_checkable
class Selectable(LocalScore, Protocol):
    """A local score without a penalty of its own, that knows how to compare what different penalties lead to."""

    @property
    def n_rows(self) -> int: ...
    def criterion(self, gamma: float) -> LocalScore:
        """A score that can compare blankets of different sizes."""
        ...

    def folds(self, n_folds: int, seed: int) -> Sequence[tuple[LocalScore, Score]]:
        """For each fold: the same score by the other rows, and how well a graph foretells the rows of this one."""
        ...


class Run(NamedTuple):
    """A search at its end: the graph after each round, what the watching score says of each, and how it ended."""

    search: Search
    regularization: float
    graphs: list[Graph]
    values: list[float]
    converged: bool

    def trials(self) -> list[PenaltyTrial]:
        """What each k would have led to."""
        return [PenaltyTrial(self.regularization, k, value) for k, value in enumerate(self.values, start=1)]


@dataclass(frozen=True)
class Chooser:
    """Runs searches: `make` begins one, `most` is the last round; `given_k` says that no earlier one counts."""

    make: Callable[[Regularized], Search]
    most: int
    given_k: bool
    monitor: Monitor

    def run(self, judge: LocalScore, regularization: float, watching: Score | None = None) -> Run:
        """One search; if a score watches, it ends some rounds after the best graph, unless k is given."""
        search = self.make(Regularized(judge, regularization))
        graphs, values, converged, more = list[Graph](), list[float](), True, True
        while more and len(graphs) < max(self.most, 1):  # where no neighbour is allowed, one round of no moves
            try:
                more = search.round(min(len(graphs) + 1, self.most), self.monitor)
            except STOPPED:
                more = converged = False
            graphs.append(search.graph())
            values.append(watching(graphs[-1]) if watching else float(len(graphs)))
            if not self.given_k and len(values) - values.index(max(values)) > _PATIENCE:
                break
        return Run(search, regularization, graphs, values, converged)

    def best_round(self, run: Run) -> int:
        """k: of the given one, or of the best graph; of equals the smallest."""
        return len(run.values) if self.given_k else run.values.index(max(run.values)) + 1

    def by_criterion(self, judge: Selectable, gamma: float) -> tuple[Run, list[PenaltyTrial]]:
        """The best of all λ by the criterion; of equals the smallest."""
        criterion, trials, best = judge.criterion(gamma), list[PenaltyTrial](), None
        for regularization in strengths(judge):
            run = self.run(judge, regularization, criterion)
            trials += run.trials()
            if best is None or self._value(run) > self._value(best):
                best = run
            if not run.converged:
                return best._replace(converged=False), trials
        return cast(Run, best), trials

    def by_folds(self, judge: Selectable, n_folds: int, seed: int) -> tuple[Run, list[PenaltyTrial]]:
        """The search with the λ and k that foretell the rows held out best, and what each foretold, over all folds."""
        folds, trials = judge.folds(n_folds, seed), list[PenaltyTrial]()
        for regularization in strengths(judge):
            runs = [self.run(train, regularization, heldout) for train, heldout in folds]
            if not all(run.converged for run in runs):
                return self.run(judge, regularization)._replace(converged=False), trials
            longest = max(len(run.values) for run in runs)
            # A search that ended earlier would have stayed as it was, or been worse.
            ended = [[*run.values, *[run.values[-1]] * (longest - len(run.values))] for run in runs]
            sums = [fsum(values) for values in zip(*ended, strict=True)]
            trials += [PenaltyTrial(regularization, k, value) for k, value in enumerate(sums, start=1)]
        last = {trial.regularization: trial for trial in trials}  # a search that is over earlier is so at a given k
        best = max(last.values() if self.given_k else trials, key=lambda trial: trial.value)
        most = self.most if self.given_k else min(best.k_max, self.most)
        return replace(self, most=most).run(judge, best.regularization), trials

    def _value(self, run: Run) -> float:
        return run.values[self.best_round(run) - 1]


def strengths(judge: Selectable) -> list[float]:
    """The λ to try."""
    return [strength * log(judge.n_variables) / judge.n_rows for strength in STRENGTHS]
