"""The screen of separator evidence: pairs to weigh by marginal evidence, and by evidence given blankets.

The screen takes every variable's strongest partners by marginal evidence in one pass over all pairs, and later the best
of all others given the blanket found so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms._search import Constraints, check_cancelled
from mnlearn.graphs.candidates import Candidates, Keys, keys_of
from mnlearn.graphs.strongest_pairs import StrongestPairs
from mnlearn.protocols import BoolArray, EvidenceScore, FloatArray, Monitor, VarSet

MOST_FOR_ALL_PAIRS = 1000  # variables; of more a screen chooses the candidates
STRONGEST, RESCANNED = 20, 20  # least partners of each variable by marginal evidence, and given a blanket
PAIRS_TOGETHER = 1 << 18  # pairs in one call; the monitor is polled between calls


def highest(values: FloatArray, k: int) -> NDArray[np.intp]:
    """Return the places of the k highest values, ascending; of equal ones the first."""
    if len(values) <= k:
        return np.arange(len(values))
    bar = np.partition(values, len(values) - k)[-k]
    above, level = np.flatnonzero(values > bar), np.flatnonzero(values == bar)
    return np.sort(np.concatenate([above, level[: k - len(above)]]))


def strongest_pairs(judge: EvidenceScore, known: Constraints, monitor: Monitor) -> tuple[Candidates, BoolArray]:
    """Return the pairs that are among the strongest of either variable by marginal evidence, to first order.

    And for each variable, whether it has evidence with any other: a constant has none. Evidence for an edge of a pair
    that is not listed is explained by its neighbours, so the odds of the others are those against an edge.
    """
    n = judge.n_variables
    everyone = np.arange(n, dtype=np.int32)
    strongest = StrongestPairs(n, listed_partners(n))
    for xs in _blocks(range(n - 1), [n - 1 - x for x in range(n - 1)]):
        check_cancelled(monitor)
        monitor.progress(xs[0], n, "screen")
        found = judge.pairs(xs, [frozenset()] * len(xs), [everyone[x + 1 :] for x in xs], fit_above=inf)
        for x, row in zip(xs, found, strict=True):
            strongest.add(x, row.log_factor)
    listed = Candidates(n, strongest.keys(), strongest.mean_odds_of_others())
    return listed.without(known.fixed), strongest.varies()


def listed_partners(n_variables: int) -> int:
    """Return how many partners of each variable are listed: about as many pairs in all as without a screen."""
    return max(STRONGEST, MOST_FOR_ALL_PAIRS**2 // (2 * n_variables))


def rescanned_pairs(
    judge: EvidenceScore, xs: Sequence[int], blankets: Sequence[VarSet], varies: BoolArray, monitor: Monitor
) -> Keys:
    """Return the keys of the pairs of each x with the RESCANNED best of all others given its blanket.

    They are ranked by `rankings` of the judge, or to first order. Others that do not vary are left out.
    """
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
