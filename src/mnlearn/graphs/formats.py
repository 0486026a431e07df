"""Read and write graph files: edge list, edge table, adjacency CSV, GraphML, GML, GEXF, DOT and two kinds of JSON.

| format    | extensions            | carries                                                        |
|-----------|-----------------------|----------------------------------------------------------------|
| `edges`   | .edges .tsv .txt      | names without tabs, line breaks or a leading `#`, weights      |
| `table`   | .edges.csv            | names that are not empty, numbers on edges; formulas as in csv |
| `csv`     | .csv                  | every name, an apostrophe before one that starts a formula; weights |
| `graphml` | .graphml              | names without control characters, numbers on edges             |
| `gml`     | .gml                  | every name, numbers on edges                                   |
| `gexf`    | .gexf                 | names without control characters, numbers on edges             |
| `cyjs`    | .cyjs                 | every name, numbers on edges                                   |
| `dot`     | .dot .gv              | every name, numbers on edges                                   |
| `json`    | .json                 | every name, numbers on edges; schema in `markup_formats`       |

All of them keep isolated variables and the order of the variables. A file is UTF-8. What is not a simple undirected
graph (directions, self loops, repeated edges or names) raises an error and is never repaired silently.
A matrix has at most 10,000 variables. Files that this library wrote are read at 100,000 edges a second or more; DOT of
other programs is parsed at some 500.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from mnlearn.errors import FileError, InputError, check_listed, check_mapping, check_name, check_path, read_bytes
from mnlearn.files import replacing
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.graphs.markup import (
    parse_dot,
    parse_gml,
    parse_graphml,
    parse_json,
    render_dot,
    render_gml,
    render_graphml,
    render_json,
)
from mnlearn.graphs.named import Attributes, NamedGraph, parser_errors
from mnlearn.graphs.programs import parse_cytoscape, parse_gexf, render_cytoscape, render_gexf
from mnlearn.graphs.text_formats import (
    parse_csv,
    parse_edge_list,
    parse_edge_table,
    render_adjacency,
    render_edge_list,
    render_edge_table,
)

__all__ = ["FORMATS", "Attributes", "NamedGraph", "carries_numbers", "read_graph", "write_graph"]


class _Format(NamedTuple):
    """Title, extensions, parser and writer of a format."""

    title: str
    extensions: tuple[str, ...]
    parse: Callable[[str], NamedGraph]
    render: Callable[[NamedGraph], str]
    carries_numbers: bool = True


_FORMATS = {
    "edges": _Format("an edge list", (".edges", ".tsv", ".txt"), parse_edge_list, render_edge_list, False),
    "table": _Format("an edge table", (".edges.csv",), parse_edge_table, render_edge_table),
    "csv": _Format("a CSV of edges or of an adjacency matrix", (".csv",), parse_csv, render_adjacency, False),
    "graphml": _Format("GraphML", (".graphml",), parse_graphml, render_graphml),
    "gml": _Format("GML", (".gml",), parse_gml, render_gml),
    "gexf": _Format("GEXF", (".gexf",), parse_gexf, render_gexf),
    "cyjs": _Format("Cytoscape JSON", (".cyjs",), parse_cytoscape, render_cytoscape),
    "dot": _Format("DOT", (".dot", ".gv"), parse_dot, render_dot),
    "json": _Format("JSON", (".json",), parse_json, render_json),
}
FORMATS: tuple[str, ...] = tuple(_FORMATS)


def read_graph(path: str | os.PathLike[str], format: str | None = None) -> NamedGraph:
    """Read a graph and the names of its variables from a file.

    Parameters
    ----------
    path
        The file; its extension determines the format.
    format
        One of `FORMATS`; overrides the extension.

    Returns
    -------
    NamedGraph
        The graph, the names by index, and the numbers found on edges.

    Raises
    ------
    FileError
        If the file does not exist, or does not hold one simple undirected graph in this format.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chain.edges"
    >>> _ = path.write_text("sleep\\tmood\\nmood\\twork\\nage\\n")
    >>> named = read_graph(path)
    >>> named.names, named.graph.edges
    (('sleep', 'mood', 'work', 'age'), ((0, 1), (1, 2)))
    """
    chosen = _chosen(path, format)
    text = read_whole(path)
    try:
        with parser_errors():
            return chosen.parse(text)
    except InputError as error:
        raise FileError(f"{os.fspath(path)!r} cannot be read as {chosen.title}: {error}") from error


def write_graph(
    path: str | os.PathLike[str],
    graph: Graph,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    attributes: Attributes | None = None,
) -> None:
    """Write a graph to a file; the file is complete or not written.

    Parameters
    ----------
    path
        The file; its extension determines the format. An existing file is replaced.
    graph
        The graph, with at least one variable.
    names
        One distinct name per variable; the indices when left out.
    format
        One of `FORMATS`; overrides the extension.
    attributes
        Numbers on edges, by (u, v) with u < v. The edge list and the adjacency CSV carry ``weight`` alone.

    Raises
    ------
    InputError
        If names or attributes break a rule of the format; the message names a format that carries them.
    FileError
        If the file cannot be written.
    """
    chosen = _chosen(path, format)
    check_graph("graph", graph)
    check_mapping("attributes", attributes, "{(0, 1): {'weight': 0.5}}")
    if names is not None:
        check_listed("names", names, "names")
    labels = map(str, range(graph.n_variables)) if names is None else names
    text = chosen.render(NamedGraph(graph, tuple(labels), {} if attributes is None else attributes))
    write_whole(path, text)


def carries_numbers(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Return whether a file of this name, or of this format, can carry more numbers of an edge than its weight."""
    return _chosen(path, format).carries_numbers


