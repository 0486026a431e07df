"""Results as JSON: a graph that every graph reader understands, and beside it the whole result.

    {"format": "mnlearn-graph", "version": 1, "variables": [...], "edges": [...], "edge_attributes": {...},
     "result": {"version": 1, "written_by": "0.1.0", "digest": "...", "method": "sep", ...}}

Variables are indices inside `result`; numbers that JSON lacks are the strings "inf", "-inf" and "nan". The
digest is the SHA-256 of the document without it, with sorted keys and no white space, so that a file that was
changed by hand is rejected. A reader refuses a newer version than its own and reads every older one.
Data are not in it, nor are the graphs of an exhaustive search and the directions of PC.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from mnlearn.errors import DataError, FileError, InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.markup import graph_of_json, json_document_of, json_of_graph
from mnlearn.graphs.named import Attributes, NamedGraph, parser_errors
from mnlearn.protocols import Question, Result, Step
from mnlearn.results.edges import kind_of_frame

if TYPE_CHECKING:
    from mnlearn.analysis.samples import Resampling
    from mnlearn.regression.weights import EdgeWeights
    from mnlearn.results.learned import Learned


VERSION = 1
_Kind = TypeVar("_Kind")
_SCALES = ("log_independence", "log_odds")
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def render(learned: Learned, numbers: Attributes) -> str:
    """Return the JSON document of a result."""
    from mnlearn import __version__

    document = json_of_graph(NamedGraph(learned.graph, learned.names, numbers))
    document["result"] = {"version": VERSION, "written_by": __version__, **_found(learned)}
    document["result"]["digest"] = _digest(document)
    found = _one_key_a_line(document.pop("result"), "  ")
    return _one_key_a_line(document, "")[:-2] + f',\n "result": {found}\n}}\n'


def _one_key_a_line(document: Mapping[str, object], indent: str) -> str:
    """Return JSON with one key per line, so that files can be read and compared by key."""
    lines = [f"{indent} {_compact(key)}: {_compact(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def parse(text: str) -> Learned:
    """Return the result in a JSON document, or raise FileError."""
    with parser_errors():
        document = json_document_of(text)
        named, found = graph_of_json(document), document.get("result")
        if not isinstance(found, dict):
            raise FileError("the document must hold a result; got a graph alone. Read it with mnlearn.read_graph.")
        _check_version(found.get("version"))
        if found.get("digest") != _digest(document):
            raise FileError(
                "the document must be as mnlearn wrote it; its digest does not match, so it was changed or cut short. "
                "Save the result again, or read the graph alone with mnlearn.read_graph."
            )
        return _learned(named, found)


def _digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the document without its digest."""
    result = {key: value for key, value in document["result"].items() if key != "digest"}
    canonical = json.dumps({**document, "result": result}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(canonical.encode("ascii")).hexdigest()


def _check_version(version: object) -> None:
    """Raise FileError for a version newer than this one."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileError(f'"version" of the result must be a positive integer; got {version!r}.')
    if version > VERSION:
        raise FileError(
            f'"version" of the result must be at most {VERSION} for this mnlearn; got {version}, written by a newer '
            "one. Upgrade mnlearn, or read the graph alone with mnlearn.read_graph."
        )


def _found(learned: Learned) -> dict[str, object]:
    """Return the result as JSON values; absent fields are left out."""
    result: Any = learned.result
    record = learned.resampling
    found: dict[str, object] = {
        "method": learned.method,
        "choice": learned.choice,
        "n_rows": learned.n_rows,
        "score": _number(result.score),
        "support_scale": result.support_scale,
        "probabilistic": result.probabilistic,
        "converged": result.converged,
        "cost": {name: _number(value) for name, value in result.cost.items()},
        "settings": _numbers(plain(result.settings)),
        "support": _by_pair(result.support),
        "stages": {name: list(graph.edges) for name, graph in result.stages.items()},
        "alternatives": [[list(graph.edges), _number(value)] for graph, value in result.alternatives],
        "edge_probabilities": _by_pair(result.edge_probabilities),
        "log_odds": None if result.log_odds is None else [_number(value) for value in _upper(result.log_odds)],
        "trace": None if result.trace is None else [_asked(question) for question in result.trace],
        "frequencies": _by_pair(learned.frequencies),
        "resampling": None if record is None else asdict(record),
        "mass": _number(result.mass),
        "steps": [[step.edge, _number(step.score)] for step in result.steps or ()] or None,
        "absent": _by_pair(result.absent),
        "separators": [[*pair, sorted(z)] for pair, z in result.separators.items()] or None,
        "weights": _weighted(learned.weights),
    }
    return {name: value for name, value in found.items() if value is not None}


def _weighted(weights: EdgeWeights | None) -> dict[str, object] | None:
    """Return the weights as JSON values."""
    if weights is None:
        return None
    return {"measure": weights.measure, "values": _by_pair(weights.values), "ordered": list(weights.ordered)}


def _weights(n: int, found: Mapping[str, Any] | None) -> EdgeWeights | None:
    """Return the weights from their JSON values."""
    from mnlearn.regression.weights import EdgeWeights, WeightMeasure

    if found is None:
        return None
    measure, ordered = _one_of(found["measure"], get_args(WeightMeasure)), _typed(found["ordered"], list)
    if len(ordered) != n:
        raise ValueError(f"ordered must hold a value for each of {n} variables; got {len(ordered)}")
    return EdgeWeights(measure, _pairs(n, found["values"]), tuple(_typed(value, bool) for value in ordered))


def _learned(named: NamedGraph, found: Mapping[str, Any]) -> Learned:
    """Return the learned network from its JSON values; every one has its type, or ValueError is raised."""
    from mnlearn.results.learned import Learned  # which saves through this module

    n, steps, trace = named.graph.n_variables, found.get("steps"), found.get("trace")
    result = Result(
        graph=named.graph,
        score=_optional(found.get("score")),
        support=_pairs(n, _typed(found["support"], list)),
        converged=_typed(found["converged"], bool),
        cost={name: _finite(value) for name, value in found["cost"].items()},
        settings=_typed(_read_all(found["settings"]), dict),
        trace=None if trace is None else tuple(_question(n, line) for line in trace),
        support_scale=_one_of(found["support_scale"], _SCALES),
        probabilistic=_typed(found["probabilistic"], bool),
        stages={name: Graph(n, edges) for name, edges in found["stages"].items()},
        alternatives=tuple((Graph(n, edges), _read(value)) for edges, value in found["alternatives"]),
        edge_probabilities=_pairs(n, found.get("edge_probabilities")),
        log_odds=_square(n, found.get("log_odds")),
        mass=_optional(found.get("mass")),
        steps=None if steps is None else tuple(Step(edge and _edge(n, *edge), _read(value)) for edge, value in steps),
        absent=_pairs(n, found.get("absent")),
        separators={_edge(n, u, v): _set(n, z) for u, v, z in found.get("separators", ())},
    )
    record, n_rows, choice = found.get("resampling"), found.get("n_rows"), found.get("choice")
    return Learned(
        _typed(found["method"], str),
        named.names,
        result,
        frequencies=_pairs(n, found.get("frequencies")),
        choice=None if choice is None else _typed(choice, str),
        resampling=None if record is None else _resampling(record),
        n_rows=None if n_rows is None else _whole(n_rows),
        saved_weights=_weights(n, found.get("weights")),
    )


def _resampling(record: Mapping[str, Any]) -> Resampling:
    """Return the record of a resampling run."""
    from mnlearn.analysis.samples import Resampling, Sampling

    threshold = record.get("threshold")
    return Resampling(
        _one_of(record["sampling"], get_args(Sampling)),
        seed=_whole(record["seed"]),
        asked=_whole(record["asked"]),
        done=_whole(record["done"]),
        mean_edges=_finite(record["mean_edges"]),
        n_pairs=_whole(record["n_pairs"]),
        threshold=None if threshold is None else _finite(threshold),
    )


def _question(n: int, line: Sequence[Any]) -> Question:
    x, y, z, independent, support, source, phase = line
    x, y = _edge(n, x, y)
    answer = _typed(independent, bool)
    return Question(x, y, _set(n, z), answer, _optional(support), _typed(source, str), _typed(phase, str))


def _typed(value: Any, kind: type[_Kind]) -> _Kind:
    """Return a value of this type, or raise ValueError."""
    if type(value) is not kind:
        raise ValueError(f"a value must be a {kind.__name__}; got {str(value)[:60]!r}")
    return value


def _one_of(value: Any, known: Sequence[str]) -> Any:
    if value not in known:
        raise ValueError(f"a value must be one of {', '.join(known)}; got {str(value)[:60]!r}")
    return value


def _whole(value: Any) -> int:
    if not 0 <= _typed(value, int) < 2**63:
        raise ValueError(f"a number must be from 0 to 2**63; got {value}")
    return int(value)


def _edge(n: int, u: Any, v: Any) -> Edge:
    """Return a pair of different variables."""
    if _whole(u) >= n or _whole(v) >= n or u == v:
        raise ValueError(f"a pair must be two of {n} variables; got {u} and {v}")
    return u, v


def _set(n: int, z: Any) -> frozenset[int]:
    """Return a set of variables."""
    if not all(_whole(v) < n for v in _typed(z, list)):
        raise ValueError(f"a set must hold some of {n} variables; got {str(z)[:60]}")
    return frozenset(z)


def _by_pair(numbers: Mapping[Edge, float] | None) -> list[list[object]] | None:
    return None if numbers is None else [[int(u), int(v), _number(value)] for (u, v), value in numbers.items()]


def _pairs(n: int, listed: Iterable[Any] | None) -> Any:
    return None if listed is None else {_edge(n, u, v): _read(value) for u, v, value in listed}


def _upper(matrix: Any) -> list[float]:
    return [float(value) for value in matrix[np.triu_indices(len(matrix), 1)]]


def _square(n: int, listed: list[Any] | None) -> Any:
    """Return the symmetric matrix of an upper triangle, −inf on the diagonal."""
    if listed is None:
        return None
    if len(_typed(listed, list)) != n * (n - 1) // 2:
        raise ValueError(f"log_odds must hold a number for each pair of {n} variables; got {len(listed)}")
    matrix = np.full((n, n), -np.inf)
    rows, columns = np.triu_indices(n, 1)
    matrix[rows, columns] = matrix[columns, rows] = [_read(value) for value in listed]
    return matrix


def _asked(question: Question) -> list[object]:
    x, y, z, independent, support, source, phase = question
    return [int(x), int(y), sorted(map(int, z)), bool(independent), _number(support), source, phase]


def _number(value: float | None) -> float | str | None:
    """Return a number as JSON can hold it: a float, or the name of infinity or NaN."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _numbers(value: object) -> object:
    """Return settings with non-finite floats marked, to tell them from strings of the user."""
    if isinstance(value, Mapping):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return {"number": str(value)} if isinstance(value, float) and not math.isfinite(value) else value


def _read(value: Any) -> float:
    """Return a number, or the one that a string names."""
    if isinstance(value, str):
        return _NOT_FINITE[value]
    if type(value) not in (int, float):
        raise ValueError(f"a value must be a number; got {str(value)[:60]!r}")
    return float(value)


def _finite(value: Any) -> float:
    number = _read(value)
    if not math.isfinite(number):
        raise ValueError(f"a number must be finite; got {number}")
    return number


def _optional(value: Any) -> float | None:
    return None if value is None else _read(value)


def _read_all(value: Any) -> Any:
    """Return settings with the marked floats restored."""
    if isinstance(value, dict):
        if set(value) == {"number"}:
            return _read(value["number"])
        return {key: _read_all(item) for key, item in value.items()}
    return [_read_all(item) for item in value] if isinstance(value, list) else value


def json_document(learned: Learned) -> dict[str, object]:
    """Return what `mnlearn learn --json` prints; weight, support, probability and frequency in the order of `edges`."""
    edges = learned.edge_list()
    frequency = {} if learned.frequencies is None else {"frequency": [edge.frequency for edge in edges]}
    return {
        "method": learned.method,
        "choice": learned.choice,
        "variables": list(learned.names),
        "edges": [[edge.u, edge.v] for edge in edges],
        "weight": [edge.weight for edge in edges],
        "weight_measure": None if learned.weights is None else learned.weights.measure,
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
    """Return the frequency of each pair, absent ones too, and the record of the resampling."""
    if learned.frequencies is None:
        return {}
    pairs = [[*_pair(learned, edge), share] for edge, share in learned.frequencies.items()]
    record = learned.resampling
    return {"frequencies": pairs, "resampling": None if record is None else asdict(record)}


def _beside(learned: Learned) -> dict[str, object]:
    """Return the fields that only some methods have."""
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
    """Return what a search kept: mass of the best graph, steps of hill climbing, support of absent pairs."""
    found = learned.result
    kept: dict[str, object] = {}
    if found.mass is not None:
        kept["mass"] = found.mass
    if found.steps is not None:
        kept["steps"] = [{"flip": step.edge and _pair(learned, step.edge), "score": step.score} for step in found.steps]
    if found.absent is not None:
        kept["absent"] = [[*_pair(learned, pair), support] for pair, support in found.absent.items()]
    return kept


def _named(learned: Learned, graph: Graph) -> list[list[str]]:
    """Return the edges of a graph by name."""
    return [_pair(learned, edge) for edge in graph.edges]


def _pair(learned: Learned, edge: Edge) -> list[str]:
    """Return two variables by name."""
    return [learned.names[x] for x in edge]


def plain(value: object) -> object:
    """Return a setting as a JSON value; other objects by their repr."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    return value if value is None or isinstance(value, str | int | float) else repr(value)


def no_recipe(learned: Learned, what: str) -> InputError:
    """Return the error for a network that cannot be learned again, such as one by the caller's own score."""
    judges = [f"{kind}={learned.settings[kind]!r}" for kind in ("test", "score") if kind in learned.settings]
    known = f"got a network by {', '.join([repr(learned.method), *judges])}, which mnlearn alone cannot learn again"
    own = f"{judges[0].partition('=')[0]}=..." if judges else "..."
    return InputError(
        f"{what} needs a method and settings that this mnlearn knows, to use them again; {known}. Learn it again with "
        f"mnlearn.learn(data, {learned.method!r}, {own})."
    )


def attach_data(learned: Learned, data: object) -> Learned:
    """Return the network with its data attached; see `Learned.with_data`."""
    if learned.recipe is None:
        raise no_recipe(learned, "with_data")
    dataset = learned.recipe.read(data)
    if dataset.names != learned.names:
        differing = sorted({*dataset.names} ^ {*learned.names})
        what = f"{differing[0]!r} is only in one of the two" if differing else "their order differs"
        raise DataError(f"data must have the variables of the network, in their order; {what}. Give it its own data.")
    if learned.n_rows not in (None, dataset.n_rows):
        raise DataError(
            f"data must be those that the network was learned from, {learned.n_rows} rows; got {dataset.n_rows}. To "
            "learn from other rows, call mnlearn.learn(data, **learned.settings)."
        )
    return replace(learned, data=dataset, frame=kind_of_frame(data))
