"""Edges and pairs of a learned network: their numbers, their order, and tables of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

import numpy as np

from mnlearn.data.writers import FrameKind, first_installed_frame, require_frame
from mnlearn.errors import InputError, check_name, is_number
from mnlearn.graphs.graph import Edge
from mnlearn.numbers import logistic
from mnlearn.protocols import Result

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned


Frame: TypeAlias = FrameKind
SUPPORT_TITLES = {"log_independence": "log p", "log_odds": "log odds"}


class LearnedEdge(NamedTuple):
    """One pair by name, with its support on the scale of the result and its weight (`Learned.weights`).

    The probability is known for separator evidence and for averages over all graphs. The log odds of other scores rank
    the edges, but most are too overconfident to be turned into probabilities. The frequency is the share of resampled
    data sets in which the pair is an edge.
    """

    u: str
    v: str
    weight: float | None
    support: float | None
    probability: float | None = None
    frequency: float | None = None


def kind_of_frame(data: object) -> Frame | None:
    """Return the library of a data frame; None for files, dicts, arrays and other frames."""
    package = type(data).__module__.partition(".")[0]
    return next((kind for kind in get_args(Frame) if kind == package), None)


def edge_frame(
    columns: Mapping[str, list[Any]], kind: Frame | None, *, always: Sequence[str] = (), **more: Sequence[bool]
) -> Any:
    """Return a data frame or an Arrow table with the ends, the support and every other known number of the edges.

    An edge without support has a missing value there. The columns in `always` are present in any case, so that code
    which reads them also works for a network without edges.
    """
    found: dict[str, tuple[str, list[Any]]] = {name: ("string", columns[name]) for name in ("u", "v")}
    for name in ("weight", "support", "probability", "frequency"):
        if name in ("support", *always) or any(value is not None for value in columns[name]):
            found[name] = ("double", columns[name])
    found |= {name: ("bool", list(values)) for name, values in more.items()}
    return frame_of(found, kind)


def frame_of(columns: Mapping[str, tuple[str, list[Any]]], kind: Frame | None) -> Any:
    """Return the columns, each with its type (string, double, int or bool) and values, as a table of this library."""
    kind = first_installed_frame() if kind is None else kind
    check_name("kind of data frame", kind, get_args(Frame))
    module = require_frame(kind)
    if kind == "pandas":
        types = {"string": "object", "double": "float64", "int": "int64", "bool": "bool"}
        return module.DataFrame({n: module.Series(v, dtype=types[t]) for n, (t, v) in columns.items()})
    if kind == "polars":
        types = {"string": module.String, "double": module.Float64, "int": module.Int64, "bool": module.Boolean}
        return module.DataFrame([module.Series(n, v, dtype=types[t]) for n, (t, v) in columns.items()])
    kinds = {"string": module.string(), "double": module.float64(), "int": module.int64(), "bool": module.bool_()}
    return module.table({n: module.array(v, type=kinds[t]) for n, (t, v) in columns.items()})


def ranked_edges(learned: Learned) -> list[LearnedEdge]:
    """Return the edges, the best supported first; edges without support last, ties in the order of the variables."""
    return list(map(LearnedEdge, *edge_columns(learned).values()))


def first_edges(learned: Learned, most: int | None) -> list[LearnedEdge]:
    """Return the first of `ranked_edges`; of a large network without the others."""
    return list(map(LearnedEdge, *edge_columns(learned, most).values()))


def edge_columns(learned: Learned, most: int | None = None) -> dict[str, list[Any]]:
    """Return the fields of `ranked_edges` as columns; of the first edges if a number is given."""
    support = learned.result.support
    return _columns(learned, {edge: support.get(edge) for edge in learned.graph.edges}, most)


def ranked_pairs(learned: Learned, least: float) -> list[LearnedEdge]:
    """Return every pair with a known number and at least this probability, in the order of `ranked_edges`."""
    if not is_number(least) or not 0 <= least <= 1:
        raise InputError(f"least must be a probability, from 0 to 1; got {least!r}. Leave it out for every pair.")
    known = pair_support(learned)
    if known is None:
        raise InputError(
            f"pairs must have been kept by the search; got a result of {learned.method} without them. Learn again with "
            "keep_pairs=True (sep), keep_absent=True (hill climbing), averaging=True (exhaustive) or keep_trace=True "
            "(methods by tests); or resample: learned.bootstrap()."
        )
    found = list(map(LearnedEdge, *_columns(learned, known).values()))
    return [pair for pair in found if _chance(pair) >= least] if least > 0 else found


def pair_support(learned: Learned) -> dict[Edge, float | None] | None:
    """Return the support of each pair with a known number, absent ones too; None if there are none."""
    found, known = learned.result, _kept_support(learned.result)
    for others in (found.edge_probabilities, learned.frequencies):
        if others is not None:
            known = {**dict.fromkeys(others), **(known or {})}
    if known is None:
        return None
    return {**known, **{edge: found.support.get(edge, known.get(edge)) for edge in learned.graph.edges}}


def _kept_support(found: Result) -> dict[Edge, float | None] | None:
    """Return the support that a search kept of all pairs: log odds, absent pairs, or its trace of tests."""
    if found.log_odds is not None:
        n = len(found.log_odds)
        return {(u, v): float(found.log_odds[u, v]) for u in range(n) for v in range(u + 1, n)}
    if found.absent is not None:
        return dict(found.absent)
    if found.trace is None:
        return None
    surest: dict[Edge, float] = {}  # of an absent pair: the test with most support for independence
    for asked in found.trace:
        pair = (min(asked.x, asked.y), max(asked.x, asked.y))
        if asked.independent and asked.log_support is not None and not isnan(asked.log_support):
            surest[pair] = max(asked.log_support, surest.get(pair, -inf))
    return dict(surest)


def _columns(learned: Learned, support: Mapping[Edge, float | None], most: int | None = None) -> dict[str, list[Any]]:
    """Return these pairs by name with their numbers, the best supported first; others by probability and frequency."""
    pairs, values = list(support), list(support.values())
    numbers = edge_numbers(learned, pairs, values)
    sign = -1.0 if learned.support_scale == "log_odds" else 1.0
    certain = np.array([inf if value is None else sign * value for value in values], dtype=np.float64)
    chance = np.zeros(len(pairs))
    for name in ("frequency", "probability"):  # the probability of a pair, if it has one
        known = np.array([np.nan if value is None else value for value in numbers[name]], dtype=np.float64)
        chance = np.where(np.isnan(known), chance, known)
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((ends[:, 1], ends[:, 0], -chance, certain))[:most].tolist()
    names = learned.names
    found = {"u": [names[pairs[k][0]] for k in order], "v": [names[pairs[k][1]] for k in order]}
    return found | {name: [column[k] for k in order] for name, column in numbers.items()}


def edge_numbers(
    learned: Learned, pairs: Sequence[Edge], support: Sequence[float | None]
) -> dict[str, list[float | None]]:
    """Return the weight, the support, the probability and the frequency of each pair; None where there is none."""
    found, nothing, weights = learned.result, [None] * len(pairs), learned.weights
    known = nothing if found.edge_probabilities is None else list(map(found.edge_probabilities.get, pairs))
    if found.probabilistic:
        odds = np.array([np.nan if value is None else value for value in support], dtype=np.float64)
        chance = zip(known, support, logistic(odds).tolist(), strict=True)
        known = [p if p is not None or value is None else own for p, value, own in chance]
    return {
        "weight": [*nothing] if weights is None else list(map(weights.values.get, pairs)),
        "support": list(support),
        "probability": [*known],
        "frequency": [*nothing] if learned.frequencies is None else _frequencies(learned.frequencies, pairs),
    }


def named_edge(learned: Learned, edge: Edge, support: float | None) -> LearnedEdge:
    """Return one pair by name with all its known numbers."""
    numbers = edge_numbers(learned, [edge], [support])
    return LearnedEdge(learned.names[edge[0]], learned.names[edge[1]], *(column[0] for column in numbers.values()))


def _frequencies(frequencies: Mapping[Edge, float], pairs: Sequence[Edge]) -> list[float | None]:
    return [frequencies.get(pair, 0.0) for pair in pairs]


def extra_columns(learned: Learned) -> list[str]:
    """Return the columns besides support that every data frame of this result has."""
    probable = learned.result.probabilistic or learned.result.edge_probabilities is not None
    known = {"weight": learned.weights, "frequency": learned.frequencies}
    return ["probability"] * probable + [name for name, values in known.items() if values is not None]


def _chance(pair: LearnedEdge) -> float:
    """Return the probability of a pair or, if the method has none, its frequency."""
    return next((value for value in (pair.probability, pair.frequency) if value is not None), 0.0)


def printable(text: str) -> str:
    """Return the text with control characters escaped, safe for a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
