"""Blankets among candidates: a closed list, or one that grows while the blankets do.

A screen lists the strongest partners of each variable by marginal evidence. What has no marginal trace joins the list
later: the strongest of all variables given the first member of a blanket, the neighbours of neighbours, and the
strongest of all variables given the blanket.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import STOPPED, Constraints, check_cancelled
from mnlearn.algorithms.climbs import BlanketPhase
from mnlearn.algorithms.screening import RESCANNED, Screening
from mnlearn.errors import UnsuitableError
from mnlearn.graphs.candidates import Candidates, Keys, check_candidates, near_pairs_of
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.variable_lists import VariableLists, both_ends, edge_keys
from mnlearn.protocols import Monitor, RescanningJudge, ScreeningJudge

MOST_GIVEN = 4  # members of a blanket that such a scan conditions on, in the order in which they joined


class ScreenedBlankets:
    """Blankets climbed among candidate pairs.

    Parameters
    ----------
    phase
        The blankets, at the start of the search.
    known, start
        Forbidden pairs are no candidates; required edges and those of the start are.
    given
        The candidates: a closed list, or how to find them.
    """

    def __init__(self, phase: BlanketPhase, known: Constraints, start: Graph, given: Candidates | Screening) -> None:
        self.rescanned = 0  # pairs
        self._phase, self._known, self._start, self._given = phase, known, start, given
        self.candidates = Candidates(known.n_variables, np.empty(0, dtype=np.int64))

    def climb(self, judge: object, monitor: Monitor) -> bool:
        """Climb to the local optimum; return False if the monitor stops it before."""
        everyone = np.arange(self._known.n_variables, dtype=np.int32)
        try:
            if isinstance(self._given, Candidates):
                self._list(self._given)
                self._climb(everyone, monitor)
            else:
                self._climb_and_grow(self._given, everyone, judge, monitor)
        except STOPPED:
            return False
        return True

    def _climb_and_grow(
        self, screening: Screening, everyone: NDArray[np.int32], judge: object, monitor: Monitor
    ) -> None:
        """Climb among candidates that grow by neighbours of neighbours and, with rescans, by scans of all variables."""
        self._list(screening.strongest(_screening_judge(judge, screening), monitor))
        check_cancelled(monitor)
        if screening.rescans:
            self._climb(everyone, monitor, most=1)
            self._rescan(judge, monitor)
        self._climb(everyone, monitor)
        self._add_neighbors_of_neighbors(monitor)
        if screening.rescans:
            self._climb(self._rescan(judge, monitor), monitor)
            self._add_neighbors_of_neighbors(monitor)

    def _list(self, listed: Candidates) -> None:
        """Begin with these candidates, the start and the required edges."""
        keys = edge_keys(self._start)
        self.candidates = Candidates(listed.n_variables, listed.keys).with_keys(keys).without(self._known.forbidden)

    def _climb(self, xs: NDArray[np.int32], monitor: Monitor, *, most: int | None = None) -> None:
        self._phase.climb_among(xs, VariableLists(*self.candidates.lists()), monitor, most=most)

    def _add_neighbors_of_neighbors(self, monitor: Monitor) -> None:
        """Climb again where neighbours of neighbours are new candidates, until none is."""
        while len(xs := self._add(near_pairs_of(self._known.n_variables, both_ends(self._phase.lists)[1]))):
            self._climb(xs, monitor)

    def _rescan(self, judge: object, monitor: Monitor) -> NDArray[np.int32]:
        """Add the strongest of all variables given each blanket; return the variables with new candidates."""
        n, blankets = self._known.n_variables, self._phase.lists.first(MOST_GIVEN)
        xs = np.flatnonzero(blankets.sizes).astype(np.int32)
        given = blankets.chosen(xs)
        found = _rescanning_judge(judge).strongest_given(xs, given.sets(), RESCANNED, monitor)
        check_cancelled(monitor)
        self.rescanned += len(xs) * (n - 1) - int(given.sizes.sum())
        return self._add(found.keys)

    def _add(self, keys: Keys) -> NDArray[np.int32]:
        """Add these pairs unless they are forbidden; return the variables with new candidates."""
        n = self._known.n_variables
        new = Candidates(n, self.candidates.others(keys)).without(self._known.forbidden)
        self.candidates = self.candidates.with_keys(new.keys)
        return np.unique(np.concatenate([new.u, new.v])).astype(np.int32)


def check_screened(given: Candidates | Screening | None, judge: object, n_variables: int) -> None:
    """Raise InputError or UnsuitableError unless the judge can find these candidates, or knows their variables."""
    if isinstance(given, Candidates):
        check_candidates(given, n_variables)
    elif given is not None:
        _screening_judge(judge, given)
        if given.rescans:
            _rescanning_judge(judge)


def _screening_judge(judge: object, screening: Screening) -> ScreeningJudge:
    if screening.listed is None and not isinstance(judge, ScreeningJudge):
        raise UnsuitableError(
            f"a screen needs a judge with strongest; a {type(judge).__name__} has none. Use MPL or PIC, or give the "
            "candidates."
        )
    return judge  # type: ignore[return-value]  # only `n_variables` is used where the pairs are listed


def _rescanning_judge(judge: object) -> RescanningJudge:
    if not hasattr(judge, "strongest_given"):
        raise UnsuitableError(
            f"rescans need a judge with strongest_given; a {type(judge).__name__} has none. Use MPL or PIC, or "
            "rescans=False."
        )
    return judge  # type: ignore[return-value]  # `strongest` is not needed where the pairs are listed
