"""`mnlearn report`: all that was learned in one file for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Preparing, Reading
from mnlearn.cli._draws import cut_short
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._progress import EXIT_INTERRUPTED
from mnlearn.cli._sources import Bootstrap, DataOfResult, Source, check_report, learned_from
from mnlearn.cli._wording import counted, printable

EXAMPLES = """\b
Examples:
  mnlearn report survey.csv
  mnlearn report survey.csv --out sleep.html --title "Sleep and work"
  mnlearn report survey.csv --bootstrap 100
  mnlearn report patients.csv --discretize frequency --missing drop_rows
  mnlearn report network.json --data survey.csv --out sleep.html
"""

Out = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where to write; report.html by default.")]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="At the top of the page.")]


def report(
    source: Source,
    *,
    out: Out = "report.html",
    title: Title = None,
    data: DataOfResult = None,
    method: options.Method = None,
    bootstrap: Bootstrap = None,
    set_: options.Set = None,
    column: options.Columns = None,
    preparing: Preparing,
    reading: Reading,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Write a report that any browser opens, offline.

    Learns from DATA first, or takes a RESULT that was saved. All options of learning: mnlearn learn --report FILE.
    """
    from mnlearn import pipeline
    from mnlearn.output.report import cautions

    check_report("--out", out)
    wishes = options.said(columns=column, n_jobs=jobs) | preparing.said()
    wishes |= options.settings(set_, pipeline.learn, wishes)
    how = reading.keywords()
    learned, interrupted = learned_from(source, data, method, wishes, how, bootstrap=bootstrap)
    learned.report(out, title=title, source=Path(data or source).name)
    if as_json:
        warned = [caution._asdict() for caution in cautions(learned)]
        found = {"variables": len(learned.names), "edges": learned.graph.n_edges, "converged": learned.converged}
        show_json({"source": source, "report": out, "method": learned.method, **found, "cautions": warned})
    else:
        size = f"{counted(learned.graph.n_edges, 'edge')} among {counted(len(learned.names), 'variable')}"
        say(f"wrote {printable(out)}: {size}, by {learned.method}. Open it in a browser.")
    if interrupted:
        note(f"interrupted: {cut_short(learned, sampled=bootstrap is not None)}")
        raise typer.Exit(EXIT_INTERRUPTED)
