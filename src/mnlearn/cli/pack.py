"""`mnlearn pack`: data of any size to one file that is counted in place."""

from __future__ import annotations

import csv
from typing import Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Reading
from mnlearn.cli._output import say, show_json
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.cli._wording import counted, printable
from mnlearn.errors import InputError, MnlearnError

EXAMPLES = """\b
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
