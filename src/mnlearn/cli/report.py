"""`mnlearn report`: all that was learned in one file for a browser."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mnlearn.cli import options
from mnlearn.cli.config import Config
from mnlearn.cli.console import EXIT_INTERRUPTED, counted, cut_short, note, printable, say, show_json, watched
from mnlearn.cli.learn import BootstrapDraws, DataOfResult, Source, check_picture, check_report, is_result, learned_from
from mnlearn.cli.options import Judging, Preparing, Reading
from mnlearn.errors import InputError, unknown_name

REPORT_EXAMPLES = """\b
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
    bootstrap: BootstrapDraws = None,
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
    from mnlearn import learning
    from mnlearn.visual.report_text import cautions

    check_report("--out", out)
    wishes = options.said(columns=column, n_jobs=jobs) | preparing.said()
    wishes |= options.settings(set_, learning.learn, wishes)
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


# `mnlearn plot`: a picture of what was learned.


PLOT_EXAMPLES = """\b
Examples:
  mnlearn plot survey.csv --out network.svg
  mnlearn plot survey.csv --kind heatmap --out heatmap.pdf
  mnlearn plot survey.csv --bootstrap 100 --kind stability --out stability.png
  mnlearn plot network.json --data survey.csv --out network.png
"""

PlotOut = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where to write: .png, .svg or .pdf.")]
Kind = Annotated[
    str,
    typer.Option(metavar="NAME", help="network (the default), heatmap, degrees, support, centralities, stability."),
]
PlotTitle = Annotated[str | None, typer.Option(metavar="TEXT", help="Above the picture; else what was learned.")]
Layout = Annotated[int, typer.Option("--layout-seed", min=0, metavar="S", help="Another seed, another layout.")]


def plot(
    source: Source,
    *,
    out: PlotOut,
    kind: Kind = "network",
    title: PlotTitle = None,
    layout_seed: Layout = 0,
    data: DataOfResult = None,
    method: options.Method = None,
    bootstrap: BootstrapDraws = None,
    set_: options.Set = None,
    column: options.Columns = None,
    preparing: Preparing,
    reading: Reading,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Draw what was learned.

    Learns from DATA first, or takes a RESULT that was saved. All options of learning: mnlearn learn --plot FILE.
    """
    from mnlearn import learning
    from mnlearn.errors import check_name
    from mnlearn.visual.network import KINDS

    check_name("kind of picture", kind, KINDS)
    check_picture("--out", out)
    wishes = options.said(columns=column, n_jobs=jobs) | preparing.said()
    wishes |= options.settings(set_, learning.learn, wishes)
    how = reading.keywords()
    learned, interrupted = learned_from(source, data, method, wishes, how, bootstrap=bootstrap)
    learned.plot(out, kind=kind, title=title, seed=layout_seed)
    size = {"variables": len(learned.names), "edges": learned.graph.n_edges}
    if as_json:
        show_json({"source": source, "picture": out, "kind": kind, "method": learned.method, **size})
    else:
        say(f"wrote {printable(out)}: {counted(size['edges'], 'edge')} among {counted(size['variables'], 'variable')}")
    if interrupted:
        note(f"interrupted: {cut_short(learned, sampled=bootstrap is not None)}")
        raise typer.Exit(EXIT_INTERRUPTED)


# `mnlearn why`: the evidence for or against one edge.


WHY_EXAMPLES = """\b
Examples:
  mnlearn why survey.csv night_shifts fatigue
  mnlearn why survey.csv stress headaches --method mpl --json
  mnlearn why survey.csv stress headaches --network network.json
"""

X = Annotated[str, typer.Argument(metavar="A", help="A column.")]
Y = Annotated[str, typer.Argument(metavar="B", help="Another column.")]
Network = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A result that mnlearn learn --out FILE.json wrote from DATA: nothing is learned."
    ),
]


def why(
    data: options.Data,
    x: X,
    y: Y,
    *,
    network: Network = None,
    method: options.Method = None,
    judging: Judging,
    set_: options.Set = None,
    column: options.Columns = None,
    preparing: Preparing,
    reading: Reading,
    jobs: options.Jobs = None,
    _config: Config = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Show the evidence for or against an edge between A and B in the network of DATA.

    Tests given nothing and given the neighbours of either end; the score with and without the edge; for sep, what the
    data say given the separators.
    """
    from mnlearn import learning
    from mnlearn.data.readers import read

    if is_result(data):
        raise InputError(
            f"DATA must be a data file; {data!r} is a saved result. Name the data, and the result after it: "
            f"mnlearn why DATA A B --network {shlex.quote(data)}."
        )
    wishes = options.said(method=method, columns=column, n_jobs=jobs) | judging.said() | preparing.said()
    how = reading.keywords()
    own = options.settings(set_, learning.learn, wishes)
    if network is not None:
        if any(wishes) or own or any(how.values()):
            raise InputError(
                "--network excludes options of learning, which the file has; got both. Drop one of the two."
            )
        found = learning.load(network).with_data(data).why(x, y)
    else:
        table = read(data, columns=wishes.pop("columns", None), missing=wishes.pop("missing", "error"), **how)
        _check_pair(table.names, x, y)
        with watched() as monitor:
            learned = learning.learn(table, monitor=monitor, **wishes, **own)
        if monitor.interrupted:
            raise typer.Exit(EXIT_INTERRUPTED)
        found = learned.why(x, y)
    if as_json:
        show_json(found.to_dict())
    else:
        say(str(found))


def _check_pair(names: Sequence[str], x: str, y: str) -> None:
    """Refuse what is no pair of columns before anything is learned."""
    for option, name in (("A", x), ("B", y)):
        if name not in names:
            raise unknown_name(f"{option}: column", name, names)
    if x == y:
        raise InputError(f"A and B must be two different columns; got {x!r} twice. Ask about two.")