def format_of(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Return the name of the given format, or of the format of the extension."""
    chosen = _chosen(path, format)
    return next(name for name, known in _FORMATS.items() if known is chosen)


def _chosen(path: str | os.PathLike[str], format: str | None) -> _Format:
    """Return the given format, or the format of the extension."""
    check_path("path", path)
    if format is not None:
        check_name("graph format", format, FORMATS)
        return _FORMATS[format]
    known = _by_extension(path)
    if known is None:
        raise FileError(
            f"path must end in a known extension ({_extensions()}); got {os.fspath(path)!r}. Rename it, or pass "
            f"format= with one of {', '.join(FORMATS)}."
        )
    return known


def check_extension(path: str | os.PathLike[str], argument: str) -> None:
    """Raise FileError unless the extension of a path is that of a format."""
    check_path(argument, path)
    if _by_extension(path) is None:
        raise FileError(
            f"{argument} must end in a known extension ({_extensions()}); got {os.fspath(path)!r}. Choose one of them."
        )


def _by_extension(path: str | os.PathLike[str]) -> _Format | None:
    """Return the format of an extension, if known."""
    name = Path(path).name.lower()  # .edges.csv comes before .csv
    return next((known for known in _FORMATS.values() if name.endswith(known.extensions)), None)


def _extensions() -> str:
    return ", ".join(extension for known in _FORMATS.values() for extension in known.extensions)


def read_whole(path: str | os.PathLike[str]) -> str:
    """Return a whole file as a string, or raise FileError if it is missing, not UTF-8 or empty."""
    content = read_bytes("path", path)
    shown = repr(os.fspath(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{shown} must be UTF-8 text; byte {error.start} is not. Save it as UTF-8.") from error
    if not text.strip(" \r\n"):  # a tab belongs to an edge list
        raise FileError(f"{shown} must hold a graph; got an empty file.")
    return text


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write under a temporary name in the same folder, then rename, so that no incomplete file is left."""
    shown = repr(os.fspath(path))
    guarded = f"\ufeff{text}" if text.startswith("\ufeff") else text  # a reader drops one byte order mark
    try:
        with replacing(path) as part:
            part.write_bytes(guarded.encode("utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{shown} cannot be written: {_reason(error)}. Name another file or folder.") from error


def _reason(error: Exception) -> str:
    """Return the message of the system, without its number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
