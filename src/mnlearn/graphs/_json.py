"""JSON: a small schema of our own.

    {"format": "mnlearn-graph", "version": 1,
     "variables": ["a", "b", "c"],
     "edges": [["a", "b"], ["b", "c"]],
     "edge_attributes": {"support": [-3.5, null]}}

An end of an edge is a name (or, on reading, an index into `variables`). `edge_attributes` is optional: per attribute
one number for each edge, in their order, null where there is none; infinities and NaN are the texts "inf", "-inf" and
"nan". Other keys are ignored. A reader refuses a version newer than its own and reads every older one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from mnlearn.errors import FileError
from mnlearn.graphs._named import Assembly, NamedGraph

_FORMAT = "mnlearn-graph"
_VERSION = 1
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def parse_json(text: str) -> NamedGraph:
    """A graph in version 1 of the schema."""
    document = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise FileError(f'the document must be an object with "format": "{_FORMAT}"; it is not an mnlearn graph.')
    _check_version(document.get("version"))
    variables, edges = _listed(document, "variables"), _listed(document, "edges")
    numbers = _numbers_by_edge(document.get("edge_attributes", {}), len(edges))
    assembly = Assembly()
    for name in variables:
        if not isinstance(name, str):
            raise FileError(f'"variables" must be a list of texts; got {name!r}.')
        assembly.declare(name)
    for edge, attributes in zip(edges, numbers, strict=True):
        if not isinstance(edge, list) or len(edge) != 2:
            raise FileError(f'"edges" must be a list of pairs; got {edge!r}.')
        assembly.join(_end(edge[0], variables), _end(edge[1], variables), attributes)
    return assembly.finish()


def _refuse_constant(constant: str) -> None:
    """Python would read NaN and Infinity, which are not JSON."""
    raise FileError(f'numbers must be JSON numbers; got {constant}. Write the text "inf", "-inf" or "nan" instead.')


def _check_version(version: object) -> None:
    """Every version up to ours is read."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileError(f'"version" must be a positive integer; got {version!r}.')
    if version > _VERSION:
        raise FileError(
            f'"version" must be at most {_VERSION} for this mnlearn; got {version}, written by a newer one. '
            f"Upgrade mnlearn, or write the graph as GraphML there."
        )


def _listed(document: Mapping[str, Any], key: str) -> list[Any]:
    """A required list of the document."""
    found = document.get(key)
    if not isinstance(found, list):
        raise FileError(f'"{key}" must be a list; got {"nothing" if key not in document else repr(found)[:60]}.')
    return found


def _end(end: object, variables: list[str]) -> str:
    """The name at one end of an edge."""
    if isinstance(end, int) and not isinstance(end, bool) and 0 <= end < len(variables):
        return variables[end]
    if not isinstance(end, str):
        raise FileError(f'"edges" must join names or indices into "variables"; got {end!r}.')
    return end


def _numbers_by_edge(columns: object, n_edges: int) -> list[dict[str, float]]:
    """The columns of `edge_attributes`, turned into one record per edge."""
    if not isinstance(columns, dict):
        raise FileError(f'"edge_attributes" must be an object; got {columns!r}.')
    records: list[dict[str, float]] = [{} for _ in range(n_edges)]
    for key, column in columns.items():
        if not isinstance(column, list) or len(column) != n_edges:
            raise FileError(f'"edge_attributes" must hold one number or null per edge, {n_edges} in all, for {key!r}.')
        for record, value in zip(records, column, strict=True):
            if value is not None:
                record[key] = _number(key, value)
    return records


def _number(key: str, value: object) -> float:
    """One number of an attribute."""
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f'"edge_attributes" must be numbers or null; got {value!r} for {key!r}.')
    return float(value)


def render_json(named: NamedGraph) -> str:
    """The document, one edge a line."""
    edges = list(named.named_edges())
    keys = sorted({key for _, _, numbers in edges for key in numbers})
    columns = {key: [_plain(numbers.get(key)) for _, _, numbers in edges] for key in keys}
    parts = [
        f'"format": {_text(_FORMAT)}',
        f'"version": {_VERSION}',
        f'"variables": {_block([_text(name) for name in named.names])}',
        f'"edges": {_block([_text([a, b]) for a, b, _ in edges])}',
    ]
    if columns:
        parts.append(f'"edge_attributes": {_text(columns)}')
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def _text(value: object) -> str:
    """Compact JSON that keeps letters readable."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _block(items: list[str]) -> str:
    """A list with one item a line."""
    return "[\n    " + ",\n    ".join(items) + "\n  ]" if items else "[]"


def _plain(value: float | None) -> float | str | None:
    """A number JSON can hold, or its name."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else str(number)
