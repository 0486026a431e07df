"""Learned networks: samples, explanations, comparisons, files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.records import EDGE, FILE, RESULT, attributes, columns, edges, explained, held, learned
from golden.tables import as_dataset, binary, small, survey
from mnlearn.graphs import FORMATS

case = cases_of(__name__)


@case("learn bootstrap", "subsamples", 12)
def bootstrap(sampling: Any, n_samples: int) -> object:
    """Resample the rows, and select the stable edges."""
    found = mn.learn(survey(), "mpl", n_jobs=jobs()).bootstrap(n_samples, sampling=sampling, seed=7, n_jobs=jobs())
    stable = found.stable(0.6)
    return {"found": learned(found), "stable": stable.graph, "pairs": edges(found.pair_list(0.1))}


case("learn bootstrap rows", "bootstrap", 8)(bootstrap)
case("learn bootstrap halves", "halves", 10)(bootstrap)


@case("learn why")
def why() -> object:
    """Explain an edge and an absent edge."""
    methods = ("sep", "mpl", "pc", "ib")
    found = {method: mn.learn(survey(), method, n_jobs=jobs()) for method in methods}
    pairs = (("poor_sleep", "fatigue"), ("night_shifts", "fatigue"))
    return {f"{m} {x} {y}": explained(found[m].why(x, y)) for m in methods for x, y in pairs}


@case("compare networks")
def networks() -> object:
    """Compare two learned networks."""
    one, other = mn.learn(survey(), "mpl"), mn.learn(survey(), "pc")
    return one.compare(other).to_dict()


def saved(method: str, extension: str) -> object:
    """Save a learned network and read the file."""
    found = mn.learn(survey(), method, n_jobs=jobs())
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


for _extension in ("json", "graphml", "csv"):
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
            mn.learn(small(), method, n_jobs=jobs(), **settings).save(path)
            found[method] = learned(mn.load(path))
    return found


@case("columns of every output")
def columns_of_every_output() -> object:
    """List the columns and fields of tables, documents, files and the summary: all of them, here alone."""
    found = mn.learn(binary(), "sep", keep_pairs=True, n_jobs=jobs()).bootstrap(3, n_jobs=jobs())
    intervals = found.intervals(3, relearn=False, n_jobs=jobs())
    grouped = mn.compare_groups(survey(), "night_shifts", "mpl", n_permutations=2, n_jobs=jobs())
    model = mn.fit_parameters(found, binary())
    a, b = found.names[:2]
    documents: dict[str, Any] = {
        "network": found.to_dict(),
        "resampling": found.to_dict()["resampling"],
        "why": found.why(a, b).to_dict(),
        "test of why": found.why(a, b).tests[0]._asdict(),
        "test": mn.independence_test(binary(), a, b, n_jobs=jobs()).to_dict(),
        "score": mn.score(binary(), found, "mpl", n_jobs=jobs()).to_dict(),
        "edge": found.edge_list()[0]._asdict(),
        "blanket": mn.blanket(binary(), a, n_jobs=jobs()).to_dict(),
        "difference": found.compare(found).to_dict(),
        "groups": grouped.to_dict(),
        "evaluation": mn.evaluate(found, found).to_dict(),
        "validation": mn.validate(found, binary(), n_triplets=20, folds=2, n_jobs=jobs()).to_dict(),
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
        "stability": found.stability(28, relearn=False, n_jobs=jobs()).table("pyarrow"),
        "edges of groups": grouped.edges("pyarrow"),
        "tests of groups": grouped.tests("pyarrow"),
        "centralities of groups": grouped.centrality("pyarrow"),
        "screen": mn.screen(binary(), 2, n_jobs=jobs()).pairs("pyarrow"),
        "blanket": mn.blanket(binary(), a, n_jobs=jobs()).table("pyarrow"),
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
            if name != "dot":
                first = next(iter(mn.read_graph(path, name).attributes.values()), {})
                held_of_edges[name] = sorted(first)
        document = json.loads((Path(folder) / "network.json").read_text(encoding="utf-8"))
    return {"edges": held_of_edges, "document": sorted(document), "result": sorted(document["result"])}


# --- Weights, centrality, predictability ----------------------------------------------------------------------------

WEIGHED: dict[str, tuple[str, str]] = {
    "log odds ratio": ("binary", "sep"),
    "mutual information": ("states", "mpl"),
    "mutual information with gaps": ("answers gaps", "pc"),
    "mutual information of weighted rows": ("answers weights", "mpl"),
    "partial correlation": ("sizes", "sep"),
    "partial correlation with gaps": ("sizes gaps", "sep"),
    "partial correlation of weighted rows": ("sizes weights", "sep"),
    "partial correlation of ratings": ("ratings", "sep"),
    "partial correlation of ratings with gaps": ("ratings gaps", "sep"),
    "partial correlation of counts": ("events", "sep"),
    "standardised interaction": ("clinic", "sep"),
    "standardised interaction with gaps": ("clinic gaps", "sep"),
    "standardised interaction of repeated rows": ("clinic repeats", "sep"),
}


@cache
def network(data: str, method: str) -> mn.Learned:
    """Return the network of a table, learned once."""
    return mn.learn(as_dataset(data), method, n_jobs=jobs())


def weighed(data: str, method: str) -> object:
    """Return the weights of a network, and the centralities and predictabilities that follow."""
    found = network(data, method)
    assert found.weights is not None
    return {
        "edges": found.graph.edges,
        "measure": found.weights.measure,
        "ordered": found.weights.ordered,
        "weights": found.weights.values,
        "centrality": columns(found.centrality(dict.fromkeys(found.names[:3], "first"), frame="pyarrow")),
        "predictability": [prediction._asdict() for prediction in found.predictability_list(4, seed=1)],
    }


for _name, (_data, _method) in WEIGHED.items():
    case(f"weights {_name}", _data, _method)(weighed)


@case("weights penalised partial correlation", close=True)
def penalised() -> object:
    """Return the weights that the graphical lasso estimates, and those of a whole matrix."""
    found = mn.learn(as_dataset("sizes"), "glasso", n_jobs=jobs())
    assert found.weights is not None
    return {"measure": found.weights.measure, "weights": found.weights.values}


@case("centrality")
def central() -> object:
    """Compute centralities by communities, as z scores, and of a part of a network."""
    found = network("sizes", "sep")
    near = found.around("n3")
    return {
        "centralities": {
            "communities": columns(found.centrality(frame="pyarrow")),
            "z scores": columns(found.centrality(z_scores=True, frame="pyarrow")),
            "near": columns(near.centrality(frame="pyarrow")),
        },
        "near": near.graph,
        "among": learned(found.among(["n0", "n1", "n2", "n3"])),
        "adjacency": {"weights": found.adjacency(weighted=True).toarray().tolist()},
    }


# --- Samples --------------------------------------------------------------------------------------------------------


def intervals(data: str, n_samples: int, **settings: Any) -> object:
    """Draw rows, and return the intervals of weights and centralities, and tests of two differences."""
    found = network(data, "sep").intervals(n_samples, seed=5, n_jobs=jobs(), **settings)
    edges, first, names = found.edges("pyarrow"), found.learned.graph.edges, found.learned.names
    one, other = [(names[u], names[v]) for u, v in first[:2]]
    return {
        "pairs": [edges["u"].to_pylist(), edges["v"].to_pylist(), edges["edge"].to_pylist()],
        "frequency": edges["frequency"].to_pylist(),
        "intervals": {name: edges[name].to_pylist() for name in ("weight", "mean", "low", "high")},
        "centralities": columns(found.centrality("pyarrow")),
        "sampling": [found.sampling, found.level, found.relearn, found.done],
        "statistics": found.difference_test(one, other)._asdict(),
    }


case("intervals sizes", "sizes", 12, relearn=False)(intervals)
case("intervals clinic", "clinic", 3, relearn=False)(intervals)
case("intervals ratings halves", "ratings", 4, sampling="halves", level=0.8)(intervals)
case("intervals gaps", "sizes gaps", 6, relearn=False)(intervals)
case("intervals weights", "sizes weights", 4)(intervals)


def stability(data: str, **settings: Any) -> object:
    """Drop rows, and return the correlations of centralities with those of all rows."""
    found = network(data, "sep").stability(28, seed=5, n_jobs=jobs(), **settings)
    means = {name: found.correlations[name].reshape(14, -1).mean(axis=1) for name in ("weight", "strength")}
    return {"stability": means, "coefficient": found.cs_coefficient, "dropped": found.dropped}


case("stability sizes", "sizes", relearn=False)(stability)
case("stability ratings", "ratings", relearn=False, correlation=0.5)(stability)


def resampled(data: str, method: str, **settings: Any) -> object:
    """Learn from drawn rows, and return the frequencies of the pairs."""
    found = network(data, method).bootstrap(seed=6, n_jobs=jobs(), **settings)
    return {"found": learned(found), "stable": found.stable(0.7).graph, "pairs": edges(found.pair_list(0.2))}


case("resample clinic gaps", "clinic gaps", "pc", n_samples=3)(resampled)
case("resample ratings", "ratings", "sep", n_samples=4, sampling="halves")(resampled)
case("resample answers weights", "answers weights", "mpl", n_samples=5, sampling="bootstrap")(resampled)
case("resample sizes gaps", "sizes gaps", "gsmn", n_samples=5)(resampled)


# --- Explanations and files -----------------------------------------------------------------------------------------


def explanations(data: str, method: str) -> object:
    """Explain an edge and an absent edge."""
    found = network(data, method)
    absent = found.graph.complement().edges
    pairs = [found.graph.edges[0], found.graph.edges[-1], absent[0], absent[-1]]
    return [explained(found.why(found.names[u], found.names[v])) for u, v in pairs]


for _data, _method in (("clinic", "sep"), ("clinic gaps", "pc"), ("ratings gaps", "sep"), ("sizes gaps", "sep")):
    case(f"why {_method} {_data}", _data, _method)(explanations)
case("why mpl answers repeats", "answers repeats", "mpl")(explanations)


def reloaded(data: str, method: str) -> object:
    """Save a result, load it, attach the data, and explain and draw as before."""
    found = network(data, method)
    u, v = (found.names[x] for x in found.graph.edges[0])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.json"
        found.save(path)
        alone = mn.load(path)
    again = alone.with_data(as_dataset(data))
    return {
        "alone": learned(alone),
        "equal": again == found,
        "why": explained(again.why(u, v)),
        "frequencies": again.bootstrap(3, seed=1, n_jobs=jobs()).frequencies,
        "predictability": [prediction._asdict() for prediction in again.predictability_list(3)],
    }


for _data, _method in (("clinic gaps", "sep"), ("ratings", "sep"), ("sizes gaps", "pc")):
    case(f"file json with data {_data}", _data, _method)(reloaded)
