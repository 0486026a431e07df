"""What a learned network gives: samples, explanations, comparisons, files."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnlearn as mn
from golden.engine import cases_of
from golden.records import learned
from golden.tables import small, survey

case = cases_of(__name__)


@case("learn bootstrap", "subsamples", 12)
def bootstrap(sampling: Any, n_samples: int) -> object:
    """Resample the rows, and select the stable edges."""
    found = mn.learn(survey(), "mpl", n_jobs=1).bootstrap(n_samples, sampling=sampling, seed=7, n_jobs=1)
    stable = found.stable(0.6)
    return {"found": learned(found), "stable": stable.graph, "pairs": found.pair_list(0.1)}


case("learn bootstrap rows", "bootstrap", 8)(bootstrap)
case("learn bootstrap halves", "halves", 10)(bootstrap)


@case("learn why")
def why() -> object:
    """Explain an edge and an absent edge."""
    methods = ("sep", "mpl", "pc", "ib")
    found = {method: mn.learn(survey(), method, n_jobs=1) for method in methods}
    pairs = (("poor_sleep", "fatigue"), ("night_shifts", "fatigue"))
    return {f"{m} {x} {y}": found[m].why(x, y).to_dict() for m in methods for x, y in pairs}


@case("compare networks")
def networks() -> object:
    """Compare two learned networks."""
    one, other = mn.learn(survey(), "mpl"), mn.learn(survey(), "pc")
    return one.compare(other).to_dict()


def saved(method: str, extension: str) -> object:
    """Save a learned network and read the file."""
    found = mn.learn(survey(), method, n_jobs=1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"network.{extension}"
        found.save(path)
        text = path.read_text(encoding="utf-8")
        read = mn.read_graph(path)
    again = {"graph": read.graph, "names": read.names}
    if extension == "json":
        return {"file": json.loads(text), **again}
    return {"file": text.splitlines(), **again}


for _extension in ("json", "graphml", "gml", "dot", "csv", "edges"):
    case(f"file {_extension} sep", "sep", _extension)(saved)
for _method in ("pc", "mpl", "mbs"):
    case(f"file json {_method}", _method, "json")(saved)


@case("file json loaded")
def loaded() -> object:
    """Save whole results and load them again."""
    runs: dict[str, dict[str, Any]] = {
        "sep": {"keep_pairs": True},
        "gsimn": {"keep_trace": True},
        "ib": {"keep_steps": True, "keep_absent": True},
    }
    found = {}
    for method, settings in runs.items():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "network.json"
            mn.learn(small(), method, n_jobs=1, **settings).save(path)
            found[method] = learned(mn.load(path))
    return found
