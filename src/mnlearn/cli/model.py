"""`mnlearn fit`, `predict`, `impute` and `sample`: the parameters of a network, and what a model is for."""

from __future__ import annotations

import csv
import io
import warnings
from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli import options
from mnlearn.cli.console import escaped, note, say, show_rows, simple_table, with_noun
from mnlearn.cli.files import reads, writes, writes_into
from mnlearn.cli.graph import SampleOptions
from mnlearn.cli.options import InputOptions, NewRowOptions, OutputOptions, argument, flag, option
from mnlearn.errors import InputError, MnlearnWarning

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.model.markov_model import MarkovModel
    from mnlearn.model.predictions import Predictions

SHOWN = 40  # edges listed without --all

FitMethod = Annotated[
    str | None,
    option(
        "canonical|pseudolikelihood|gaussian",
        "By default gaussian for continuous columns, else pseudolikelihood.",
        show_default=False,
    ),
]
FitSet = Annotated[
    list[str] | None, option("NAME=VALUE", "Setting of the method, e.g. ridge=0.1; repeatable.", "--set")
]
_MODEL_FILES = ("model.json", "parameters-*.npy")
ModelFolder = Annotated[str, reads(argument("MODEL", "Folder that mnlearn fit wrote."), *_MODEL_FILES)]
NewModel = Annotated[
    str, writes_into(option("FOLDER", "Folder for the model; model by default.", "--out", "-o"), *_MODEL_FILES)
]

Table = Annotated[str | None, writes(option("FILE", "Write the table: .csv, .tsv or .parquet; else print it as CSV."))]


def fit_command(
    graph: options.GraphFile,
    data: options.Data,
    *,
    method: FitMethod = None,
    set_: FitSet = None,
    out: NewModel = "model",
    uai: Annotated[str | None, writes(option("FILE", "Also write the factors as a UAI file."))] = None,
    column: options.Columns = None,
    reading: InputOptions,
    all_: Annotated[bool, flag("--all", f"List all edges, not only the {SHOWN} strongest.")] = False,
    output: OutputOptions,
) -> None:
    """Fit the parameters of a known graph; write a model.

    The model is a folder. Draw rows from it with mnlearn sample; predict columns with mnlearn predict.

    Examples:
      mnlearn fit network.graphml survey.csv --out model
      mnlearn fit network.edges survey.csv --method canonical --set smoothing=1 --json
      mnlearn fit network.graphml genes.parquet --method gaussian --set ridge=0.1
      mnlearn fit network.graphml survey.csv --uai survey.uai
    """
    from mnlearn.learning import fit_parameters
    from mnlearn.model.files import check_model_folder

    check_model_folder(out, "--out")
    chosen: Any = method
    model = fit_parameters(graph, data, chosen, **reading.arguments(fit_parameters, set_, columns=column))
    model.save(out)
    if uai is not None:
        model.write_uai(uai)
    for remark in model.report.notes:
        note(remark)
    files = {"model": out} | ({"uai": uai} if uai is not None else {})
    output.show(lambda: {"files": files, **model.to_dict()}, lambda: _show_model(model, out, uai, all_edges=all_))


def _show_model(model: MarkovModel, out: str, uai: str | None, *, all_edges: bool) -> None:
    """Print the edges, strongest first, and the size of the model."""
    scale = "log odds ratio" if model.kind == "discrete" else "partial correlation"
    signs = {1: "+", -1: "−", None: ""}
    rows = [(edge.u, edge.v, f"{edge.strength:.3f}", signs[edge.sign]) for edge in model.strengths()]
    table = simple_table("edge", "", scale, "sign", numbers=(scale,))
    show_rows(table, rows, limit=None if all_edges else SHOWN)
    report = model.report
    ended = "" if report.converged else f", NOT converged after {with_noun(report.iterations, 'step')}"
    size = f"{with_noun(model.n_parameters, 'parameter')} of {with_noun(len(model.names), 'variable')}"
    say(f"{escaped(out)}: {size} by {report.method} from {with_noun(report.n_rows, 'row')}{ended}")
    if uai is not None:
        say(f"{escaped(uai)}: the factors, in the UAI format")


