"""`mnlearn predict`: a column from the others, by a fitted model."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._wording import counted, printable
from mnlearn.cli.sample import Model

if TYPE_CHECKING:
    from mnlearn.model import Predictions

EXAMPLES = """\b
Examples:
  mnlearn predict model new.csv fatigue
  mnlearn predict model new.csv fatigue --out guesses.csv
"""

Column = Annotated[str, typer.Argument(metavar="COL", help="The variable to predict.")]
Out = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write the table: .csv, .tsv or .parquet; else it is printed as CSV."),
]


def predict(
    model: Model,
    data: options.Data,
    column: Column,
    *,
    out: Out = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Predict a column from the others, row by row: the best guess and how sure the model is.

    The data need the neighbours of the column. If they hold the column itself, the guesses are held against it.
    """
    from mnlearn.data.writers import check_data_path
    from mnlearn.model import load_model, predictions

    if out is not None:
        check_data_path(out)
    found = predictions(load_model(model), column, data)
    if out is not None:
        found.save(out)
    if as_json:
        show_json(found.to_dict() | ({} if out is None else {"files": {"data": out}}))
        return
    if out is None:
        say(_csv(found))
    else:
        say(f"{printable(out)}: {printable(column)} of {counted(found.table.n_rows, 'row')}")
    if found.value is not None:
        note(f"{found.measure} {found.value:.4g} over {counted(found.table.n_rows, 'row')}")


def _csv(found: Predictions) -> str:
    """The table as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(printable, found.table.names))
    for row in found.rows():
        writer.writerow([f"{v:.6g}" if isinstance(v, float) else printable(str(v)) for v in row])
    return text.getvalue().rstrip("\n")
