"""`mnlearn compare`: several methods on the same data, each against the true graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Elsewhere, Preparing, Reading
from mnlearn.cli._output import note, show, show_json, simple_table
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnlearn.pipeline import MethodResult

EXAMPLES = """\b
Examples:
  mnlearn compare data.csv --truth data.truth.edges --methods gsmn*,gsimn,mpl
  mnlearn compare data.csv --truth truth.graphml --methods gsimn,pc --alpha 0.01 --json
"""

Truth = Annotated[str, typer.Option(metavar="FILE", help="The true graph, over the columns of DATA.")]
Methods = Annotated[str, typer.Option(metavar="A,B,C", help="Methods by name, as mnlearn learn --method has them.")]
Alpha = Annotated[float | None, typer.Option(metavar="A", help="The level of the tests; 0.05 by default.")]


def compare(
    data: options.Data,
    *,
    truth: Truth,
    methods: Methods,
    test: options.Test = None,
    alpha: Alpha = None,
    preparing: Preparing,
    reading: Reading,
    jobs: options.Jobs = None,
    elsewhere: Elsewhere,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Learn from DATA by several methods, and hold each network against the true one.

    --test and --alpha are for the methods that ask independence tests. A method that does not fit the data says why;
    the others go on.
    """
    from mnlearn import pipeline

    wishes = preparing.said()
    how: Any = {"levels": None, "missing": wishes.pop("missing", "error"), **reading.keywords()}
    dataset = pipeline.load_data(data, None, how, wishes.get("discretize"), wishes.get("bins"))
    named = [name.strip() for name in methods.split(",") if name.strip()]
    with elsewhere.client() as client, watched() as monitor:
        found = pipeline.compare(
            dataset, truth, named, test=test, alpha=alpha, n_jobs=jobs, client=client, monitor=monitor
        )
    if as_json:
        size = {"rows": dataset.n_rows, "variables": dataset.n_variables}
        show_json({"data": data, "truth": truth, **size, "methods": [line.to_dict() for line in found]})
    else:
        _show(found)
    if monitor.interrupted:
        note("interrupted: methods that were not run are missing, and the last one may not have ended")
        raise typer.Exit(EXIT_INTERRUPTED)


def _show(found: Sequence[MethodResult]) -> None:
    """One line per method."""
    headings = ("edges", "Hamming", "too many", "missing", "precision", "recall", "F", "tests", "CPU s")
    table = simple_table("method", *headings, numbers=headings)
    for line in found:
        if line.learned is None or line.edges is None:
            table.add_row(line.method, *["-"] * len(headings))
            note(f"{line.method}: {line.refusal}")
            continue
        edges, cost = line.edges, line.learned.cost
        asked = cost.get("asked") if "weighted" in cost else None  # l1lr asks for neighbourhoods: those are no tests
        rates = (f"{edges.precision:.3f}", f"{edges.recall:.3f}", f"{edges.f1:.3f}")
        errors = (str(edges.hamming), str(edges.false_positives), str(edges.false_negatives))
        tests = "" if asked is None else f"{asked:,.0f}"
        table.add_row(line.method, str(line.learned.graph.n_edges), *errors, *rates, tests, f"{line.seconds:.2f}")
    show(table)