def predict_command(
    model: ModelFolder,
    data: options.Data,
    column: Annotated[str, argument("COL", "Variable to predict.")],
    *,
    out: Table = None,
    reading: NewRowOptions,
    output: OutputOptions,
) -> None:
    """Predict a column from the others, row by row.

    Each row has the best guess and its probability. The data need the neighbours of the column; empty cells are unknown
    values. If they hold the column itself, the accuracy is printed.

    Examples:
      mnlearn predict model new.csv fatigue
      mnlearn predict model new.csv fatigue --out guesses.csv
      mnlearn predict model new.csv fatigue --missing-value ?
    """
    from mnlearn.data.writers import check_data_path
    from mnlearn.model.files import load_model
    from mnlearn.model.predictions import predictions

    if out is not None:
        check_data_path(out, "--out")
    found = predictions(load_model(model), reading.rows(data), column)
    if out is not None:
        found.save(out)
    files = {} if out is None else {"files": {"data": out}}
    output.show(lambda: found.to_dict() | files, lambda: _show_predictions(found, column, out))


def _show_predictions(found: Predictions, column: str, out: str | None) -> None:
    """Print the table or the file that holds it, and the accuracy."""
    rows = with_noun(found.table.n_rows, "row")
    say(_csv(found) if out is None else f"{escaped(out)}: {escaped(column)} of {rows}")
    if found.value is not None:
        note(f"{found.measure} {found.value:.4g} over the rows that have {escaped(column)}")


def _csv(found: Predictions) -> str:
    """Return the table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escaped, found.table.names))
    for row in found.rows():
        writer.writerow([f"{v:.6g}" if isinstance(v, float) else escaped(str(v)) for v in row])
    return text.getvalue().rstrip("\n")


def impute_command(
    model: ModelFolder,
    data: options.Data,
    *,
    out: Annotated[str, writes(option("FILE", "File for the rows: .csv, .tsv or .parquet."))] = "imputed.csv",
    reading: NewRowOptions,
    output: OutputOptions,
) -> None:
    """Fill the empty cells of DATA with a fitted model.

    Each row gets the values that are most probable together given the rest of it. Columns that the model does not have
    are left out.

    Examples:
      mnlearn impute model gaps.csv
      mnlearn impute model gaps.csv --missing-value ? --out complete.parquet
    """
    from mnlearn.data.writers import check_data_path, write_data
    from mnlearn.model.files import load_model

    check_data_path(out, "--out")
    found = load_model(model).impute_dataset(reading.rows(data))
    write_data(found.rows, out)
    size = {"rows": found.rows.n_rows, "variables": found.rows.n_variables, "filled": found.filled}
    cells = with_noun(found.filled, "empty cell")
    text = f"{escaped(out)}: {with_noun(found.rows.n_rows, 'row')}, {cells} filled"
    output.show(lambda: {"files": {"data": out}, **size}, lambda: say(text))


def sample_command(model: ModelFolder, *, sampling: SampleOptions, output: OutputOptions) -> None:
    """Draw rows from a fitted model.

    The rows have the names and labels of its data. They are exact where the model allows it, and else from Gibbs
    chains, which report whether they converged.

    Examples:
      mnlearn sample model --rows 5000 --seed 1 --out drawn.csv
      mnlearn sample model --method gibbs --burn-in 5000 --thin 20 --out drawn.parquet --json
    """
    from mnlearn.data.writers import write_data
    from mnlearn.model.files import load_model

    sampling.check()
    out, found = sampling.out, load_model(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MnlearnWarning)
        drawn = _draw(found, sampling)
    write_data(drawn, out)
    for warning in caught:
        note(str(warning.message))
    converged = not any(issubclass(warning.category, MnlearnWarning) for warning in caught)
    size = {"rows": drawn.n_rows, "variables": drawn.n_variables, "seed": sampling.seed, "converged": converged}
    text = f"{escaped(out)}: {with_noun(drawn.n_rows, 'row')} of {with_noun(drawn.n_variables, 'variable')}"
    output.show(lambda: {"files": {"data": out}, **size}, lambda: say(text))


def _draw(model: MarkovModel, sampling: SampleOptions) -> Dataset:
    """Return the rows; raise InputError if a Gaussian model gets options of chains."""
    from mnlearn.model.discrete import DiscreteModel
    from mnlearn.simulate.gibbs import GibbsPlan

    sampler: Any = sampling.method
    chains = sampling.chain_settings()
    if isinstance(model, DiscreteModel):
        return model.sample_dataset(sampling.rows, sampling.seed, method=sampler, plan=GibbsPlan(**chains))
    if sampler != "auto" or chains:
        raise InputError(
            "--method, --chains, --burn-in and --thin are for discrete models; got a gaussian one. Drop them."
        )
    return model.sample_dataset(sampling.rows, sampling.seed)
