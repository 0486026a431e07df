"""`mnlearn fit`: parameters for a known structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Preparing, Reading
from mnlearn.cli._output import note, say, show, show_json, simple_table
from mnlearn.cli._wording import counted, printable

if TYPE_CHECKING:
    from mnlearn.model import MarkovModel

EXAMPLES = """\b
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
Out = Annotated[
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
    out: Out = "model",
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
    from mnlearn import pipeline
    from mnlearn.model.files import check_target

    check_target(out)
    wishes = preparing.said() | options.said(columns=column)
    how = reading.keywords()
    own = options.settings(set_, pipeline.fit_parameters, wishes)
    chosen: Any = method
    model = pipeline.fit_parameters(graph, data, chosen, **how, **wishes, **own)
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
