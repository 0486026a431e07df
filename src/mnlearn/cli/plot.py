"""`mnlearn plot`: a picture of what was learned."""

from __future__ import annotations

from typing import Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Preparing, Reading
from mnlearn.cli._draws import cut_short
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._progress import EXIT_INTERRUPTED
from mnlearn.cli._sources import Bootstrap, DataOfResult, Source, check_picture, learned_from
from mnlearn.cli._wording import counted, printable

EXAMPLES = """\b
Examples:
  mnlearn plot survey.csv --out network.svg
  mnlearn plot survey.csv --kind heatmap --out heatmap.pdf
  mnlearn plot survey.csv --bootstrap 100 --kind stability --out stability.png
  mnlearn plot network.json --data survey.csv --out network.png
"""

Out = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where to write: .png, .svg or .pdf.")]
Kind = Annotated[
    str,
    typer.Option(metavar="NAME", help="network (the default), heatmap, degrees, support, centralities, stability."),
]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Above the picture; else what was learned.")]
Layout = Annotated[int, typer.Option("--layout-seed", min=0, metavar="S", help="Another seed, another layout.")]


def plot(
    source: Source,
    *,
    out: Out,
    kind: Kind = "network",
    title: Title = None,
    layout_seed: Layout = 0,
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
    """Draw what was learned.

    Learns from DATA first, or takes a RESULT that was saved. All options of learning: mnlearn learn --plot FILE.
    """
    from mnlearn import pipeline
    from mnlearn.errors import check_name
    from mnlearn.output.plots import KINDS

    check_name("kind of picture", kind, KINDS)
    check_picture("--out", out)
    wishes = options.said(columns=column, n_jobs=jobs) | preparing.said()
    wishes |= options.settings(set_, pipeline.learn, wishes)
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
