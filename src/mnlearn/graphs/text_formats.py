"""Plain text: the edge list and the adjacency CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping

from mnlearn.errors import FileError, InputError
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.named import Assembly, NamedGraph

# A spreadsheet would run a cell that starts with one of these; an apostrophe in front makes it text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def parse_edge_list(text: str) -> NamedGraph:
    """One edge a line, two names with a tab between; a lone name is a variable; `#` starts a comment line.

    A file without any tab may separate its names by spaces instead. Variables come in order of first appearance.
    """
    lines = [(number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, line) for number, line in lines if not line.startswith("#") and (line.strip() or "\t" in line)]
    tabbed = any("\t" in line for _, line in lines)
    assembly = Assembly()
    for number, line in lines:
        names = _names_of_line(number, line.split("\t") if tabbed else line.split())
        for name in names:
            assembly.meet(name)
        if len(names) == 2:
            _join(assembly, number, *names)
    return assembly.finish()


def _names_of_line(number: int, fields: list[str]) -> list[str]:
    """One or two names; a tab after a lone name says that the spaces within belong to it."""
    names = fields[:1] if len(fields) == 2 and not fields[1] else fields
    if len(names) > 2:
        raise FileError(
            f"line {number} must hold one or two names; got {len(names)}. Keep the two ends of the edge only."
        )
    if not all(names):
        raise FileError(f"line {number} must hold names that are not empty; got {fields}.")
    return names


def _join(assembly: Assembly, number: int, a: str, b: str) -> None:
    """Add an edge; an error names its line."""
    try:
        assembly.join(a, b)
    except FileError as error:
        raise FileError(f"line {number}: {error}") from None


def render_edge_list(named: NamedGraph) -> str:
    """Edges in order of their later end, so that the order of first appearance is the order of the variables."""
    _refuse_attributes(named, "an edge list")
    for name in named.names:
        if not name or name.startswith("#") or any(letter in name for letter in "\t\r\n"):
            raise InputError(
                f"names in an edge list must not be empty, start with '#' or contain a tab or a line break; got "
                f"{name!r}. Rename it, or write GraphML or JSON."
            )
    return "".join(f"{line}\n" for line in _edge_lines(named))


def _edge_lines(named: NamedGraph) -> Iterator[str]:
    """Two names with a tab between, or a lone one, with a tab after it if it has spaces."""
    for ends in edges_in_order(named.graph):
        if len(ends) == 2:
            yield f"{named.names[ends[0]]}\t{named.names[ends[1]]}"
        else:
            name = named.names[ends[0]]
            yield name + ("" if name.split() == [name] else "\t")


def edges_in_order(graph: Graph) -> Iterator[tuple[int, ...]]:
    """Edges, and lone variables, in an order in which the variables appear first in their own.

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
    """A header of names after a corner cell, then per variable its name and one number per column."""
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
    """The non-zero entries of one row, by the name of their column."""
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
    """The graph of a matrix that says the same about (a, b) and (b, a)."""
    assembly = Assembly()
    for name in header:
        assembly.declare(name)
    position = {name: x for x, name in enumerate(header)}
    for a, row in entries.items():
        for b, number in row.items():
            mirrored = entries[b].get(a, 0.0)
            if abs(number - mirrored) > 1e-8 * abs(number):
                raise FileError(
                    f"the matrix must be symmetric; got {number:g} for ({a!r}, {b!r}) and {mirrored:g} for "
                    f"({b!r}, {a!r}). Decide what the directions mean and write both entries alike."
                )
            if position[a] <= position[b]:  # equal is a self loop, which the assembly refuses
                assembly.join(a, b)
    return assembly.finish()


def render_adjacency(named: NamedGraph) -> str:
    """Zeros and ones under a header of names; n² cells."""
    _refuse_attributes(named, "an adjacency CSV")
    names = [as_cell(name) for name in named.names]
    text = io.StringIO(newline="")
    # Older Pythons leave a carriage return within a cell unquoted.
    any_return = any("\r" in name for name in names)
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if any_return else csv.QUOTE_MINIMAL)
    writer.writerow(["", *names])
    n = named.graph.n_variables
    for x, name in enumerate(names):
        neighbors = named.graph.neighbors(x)
        writer.writerow([name, *("1" if y in neighbors else "0" for y in range(n))])
    return text.getvalue()


def as_cell(name: str) -> str:
    """A name no spreadsheet runs as a formula: an apostrophe goes in front of one that looks like it."""
    return f"'{name}" if name.lstrip("'").startswith(_FORMULA) else name


def as_name(cell: str) -> str:
    """The name in a cell, without the apostrophe that `as_cell` put there."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def _refuse_attributes(named: NamedGraph, title: str) -> None:
    """What a format cannot carry is not dropped in silence."""
    if named.attributes:
        raise InputError(
            f"attributes must be left out for {title}, which cannot carry them; got them for "
            f"{len(named.attributes)} edges. Write JSON, GraphML, GML, DOT or an edge table instead."
        )


# The edge table: a CSV with a row for each edge, its two ends and its numbers, for spreadsheets and data frames.


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
            _joined_cells(assembly, number, ends, _numbers(header, row))
    return assembly.finish()


def _joined_cells(assembly: Assembly, number: int, ends: list[str], numbers: Mapping[str, float]) -> None:
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
