"""Permutation tests of differences between the weighted networks of several groups  [NCT22].

An assignment gives each row to a group, and each group has a network. The first assignment is the real one, the others
are permutations of it. A number of a network (a weight, a sum of weights) is compared with its mean over all
assignments, so that a group which is smaller than the others, and finds fewer edges for that reason alone, does not
differ. What is left is compared between the groups by its standard deviation, in which a group counts by its rows. For
two groups this is the difference of the two, apart from a factor.

A p-value is the share of the assignments, the real one included, whose statistic is at least that of the real one. The
mean does not depend on which assignment is the real one. So the p-values are exact if the rows are exchangeable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from mnlearn.protocols.statistics import FloatArray, IntArray

Correction: TypeAlias = Literal["max", "holm", "fdr", "none"]
_ROUNDING = 1e-9  # statistics as large as the real one up to this count as reaching it
_BLOCK = 4_000_000  # numbers held at a time


class WeightedEdges(NamedTuple):
    """The edges of a network, one row (u, v) with u < v each, and their weights."""

    ends: IntArray
    weights: FloatArray


class Tested(NamedTuple):
    """Numbers of each group (rows) and the p-values of their differences; `p_max` is by the largest difference."""

    values: FloatArray
    p: FloatArray
    p_max: FloatArray


class NetworkTests(NamedTuple):
    """Differences between the networks of some groups, by index.

    `whole` has value and p-value of each statistic of whole networks, `edges` the pairs that are an edge in one of the
    real networks, `weights` the tests of these, `centralities` those of each variable by the name of the measure.
    """

    whole: Mapping[str, tuple[float, float]]
    edges: IntArray
    weights: Tested
    centralities: Mapping[str, Tested]


def network_tests(
    assignments: Sequence[Sequence[WeightedEdges]], rows: Sequence[int], n_variables: int
) -> NetworkTests:
    """Compare the networks of each assignment, the first of which is the real one.

    Parameters
    ----------
    assignments
        The networks of the groups by each assignment.
    rows
        Number of rows of each group.
    n_variables
        Number of variables.
    """
    real = assignments[0]
    edges = np.unique(np.concatenate([one.ends for one in real]), axis=0)
    largest, differences, weights = _pair_statistics(assignments, rows, n_variables, edges)
    unshared = np.array([[_unshared(networks)] for networks in assignments])
    totals = np.array([[[np.abs(one.weights).sum()] for one in networks] for networks in assignments])
    nodes = {
        "strength": _sums(assignments, n_variables, absolute=True),
        "expected_influence": _sums(assignments, n_variables, absolute=False),
    }
    whole = {
        "edges": (float(unshared[0, 0]), float(p_values(unshared)[0])),
        "strength": (_size(totals[0], rows), float(p_values(_statistic(totals, rows))[0])),
        "largest": (_size(weights, rows), float(p_values(largest[:, None])[0])),
    }
    tested = Tested(weights, p_values(differences), p_values(largest[:, None], differences[0]))
    return NetworkTests(whole, edges, tested, {name: _tested(sums, rows) for name, sums in nodes.items()})


def spread(values: FloatArray, rows: Sequence[int]) -> FloatArray:
    """Return the standard deviation along the last axis but one, which has the groups, weighted by their rows.

    Examples
    --------
    >>> spread(np.array([[1.0], [3.0]]), [50, 50]).tolist()
    [1.0]
    """
    shares = np.asarray(rows, dtype=np.float64)[:, None] / sum(rows)
    centre = (shares * values).sum(axis=-2, keepdims=True)
    return np.asarray(np.sqrt((shares * (values - centre) ** 2).sum(axis=-2)))


def p_values(statistics: FloatArray, real: FloatArray | None = None) -> FloatArray:
    """Return the share of the rows that reach the first row, or `real`, in each column; the first row counts as one.

    Examples
    --------
    >>> p_values(np.array([[2.0, 0.0], [1.0, 0.0], [3.0, 1.0], [1.0, 2.0]])).tolist()
    [0.5, 1.0]
    """
    real = statistics[0] if real is None else real
    return np.asarray((statistics >= real - _ROUNDING * np.maximum(1.0, np.abs(real))).mean(axis=0))


def corrected(p: FloatArray, correction: Correction, n_tests: int | None = None) -> FloatArray:
    """Correct p-values by Holm's step down or by the false discovery rate of Benjamini and Hochberg.

    Parameters
    ----------
    p
        The p-values.
    correction
        ``"none"`` returns them as they are, ``"fdr"`` corrects the false discovery rate, others by Holm.
    n_tests
        Number of tests, if there are more than these: the others count as p = 1.

    Examples
    --------
    >>> corrected(np.array([0.01, 0.04]), "holm").tolist()
    [0.02, 0.04]
    """
    m = len(p) if n_tests is None else n_tests
    if correction == "none" or not len(p):
        return p
    order = np.argsort(p, kind="stable")
    place = np.arange(len(p))
    found = np.empty(len(p))
    if correction == "fdr":
        found[order] = np.minimum.accumulate((p[order] * m / (place + 1))[::-1])[::-1]
    else:
        found[order] = np.maximum.accumulate(p[order] * (m - place))
    return np.minimum(found, 1.0)


def _sums(assignments: Sequence[Sequence[WeightedEdges]], n_variables: int, *, absolute: bool) -> FloatArray:
    """Return the sum of the weights of each variable in each network, or of their absolute values."""

    def sums(one: WeightedEdges) -> FloatArray:
        weights = np.abs(one.weights) if absolute else one.weights
        return np.asarray(np.bincount(one.ends.ravel(), np.repeat(weights, 2), n_variables), dtype=np.float64)

    return np.array([[sums(one) for one in networks] for networks in assignments])


def _tested(values: FloatArray, rows: Sequence[int]) -> Tested:
    """Test the numbers of each assignment and group, one column each."""
    statistics = _statistic(values, rows)
    return Tested(values[0], p_values(statistics), p_values(statistics.max(axis=1, keepdims=True), statistics[0]))


def _unshared(networks: Sequence[WeightedEdges]) -> float:
    """Return the number of pairs that are an edge in some of the networks, but not in all of them."""
    found = [set(map(tuple, one.ends.tolist())) for one in networks]
    return float(len(set.union(*found)) - len(set.intersection(*found)))


def _size(values: FloatArray, rows: Sequence[int]) -> float:
    """Return the largest difference of two groups, or the largest standard deviation between more."""
    found = np.abs(values[0] - values[1]) if len(rows) == 2 else spread(values, rows)
    return float(found.max(initial=0.0))


def _statistic(values: FloatArray, rows: Sequence[int]) -> FloatArray:
    """Return the spread between the groups of what each value exceeds its mean over the assignments by."""
    return spread(values - values.mean(axis=0), rows)


def _pair_statistics(
    assignments: Sequence[Sequence[WeightedEdges]], rows: Sequence[int], n_variables: int, tested: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the largest statistic of a pair by each assignment, those of the tested pairs, and their real weights.

    The weights are held for some pairs at a time: all of them by all assignments may not fit into memory.
    """
    networks = [one for among in assignments for one in among]
    codes = np.concatenate([one.ends[:, 0] * n_variables + one.ends[:, 1] for one in networks])
    pairs, column = np.unique(codes, return_inverse=True)
    order = np.argsort(column, kind="stable")
    owner = np.repeat(np.arange(len(networks)), [len(one.weights) for one in networks])[order]
    column, weights = column[order], np.concatenate([one.weights for one in networks])[order]
    wanted = np.searchsorted(pairs, tested[:, 0] * n_variables + tested[:, 1])
    largest, kept = np.zeros(len(assignments)), np.zeros((len(assignments), len(wanted)))
    real = np.zeros((len(rows), len(wanted)))
    size = max(1, _BLOCK // len(networks))
    for first in range(0, len(pairs), size):
        last = min(first + size, len(pairs))
        low, high = np.searchsorted(column, (first, last))
        dense = np.zeros((len(networks), last - first))
        dense[owner[low:high], column[low:high] - first] = weights[low:high]
        grouped = dense.reshape(len(assignments), len(rows), last - first)
        statistics = _statistic(grouped, rows)
        np.maximum(largest, statistics.max(axis=1), out=largest)
        here = np.flatnonzero((wanted >= first) & (wanted < last))
        kept[:, here] = statistics[:, wanted[here] - first]
        real[:, here] = grouped[0][:, wanted[here] - first]
    return largest, kept, real
