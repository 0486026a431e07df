"""One call from data to a network: threads, checkpoints, comparisons of methods and groups."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import mnlearn as mn
from golden.engine import cases_of
from golden.records import learned
from golden.tables import binary, survey
from mnlearn import simulate

case = cases_of(__name__)


@case("learn with two threads equals one", "sep", "gsimn", "mpl", "bjp")
def two_threads(*methods: str) -> object:
    """Learn with two threads."""
    return {method: learned(mn.learn(binary(), method, n_jobs=2)) for method in methods}


@case("learn with a checkpoint")
def checkpointed() -> object:
    """Learn with a checkpoint, and again from what it holds."""
    with TemporaryDirectory() as folder:
        runs = {}
        for method in ("gsimn", "mpl", "hillclimb"):
            where = Path(folder) / method
            runs[method] = learned(mn.learn(survey(), method, checkpoint=where))
            runs[f"{method} resumed"] = learned(mn.learn(survey(), method, checkpoint=where, resume=True))
    return runs


@case("compare methods")
def compare_methods() -> object:
    """Compare methods with the true network."""
    made = simulate.simulate("grid:rows=3,columns=3", "odds:theta=1.5", n_rows=300, seed=8)
    rows = mn.compare(made.data, made.truth, ["sep", "mpl", "gsimn", "pc"], n_jobs=1)
    return [{"method": row.method, "edges": row.edges, "graph": row.learned and row.learned.graph} for row in rows]


@case("compare groups")
def groups() -> object:
    """Compare the networks of two groups by permutations."""
    found = mn.compare_groups(survey(), "night_shifts", "mpl", n_permutations=20, seed=4, n_jobs=1)
    return {
        "groups": found.groups,
        "networks": [network.graph for network in found.networks],
        "statistics": found.statistics,
        "pairs": found.pairs,
        "centralities": found.centralities,
        "difference": found.difference.to_dict(),
    }
