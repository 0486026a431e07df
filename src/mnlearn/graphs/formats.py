"""Read and write graph files: edge table, adjacency CSV, GraphML, JSON; write DOT.

| format    | extensions            | carries                                                        |
|-----------|-----------------------|----------------------------------------------------------------|
| `table`   | .edges.csv            | names that are not empty, numbers on edges; formulas as in csv |
| `csv`     | .csv                  | every name, an apostrophe before one that starts a formula; weights |
| `graphml` | .graphml              | names without control characters, numbers on edges             |
| `dot`     | .dot .gv              | every name, numbers on edges; written, not read                |
| `json`    | .json                 | every name, numbers on edges; schema in `markup`               |

All of them keep isolated variables and the order of the variables. A file is UTF-8. What is not a simple undirected
graph (directions, self loops, repeated edges or names) raises an error and is never repaired silently.
A matrix has at most 10,000 variables.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mnlearn.errors import FileError, InputError, check_listed, check_mapping, check_name, check_path, read_bytes
from mnlearn.files import replacing
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.graphs.markup import parse_graphml, parse_json, render_dot, render_graphml, render_json
from mnlearn.graphs.named import Attributes, GraphBuilder, NamedGraph, parser_errors

# A spreadsheet would run a cell that starts with one of these as a formula; an apostrophe in front prevents it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_MOST_IN_MATRIX = 10_000  # variables: a matrix of ones and zeros takes 200 MB
_LEAST = 1e-300  # the number of an edge without a weight, or of weight 0, in a matrix of weights


def _edges_in_order(graph: Graph) -> Iterator[tuple[int, ...]]:
    """Yield edges and lone variables in an order in which the variables first appear in their own.

    Each variable is introduced by an edge to an earlier one, by the edge to the next one, or alone.
    """
    pending = -1  # the variable that the first edge of the next one introduces
    for v in range(graph.n_variables):
        earlier = sorted(u for u in graph.neighbors(v) if u < v)
        if pending in earlier:
            earlier.remove(pending)
            earlier.insert(0, pending)
        yield from ((u, v) for u in earlier)
        if not earlier and v + 1 in graph.neighbors(v):
            pending = v
        elif not earlier:
            yield (v,)


def parse_adjacency(text: str) -> NamedGraph:
    """Parse a header of names after a corner cell, then per variable its name and one number per column.

    Numbers other than 0 are edges; unless all of these are 1, they are weights.
    """
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    header = [as_name(cell) for cell in rows[0][1:]]
    if len(rows) - 1 != len(header):
        raise FileError(f"the matrix must be square; got {len(header)} names in the header and {len(rows) - 1} rows.")
    entries = {}
    for name, row in zip(header, rows[1:], strict=True):
        if as_name(row[0]) != name:
            raise FileError(f"rows must be named as the columns are, in the same order; got {row[0]!r} for {name!r}.")
        entries[name] = _numbers_of_row(name, row[1:], header)
    return _symmetric(header, entries)


def _numbers_of_row(name: str, cells: list[str], header: list[str]) -> dict[str, float]:
    """Return the non-zero entries of one row, by the name of their column."""
    if len(cells) != len(header):
        raise FileError(f"row {name!r} must hold {len(header)} numbers; got {len(cells)}.")
    try:
        numbers = list(map(float, cells))
    except ValueError as error:
        raise FileError(f"row {name!r} must hold numbers; {error}. Use 1 for an edge and 0 for none.") from None
    if any(number - number != 0 for number in numbers):  # NaN or infinite
        raise FileError(f"row {name!r} must hold finite numbers; got NaN or infinity. Use 0 where there is no edge.")
    return {other: number for other, number in zip(header, numbers, strict=True) if number}


def _symmetric(header: list[str], entries: dict[str, dict[str, float]]) -> NamedGraph:
    """Return the graph of a matrix, or raise FileError if (a, b) and (b, a) differ."""
    builder = GraphBuilder()
    for name in header:
        builder.declare(name)
    position = {name: x for x, name in enumerate(header)}
    weighted = any(number != 1 for row in entries.values() for number in row.values())
    for a, row in entries.items():
        for b, number in row.items():
            mirrored = entries[b].get(a, 0.0)
            if abs(number - mirrored) > 1e-8 * abs(number):
                raise FileError(
                    f"the matrix must be symmetric; got {number:g} for ({a!r}, {b!r}) and {mirrored:g} for "
                    f"({b!r}, {a!r}). Decide what the directions mean and write both entries alike."
                )
            if position[a] <= position[b]:  # equal is a self loop, for which the builder raises an error
                builder.join(a, b, {"weight": number} if weighted else None)
    return builder.finish()


def render_adjacency(named: NamedGraph) -> str:
    """Return zeros and ones, or zeros and weights, under a header of names; n² cells.

    In a matrix of weights, an edge of weight 0 or without a weight has the smallest number that is not 0.
    """
    _check_weights_alone(named, "an adjacency CSV")
    if len(named.names) > _MOST_IN_MATRIX:
        raise InputError(
            f"an adjacency CSV has a cell for every pair and is for at most {_MOST_IN_MATRIX:,} variables; got "
            f"{len(named.names):,}. Write an edge table (.edges.csv) or JSON."
        )
    names = [as_cell(name) for name in named.names]
    cells = ([name, *_entries(named, x)] for x, name in enumerate(names))
    return _as_csv(named, ["", *names], cells)


def _entries(named: NamedGraph, x: int) -> list[str]:
    """Return one row of the matrix."""
    row = ["0"] * len(named.names)
    for y in named.graph.neighbors(x):
        weight = named.attributes.get((min(x, y), max(x, y)), {}).get("weight")
        row[y] = repr(float(weight or _LEAST)) if named.attributes else "1"
    return row


def _as_csv(named: NamedGraph, header: list[str], rows: Iterable[list[str]]) -> str:
    """Return rows as CSV text."""
    text = io.StringIO(newline="")
    # Older Pythons leave a carriage return within a cell unquoted.
    any_return = any("\r" in name for name in named.names)
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if any_return else csv.QUOTE_MINIMAL)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def as_cell(name: str) -> str:
    """Return a name that no spreadsheet runs as a formula: with an apostrophe in front if it looks like one."""
    return f"'{name}" if name.lstrip("'").startswith(_FORMULA) else name


def as_name(cell: str) -> str:
    """Return the name in a cell, without the apostrophe of `as_cell`."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def _check_weights_alone(named: NamedGraph, title: str) -> None:
    """Raise InputError for attributes that a format cannot carry."""
    for numbers in named.attributes.values():
        other = next((key for key in numbers if key != "weight" or not math.isfinite(numbers[key])), None)
        if other is not None:
            raise InputError(
                f"attributes must be finite weights for {title}, which can carry nothing else; got {other!r}. Write "
                "JSON, GraphML, DOT or an edge table instead."
            )


