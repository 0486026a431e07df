"""`mnlearn info`: a first look at a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Reading
from mnlearn.cli._output import note, show, show_json, simple_table
from mnlearn.cli._wording import counted, joined, printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from mnlearn.data import Overview
    from mnlearn.data._request import MissingPolicy
    from mnlearn.data.overview import VariableOverview

MOST_VARIABLES = 40  # a screen; beyond that the types are summarised
_HEADINGS = ("variable", "type", "states", "missing", "range or most common")

EXAMPLES = """\b
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
    from mnlearn.data import overview, read

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
