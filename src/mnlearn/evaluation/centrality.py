"""Centralities of weighted networks: sums of weights, and shortest paths by the lengths 1 / |weight|.

All of them are computed for many networks over the same pairs at once, one row of weights each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mnlearn.protocols import FloatArray, IntArray

CENTRALITIES: Mapping[str, str] = {
    "strength": "strength",
    "expected_influence": "expected influence",
    "expected_influence_2": "expected influence, two steps",
    "closeness": "closeness",
    "betweenness": "betweenness",
    "bridge_strength": "bridge strength",
    "bridge_expected_influence": "bridge expected influence",
}
MOST_BY_PATHS = 5_000  # variables with closeness and betweenness
_SAME = 1e-12  # share of a length; paths that differ by less are equally short
_BLOCK = 2_000_000  # numbers held at a time


def z_scores_of(values: FloatArray) -> FloatArray:
    """Return z-scores, with the standard deviation of a sample; zeros if all values are equal.

    Examples
    --------
    >>> z_scores_of(np.array([1.0, 2.0, 3.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    centred = values - values.mean()
    spread = float(np.sqrt((centred**2).sum() / max(len(values) - 1, 1)))
    clear = spread > _SAME * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    return np.asarray(centred / spread if clear else np.zeros_like(centred))


def centralities(
    n: int, edges: Sequence[tuple[int, int]], weights: FloatArray, groups: IntArray
) -> dict[str, FloatArray]:
    """Return the centralities of networks over the same variables.

    Parameters
    ----------
    n
        Number of variables.
    edges
        The pairs.
    weights
        One row per network, one column per pair; 0 without an edge.
    groups
        The group of each variable, as a number.

    Returns
    -------
    dict
        For each of `CENTRALITIES` one row per network, one column per variable. Closeness and betweenness are NaN for
        more than `MOST_BY_PATHS` variables: the shortest paths of all pairs would take hours.

    Examples
    --------
    >>> chain = centralities(3, [(0, 1), (1, 2)], np.array([[0.5, -0.25]]), np.array([0, 0, 1]))
    >>> chain["strength"].tolist(), chain["expected_influence"].tolist(), chain["betweenness"].tolist()
    ([[0.5, 0.75, 0.25]], [[0.5, 0.25, -0.25]], [[0.0, 1.0, 0.0]])
    """
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    across = groups[ends[:, 0]] != groups[ends[:, 1]]
    influence = _sums(n, ends, weights)
    closeness, betweenness = _by_paths(n, ends, weights)
    return {
        "strength": _sums(n, ends, np.abs(weights)),
        "expected_influence": influence,
        "expected_influence_2": influence + _sums(n, ends, weights, influence),
        "closeness": closeness,
        "betweenness": betweenness,
        "bridge_strength": _sums(n, ends[across], np.abs(weights[:, across])),
        "bridge_expected_influence": _sums(n, ends[across], weights[:, across]),
    }


def _sums(n: int, ends: IntArray, weights: FloatArray, of: FloatArray | None = None) -> FloatArray:
    """Return Σ_j w_ij of each variable i, or Σ_j w_ij x_j; one row per network."""
    found = np.zeros((len(weights), n))
    for here, there in (ends.T, ends.T[::-1]):
        values = weights if of is None else weights * of[:, there]
        np.add.at(found.T, here, values.T)
    return found


# Shortest paths.


def _by_paths(n: int, ends: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return closeness and betweenness, some networks at a time."""
    closeness, betweenness = np.zeros((len(weights), n)), np.zeros((len(weights), n))
    if n > MOST_BY_PATHS:
        return np.full_like(closeness, np.nan), np.full_like(betweenness, np.nan)
    if not len(ends):
        return closeness, betweenness
    around, through = _padded_neighbors(n, ends)
    at_once = max(1, _BLOCK // (n * n * around.shape[1]))
    with np.errstate(divide="ignore"):
        lengths = 1.0 / np.abs(weights)
    for k in range(0, len(weights), at_once):
        part = lengths[k : k + at_once]
        distances = np.stack([_distances(n, ends, one) for one in part])
        closeness[k : k + at_once] = _closeness(distances)
        padded = np.concatenate([part, np.full((len(part), 1), np.inf)], axis=1)
        betweenness[k : k + at_once] = _betweenness(distances, around, padded[:, through])
    return closeness, betweenness


def _padded_neighbors(n: int, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return the neighbours of each variable and the places of their edges; n and the number of edges pad the rows."""
    sides = np.concatenate([ends, ends[:, ::-1]])
    places = np.tile(np.arange(len(ends)), 2)
    order = np.argsort(sides[:, 0], kind="stable")
    counts = np.bincount(sides[:, 0], minlength=n)
    column = np.arange(len(sides)) - np.repeat(np.cumsum(counts) - counts, counts)
    around = np.full((n, int(counts.max())), n, dtype=np.int64)
    through = np.full(around.shape, len(ends), dtype=np.int64)
    around[sides[order, 0], column], through[sides[order, 0], column] = sides[order, 1], places[order]
    return around, through


def _distances(n: int, ends: IntArray, lengths: FloatArray) -> FloatArray:
    """Return the length of the shortest path between any two variables; inf without a path."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    kept = np.isfinite(lengths)
    places = ends[kept].astype(np.int32)  # dijkstra of SciPy 1.14 takes no other integers
    matrix = csr_array((lengths[kept], (places[:, 0], places[:, 1])), shape=(n, n))
    return np.asarray(dijkstra(matrix, directed=False), dtype=np.float64)


def _closeness(distances: FloatArray) -> FloatArray:
    """Return (k / (n − 1))² / Σ d over the k variables in reach; 0 without any."""
    reached = np.isfinite(distances)
    count, total = reached.sum(axis=2) - 1, np.where(reached, distances, 0.0).sum(axis=2)
    share = count / max(distances.shape[1] - 1, 1)
    return np.asarray(np.divide(share**2, total, out=np.zeros_like(total), where=total > 0))


def _betweenness(distances: FloatArray, around: IntArray, lengths: FloatArray) -> FloatArray:
    """Return Σ_{j<k} of the share of shortest paths through each variable, by Brandes' recursion  [B01].

    All sources of all networks advance together, one variable each, in the order of the distance from the source.
    """
    n_networks, n = distances.shape[:2]
    order = np.argsort(distances, axis=2, kind="stable")
    known = np.concatenate([distances, np.full((n_networks, n, 1), np.inf)], axis=2)  # the last one pads
    paths, passed = np.zeros_like(known), np.zeros_like(known)
    paths[:, np.arange(n), np.arange(n)] = 1.0
    rows = np.arange(n_networks)[:, None]

    def before(x: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the neighbours of x, and the number of shortest paths from the source that reach x from each."""
        near = around[x[:, :, 0]]
        length = np.take_along_axis(known, near, axis=2) + lengths[rows, x[:, :, 0]]
        last = np.isfinite(length) & (length <= np.take_along_axis(known, x, axis=2) * (1 + _SAME))
        return near, np.where(last, np.take_along_axis(paths, near, axis=2), 0.0)

    for step in range(1, n):
        x = order[:, :, step, None]
        np.put_along_axis(paths, x, before(x)[1].sum(axis=2, keepdims=True), axis=2)
    for step in range(n - 1, 0, -1):
        x = order[:, :, step, None]
        near, counts = before(x)
        own, total = np.take_along_axis(passed, x, axis=2), np.take_along_axis(paths, x, axis=2)
        share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0) * (1.0 + own)
        np.put_along_axis(passed, near, np.take_along_axis(passed, near, axis=2) + share, axis=2)
    at_source = passed[:, np.arange(n), np.arange(n)]
    return np.asarray((passed[:, :, :n].sum(axis=1) - at_source) / 2)