# The edge table: a CSV with a row for each edge, its two ends and its numbers, for spreadsheets and data frames


_ENDS = (("u", "v"), ("source", "target"), ("from", "to"))  # headings of the two ends, also in tables of other programs


def is_edge_table(text: str) -> bool:
    """Return whether a CSV is an edge table: a matrix has no heading above its names."""
    header = next(csv.reader(io.StringIO(text, newline="")), [])
    return tuple(cell.strip().lower() for cell in header[:2]) in _ENDS


def parse_csv(text: str) -> NamedGraph:
    """Parse an edge table or an adjacency matrix."""
    return parse_edge_table(text) if is_edge_table(text) else parse_adjacency(text)


def parse_edge_table(text: str) -> NamedGraph:
    """Parse two ends a row, then numbers under their headings; a row with one end is a variable without an edge.

    Variables come in order of first appearance. Cells that are not numbers are left out.
    """
    rows = (row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(row))
    header = next(rows)
    if not is_edge_table(text):
        raise FileError(f"the first two headings must be u and v; got {', '.join(header[:2]) or 'none'}.")
    builder = GraphBuilder()
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise FileError(f"row {number} must have {len(header)} cells, as the header has; got {len(row)}.")
        ends = [as_name(cell) for cell in row[:2] if cell]
        for name in ends:
            builder.add(name)
        if len(ends) == 2:
            try:
                builder.join(ends[0], ends[1], _numbers(header, row))
            except FileError as error:
                raise FileError(f"row {number}: {error}") from None
    return builder.finish()


