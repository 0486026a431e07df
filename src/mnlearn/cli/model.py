"""`mnlearn fit`: parameters for a known structure."""

from __future__ import annotations

import csv
import io
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import options
from mnlearn.cli.console import counted, note, printable, say, show, show_json, simple_table
from mnlearn.cli.graph import BurnIn, Chains, Out, Rows, Sampler, Seed
from mnlearn.cli.options import Preparing, Reading
from mnlearn.errors import InputError, MnlearnWarning, check_name

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.model.markov_model import MarkovModel
    from mnlearn.model.predictions import Predictions


FIT_EXAMPLES = """\b
Examples:
  mnlearn fit network.graphml survey.csv --out model
  mnlearn fit network.edges survey.csv --method canonical --set smoothing=1 --json
  mnlearn fit network.graphml genes.parquet --method gaussian --set ridge=0.1
  mnlearn fit network.graphml survey.csv --uai survey.uai
"""

SHOWN = 40  # edges listed without --all

Source = Annotated[str, typer.Argument(metavar="GRAPH", help="A graph file; its variables are matched by name.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="canonical|pseudolikelihood|gaussian",
        help="By default gaussian for continuous columns, else pseudolikelihood.",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, such as ridge=0.1; repeatable."),
]
ModelOut = Annotated[
    str, typer.Option("--out", "-o", metavar="FOLDER", help="Where the model goes; the folder model by default.")
]
Uai = Annotated[str | None, typer.Option(metavar="FILE", help="Also write the factors as a UAI file.")]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="COL", help="Fit to these columns only; repeatable.")
]
All = Annotated[bool, typer.Option("--all", help=f"List all edges, not only the {SHOWN} strongest.")]


def fit(
    graph: Source,
    data: options.Data,
    *,
    method: Method = None,
    set_: Set = None,
    out: ModelOut = "model",
    uai: Uai = None,
    column: Columns = None,
    preparing: Preparing,
    reading: Reading,
    all_: All = False,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Fit the parameters of a network whose structure is known, and write the model to a folder.

    Draw rows from it with mnlearn sample, predict columns with mnlearn predict.
    """
    from mnlearn import learning
    from mnlearn.model.files import check_model_folder

    check_model_folder(out)
    wishes = preparing.said() | options.said(columns=column)
    how = reading.keywords()
    own = options.settings(set_, learning.fit_parameters, wishes)
    chosen: Any = method
    model = learning.fit_parameters(graph, data, chosen, **how, **wishes, **own)
    if uai is not None:
        model.write_uai(uai)
    model.save(out)
    for remark in model.report.notes:
        note(remark)
    if as_json:
        files = {"model": out} | ({"uai": uai} if uai is not None else {})
        show_json({"files": files, **model.to_dict()})
    else:
        _show(model, out, uai, all_edges=all_)


def _show(model: MarkovModel, out: str, uai: str | None, *, all_edges: bool) -> None:
    """The edges, strongest first, and what was fitted."""
    from rich.text import Text

    scale = "log odds ratio" if model.kind == "discrete" else "partial correlation"
    table = simple_table("edge", "", scale, "sign", numbers=(scale,))
    edges = model.strengths()
    for edge in edges if all_edges else edges[:SHOWN]:
        sign = {1: "+", -1: "−", None: ""}[edge.sign]
        table.add_row(Text(printable(edge.u)), Text(printable(edge.v)), f"{edge.strength:.3f}", sign)
    show(table)
    if len(edges) > SHOWN and not all_edges:
        say(f"and {len(edges) - SHOWN} more; --all lists them")
    report = model.report
    ended = "" if report.converged else f", NOT converged after {counted(report.iterations, 'step')}"
    size = f"{counted(model.n_parameters, 'parameter')} of {counted(len(model.names), 'variable')}"
    say(f"{printable(out)}: {size} by {report.method} from {counted(report.n_rows, 'row')}{ended}")
    if uai is not None:
        say(f"{printable(uai)}: the factors, in the UAI format")


# `mnlearn predict`: a column from the others, by a fitted model.


PREDICT_EXAMPLES = """\b
Examples:
  mnlearn predict model new.csv fatigue
  mnlearn predict model new.csv fatigue --out guesses.csv
"""

Column = Annotated[str, typer.Argument(metavar="COL", help="The variable to predict.")]
PredictionsOut = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write the table: .csv, .tsv or .parquet; else it is printed as CSV."),
]


def predict(
    model: Model,
    data: options.Data,
    column: Column,
    *,
    out: PredictionsOut = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Predict a column from the others, row by row: the best guess and how sure the model is.

    The data need the neighbours of the column. If they hold the column itself, the guesses are held against it.
    """
    from mnlearn.data.writers import check_data_path
    from mnlearn.model.files import load_model
    from mnlearn.model.predictions import predictions

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


# `mnlearn sample`: rows from a fitted model.


SAMPLE_EXAMPLES = """\b
Examples:
  mnlearn sample model --rows 5000 --seed 1 --out drawn.csv
  mnlearn sample model --sampler gibbs --burn-in 5000 --thin 20 --out drawn.parquet --json
"""

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A folder that mnlearn fit wrote.")]
Thin = Annotated[int | None, typer.Option(metavar="N", help="Sweeps from row to row of a chain; 10 by default.")]


def sample(
    model: Model,
    *,
    rows: Rows = 1000,
    seed: Seed = 1,
    out: Out = "data.csv",
    sampler: Sampler = "auto",
    chains: Chains = None,
    burn_in: BurnIn = None,
    thin: Thin = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Draw rows from a fitted model, with the names and labels of its data.

    Exact where the model allows it, else by Gibbs chains, which say when they have not converged.
    """
    from mnlearn.data.writers import check_data_path, write_data
    from mnlearn.model.files import load_model
    from mnlearn.simulate.sampling import METHODS

    check_data_path(out)
    check_name("sampler", sampler, METHODS)
    said = {"chains": chains, "burn_in": burn_in, "thin": thin}
    wishes = {name: value for name, value in said.items() if value is not None}
    found = load_model(model)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", MnlearnWarning)
        drawn = _drawn(found, rows, seed, sampler, wishes)
    write_data(drawn, out)
    for warning in heard:
        note(str(warning.message))
    converged = not any(issubclass(warning.category, MnlearnWarning) for warning in heard)
    if as_json:
        size = {"rows": drawn.n_rows, "variables": drawn.n_variables}
        show_json({"files": {"data": out}, **size, "seed": seed, "converged": converged})
        return
    say(f"{printable(out)}: {counted(drawn.n_rows, 'row')} of {counted(drawn.n_variables, 'variable')}")


def _drawn(model: MarkovModel, rows: int, seed: int, sampler: Any, wishes: dict[str, int]) -> Dataset:
    """The rows, in the way that was asked for."""
    from mnlearn.model.discrete import DiscreteModel
    from mnlearn.simulate.gibbs import GibbsPlan

    if isinstance(model, DiscreteModel):
        return model.sample(rows, seed, method=sampler, plan=GibbsPlan(**wishes))
    if sampler != "auto" or wishes:
        raise InputError(
            "--sampler, --chains, --burn-in and --thin are for discrete models; got a gaussian one. Drop them."
        )
    return model.sample(rows, seed)
