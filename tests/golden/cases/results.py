"""What a learned network gives: samples, explanations, comparisons, files."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnlearn as mn
from golden.engine import cases_of
from golden.records import EDGE, FILE, RESULT, attributes, edges, explained, held, learned
from golden.tables import binary, small, survey
from mnlearn.graphs import FORMATS

case = cases_of(__name__)


@case("learn bootstrap", "subsamples", 12)
def bootstrap(sampling: Any, n_samples: int) -> object:
    """Resample the rows, and select the stable edges."""
    found = mn.learn(survey(), "mpl", n_jobs=1).bootstrap(n_samples, sampling=sampling, seed=7, n_jobs=1)
    stable = found.stable(0.6)
    return {"found": learned(found), "stable": stable.graph, "pairs": edges(found.pair_list(0.1))}


case("learn bootstrap rows", "bootstrap", 8)(bootstrap)
case("learn bootstrap halves", "halves", 10)(bootstrap)


@case("learn why")
def why() -> object:
    """Explain an edge and an absent edge."""
    methods = ("sep", "mpl", "pc", "ib")
    found = {method: mn.learn(survey(), method, n_jobs=1) for method in methods}
    pairs = (("poor_sleep", "fatigue"), ("night_shifts", "fatigue"))
    return {f"{m} {x} {y}": explained(found[m].why(x, y)) for m in methods for x, y in pairs}


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
    if extension != "json":
        return {"graph": read.graph, "names": read.names, "attributes": attributes(read)}
    document = held(json.loads(text), FILE)
    document["edge_attributes"] = held(document["edge_attributes"], EDGE)
    document["result"] = held(document["result"], RESULT)
    return {"file": document, "graph": read.graph, "names": read.names}


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


@case("columns of every output")
def columns_of_every_output() -> object:
    """List the columns and fields of tables, documents, files and the summary: all of them, here alone."""
    found = mn.learn(binary(), "sep", keep_pairs=True, n_jobs=1).bootstrap(3, n_jobs=1)
    intervals = found.intervals(3, n_jobs=1)
    grouped = mn.compare_groups(survey(), "night_shifts", "mpl", n_permutations=2, n_jobs=1)
    model = mn.fit_parameters(found, binary())
    a, b = found.names[:2]
    documents: dict[str, Any] = {
        "network": found.to_dict(),
        "resampling": found.to_dict()["resampling"],
        "why": found.why(a, b).to_dict(),
        "test of why": found.why(a, b).tests[0]._asdict(),
        "test": mn.independence_test(binary(), a, b, n_jobs=1).to_dict(),
        "score": mn.score(binary(), found, "mpl", n_jobs=1).to_dict(),
        "edge": found.edge_list()[0]._asdict(),
        "blanket": mn.blanket(binary(), a, n_jobs=1).to_dict(),
        "difference": found.compare(found).to_dict(),
        "groups": grouped.to_dict(),
        "evaluation": mn.evaluate(found, found).to_dict(),
        "validation": mn.validate(found, binary(), n_triplets=20, folds=2, n_jobs=1).to_dict(),
        "overview": mn.overview(survey()).as_dict(),
        "model": model.to_dict(),
        "strength": model.strengths()[0]._asdict(),
    }
    tables: dict[str, Any] = {
        "edges": found.edges("pyarrow"),
        "pairs": found.pairs(frame="pyarrow"),
        "centrality": found.centrality(frame="pyarrow"),
        "predictability": found.predictability(2, frame="pyarrow"),
        "intervals": intervals.edges("pyarrow"),
        "intervals of centralities": intervals.centrality("pyarrow"),
        "stability": found.stability(28, n_jobs=1).table("pyarrow"),
        "edges of groups": grouped.edges("pyarrow"),
        "tests of groups": grouped.tests("pyarrow"),
        "centralities of groups": grouped.centrality("pyarrow"),
        "screen": mn.screen(binary(), 2, n_jobs=1).pairs("pyarrow"),
        "blanket": mn.blanket(binary(), a, n_jobs=1).table("pyarrow"),
    }
    return {
        "documents": {name: sorted(document) for name, document in documents.items()},
        "tables": {name: table.column_names for name, table in tables.items()},
        "files": fields_of_files(found),
        "summary": found.summary().split("\n\n")[1].splitlines()[0].split(),
    }


def fields_of_files(found: mn.Learned) -> dict[str, object]:
    """Return the fields of a saved network, and those of an edge in each format."""
    held_of_edges: dict[str, list[str]] = {}
    with TemporaryDirectory() as folder:
        for name in FORMATS:
            path = Path(folder) / f"network.{name}"
            found.save(path, format=name)
            first = next(iter(mn.read_graph(path, name).attributes.values()), {})
            held_of_edges[name] = sorted(first)
        document = json.loads((Path(folder) / "network.json").read_text(encoding="utf-8"))
    return {"edges": held_of_edges, "document": sorted(document), "result": sorted(document["result"])}
