"""A learned network as plain values: what `mnlearn learn --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.graphs.graph import Edge, Graph

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned


def document(learned: Learned) -> dict[str, object]:
    """All of it, `support`, `probability` and `frequency` in the order of `edges`."""
    edges = learned.edge_list()
    frequency = {} if learned.frequencies is None else {"frequency": [edge.frequency for edge in edges]}
    return {
        "method": learned.method,
        "choice": learned.choice,
        "variables": list(learned.names),
        "edges": [[edge.u, edge.v] for edge in edges],
        "support": [edge.support for edge in edges],
        "probability": [edge.probability for edge in edges],
        **frequency,
        "support_scale": learned.support_scale,
        "score": learned.score,
        "converged": learned.converged,
        "cost": dict(learned.cost),
        "settings": {name: plain(value) for name, value in learned.settings.items()},
        **_beside(learned),
        **_resampled(learned),
    }


def _resampled(learned: Learned) -> dict[str, object]:
    """How often each pair was an edge, absent ones too, and in which samples."""
    if learned.frequencies is None:
        return {}
    pairs = [[*_pair(learned, edge), share] for edge, share in learned.frequencies.items()]
    record = learned.resampling
    return {"frequencies": pairs, "resampling": None if record is None else asdict(record)}


def _beside(learned: Learned) -> dict[str, object]:
    """What only some methods find."""
    found, names = learned.result, learned.names
    beside: dict[str, object] = {}
    if found.stages:
        beside["stages"] = {name: _named(learned, graph) for name, graph in found.stages.items()}
    if found.alternatives:
        beside["alternatives"] = [{"edges": _named(learned, g), "score": value} for g, value in found.alternatives]
    if found.edge_probabilities is not None:
        beside["edge_probabilities"] = [[names[u], names[v], p] for (u, v), p in found.edge_probabilities.items()]
    elif found.log_odds is not None:
        beside["edge_probabilities"] = [[pair.u, pair.v, pair.probability] for pair in learned.pair_list()]
    return beside | _kept(learned)


def _kept(learned: Learned) -> dict[str, object]:
    """What a search was told to keep: the mass of the best graph; steps of a climb, the support of absent pairs."""
    found: Any = learned.result
    kept: dict[str, object] = {}
    if getattr(found, "mass", None) is not None:
        kept["mass"] = found.mass
    if getattr(found, "steps", None) is not None:
        kept["steps"] = [{"flip": step.edge and _pair(learned, step.edge), "score": step.score} for step in found.steps]
    if getattr(found, "absent", None) is not None:
        kept["absent"] = [[*_pair(learned, pair), support] for pair, support in found.absent.items()]
    return kept


def _named(learned: Learned, graph: Graph) -> list[list[str]]:
    """The edges of a graph by name."""
    return [_pair(learned, edge) for edge in graph.edges]


def _pair(learned: Learned, edge: Edge) -> list[str]:
    """Two variables by name."""
    return [learned.names[x] for x in edge]


def plain(value: object) -> object:
    """A setting as JSON knows it; an object of the user's own is named."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    return value if value is None or isinstance(value, str | int | float) else repr(value)
