"""Centrality of the variables of a weighted network.

With w_ij the weight of an edge, 0 without an edge, and shortest paths by the lengths 1 / |w_ij|:

- strength: Σ_j |w_ij|;
- expected influence: Σ_j w_ij; in two steps: EI_i + Σ_j w_ij EI_j  [RMM16];
- closeness: (k / (n − 1))² / Σ d_ij over the k variables that a path reaches, which is 1 / Σ_j d_ij in a connected
  network  [OAS10];
- betweenness: Σ_{j<k} of the share of the shortest paths between j and k that pass through i;
- bridge strength and bridge expected influence: the sums over the variables of other groups only  [JMM21].
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.errors import InputError
from mnlearn.evaluation.centrality import CENTRALITIES, MOST_BY_PATHS, centralities, z_scores_of
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.results.edges import Frame, frame_of

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned
    from mnlearn.visual.appearance import Groups

_log = logging.getLogger("mnlearn.results")


def centrality_table(learned: Learned, groups: Groups | None, z_scores: bool, frame: Frame | None) -> Any:
    """Return the centralities of a network as a table; see `Learned.centrality`."""
    if not isinstance(z_scores, bool):
        raise InputError(f"z_scores must be True or False; got {z_scores!r:.80}. Leave it out for raw values.")
    labels = group_labels(learned, groups)
    found = centralities_of(learned, labels)
    columns: dict[str, tuple[str, list[Any]]] = {
        "variable": ("string", list(learned.names)),
        "group": ("string", labels),
    }
    for name, values in found.items():
        numbers = (z_scores_of(values) if z_scores else values).tolist()
        columns[name] = ("double", [None] * len(numbers) if np.isnan(values).all() else numbers)
    return frame_of(columns, learned.frame if frame is None else frame)


def centralities_of(learned: Learned, labels: Sequence[str | None]) -> dict[str, FloatArray]:
    """Return each centrality of a learned network, one number per variable."""
    if learned.weights is None:
        raise InputError(
            "centrality needs the weights of the edges; this network has neither data nor saved weights, or too many "
            "edges. Attach the data: learned.with_data(data); of a large network, use learned.around(names)."
        )
    edges = learned.graph.edges
    weights = np.array([[learned.weights.values.get(edge, 0.0) for edge in edges]], dtype=np.float64)
    found = centralities(len(learned.names), edges, weights, numbered_groups(labels))
    if len(labels) > MOST_BY_PATHS:
        _log.warning("no closeness and betweenness of more than %d variables", MOST_BY_PATHS)
        if not any(labels):
            _log.warning("no bridges without groups of more than %d variables; give groups=", MOST_BY_PATHS)
            found |= {name: np.full_like(found[name], np.nan) for name in CENTRALITIES if name.startswith("bridge")}
    return {name: values[0] for name, values in found.items()}


def group_labels(learned: Learned, groups: Groups | None) -> list[str | None]:
    """Return the group of each variable: the one given, else its community as a number from 1; None without one.

    Communities are found up to `MOST_BY_PATHS` variables.
    """
    from mnlearn.visual.appearance import group_numbers
    from mnlearn.visual.figure_data import relative_strengths
    from mnlearn.visual.layout import communities

    if groups is not None:
        numbers, names = group_numbers(learned.names, groups)
        return [names[k] if k >= 0 else None for k in numbers.tolist()]
    if len(learned.names) > MOST_BY_PATHS:
        return [None] * len(learned.names)
    strengths = None if learned.weights is None else relative_strengths(learned.weights)
    found = communities(learned.graph, strengths=strengths)
    return [str(k + 1) if k >= 0 else None for k in found.tolist()]


def numbered_groups(labels: Sequence[str | None]) -> IntArray:
    """Return the groups as numbers; variables without a group are a group each."""
    known = {label: k for k, label in enumerate(dict.fromkeys(label for label in labels if label is not None))}
    numbers = [-1 - x if label is None else known[label] for x, label in enumerate(labels)]
    return np.array(numbers, dtype=np.int64)
