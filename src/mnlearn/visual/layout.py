"""Layout of a network: coordinates, communities, an order of the variables, and the labels that fit.

They follow from the graph, the strengths of its edges and a seed: the same network gives the same picture every time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, IntArray

_EXACT_UP_TO = 320  # nodes: a layout by all distances keeps them apart best, and takes two seconds there
_SPREAD = 1.7  # the area of a component per node, in squares of one edge
_GAP = 1.2  # between components, in edges
_ORDERED_UP_TO = 400  # nodes: the best order of the leaves takes time in their cube
_LONGEST = 4.0  # the length of the weakest edge, if that of the strongest is 1
_NEAREST = 0.85  # two variables are never closer, in edges
_TRIES = 10  # searches for communities: one alone often ends at a worse partition
Strengths = Mapping[Edge, float]  # of edges, from 0 to 1


def positions(graph: Graph, seed: int = 0, strengths: Strengths | None = None) -> FloatArray:
    """Return coordinates of each variable, one row each: components are laid out separately, then packed.

    An edge is about 1 long, a weak one longer if the strengths are known. Small parts are laid out by the distances in
    the graph (Kamada and Kawai), large ones by springs (Fruchterman and Reingold); variables without an edge are in
    rows below all others. No two variables overlap.
    """
    placed = np.zeros((graph.n_variables, 2))
    parts = components(graph)
    joined = [part for part in parts if len(part) > 1]
    boxes = [_turned(_spread(graph, part, seed, strengths)) for part in joined]
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


def communities(graph: Graph, seed: int = 0, strengths: Strengths | None = None) -> IntArray:
    """Return the Louvain community of each variable, 0 the largest; −1 for a variable without an edge.

    The partition with the largest modularity of several searches, in which edges count by their strength.
    """
    import networkx as nx

    weighted = graph.to_networkx()
    for edge in graph.edges:
        weighted.edges[edge]["weight"] = 1.0 if strengths is None else max(strengths.get(edge, 0.0), 1e-9)
    tried = [nx.community.louvain_communities(weighted, seed=seed + k) for k in range(_TRIES)] if graph.n_edges else []
    quality = [round(nx.community.modularity(weighted, one), 12) for one in tried]
    found: Sequence[set[int]] = tried[quality.index(max(quality))] if tried else []
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


def block_order(order: IntArray, groups: IntArray) -> IntArray:
    """Return the order with the members of each group side by side; groups by their mean place, loners last."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    mean = {int(group): float(place[groups == group].mean()) for group in np.unique(groups) if group >= 0}
    key = np.array([mean.get(int(group), float(len(order))) for group in groups])
    return np.lexsort((place, groups, key)).astype(np.int64)


def _leaves(tree: FloatArray) -> IntArray:
    """Return the leaves of the tree from left to right."""
    from scipy.cluster.hierarchy import leaves_list

    return np.asarray(leaves_list(tree), dtype=np.int64)


def _spread(graph: Graph, part: Sequence[int], seed: int, strengths: Strengths | None) -> FloatArray:
    """Lay out one connected component and scale it."""
    import networkx as nx

    inside: Any = graph.to_networkx().subgraph(part)
    ordered = nx.Graph()  # a subgraph lists its nodes in no order that is promised
    ordered.add_nodes_from(part)
    for edge in sorted(tuple(sorted(edge)) for edge in inside.edges):
        strength = 1.0 if strengths is None else strengths.get(edge, 0.0)
        length = 1.0 / max(strength, 1.0 / _LONGEST)
        ordered.add_edge(*edge, length=length, pull=1.0 / length)
    if len(part) <= _EXACT_UP_TO:
        found = nx.kamada_kawai_layout(ordered, weight="length")
    else:
        found = nx.spring_layout(ordered, seed=seed, iterations=150, k=2.5 / sqrt(len(part)), weight="pull")
    places = np.array([found[x] for x in part], dtype=np.float64)
    index = {x: k for k, x in enumerate(part)}
    ends = np.array([(index[u], index[v]) for u, v in ordered.edges])
    return pushed_apart(places * _scale(places, ends), _NEAREST)


def pushed_apart(places: FloatArray, least: float) -> FloatArray:
    """Return the places with close pairs moved apart, until no two are closer than `least`."""
    from scipy.spatial import cKDTree

    moved = places.copy()
    for _ in range(300):
        close = cKDTree(moved).query_pairs(least * (1 - 1e-6), output_type="ndarray")
        if not len(close):
            break
        close = close[np.lexsort((close[:, 1], close[:, 0]))]
        away = moved[close[:, 1]] - moved[close[:, 0]]
        distance = np.linalg.norm(away, axis=1, keepdims=True)
        turn = close.sum(axis=1, keepdims=True)  # two at the same place part in a direction of their own
        away = np.where(distance > 1e-9, away / np.maximum(distance, 1e-9), np.hstack([np.cos(turn), np.sin(turn)]))
        step = 0.52 * (least - distance) * away
        np.add.at(moved, close[:, 0], -step)
        np.add.at(moved, close[:, 1], step)
    return moved


def on_circle(order: Sequence[int], radius: float | None = None) -> FloatArray:
    """Return places on a circle, from the top clockwise in this order, one row per variable; neighbours are 1 apart."""
    n = len(order)
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
    wide = radius if radius is not None else 0.0 if n == 1 else max(0.5 / np.sin(np.pi / n), 0.5)
    places = np.empty((n, 2))
    places[np.asarray(order, dtype=np.int64)] = wide * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return places


def on_group_circles(groups: IntArray, order: IntArray) -> FloatArray:
    """Return places with every group on a circle of its own; the circles are around a larger one."""
    kinds = list(dict.fromkeys(groups[order].tolist()))
    members = [[int(x) for x in order if groups[x] == kind] for kind in kinds]
    circles = [on_circle(range(len(group))) for group in members]
    sizes = np.array([np.abs(circle).max(initial=0.5) for circle in circles])
    room = 2 * sizes + 1.6
    around = max(float(room.sum()) / (2 * np.pi), float(room.max()) / 2 if len(kinds) > 1 else 0.0)
    ends = np.cumsum(room)
    angle = np.pi / 2 - 2 * np.pi * (ends - room / 2 - room[0] / 2) / ends[-1]
    centers = (around if len(kinds) > 1 else 0.0) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    places = np.empty((len(groups), 2))
    for group, circle, center in zip(members, circles, centers, strict=True):
        places[group] = circle + center
    return places


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
