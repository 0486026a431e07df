"""`mnlearn info` and `mnlearn pack`: a summary of a data file, and a packed file for data of any size."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, cast, get_args

from mnlearn.cli import options
from mnlearn.cli.console import (
    escaped,
    exit_interrupted,
    first_names,
    name_options,
    note,
    progress_monitor,
    reads,
    say,
    show,
    simple_table,
    with_noun,
    writes,
)
from mnlearn.cli.options import OutputOptions, ReadingOptions, argument, drop_none, flag, option
from mnlearn.errors import MnlearnError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from mnlearn.data.options import MissingPolicy
    from mnlearn.data.overviews import Overview, VariableOverview

MOST_VARIABLES = 40  # more are summarised by type
MOST_NOTES = 5  # columns whose gaps depend on others
_HEADINGS = ("variable", "kind", "because of", "states", "missing", "range or most common")

All = Annotated[bool, flag("--all", f"List every variable, even if there are more than {MOST_VARIABLES}.")]
InfoMissing = Annotated[
    str | None,
    option("error|testwise|drop_rows|category", "Treat missing values first; by default they are only counted."),
]

Sources = Annotated[
    list[str], reads(argument("DATA...", "CSV, TSV or Parquet files, folders of them, quoted patterns, or a pack."))
]


def info_command(
    data: options.Data,
    *,
    show_all: All = False,
    column: options.Columns = None,
    missing: InfoMissing = None,
    reading: ReadingOptions,
    output: OutputOptions,
) -> None:
    """Summarise a data file: size, types, possible problems.

    Prints the rows, and for each variable its kind (nominal, ordinal, count or continuous), the reason for it, its
    states and missing values; and which variables are constant or duplicated.

    Examples:
      mnlearn info survey.csv
      mnlearn info patients.csv --missing-value '?' --nominal ward
      mnlearn info genes.parquet --all
    """
    from mnlearn.data.overviews import missingness, overview
    from mnlearn.data.readers import read

    read_options = reading.keywords() | drop_none(columns=column or None)
    if missing is None:
        found = overview(data, **read_options)
    else:
        dataset = read(data, missing=cast("MissingPolicy", missing), **read_options)
        note(name_options(str(dataset.missing)))
        found = overview(dataset)
        depends = missingness(dataset).depends() if dataset.gaps else {}
        for name, others in list(depends.items())[:MOST_NOTES]:
            note(f"whether {escaped(name)} is missing depends on {first_names(others, shown=4)}")
        more = len(depends) - MOST_NOTES
        if more > 0:
            note(f"so it does for {with_noun(more, 'other variable')}: mnlearn.missingness lists them")
    output.show(found.as_dict, lambda: show(*lay_out_overview(found, list_all=show_all)))


def lay_out_overview(found: Overview, *, list_all: bool = False) -> list[RenderableType]:
    """Return the parts of an overview: the size, a table, and remarks."""
    from rich.text import Text

    wide = len(found.variables) > MOST_VARIABLES and not list_all
    table = _by_type(found.variables) if wide else _by_variable(found.variables)
    stored = f" ({found.n_records:,} stored)" if found.n_rows != found.n_records else ""
    size = f"{with_noun(found.n_rows, 'row')}{stored}, {with_noun(len(found.variables), 'variable')}"
    return [Text(size, style="bold"), table, *map(Text, _remarks(found, wide=wide))]


def _by_variable(variables: Sequence[VariableOverview]) -> Table:
    """Return a table with one line for each variable."""
    from rich.text import Text

    table = simple_table(*_HEADINGS, numbers=("states", "missing"))
    for variable in variables:
        table.add_row(
            Text(escaped(variable.name)),
            variable.kind or variable.type,
            variable.reason,
            f"{variable.cardinality:,}" if variable.cardinality else "",
            f"{variable.missing:,} ({variable.missing_share:.0%})" if variable.missing else "",
            Text(_values(variable)),
        )
    return table


def _values(variable: VariableOverview) -> str:
    """Return the range or the most common level, and whether the variable is constant."""
    if variable.type == "empty":
        return "no value"
    if variable.type == "continuous":
        values = f"{variable.low:g} to {variable.high:g}"
    else:
        values = f"{escaped(str(variable.most_common))} ({variable.most_common_count:,})"
    return f"constant: {values}" if variable.constant else values


def _by_type(variables: Sequence[VariableOverview]) -> Table:
    """Return a table with one line for each kind."""
    from mnlearn.data.dataset import Kind

    table = simple_table("kind", "variables", "states", "with missing", numbers=("variables", "states", "with missing"))
    for kind in (*get_args(Kind), "empty"):
        group = [variable for variable in variables if (variable.kind or variable.type) == kind]
        states = sorted(variable.cardinality for variable in group)
        if group:
            table.add_row(
                kind,
                f"{len(group):,}",
                f"{states[0]:,} to {states[-1]:,}" if states[-1] else "",
                f"{sum(variable.missing > 0 for variable in group):,}",
            )
    return table


def _markers(variable: VariableOverview) -> str:
    """Return how often each marker stands for a missing value."""
    return ", ".join(f"{escaped(marker)} {count:,}" for marker, count in list(variable.marked.items())[:4])


def _remarks(found: Overview, *, wide: bool) -> list[str]:
    """Return remarks on possible problems, one line each."""
    incomplete = sorted((v for v in found.variables if v.missing), key=lambda variable: -variable.missing)
    doubtful = [f"{escaped(v.name)} ({first_names(v.doubtful)})" for v in found.variables if v.doubtful]
    remarks = {
        "missing": first_names([f"{escaped(v.name)} {v.missing:,}" for v in incomplete]),
        "complete rows": f"{found.complete_rows:,} of {found.n_records:,}" if found.incomplete_rows else "",
        "incomplete rows": _incomplete(found),
        "missing by marker": first_names([f"{escaped(v.name)} ({_markers(v)})" for v in incomplete if v.marked]),
        "maybe missing": first_names(doubtful) + (", declare them with --missing-value" if doubtful else ""),
        "constant": first_names(found.constant),
        "duplicated": first_names([first_names(group, shown=4, between=" = ") for group in found.duplicated]),
        "duplicate rows": f"{found.duplicate_rows:,}" if found.duplicate_rows else "",
        "far from normal": first_names(found.far_from_normal),
        "levels without rows": first_names([_unused(v) for v in found.variables if v.unused]),
        "to be declared": first_names(found.unsettled) + _declare(found.unsettled),
        "every variable": "use --all to list them" if wide else "",
    }
    return [f"{label}: {remark}" for label, remark in remarks.items() if remark]


def _incomplete(found: Overview) -> str:
    """Return how many rows have a gap, and which columns alone cost many of them."""
    if not found.incomplete_rows:
        return ""
    from mnlearn.data.dataset import costly_columns

    alone = costly_columns({v.name: v.missing_alone for v in found.variables}, found.incomplete_rows)
    kept = [f"--drop {shlex.quote(escaped(name))} keeps {rows:,}" for name, rows in alone.items()]
    return "; ".join([f"{found.incomplete_rows:,} of {found.n_records:,}", *kept])


def _declare(names: Sequence[str]) -> str:
    """Return the options for columns that may number the rows."""
    return "; use --drop for row numbers, --continuous for a quantity, --nominal for labels" if names else ""


def _unused(variable: VariableOverview) -> str:
    """Return the name of a variable and its levels that no row has."""
    return f"{escaped(variable.name)} ({first_names([escaped(str(label)) for label in variable.unused], shown=4)})"


def pack_command(
    data: Sources,
    *,
    out: Annotated[str, writes(option("FILE", "File to write; it ends in .mnpack.", "--out", "-o"))],
    column: options.Columns = None,
    missing: options.Missing = None,
    reading: ReadingOptions,
    output: OutputOptions,
) -> None:
    """Write data of any size to one packed file.

    The data are read once, in little memory. Every command takes the packed file as DATA and opens it in milliseconds.
    The file is complete or absent: an interrupted run leaves the old one unchanged.

    Examples:
      mnlearn pack survey.csv -o survey.mnpack
      mnlearn pack 'years/*.parquet' -o years.mnpack --missing category
      mnlearn pack years.mnpack 2025.parquet -o longer.mnpack
      mnlearn learn years.mnpack --method mpl
    """
    from mnlearn.data import pack

    given = drop_none(columns=column or None, missing=missing)
    with progress_monitor() as monitor:
        try:
            packed = pack(list(data), out, monitor=monitor, **reading.keywords(), **given)
        except MnlearnError:
            if monitor.interrupted:
                exit_interrupted()
            raise
    size = {"file": out, "rows": packed.n_rows, "variables": packed.n_variables, "stored_rows": packed.n_records}
    text = f"{escaped(out)}: {with_noun(packed.n_rows, 'row')}, {with_noun(packed.n_variables, 'variable')}"
    output.show(lambda: size, lambda: say(text))
