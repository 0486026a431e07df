"""`mnlearn score`: how well a graph fits the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Elsewhere, Preparing, Reading
from mnlearn.cli._output import say, show, show_json, simple_table
from mnlearn.cli._wording import printable

if TYPE_CHECKING:
    from mnlearn.pipeline import GraphScore

EXAMPLES = """\b
Examples:
  mnlearn score survey.csv network.graphml
  mnlearn score survey.csv network.edges --score mpl --set prior_cell=1 --json
"""

SHOWN = 40  # terms listed without --all

Source = Annotated[str, typer.Argument(metavar="GRAPH", help="A graph file; its variables are matched by name.")]
Name = Annotated[str, typer.Option("--score", metavar="ib|bjp|mpl|pic|entropy|ebic", help="Which score.")]
Prior = Annotated[
    float | None,
    typer.Option(metavar="P", help="ib, bjp: probability of independence beforehand; 0.5 by default."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the score, such as prior_cell=1; repeatable."),
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="COL", help="Score these columns only; repeatable.")
]
All = Annotated[bool, typer.Option("--all", help=f"List all terms, not only the {SHOWN} lowest.")]


def score(
    data: options.Data,
    graph: Source,
    *,
    name: Name = "ib",
    prior: Prior = None,
    set_: Set = None,
    column: Columns = None,
    preparing: Preparing,
    reading: Reading,
    jobs: options.Jobs = None,
    elsewhere: Elsewhere,
    all_: All = False,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Score a graph given the data: natural-log units, higher is better.

    Terms are per variable, or for bjp per pair of variables. The lowest come first: they are what speaks
    most against the graph.
    """
    from mnlearn import pipeline

    wishes = options.said(prior=prior, columns=column, n_jobs=jobs) | preparing.said()
    how = reading.keywords()
    own = options.settings(set_, pipeline.score, wishes)
    with elsewhere.client() as client:
        found = pipeline.score(data, graph, name, client=client, **how, **wishes, **own)
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found, all_terms=all_)


def _show(found: GraphScore, *, all_terms: bool) -> None:
    """The terms, lowest first, and their sum."""
    from rich.text import Text

    pairs = any(len(part.variables) > 1 for part in found.terms)
    table = simple_table("pair" if pairs else "variable", *[""] * pairs, "term", numbers=("term",))
    terms = sorted(found.terms, key=lambda part: part.value)
    for part in terms if all_terms else terms[:SHOWN]:
        table.add_row(*(Text(printable(name)) for name in part.variables), f"{part.value:.6g}")
    show(table)
    if len(terms) > SHOWN and not all_terms:
        say(f"and {len(terms) - SHOWN} more; --all lists them")
    say(f"{found.score} score {found.value:.6f}")
