"""`mnlearn fit`, `predict`, `impute` and `sample`: the parameters of a network, and what a model is for."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli import options
from mnlearn.cli.console import escaped, note, reads, say, show_rows, simple_table, with_noun, writes, writes_into
from mnlearn.cli.graph import SampleOptions
from mnlearn.cli.options import InputOptions, NewRowOptions, OutputOptions, argument, flag, option
from mnlearn.errors import InputError, MnlearnWarning, whole_number

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.model.base import MarkovModel
    from mnlearn.model.predictions import Predictions

SHOWN = 40  # edges listed without --all

FitMethod = Annotated[
    str | None,
    option(
        "canonical|pseudolikelihood|gaussian|mixed",
        "By default gaussian if all columns are continuous, pseudolikelihood if all are nominal, else mixed.",
        show_default=False,
    ),
]
FitSet = Annotated[
    list[str] | None, option("NAME=VALUE", "Setting of the method, e.g. ridge=0.1; repeatable.", "--set")
]
_SCALES = {"discrete": "log odds ratio", "gaussian": "partial correlation", "mixed": "interaction"}
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
    column: options.Columns = None,
    reading: InputOptions,
    all_: Annotated[bool, flag("--all", f"List all edges, not only the {SHOWN} strongest.")] = False,
    output: OutputOptions,
) -> None:
    """Fit the parameters of a known graph; write a model.

    The model is a folder. Draw rows from it with mnlearn sample; predict columns with mnlearn predict.

    Examples:
      mnlearn fit network.graphml survey.csv --out model
      mnlearn fit network.edges.csv survey.csv --method canonical --set smoothing=1 --json
      mnlearn fit network.graphml genes.parquet --method gaussian --set ridge=0.1
    """
    from mnlearn.learning import fit_parameters
    from mnlearn.model.files import check_model_folder

    check_model_folder(out, "--out")
    chosen: Any = method
    model = fit_parameters(graph, data, chosen, **reading.arguments(fit_parameters, set_, columns=column))
    model.save(out)
    for remark in model.report.notes:
        note(remark)
    output.show(
        lambda: {"files": {"model": out}, **model.to_dict()},
        lambda: _show_model(model, out, all_edges=all_),
    )


def _show_model(model: MarkovModel, out: str, *, all_edges: bool) -> None:
    """Print the edges, strongest first, and the size of the model."""
    scale = _SCALES[model.kind]
    signs = {1: "+", -1: "−", None: ""}
    rows = [(edge.u, edge.v, f"{edge.strength:.3f}", signs[edge.sign]) for edge in model.strengths()]
    table = simple_table("edge", "", scale, "sign", numbers=(scale,))
    show_rows(table, rows, limit=None if all_edges else SHOWN)
    report = model.report
    ended = "" if report.converged else f", NOT converged after {with_noun(report.iterations, 'step')}"
    size = f"{with_noun(model.n_parameters, 'parameter')} of {with_noun(len(model.names), 'variable')}"
    say(f"{escaped(out)}: {size} by {report.method} from {with_noun(report.n_rows, 'row')}{ended}")


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
    draws: Annotated[
        int | None, option("M", "Write M copies with drawn values: imputed-1.csv and so on.", show_default=False)
    ] = None,
    seed: Annotated[int | None, option("S", "Seed of the draws.", show_default=False)] = None,
    reading: NewRowOptions,
    output: OutputOptions,
) -> None:
    """Fill the empty cells of DATA with a fitted model.

    Each row gets the values that are most probable together given the rest of it, or with --draws values drawn given
    the rest of it. Columns that the model does not have are left out.

    Examples:
      mnlearn impute model gaps.csv
      mnlearn impute model gaps.csv --draws 5 --seed 1
      mnlearn impute model gaps.csv --missing-value ? --out complete.parquet
    """
    from mnlearn.data.writers import check_data_path, write_data
    from mnlearn.model.files import load_model

    check_data_path(out, "--out")
    copies = _copies(out, data, draws, seed)
    fitted, rows = load_model(model), reading.rows(data)
    found = [fitted.impute_dataset(rows)] if draws is None else fitted.imputed_datasets(rows, draws, seed)
    for copy, file in zip(found, copies, strict=True):
        write_data(copy.rows, file)
    first = found[0]
    size = {"rows": first.rows.n_rows, "variables": first.rows.n_variables, "filled": first.filled}
    files: dict[str, object] = {"data": out} if draws is None else {"data": copies}
    shown = escaped(out) if draws is None else f"{escaped(copies[0])} and so on, {draws} in all"
    text = f"{shown}: {with_noun(first.rows.n_rows, 'row')}, {with_noun(first.filled, 'empty cell')} filled"
    output.show(lambda: {"files": files, **size}, lambda: say(text))


def _copies(out: str, data: str, draws: int | None, seed: int | None) -> list[str]:
    """Return the files of the copies; raise InputError for bad settings."""
    if draws is None:
        if seed is not None:
            raise InputError(f"--seed is for --draws; got --seed {seed} alone. Add --draws 5, or drop it.")
        return [out]
    whole_number("--draws", draws, least=1, hint="5 are usual.")
    if seed is not None:
        whole_number("--seed", seed, least=0, hint="Use for example 1.")
    path = Path(out)
    copies = [path.with_name(f"{path.stem}-{k}{path.suffix}") for k in range(1, draws + 1)]
    if Path(data).resolve() in [copy.resolve() for copy in copies]:
        raise InputError(f"--out must not name copies that replace the input; got {out!r}. Name another file.")
    return list(map(str, copies))


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
    from mnlearn.distributions.sampling import GibbsPlan
    from mnlearn.model.discrete import DiscreteModel
    from mnlearn.model.mixed import MixedModel

    sampler: Any = sampling.method
    chains = sampling.chain_settings()
    if isinstance(model, DiscreteModel | MixedModel):
        return model.sample_dataset(sampling.rows, sampling.seed, method=sampler, plan=GibbsPlan(**chains))
    if sampler != "auto" or chains:
        raise InputError(
            "--method, --chains, --burn-in and --thin are for models with states; got a gaussian one. Drop them."
        )
    return model.sample_dataset(sampling.rows, sampling.seed)
