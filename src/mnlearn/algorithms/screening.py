"""Candidates of a search among many variables: the strongest partners of each, and what is found on the way.

A search over n variables that looks at every pair takes time and memory of n². A screen lists the strongest partners of
each variable by marginal evidence, in one pass that stores no matrix. What has no marginal trace is found later: given
the first partner of each variable, among the neighbours of its neighbours, and given its whole blanket.

Judges with a fast screen have a method `strongest` (`ScreeningJudge`). For all others `strongest_pairs` weighs every
pair once and keeps the strongest.

Blankets among candidates: a closed list, or one that grows while the blankets do.

A screen lists the strongest partners of each variable by marginal evidence. What has no marginal trace joins the list
later: the strongest of all variables given the first member of a blanket, the neighbours of neighbours, and the
strongest of all variables given the blanket.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Cancelled, Constraints, check_cancelled
from mnlearn.algorithms.climbs import BlanketPhase
from mnlearn.errors import InputError, UnsuitableError, true_or_false, whole_number
from mnlearn.graphs.candidates import (
    Candidates,
    Keys,
    StrongestPairs,
    VariableLists,
    both_ends,
    check_candidates,
    edge_keys,
    near_pairs_of,
)
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import FloatArray, IndependenceTest, Monitor, RescanningJudge, ScreeningJudge, with_defaults

PAIRS_TOGETHER = 1 << 18  # pairs in one call of a judge; the monitor is polled between calls
RESCANNED = 10
"""Number of partners of each variable that a scan of all others given its blanket adds."""
_NO_SCREEN = "Give the candidates themselves: pairs, or lists of variables."


@dataclass(frozen=True, kw_only=True)
class Screening:
    """How the candidates of a search are found.

    Parameters
    ----------
    k
        Number of the strongest partners of each variable by marginal evidence.
    rescans
        Whether to scan all variables again given the first partner of each, and given its blanket. It takes most of
        the time, and finds neighbours that depend on a variable only given others.
    listed
        The strongest partners, where they are known already; None to screen.

    Examples
    --------
    >>> Screening(k=10, rescans=False)
    Screening(k=10, rescans=False, listed=None)
    """

    k: int = 20
    rescans: bool = True
    listed: Candidates | None = None

    def __post_init__(self) -> None:
        whole_number("k", self.k, least=1, hint="20 is usual.")
        true_or_false(rescans=self.rescans)

    def strongest(self, judge: object, monitor: Monitor) -> Candidates:
        """Return the pairs that are among the k strongest of either variable."""
        if self.listed is None:
            return strongest_pairs(judge, self.k, monitor)
        check_candidates(self.listed, judge.n_variables)  # type: ignore[attr-defined]
        return self.listed


CandidateRule: TypeAlias = Candidates | Screening | None
"""Candidates of a learner: a closed list, how they are found, or None for all pairs."""


def check_rule(candidates: object) -> None:
    """Raise InputError unless the value is a `CandidateRule`."""
    if not isinstance(candidates, Candidates | Screening | None):
        raise InputError(
            f"candidates must be Candidates, a Screening or None; got a {type(candidates).__name__}. "
            "Use Screening() for the strongest partners of each variable."
        )


def first_candidates(candidates: CandidateRule, judge: object, monitor: Monitor) -> Candidates | None:
    """Return the pairs that a search begins with: the closed list, or the strongest pairs; None for all pairs."""
    if candidates is None:
        return None
    if isinstance(candidates, Screening):
        return candidates.strongest(judge, monitor)
    check_candidates(candidates, judge.n_variables)  # type: ignore[attr-defined]
    return candidates


def closed_candidates(candidates: CandidateRule, judge: object, monitor: Monitor) -> Candidates | None:
    """Return `first_candidates` of a search that adds none; no pairs at all if the monitor cancels the screen."""
    try:
        return first_candidates(candidates, judge, monitor)
    except Cancelled:
        return Candidates(judge.n_variables, np.empty(0, dtype=np.int64))  # type: ignore[attr-defined]


def stated(learner: Any) -> dict[str, object]:
    """Return the settings of a learner as its result states them; candidates only where there are any."""
    given = {field.name: getattr(learner, field.name) for field in fields(learner)}
    rule = given.pop("candidates", None)
    return deepcopy(given) | ({} if rule is None else {"candidates": rule})


def strongest_pairs(judge: object, k: int, monitor: Monitor) -> Candidates:
    """Return the pairs that are among the k strongest of either variable, by the judge's screen or by all its answers.

    Notes
    -----
    Without a screen of the judge: a test answers about every pair given nothing, and the lowest support of independence
    is the strongest; a score weighs every edge in the graph without others; a judge of mutual information has its
    matrix. Memory is that of 2 k partners of each variable and of one block of pairs, unless the judge itself has
    a number for every pair.
    """
    if isinstance(judge, ScreeningJudge):
        found = judge.strongest(k, monitor)
        check_cancelled(monitor)  # a screen that is cancelled lists some pairs only
        return found
    rows = _rows_of_evidence(judge)
    n: int = judge.n_variables  # type: ignore[attr-defined]
    strongest = StrongestPairs(n, k)
    for x, row in rows:
        if x % 64 == 0:
            check_cancelled(monitor)
            monitor.progress(x, n, "screen")
        strongest.add(x, np.where(np.isnan(row), 0.0, row))
    return Candidates(n, strongest.keys())


def _rows_of_evidence(judge: object) -> Iterator[tuple[int, FloatArray]]:
    """Yield each x but the last with the evidence of x and every later variable."""
    if hasattr(judge, "scan"):
        return _rows_of_test(judge)  # type: ignore[arg-type]
    if hasattr(judge, "on"):
        return _rows_of_score(judge)
    if hasattr(judge, "information"):
        return ((x, row[x + 1 :]) for x, row in enumerate(judge.information()[:-1]))
    raise UnsuitableError(
        f"a screen needs a judge that weighs pairs of variables; a {type(judge).__name__} does not. {_NO_SCREEN}"
    )


def _rows_of_test(test: IndependenceTest) -> Iterator[tuple[int, FloatArray]]:
    """Yield minus the log support of independence: 0 where the test is sure of it."""
    judge = with_defaults(test)
    n, blocks = judge.n_variables, judge.scan_pairs()
    if blocks is None:
        for x in range(n - 1):
            yield x, -judge.scan(x, list(range(x + 1, n)), frozenset()).log_support
        return
    for xs, answers in blocks:
        ends = np.cumsum([n - 1 - x for x in xs])
        for x, row in zip(xs, np.split(-answers.log_support, ends[:-1]), strict=True):
            yield x, row


def _rows_of_score(score: Any) -> Iterator[tuple[int, FloatArray]]:
    """Yield the gain of each edge in the graph without others, or how little its absence fits there."""
    n = score.n_variables
    bare = score.on(Graph.empty(n))
    for x in range(n - 1):
        if hasattr(bare, "pairwise"):
            yield x, -bare.pairwise[x, x + 1 :]
        else:
            yield x, bare.gains([(x, y) for y in range(x + 1, n)])


def grown_candidates(
    candidates: Candidates, graph: Graph, screening: Screening, judge: object, monitor: Monitor
) -> Candidates:
    """Return the candidates with the neighbours of neighbours in a graph; with rescans those given the blankets, too.

    A judge that cannot scan all variables given blankets (`RescanningJudge`) adds none.
    """
    found = candidates.with_graph(graph)
    if screening.rescans and isinstance(judge, RescanningJudge):
        n = graph.n_variables
        blankets = [graph.neighbors(x) for x in range(n)]
        found = found.with_keys(judge.strongest_given(range(n), blankets, RESCANNED, monitor).keys)
    return found


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
        except Cancelled:
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
