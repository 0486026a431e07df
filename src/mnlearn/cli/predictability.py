"""`mnlearn predictability`: how well each variable is predicted by its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mnlearn.cli.console import say, show_rows, simple_table
from mnlearn.cli.learn import SHOWN, network_size
from mnlearn.cli.options import OutputOptions, flag, option
from mnlearn.cli.report import Source, SourceOptions, is_result
from mnlearn.errors import InputError, whole_number

if TYPE_CHECKING:
    from mnlearn.results.predictability import Predictability

TITLES = {
    "r2": "R²",
    "r2_cv": "R² (cv)",
    "accuracy": "accuracy",
    "accuracy_cv": "accuracy (cv)",
    "marginal": "marginal",
    "normalised": "normalised",
    "normalised_cv": "normalised (cv)",
}


def predictability_command(
    source: Source,
    *,
    folds: Annotated[int, option("K", "Folds of the cross-validation.")] = 10,
    seed: Annotated[int, option("S", "Seed of the folds.")] = 0,
    all_variables: Annotated[bool, flag("--all", f"List all variables, not only the first {SHOWN}.")] = False,
    learning: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show how well each variable is predicted by its neighbours.

    Learns from DATA, or reads a saved RESULT, which needs --data. Prints R² of numbers, and the accuracy of states with
    its gain over the most common state, for all rows and cross-validated (cv).

    Examples:
      mnlearn predictability survey.csv
      mnlearn predictability survey.csv --folds 5 --seed 1 --json
      mnlearn predictability network.json --data survey.csv
    """
    whole_number("--folds", folds, least=2, hint="Use for example 10.")
    whole_number("--seed", seed, least=0, hint="Use for example 0.")
    if is_result(source) and learning.data is None:
        raise InputError(f"--data must be given for a saved result; got {source!r} alone. Add --data DATA.")
    learned, interrupted = learning.learn_or_load(source)
    rows = learned.predictability_list(folds, seed=seed)

    def document() -> dict[str, object]:
        size = {"variables": len(learned.names), "edges": learned.graph.n_edges, "rows": learned.n_rows}
        found = [row._asdict() | {"share": row.share} for row in rows]
        return {
            "source": source,
            "method": learned.method,
            **size,
            "folds": folds,
            "seed": seed,
            "predictability": found,
        }

    def text() -> None:
        say(f"{network_size(learned)}, by {learned.method}")
        _show_table(rows, all_variables=all_variables)
        say(f"cv: cross-validated with {folds} folds")

    output.show(document, text)
    learning.resampling().exit_if(interrupted, learned)


def _show_table(rows: list[Predictability], *, all_variables: bool) -> None:
    """Print a table of the variables."""
    from mnlearn.results.predictability import known_columns

    known = known_columns(rows)
    titles = [TITLES[name] for name in known]
    cells = []
    for row in rows:
        values = (getattr(row, name) for name in known)
        numbers = ("" if value is None else f"{value:.3f}" for value in values)
        cells.append((row.variable, row.type, f"{row.neighbours}", *numbers))
    table = simple_table("variable", "type", "neighbours", *titles, numbers=("neighbours", *titles))
    show_rows(table, cells, limit=None if all_variables else SHOWN)