def _numbers(header: list[str], row: list[str]) -> dict[str, float]:
    """Return the cells that are numbers, by heading."""
    found = {}
    for heading, cell in zip(header[2:], row[2:], strict=True):
        try:
            found[heading] = float(as_name(cell))
        except ValueError:  # empty, or not a number
            continue
    return found


def render_edge_table(named: NamedGraph) -> str:
    """Return rows in an order that keeps that of the variables; no cell is a formula."""
    if "" in named.names:
        raise InputError("names in an edge table must not be empty; got ''. Rename it, or write GraphML or JSON.")
    keys = list(dict.fromkeys(key for _, _, numbers in named.named_edges() for key in numbers))
    return _as_csv(named, ["u", "v", *keys], _rows(named, keys))


def _rows(named: NamedGraph, keys: list[str]) -> Iterator[list[str]]:
    """Yield one row for each edge, and for each variable without edges."""
    names = [as_cell(name) for name in named.names]
    for ends in _edges_in_order(named.graph):
        if len(ends) == 1:
            yield [names[ends[0]], "", *[""] * len(keys)]
            continue
        u, v = ends
        numbers = named.attributes.get((min(u, v), max(u, v)), {})
        yield [names[u], names[v], *(_cell(numbers.get(key)) for key in keys)]


def _cell(value: float | None) -> str:
    """Return a number that reads back equal; -inf would be a formula."""
    if value is None:
        return ""
    return repr(float(value)) if math.isfinite(value) else as_cell(str(float(value)))


class _Format(NamedTuple):
    """Title, extensions, parser and writer of a format."""

    title: str
    extensions: tuple[str, ...]
    parse: Callable[[str], NamedGraph] | None  # None: the format is only written
    render: Callable[[NamedGraph], str]
    carries_numbers: bool = True


_FORMATS = {
    "table": _Format("an edge table", (".edges.csv",), parse_edge_table, render_edge_table),
    "csv": _Format("a CSV of edges or of an adjacency matrix", (".csv",), parse_csv, render_adjacency, False),
    "graphml": _Format("GraphML", (".graphml",), parse_graphml, render_graphml),
    "dot": _Format("DOT", (".dot", ".gv"), None, render_dot),
    "json": _Format("JSON", (".json",), parse_json, render_json),
}
FORMATS: tuple[str, ...] = tuple(_FORMATS)
_OTHERS = "Gephi, Cytoscape, igraph and yEd read and write GraphML."


def read_graph(path: str | os.PathLike[str], format: str | None = None) -> NamedGraph:
    """Read a graph and the names of its variables from a file.

    Parameters
    ----------
    path
        The file; its extension determines the format.
    format
        One of `FORMATS` but ``"dot"``; overrides the extension.

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
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chain.edges.csv"
    >>> _ = path.write_text("u,v\\nsleep,mood\\nmood,work\\nage,\\n")
    >>> named = read_graph(path)
    >>> named.names, named.graph.edges
    (('sleep', 'mood', 'work', 'age'), ((0, 1), (1, 2)))
    """
    chosen = _chosen(path, format)
    if chosen.parse is None:
        raise FileError(
            f"{os.fspath(path)!r} cannot be read: {chosen.title} is only written. Read GraphML, JSON or a CSV of edges."
        )
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
        Numbers on edges, by (u, v) with u < v. The adjacency CSV carries ``weight`` alone.

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
            f"path must end in a known extension ({_extensions()}); got {os.fspath(path)!r}. {_OTHERS} Save it as "
            f"one of these, or pass format= with one of {', '.join(FORMATS)}."
        )
    return known


def check_extension(path: str | os.PathLike[str], argument: str) -> None:
    """Raise FileError unless the extension of a path is that of a format."""
    check_path(argument, path)
    if _by_extension(path) is None:
        raise FileError(
            f"{argument} must end in a known extension ({_extensions()}); got {os.fspath(path)!r}. Choose one of them. "
            f"{_OTHERS}"
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
    if not text.strip():
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
