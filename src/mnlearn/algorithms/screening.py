"""Candidates of a search among many variables: the strongest partners of each, and what is found on the way.

A search over n variables that looks at every pair takes time and memory of n². A screen lists the strongest partners of
each variable by marginal evidence, in one pass that stores no matrix. What has no marginal trace is found later: given
the first partner of each variable, among the neighbours of its neighbours, and given its whole blanket.

Judges with a fast screen have a method `strongest` (`ScreeningJudge`). For all others `strongest_pairs` weighs every
pair once and keeps the strongest.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from mnlearn.algorithms.base import Cancelled, check_cancelled
from mnlearn.errors import InputError, UnsuitableError, true_or_false, whole_number
from mnlearn.graphs.candidates import Candidates, check_candidates
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.strongest_pairs import StrongestPairs
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
