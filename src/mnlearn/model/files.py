"""Models in files: a folder with a description in JSON and one array of numbers.

    model/model.json                    what the model is: names, labels, scopes of the factors, how it was fitted
    model/parameters-<digest>.npy       all parameters, one vector of float64

`model.json` names the array by the SHA-256 of its bytes and carries the SHA-256 of itself, so that a file that was
altered, cut off or swapped is refused. The array is written first, under its own name, and the description is renamed
into place last: a concurrent reader finds the old model or the new one, never half of each. Nothing in the folder
can run code. A reader refuses a version newer than its own and reads every older one.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable
from datetime import date, datetime, time
from math import isfinite, prod
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from mnlearn.data.dataset import Kind
from mnlearn.distributions.factors import Factor, FactorNetwork
from mnlearn.errors import FileError, InputError, MnlearnError, check_instance, check_link, check_path, read_bytes
from mnlearn.files import replacing
from mnlearn.graphs.graph import Graph
from mnlearn.model.base import FitReport, Label, MarkovModel
from mnlearn.model.discrete import DiscreteModel
from mnlearn.model.gaussian import GaussianModel
from mnlearn.model.mixed import MixedModel
from mnlearn.model.mixed_network import MixedNetwork
from mnlearn.numbers import array_of_npy
from mnlearn.protocols import FloatArray
from mnlearn.regression.features import Features, Interactions

_FORMAT, _VERSION = "mnlearn-model", 1
_DESCRIPTION = "model.json"
_DATES: dict[str, Any] = {"date": date, "datetime": datetime, "time": time}


def save_model(model: MarkovModel, path: str | os.PathLike[str]) -> None:
    """Write a model to a folder; a model that is there already is replaced as a whole.

    Parameters
    ----------
    model
        What to write.
    path
        The folder; it is made if it is not there.

    Raises
    ------
    FileError
        If the folder cannot be written, or holds something else.
    InputError
        If a label is not a string, finite number, bool, date or missing.

    Examples
    --------
    >>> import tempfile
    >>> from mnlearn.model import fit
    >>> from mnlearn.data import read
    >>> from mnlearn.simulate import example
    >>> survey = example(500, seed=1)
    >>> model, folder = fit(survey.graph, read(survey.columns())), tempfile.mkdtemp()
    >>> model.save(folder)
    >>> load_model(folder).strengths() == model.strengths()
    True
    """
    check_instance("model", model, MarkovModel, "Fit one: mnlearn.fit_parameters(graph, data).")
    body, numbers = _BODIES[model.kind](model)
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(numbers, dtype="<f8"), allow_pickle=False)
    array = buffer.getvalue()
    digest = hashlib.sha256(array).hexdigest()
    kept = f"parameters-{digest[:16]}.npy"
    document: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": model.kind,
        "names": list(model.names),
        **body,
        "fit": _fit_body(model.report),
        "parameters": {"file": kept, "sha256": digest, "count": len(numbers)},
    }
    document["sha256"] = _digest(document)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode()
    check_model_folder(path)
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_both(folder / kept, array, folder / _DESCRIPTION, text)
        for old in folder.glob("parameters-*.npy"):
            if old.name != kept:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{str(folder)!r} cannot be written: {error.strerror or error}. Name another one.") from error


def load_model(path: str | os.PathLike[str]) -> MarkovModel:
    """Read a model that `MarkovModel.save` wrote.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    FileError
        If there is no model, it was altered since it was written, or a newer version wrote it.
    """
    check_path("path", path)
    folder = Path(path)
    document = _description(folder)
    try:
        json.dumps(document, ensure_ascii=False).encode()  # raises ValueError for lone surrogates
        numbers = _numbers(folder, document)
        return _KINDS[document["kind"]](document, numbers)
    except FileError:
        raise
    except MnlearnError as error:
        raise FileError(f"{str(folder)!r} must hold a sound model; {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise FileError(
            f"{str(folder)!r} must hold a sound model; its description is wrong at {error}. Save it again."
        ) from error


def _description(folder: Path) -> dict[str, Any]:
    """`model.json`, sound and of a version that we know."""
    shown = repr(str(folder))
    if not os.path.exists(folder / _DESCRIPTION):
        check_link("path", folder)
        raise FileError(
            f"path must be a folder with a model; {shown} has no {_DESCRIPTION}. Make one with mnlearn fit."
        )
    content = read_bytes("path", folder / _DESCRIPTION)
    try:
        document = json.loads(content, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{shown} must hold a sound model; its {_DESCRIPTION} cannot be read: {error}.") from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise FileError(f"{shown} must hold an mnlearn model; its {_DESCRIPTION} is something else.")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version > _VERSION:
        raise FileError(
            f"{shown} must be of version {_VERSION} at most for this mnlearn; got {version!r}. Upgrade mnlearn."
        )
    if document.pop("sha256", None) != _digest(document):
        raise FileError(f"{shown} must be as it was saved; its {_DESCRIPTION} was altered. Save the model again.")
    return document


def _no_number(text: str) -> Any:
    """Refuse NaN and infinities, which JSON does not have and `save_model` never writes."""
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    """Refuse a number beyond the range of floats, such as 1e400, which would become infinity."""
    number = float(text)
    return number if isfinite(number) else _no_number(text)


def _numbers(folder: Path, document: dict[str, Any]) -> FloatArray:
    """The array, by the digest in the description."""
    entry = document["parameters"]
    shown = repr(str(folder / entry["file"]))
    try:
        array = read_bytes("path", folder / Path(entry["file"]).name)
    except FileError as error:
        raise FileError(f"{str(folder)!r} must hold a sound model; {error} Save the model again.") from error
    if hashlib.sha256(array).hexdigest() != entry["sha256"]:
        raise FileError(f"{shown} must be as it was saved; it was altered. Save the model again.")
    numbers = array_of_npy(array)
    if numbers.dtype != np.float64 or numbers.ndim != 1:
        raise FileError(f"{shown} must be a vector of float64; got {numbers.dtype}, {numbers.ndim}-D. Save it again.")
    return numbers


def _discrete_body(model: Any) -> tuple[dict[str, Any], FloatArray]:
    """Labels, cuts and scopes; the tables one after the other."""
    body = {
        "levels": [[_plain(label) for label in labels] for labels in model.levels],
        "cuts": {name: np.asarray(cuts).tolist() for name, cuts in model.cuts.items()},
        "factors": [list(factor.variables) for factor in model.network.factors],
    }
    return body, np.concatenate([np.empty(0), *(factor.log_values.ravel() for factor in model.network.factors)])


def _discrete_from(document: dict[str, Any], numbers: FloatArray) -> DiscreteModel:
    names = _strings("names", document["names"])
    levels = tuple(tuple(_label(label) for label in _list("levels", labels)) for labels in document["levels"])
    for name, labels in zip(names, levels, strict=True):
        _check_labels(name, labels)
    cards = tuple(map(len, levels))
    factors, start = [], 0
    for scope in document["factors"]:
        shape = [cards[x] for x in _indices(scope)]
        factors.append(Factor(tuple(scope), numbers[start : start + prod(shape)].reshape(shape)))
        start += prod(shape)
    if start != len(numbers):
        raise FileError(f"the factors must have {len(numbers)} numbers in all; got {start}. Save the model again.")
    cuts = {name: _ascending(name, points) for name, points in document["cuts"].items() if name in names}
    return DiscreteModel(names, levels, FactorNetwork(cards, factors), _fit_from(document["fit"]), cuts)


def _check_labels(name: str, labels: tuple[Label, ...]) -> None:
    if len(set(labels)) < len(labels):
        raise FileError(f"the labels of {name!r} must differ; got {labels!r}. Save the model again.")


def _gaussian_body(model: Any) -> tuple[dict[str, Any], FloatArray]:
    """Edges; then means, deviations, the diagonal of K and its entry for every edge."""
    edges = model.graph.edges
    off = [model.standard_precision[edge] for edge in edges]
    numbers = np.concatenate([model.mean, model.scale, np.diag(model.standard_precision), off])
    return {"edges": [list(edge) for edge in edges]}, numbers


def _gaussian_from(document: dict[str, Any], numbers: FloatArray) -> GaussianModel:
    names, edges = _strings("names", document["names"]), [_indices(edge) for edge in document["edges"]]
    n = len(names)
    if len(numbers) != 3 * n + len(edges) or len(set(edges)) < len(edges):
        raise FileError(f"the model must have {3 * n + len(edges)} numbers; got {len(numbers)}. Save the model again.")
    mean, scale, own, off = np.split(numbers, [n, 2 * n, 3 * n])
    precision = np.diag(own)
    for (u, v), value in zip(edges, off.tolist(), strict=True):
        precision[u, v] = precision[v, u] = value
    return GaussianModel(names, Graph(n, edges), mean, scale, precision, _fit_from(document["fit"]))


def _mixed_body(model: Any) -> tuple[dict[str, Any], FloatArray]:
    """Labels, kinds, numbers of features and edges; then features, parameters of each variable, and interactions."""
    network = model.network
    body = {
        "levels": [None if labels is None else [_plain(label) for label in labels] for labels in model.levels],
        "cuts": {name: np.asarray(cuts).tolist() for name, cuts in model.cuts.items()},
        "kinds": list(model.kinds),
        "features": [each.size for each in network.features],
        "edges": [list(edge) for edge in model.graph.edges],
    }
    found = network.interactions
    parts = [np.empty(0)]
    for x, each in enumerate(network.features):
        own = np.array([each.center, each.scale, found.linear[x], found.curvature[x]])
        parts += [each.table.ravel(), found.thresholds[x]] if each.card else [own]
    parts += [found.weights[edge].ravel() for edge in model.graph.edges]
    return body, np.concatenate(parts)


def _mixed_from(document: dict[str, Any], numbers: FloatArray) -> MixedModel:
    names = _strings("names", document["names"])
    levels = tuple(
        None if labels is None else tuple(_label(label) for label in _list("levels", labels))
        for labels in _list("levels", document["levels"])
    )
    kinds, sizes = _strings("kinds", document["kinds"]), _indices(document["features"])
    edges = [_indices(edge) for edge in document["edges"]]
    features, thresholds, linear, curvature = [], [], np.zeros(len(names)), np.ones(len(names))
    left = _Numbers(numbers)
    for x, (labels, kind, size) in enumerate(zip(levels, kinds, sizes, strict=True)):
        if (kind in ("nominal", "ordinal")) != (labels is not None) or kind not in get_args(Kind):
            raise FileError(f"kinds must agree with levels; got {kind!r} for {names[x]!r}. Save the model again.")
        if labels is not None:
            _check_labels(names[x], labels)
            features.append(Features(cast(Kind, kind), left.next(len(labels), size)))
            thresholds.append(left.next(len(labels)))
            continue
        center, scale, linear[x], curvature[x] = left.next(4).tolist()
        features.append(Features(cast(Kind, kind), np.empty((0, 0)), center, scale))
        thresholds.append(np.empty(0))
        if not (scale >= 0 and isfinite(center) and isfinite(scale) and features[-1].size == size):
            raise FileError(f"the scale of {names[x]!r} must be a number of at least 0; got another. Save it again.")
    graph = Graph(len(names), edges)
    weights = {edge: left.next(sizes[edge[0]], sizes[edge[1]]) for edge in graph.edges}
    left.end()
    network = MixedNetwork(graph, tuple(features), Interactions(tuple(thresholds), linear, curvature, weights))
    cuts = {name: _ascending(name, points) for name, points in document["cuts"].items() if name in names}
    return MixedModel(names, levels, network, _fit_from(document["fit"]), cuts)


class _Numbers:
    """The parameters of a file, taken one part after the other."""

    def __init__(self, numbers: FloatArray) -> None:
        self._numbers, self._start = numbers, 0

    def next(self, *shape: int) -> FloatArray:
        """Return the next part."""
        start, self._start = self._start, self._start + prod(shape)
        if self._start > len(self._numbers):
            raise FileError(f"the model must have more than {len(self._numbers)} numbers. Save the model again.")
        return self._numbers[start : self._start].reshape(shape).copy()

    def end(self) -> None:
        """Raise FileError if numbers are left."""
        if self._start < len(self._numbers):
            raise FileError(
                f"the model must have {self._start} numbers; got {len(self._numbers)}. Save the model again."
            )


_KINDS: dict[str, Callable[[dict[str, Any], FloatArray], MarkovModel]] = {
    "discrete": _discrete_from,
    "gaussian": _gaussian_from,
    "mixed": _mixed_from,
}
_BODIES: dict[str, Callable[[Any], tuple[dict[str, Any], FloatArray]]] = {
    "discrete": _discrete_body,
    "gaussian": _gaussian_body,
    "mixed": _mixed_body,
}


def _fit_body(report: FitReport) -> dict[str, Any]:
    return {
        "method": report.method,
        "rows": report.n_rows,
        "converged": report.converged,
        "iterations": report.iterations,
        "settings": _plain_settings(report.settings),
        "notes": list(report.notes),
    }


def _fit_from(document: dict[str, Any]) -> FitReport:
    if not isinstance(document["settings"], dict):
        raise FileError("the settings of the fit must be an object; got another value. Save the model again.")
    settings = dict(document["settings"])
    if isinstance(settings.get("default"), dict):
        settings["default"] = {name: _label(label) for name, label in settings["default"].items()}
    method, rows, converged, iterations = (document[key] for key in ("method", "rows", "converged", "iterations"))
    if (
        not isinstance(method, str)
        or type(rows) is not int
        or type(converged) is not bool
        or type(iterations) is not int
    ):
        raise FileError("the record of the fit must be a method, rows, converged and iterations; got other types.")
    return FitReport(method, rows, converged, iterations, settings, _strings("notes", document["notes"]))


def _list(what: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FileError(f"{what} must be a list; got {str(value)[:40]}. Save the model again.")
    return value


def _strings(what: str, value: Any) -> tuple[str, ...]:
    """Return a list of strings as a tuple, or raise FileError; names must differ."""
    strings = tuple(_list(what, value))
    if not all(isinstance(one, str) for one in strings):
        raise FileError(f"{what} must be valid strings; got others. Save the model again.")
    if what == "names" and len(set(strings)) < len(strings):
        raise FileError("names must differ; got one twice. Save the model again.")
    return strings


def _indices(value: Any) -> tuple[int, ...]:
    if not all(type(x) is int and x >= 0 for x in _list("a scope", value)):
        raise FileError(f"scopes must be positions of variables; got {str(value)[:40]}. Save the model again.")
    return tuple(value)


def _ascending(name: str, points: Any) -> FloatArray:
    cuts = np.array(_list("cuts", points), dtype=np.float64)
    if cuts.ndim != 1 or not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
        raise FileError(f"the cuts of {name!r} must be ascending numbers; got others. Save the model again.")
    return cuts


def _plain_settings(settings: Any) -> dict[str, Any]:
    """Settings as JSON knows them; the default assignment holds labels."""
    return {
        key: {name: _plain(label) for name, label in value.items()} if isinstance(value, dict) else _plain(value)
        for key, value in settings.items()
    }


def _plain(label: Label) -> Any:
    """Return a label as a JSON value; dates carry their type."""
    value: Any = label.item() if isinstance(label, np.generic) else label
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    for kind in ("datetime", "date", "time"):
        if type(value) is _DATES[kind]:
            return {"type": kind, "value": value.isoformat()}
    raise InputError(
        f"labels must be strings, finite numbers, bools, dates or missing to be saved; got {label!r}. Rename it."
    )


def _label(value: Any) -> Label:
    """Return the label that `_plain` wrote."""
    if isinstance(value, dict):
        found: Label = _DATES[value["type"]].fromisoformat(value["value"])
        return found
    if isinstance(value, list):
        raise FileError(f"labels must be strings, numbers, bools, dates or missing; got {value!r}. Save it again.")
    return value  # type: ignore[no-any-return]


def _digest(document: dict[str, Any]) -> str:
    """The SHA-256 of the description, whatever its line breaks and the order of its keys."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, allow_nan=False).encode()).hexdigest()


def check_model_folder(path: str | os.PathLike[str], argument: str = "path") -> None:
    """Refuse a folder that holds anything but a model, before there is a model to write."""
    check_path(argument, path)
    folder = Path(path)
    try:
        if folder.exists() and not folder.is_dir():
            raise FileError(f"{argument} must be a folder; {str(folder)!r} is a file. Name another one.")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / _DESCRIPTION).is_file():
            raise FileError(
                f"{argument} must be a new or empty folder, or a model; {str(folder)!r} holds other files. Name "
                "another one."
            )
    except OSError as error:
        reason = error.strerror or error
        raise FileError(
            f"{argument} must be a folder that can be read; {path!r}: {reason}. Name another one."
        ) from error


def _write_both(array: Path, numbers: bytes, description: Path, text: bytes) -> None:
    """Write the array, then the description; an array without its description is removed."""
    there = array.exists()
    _replace(array, numbers)
    try:
        _replace(description, text)
    except BaseException:
        if not there:
            array.unlink(missing_ok=True)
        raise


def _replace(target: Path, content: bytes) -> None:
    """Write under a temporary name, then rename."""
    with replacing(target) as part:
        part.write_bytes(content)
