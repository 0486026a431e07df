"""The screen of separator evidence: pairs to weigh by marginal evidence, and by evidence given blankets.

The screen takes every variable's strongest partners by marginal evidence in one pass over all pairs, and later the best
of all others given the blanket found so far. Of very many variables the judge itself finds both, by a statistic that is
counted faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Constraints, check_cancelled
from mnlearn.algorithms.screening import Screening
from mnlearn.graphs.candidates import Candidates, Keys, keys_of
from mnlearn.graphs.strongest_pairs import StrongestPairs
from mnlearn.numbers import exp
from mnlearn.protocols import (
    BoolArray,
    EvidenceScore,
    FloatArray,
    Indices,
    Monitor,
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
