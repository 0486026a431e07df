"""What golden cases hold of networks and data sets."""

from __future__ import annotations

from typing import Any

import mnlearn as mn
from golden.tables import DATA
from mnlearn.data import Dataset


def learned(found: mn.Learned) -> dict[str, object]:
    """Return all stable parts of what a method found: edges, numbers, cost counters, settings, stages, trace."""
    return {**found.to_dict(), "trace": found.trace, "graph": found.graph, "n_rows": found.n_rows}


def learn(data: str, method: str | None, **settings: Any) -> object:
    """Learn from a data set by name."""
    return learned(mn.learn(DATA[data](), method, n_jobs=1, **settings))


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
