"""Layout of a network: coordinates, communities, an order of the variables, and the labels that fit.

All three come from the graph alone and from a seed, so that the same network gives the same picture every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mnlearn.graphs.graph import Graph
from mnlearn.protocols import FloatArray, IntArray

_EXACT_UP_TO = 320  # nodes: a layout by all distances keeps them apart best, and takes two seconds there
_SPREAD = 1.7  # the area of a component per node, in squares of one edge
_GAP = 1.2  # between components, in edges
_ORDERED_UP_TO = 400  # nodes: the best order of the leaves takes time in their cube


def positions(graph: Graph, seed: int = 0) -> FloatArray:
    """Return coordinates of each variable, one row each: components are laid out separately, then packed.

    An edge is about 1 long. Small parts are laid out by the distances in the graph (Kamada and Kawai), large ones by
    springs (Fruchterman and Reingold); variables without an edge stand in rows below all others.
    """
    placed = np.zeros((graph.n_variables, 2))
    parts = components(graph)
    joined = [part for part in parts if len(part) > 1]
    boxes = [_turned(_spread(graph, part, seed)) for part in joined]
    corner_of, width, depth = _shelves([np.ptp(box, axis=0) for box in boxes])
    for part, box, corner in zip(joined, boxes, corner_of, strict=True):
        placed[part] = box - [box[:, 0].min(), box[:, 1].max()] + corner
    alone = [part[0] for part in parts if len(part) == 1]
    placed[alone] = _rows_below(len(alone), width, depth)
    return placed


def components(graph: Graph) -> list[list[int]]:
    """Return the connected components, the largest first, each in the order of the variables."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(graph.adjacency(), directed=False)
    parts = [np.flatnonzero(label == part).tolist() for part in range(count)]
    return sorted(parts, key=lambda part: (-len(part), part))


def communities(graph: Graph, seed: int = 0) -> IntArray:
    """Return the Louvain community of each variable, 0 the largest; −1 for a variable without an edge."""
    import networkx as nx

    found = nx.community.louvain_communities(graph.to_networkx(), seed=seed)
    groups = sorted((sorted(group) for group in found), key=lambda group: (-len(group), group))
    number = np.full(graph.n_variables, -1, dtype=np.int64)
    for k, group in enumerate(group for group in groups if graph.degree(group[0])):
        number[group] = k
    return number


def clustering_order(graph: Graph) -> IntArray:
    """Return the variables in the order of the leaves of an average-linkage clustering of graph distances.

    Variables in different parts of the graph are one step further apart than any two in the same part.
    """
    from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering
    from scipy.sparse.csgraph import shortest_path
    from scipy.spatial.distance import squareform

    joined = np.flatnonzero(graph.degrees())
    if len(joined) < 3:
        return np.concatenate([joined, np.setdiff1d(np.arange(graph.n_variables), joined)]).astype(np.int64)
    steps = shortest_path(graph.adjacency()[joined][:, joined], unweighted=True, directed=False)
    near = np.where(np.isinf(steps), steps[np.isfinite(steps)].max() + 1, steps)
    condensed = squareform(near, checks=False)
    tree = linkage(condensed, "average")
    if len(joined) <= _ORDERED_UP_TO:
        tree = optimal_leaf_ordering(tree, condensed)
    alone = np.setdiff1d(np.arange(graph.n_variables), joined)
    return np.concatenate([joined[_leaves(tree)], alone]).astype(np.int64)


def _leaves(tree: FloatArray) -> IntArray:
    """Return the leaves of the tree from left to right."""
    from scipy.cluster.hierarchy import leaves_list

    return np.asarray(leaves_list(tree), dtype=np.int64)


