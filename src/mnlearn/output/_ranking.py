"""Which edges and pairs a result knows something about, and in which order they are told."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, is_number
from mnlearn.graphs.graph import Edge
from mnlearn.output._frames import LearnedEdge
from mnlearn.protocols import Result

if TYPE_CHECKING:
    from mnlearn.output.found import Found


def ranked_edges(learned: Found) -> list[LearnedEdge]:
    """The edges, the best supported first; one without support comes last, ties in the order of the variables."""
    support = dict(learned.result.support)
    return _ranked(learned, {edge: support.get(edge) for edge in learned.graph.edges})


def ranked_pairs(learned: Found, least: float) -> list[LearnedEdge]:
    """Every pair of which something is known, in the same order, if it is an edge with at least this probability."""
    if not is_number(least) or not 0 <= least <= 1:
        raise InputError(f"least must be a probability, from 0 to 1; got {least!r}. Leave it out for every pair.")
    known = pair_support(learned)
    if known is None:
        raise InputError(
            f"pairs must have been kept by the search; got a result of {learned.method} without them. Learn again with "
            "keep_pairs=True (sep), keep_absent=True (climbs), averaging=True (exhaustive) or keep_trace=True (methods "
            "by tests); or resample: learned.bootstrap()."
        )
    found = _ranked(learned, known)
    return [pair for pair in found if _chance(pair) >= least] if least > 0 else found


def pair_support(learned: Found) -> dict[Edge, float | None] | None:
    """The support of each pair of which something is known, absent ones too; None if that is nothing."""
    found, known = learned.result, _kept_support(learned.result)
    for others in (found.edge_probabilities, learned.frequencies):
        if others is not None:
            known = {**dict.fromkeys(others), **(known or {})}
    if known is None:
        return None
    return {**known, **{edge: found.support.get(edge, known.get(edge)) for edge in learned.graph.edges}}


def _kept_support(found: Result) -> dict[Edge, float | None] | None:
    """What a search was told to keep of all pairs: log-odds, those of absent pairs, or its questions."""
    if found.log_odds is not None:
        n = len(found.log_odds)
        return {(u, v): float(found.log_odds[u, v]) for u in range(n) for v in range(u + 1, n)}
    absent: Any = getattr(found, "absent", None)
    if absent is not None:
        return dict(absent)
    if found.trace is None:
        return None
    surest: dict[Edge, float | None] = {}  # of an absent pair: the test that speaks most for its independence
    for asked in found.trace:
        pair = (min(asked.x, asked.y), max(asked.x, asked.y))
        if asked.independent and asked.log_support is not None:
            surest[pair] = max(asked.log_support, surest.get(pair) or -inf)
    return surest


def _ranked(learned: Found, support: dict[Edge, float | None]) -> list[LearnedEdge]:
    """These pairs by name, the best supported first; what has no support, by probability and frequency."""
    sign = -1.0 if learned.support_scale == "log_odds" else 1.0
    named = {edge: named_edge(learned, edge, value) for edge, value in support.items()}

    def key(edge: Edge) -> tuple[float, float, Edge]:
        pair = named[edge]
        return (inf if pair.support is None else sign * pair.support, -_chance(pair), edge)

    return [named[edge] for edge in sorted(named, key=key)]


def named_edge(learned: Found, edge: Edge, support: float | None) -> LearnedEdge:
    """One pair by name, with all that is known of it."""
    found, frequencies = learned.result, learned.frequencies
    probability = None if found.edge_probabilities is None else found.edge_probabilities.get(edge)
    if probability is None and support is not None and found.probabilistic:
        probability = float(probabilities_of(np.array(support)))
    frequency = None if frequencies is None else frequencies.get(edge, 0.0)
    return LearnedEdge(learned.names[edge[0]], learned.names[edge[1]], support, probability, frequency)


def numbers_told(learned: Found) -> list[str]:
    """What else than support a result tells of its edges, also where it has none."""
    probable = learned.result.probabilistic or learned.result.edge_probabilities is not None
    return ["probability"] * probable + ["frequency"] * (learned.frequencies is not None)


def _chance(pair: LearnedEdge) -> float:
    """The probability of a pair or, where a method has none, its frequency."""
    return next((value for value in (pair.probability, pair.frequency) if value is not None), 0.0)


def probabilities_of(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(−x)), without overflow at either end."""
    small = np.exp(-np.abs(log_odds))
    return np.where(log_odds >= 0, 1.0, small) / (1.0 + small)
