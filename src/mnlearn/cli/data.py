"""`mnlearn info`: a first look at a table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mnlearn.cli import options
from mnlearn.cli.console import (
    EXIT_INTERRUPTED,
    counted,
    joined,
    note,
    printable,
    say,
    show,
    show_json,
    simple_table,
    watched,
)
from mnlearn.cli.options import Reading
from mnlearn.errors import InputError, MnlearnError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from mnlearn.data.options import MissingPolicy
    from mnlearn.data.overview import Overview, VariableOverview


MOST_VARIABLES = 40  # a screen; beyond that the types are summarised
_HEADINGS = ("variable", "type", "states", "missing", "range or most common")

INFO_EXAMPLES = """\b
Examples:
  mnlearn info survey.csv
  mnlearn info patients.csv --missing-value '?' --categorical ward
  mnlearn info genes.parquet --all
"""

All = Annotated[bool, typer.Option("--all", help=f"List every variable, also when there are over {MOST_VARIABLES}.")]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="error|drop_rows|category",
        help="Show what is left after this; else missing values are counted, not treated.",
    ),
]


def info(
    data: options.Data,
    *,
    show_all: All = False,
    missing: Missing = None,
    reading: Reading,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Show the size, the types and the oddities of a data file.

    That is: rows, variables, types, numbers of states, and what is missing, constant or duplicated.
    """
    from mnlearn.data.overview import overview
    from mnlearn.data.readers import read

    how = reading.keywords()
    if missing is None:
        seen = overview(data, **how)
    else:
        dataset = read(data, missing=cast("MissingPolicy", missing), **how)
        note(str(dataset.missing))
        seen = overview(dataset)
    if as_json:
        show_json(seen.as_dict())
    else:
        show(*describe(seen, list_all=show_all))


def describe(seen: Overview, *, list_all: bool = False) -> list[RenderableType]:
    """Lay out an overview: its size, a table, and what deserves attention."""
    from rich.text import Text

    wide = len(seen.variables) > MOST_VARIABLES and not list_all
    table = _by_type(seen.variables) if wide else _by_variable(seen.variables)
    return [Text(_size(seen), style="bold"), table, *map(Text, _remarks(seen, wide=wide))]


def _size(seen: Overview) -> str:
    """Rows and variables in one line."""
    stored = f" ({seen.n_records:,} stored)" if seen.n_rows != seen.n_records else ""
    return f"{counted(seen.n_rows, 'row')}{stored}, {counted(len(seen.variables), 'variable')}"


def _by_variable(variables: Sequence[VariableOverview]) -> Table:
    """One line for each variable."""
    from rich.text import Text

    table = simple_table(*_HEADINGS, numbers=("states", "missing"))
    for variable in variables:
        table.add_row(
            Text(printable(variable.name)),
            variable.type,
            f"{variable.cardinality:,}" if variable.cardinality else "",
            f"{variable.missing:,}" if variable.missing else "",
            Text(_values(variable)),
        )
    return table


def _values(variable: VariableOverview) -> str:
    """The range, or the most common level; and whether that is all there is."""
    if variable.type == "empty":
        return "no value"
    if variable.type == "continuous":
        values = f"{variable.low:g} to {variable.high:g}"
    else:
        values = f"{printable(str(variable.most_common))} ({variable.most_common_count:,})"
    return f"constant: {values}" if variable.constant else values


def _by_type(variables: Sequence[VariableOverview]) -> Table:
    """One line for each type."""
    table = simple_table("type", "variables", "states", "with missing", numbers=("variables", "states", "with missing"))
    for kind in ("categorical", "continuous", "empty"):
        group = [variable for variable in variables if variable.type == kind]
        states = sorted(variable.cardinality for variable in group)
        if group:
            table.add_row(
                kind,
                f"{len(group):,}",
                f"{states[0]:,} to {states[-1]:,}" if states[-1] else "",
                f"{sum(variable.missing > 0 for variable in group):,}",
            )
    return table


def _remarks(seen: Overview, *, wide: bool) -> list[str]:
    """What deserves attention, a line each."""
    incomplete = sorted((v for v in seen.variables if v.missing), key=lambda variable: -variable.missing)
    doubtful = [f"{printable(v.name)} ({joined(v.doubtful)})" for v in seen.variables if v.doubtful]
    remarks = {
        "missing": joined([f"{printable(v.name)} {v.missing:,}" for v in incomplete]),
        "maybe missing": joined(doubtful) + (", say so with --missing-value" if doubtful else ""),
        "constant": joined(seen.constant),
        "duplicated": joined([joined(group, shown=4, between=" = ") for group in seen.duplicated]),
        "duplicate rows": f"{seen.duplicate_rows:,}" if seen.duplicate_rows else "",
        "every variable": "use --all to list them" if wide else "",
    }
    return [f"{label}: {remark}" for label, remark in remarks.items() if remark]


# `mnlearn pack`: data of any size to one file that is counted in place.


PACK_EXAMPLES = """\b
Examples:
  mnlearn pack survey.csv -o survey.mnpack
  mnlearn pack 'years/*.parquet' -o years.mnpack --missing category
  mnlearn pack 2024.parquet -o years.mnpack --append
  mnlearn learn years.mnpack --method mpl
"""

Sources = Annotated[
    list[str],
    typer.Argument(metavar="DATA...", help="CSV, TSV or Parquet files, folders of them, or patterns in quotes."),
]
Out = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write; it ends in .mnpack.")]
Append = Annotated[bool, typer.Option("--append", help="Add the rows to FILE, which is there already.")]
Columns = Annotated[list[str] | None, typer.Option("--column", metavar="COL", help="Only these columns; repeatable.")]
Levels = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=A,B", help="The states of a column in their order; repeatable. Else they are found."),
]


def pack(
    data: Sources,
    *,
    out: Out,
    append: Append = False,
    column: Columns = None,
    levels: Levels = None,
    missing: options.Missing = None,
    reading: Reading,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Write DATA to a packed file: read once, in little memory, and opened in milliseconds ever after.

    Every command takes the packed file for DATA. It is complete or not there: who is interrupted loses nothing.
    """
    from mnlearn import data as library

    how = reading.keywords()
    said: dict[str, Any] = {"columns": column, "levels": _levels(levels), "missing": missing}
    wishes = {name: value for name, value in said.items() if value}
    with watched() as monitor:
        try:
            packed = library.pack(list(data), out, append=append, monitor=monitor, **how, **wishes)
        except MnlearnError:
            if monitor.interrupted:
                raise typer.Exit(EXIT_INTERRUPTED) from None
            raise
    summary = {"file": out, "rows": packed.n_rows, "variables": packed.n_variables, "stored_rows": packed.n_records}
    if as_json:
        show_json(summary)
    else:
        say(f"{printable(out)}: {counted(packed.n_rows, 'row')}, {counted(packed.n_variables, 'variable')}")


def _levels(texts: list[str] | None) -> dict[str, list[str]]:
    """Declared levels as the user writes them; a label with a comma stands in double quotes."""
    found = {}
    for text in texts or ():
        name, sign, listed = text.partition("=")
        labels = next(csv.reader([listed]), [])
        if not sign or not name or not all(labels) or not labels:
            raise InputError(f"--levels must have the form COL=A,B; got {text!r}. Separate the states by commas.")
        found[name] = labels
    return found