def _spread(graph: Graph, part: Sequence[int], seed: int) -> FloatArray:
    """Lay out one connected component and scale it."""
    import networkx as nx

    inside: Any = graph.to_networkx().subgraph(part)
    ordered = nx.Graph()  # a subgraph lists its nodes in no order that is promised
    ordered.add_nodes_from(part)
    ordered.add_edges_from(sorted(tuple(sorted(edge)) for edge in inside.edges))
    if len(part) <= _EXACT_UP_TO:
        found = nx.kamada_kawai_layout(ordered)
    else:
        found = nx.spring_layout(ordered, seed=seed, iterations=150, k=2.5 / sqrt(len(part)))
    places = np.array([found[x] for x in part], dtype=np.float64)
    index = {x: k for k, x in enumerate(part)}
    ends = np.array([(index[u], index[v]) for u, v in ordered.edges])
    return places * _scale(places, ends)


def _scale(places: FloatArray, ends: IntArray) -> float:
    """Return the scale at which an edge has length 1, or more if the component would be crowded."""
    edge = float(np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1).mean())
    width, height = np.ptp(places, axis=0)
    roomy = sqrt(_SPREAD * len(places) / max(width * height, 1e-9))
    longest = min(1.2 + len(places) / 15, 3.0)  # a pair of variables needs no room
    return float(np.clip(roomy, 1.0 / edge, longest / edge))


def _turned(places: FloatArray) -> FloatArray:
    """Rotate the coordinates so that the picture is wider than high."""
    centred = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    longest = axes[:, 1] * (1.0 if axes[np.argmax(np.abs(axes[:, 1])), 1] > 0 else -1.0)
    rotation = np.array([[longest[0], -longest[1]], [longest[1], longest[0]]])
    return np.asarray(centred @ rotation)


def _shelves(sizes: Sequence[FloatArray]) -> tuple[list[tuple[float, float]], float, float]:
    """Pack boxes on shelves from the top down; return their upper left corners and the total size."""
    area = sum((width + _GAP) * (height + _GAP) for width, height in sizes)
    limit = max([1.3 * sqrt(area), *(float(width) for width, _ in sizes)])
    corners: list[tuple[float, float]] = []
    x = y = shelf = widest = 0.0
    for width, height in sizes:
        if x > 0 and x + width > limit:
            x, y, shelf = 0.0, y - shelf - _GAP, 0.0
        corners.append((x, y))
        widest, shelf, x = max(widest, x + width), max(shelf, float(height)), x + width + _GAP
    return corners, widest, -y + shelf if len(sizes) else -_GAP


def _rows_below(count: int, width: float, depth: float) -> FloatArray:
    """Return coordinates of variables without an edge: rows as wide as the rest, or a square."""
    per_row = max(int(width / _GAP) + 1, ceil(sqrt(1.6 * count)) if width < 4 else 1)
    at = np.arange(count)
    return np.stack([at % per_row * _GAP, -depth - _GAP - at // per_row * 0.9], axis=1).reshape(count, 2)


_WIDE = 0.58  # the width of a letter in font sizes, on average
_HIGH = 1.15


def fitting_labels(
    centers: FloatArray, texts: Sequence[str], font: float, priority: ArrayLike, *, avoid: FloatArray | None = None
) -> list[int]:
    """Return the labels that fit without overlap, by index, in order of priority.

    Parameters
    ----------
    centers
        The middle of each label, one row each, in the unit of the font size.
    texts
        What would be written.
    font
        The font size.
    priority
        The larger, the earlier a label gets its place; ties in the order of the labels.
    avoid
        Places that no label but the one of the same index may cover.
    """
    half = np.array([[len(text) * _WIDE / 2, _HIGH / 2] for text in texts]).reshape(len(texts), 2) * font
    kept: list[int] = []
    for k in np.argsort(-np.asarray(priority, dtype=np.float64), kind="stable"):
        apart = np.abs(centers[kept] - centers[k]) >= half[kept] + half[k]
        if not apart.any(axis=1).all():
            continue
        if avoid is not None and len(texts) > 1:
            others = np.delete(avoid, k, axis=0)
            if not (np.abs(others - centers[k]) >= half[k]).any(axis=1).all():
                continue
        kept.append(int(k))
    return kept
