"""Parts of networks and data sets that golden cases hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import mnlearn as mn
from golden.engine import jobs
from golden.tables import DATA, declared
from mnlearn.data import Dataset
from mnlearn.results.edges import LearnedEdge

EDGE = ("u", "v", "weight", "support", "probability", "frequency")
NETWORK = (
    *("method", "variables", "edges", "weight", "weight_measure", "support", "probability", "frequency"),
    *("support_scale", "score", "converged", "cost", "settings", "stages", "alternatives", "edge_probabilities"),
    *("mass", "steps", "absent", "frequencies", "resampling"),
)
FILE = ("format", "version", "variables", "edges", "edge_attributes", "result")
RESULT = (
    *("version", "method", "n_rows", "score", "support_scale", "probabilistic", "converged", "cost", "settings"),
    *("support", "stages", "alternatives", "edge_probabilities", "log_odds", "trace", "frequencies", "resampling"),
    *("mass", "steps", "absent", "separators", "weights"),
)
WHY = (
    "x",
    "y",
    "method",
    "edge",
    "support",
    "support_scale",
    "probability",
    "frequency",
    "tests",
    "score",
    "separators",
)
PAIR_TEST = (
    *("given", "test", "independent", "log_support", "statistic", "dof", "asked", "source", "low_expected", "n_rows"),
    "warning",
)
TEST = (
    *("x", "y", "given", "test", "independent", "log_p", "statistic", "dof", "log_independent", "log_dependent"),
    *("low_expected", "transform", "n_rows", "n_incomplete", "warning"),
)
MODEL = (
    *("converged", "edges", "iterations", "kind", "method", "notes", "parameters", "rows", "settings", "sign"),
    *("strength", "variables"),
)
SCORE = ("score", "value", "terms", "transform")


def held(document: Mapping[Any, Any], fields: Collection[str]) -> dict[str, Any]:
    """Return those of the fields that a document has."""
    return {name: document[name] for name in fields if name in document}


def learned(found: mn.Learned) -> dict[str, object]:
    """Return all stable parts of what a method found: edges, numbers, cost counters, settings, stages, trace."""
    return {**held(found.to_dict(), NETWORK), "trace": found.trace, "graph": found.graph, "n_rows": found.n_rows}


def edges(found: Iterable[LearnedEdge]) -> list[dict[str, object]]:
    """Return edges or pairs with their numbers."""
    return [held(edge._asdict(), EDGE) for edge in found]


def attributes(found: mn.NamedGraph) -> dict[Any, dict[str, object]]:
    """Return the numbers of the edges that a file held."""
    return {edge: held(numbers, EDGE) for edge, numbers in found.attributes.items()}


def explained(found: mn.Why) -> dict[str, object]:
    """Return the evidence for or against an edge."""
    document: dict[str, Any] = found.to_dict()
    return {**held(document, WHY), "tests": [held(test, PAIR_TEST) for test in document["tests"]]}


def learn(data: str, method: str | None, **settings: Any) -> object:
    """Learn from a data set by name."""
    source = DATA[data]() if data in DATA else declared(data)
    return learned(mn.learn(source, method, n_jobs=jobs(), **settings))


def contents(data: Dataset) -> dict[str, object]:
    """Return a data set: names, cardinalities, levels, columns, repeats, what was missing."""
    return {
        "names": data.names,
        "cards": data.cards,
        "levels": data.levels,
        "columns": list(data.columns),
        "repeats": data.repeats,
        "missing": data.missing,
        "cuts": data.cuts,
    }


def columns(frame: Any) -> dict[str, list[Any]]:
    """Return an Arrow table as lists."""
    return {name: frame[name].to_pylist() for name in frame.column_names}
