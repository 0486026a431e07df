"""`mnlearn sample`: rows from a fitted model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._wording import counted, printable
from mnlearn.cli.simulate import BurnIn, Chains, Out, Rows, Sampler, Seed
from mnlearn.errors import InputError, MnlearnWarning, check_name

if TYPE_CHECKING:
    from mnlearn.data import Dataset
    from mnlearn.model import MarkovModel

EXAMPLES = """\b
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
    from mnlearn.model import load_model
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
    from mnlearn.model import DiscreteModel
    from mnlearn.simulate import GibbsPlan

    if isinstance(model, DiscreteModel):
        return model.sample(rows, seed, method=sampler, plan=GibbsPlan(**wishes))
    if sampler != "auto" or wishes:
        raise InputError(
            "--sampler, --chains, --burn-in and --thin are for discrete models; got a gaussian one. Drop them."
        )
    return model.sample(rows, seed)
