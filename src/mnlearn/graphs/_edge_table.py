"""The edge table: a CSV with a row for each edge, its two ends and its numbers, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping

from mnlearn.errors import FileError, InputError
from mnlearn.graphs._named import Assembly, NamedGraph
from mnlearn.graphs._text import as_cell, as_name, edges_in_order, parse_adjacency

_ENDS = (("u", "v"), ("source", "target"), ("from", "to"))  # headings of the two ends, in tables of others too


def is_edge_table(text: str) -> bool:
    """Whether a CSV is one: a matrix has no heading above its names."""
    header = next(csv.reader(io.StringIO(text, newline="")), [])
    return tuple(cell.strip().lower() for cell in header[:2]) in _ENDS


def parse_csv(text: str) -> NamedGraph:
    """An edge table or an adjacency matrix, whichever it is."""
    return parse_edge_table(text) if is_edge_table(text) else parse_adjacency(text)


def parse_edge_table(text: str) -> NamedGraph:
    """Two ends a row, then numbers under their headings; a row with one end is a variable without an edge.

    Variables come in order of first appearance. A column that holds anything but numbers is left out.
    """
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(row)]
    if not is_edge_table(text):
        raise FileError(f"the first two headings must be u and v; got {', '.join(header[:2]) or 'none'}.")
    assembly = Assembly()
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise FileError(f"row {number} must have {len(header)} cells, as the header has; got {len(row)}.")
        ends = [as_name(cell) for cell in row[:2] if cell]
        for name in ends:
            assembly.meet(name)
        if len(ends) == 2:
            _join(assembly, number, ends, _numbers(header, row))
    return assembly.finish()


def _join(assembly: Assembly, number: int, ends: list[str], numbers: Mapping[str, float]) -> None:
    """Add an edge; an error names its row."""
    try:
        assembly.join(ends[0], ends[1], numbers)
    except FileError as error:
        raise FileError(f"row {number}: {error}") from None


def _numbers(header: list[str], row: list[str]) -> dict[str, float]:
    """The cells that are numbers, by heading."""
    found = {}
    for heading, cell in zip(header[2:], row[2:], strict=True):
        try:
            found[heading] = float(as_name(cell))
        except ValueError:  # empty, or a text
            continue
    return found


def render_edge_table(named: NamedGraph) -> str:
    """Rows in an order that keeps that of the variables; no cell that a spreadsheet would run."""
    if "" in named.names:
        raise InputError("names in an edge table must not be empty; got ''. Rename it, or write GraphML or JSON.")
    keys = list(dict.fromkeys(key for _, _, numbers in named.named_edges() for key in numbers))
    text = io.StringIO(newline="")
    # Older Pythons leave a carriage return within a cell unquoted.
    any_return = any("\r" in name for name in named.names)
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if any_return else csv.QUOTE_MINIMAL)
    writer.writerow(["u", "v", *keys])
    writer.writerows(_rows(named, keys))
    return text.getvalue()


def _rows(named: NamedGraph, keys: list[str]) -> Iterator[list[str]]:
    """One row for each edge, and for each variable without one."""
    names = [as_cell(name) for name in named.names]
    for ends in edges_in_order(named.graph):
        if len(ends) == 1:
            yield [names[ends[0]], "", *[""] * len(keys)]
            continue
        u, v = ends
        numbers = named.attributes.get((min(u, v), max(u, v)), {})
        yield [names[u], names[v], *(_cell(numbers.get(key)) for key in keys)]


def _cell(value: float | None) -> str:
    """A number that reads back equal; -inf would be a formula."""
    if value is None:
        return ""
    return repr(float(value)) if math.isfinite(value) else as_cell(str(float(value)))
