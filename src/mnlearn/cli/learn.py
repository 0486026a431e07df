"""`mnlearn learn`: the network behind the data."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Elsewhere, Preparing, Reading, Testing
from mnlearn.cli._config import Config, SaveConfig, save_config
from mnlearn.cli._draws import Draws, cut_short
from mnlearn.cli._network import SHOWN, show_network
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.cli._sources import check_picture, check_report
from mnlearn.cli._targets import check_target
from mnlearn.cli._wording import printable
from mnlearn.errors import FileError, InputError

if TYPE_CHECKING:
    from mnlearn.output import Learned

EXAMPLES = """\b
Examples:
  mnlearn learn survey.csv
  mnlearn learn survey.csv --report report.html --plot network.svg
  mnlearn learn survey.csv --bootstrap 200 --out network.json
  mnlearn learn survey.csv --bootstrap 100 --sampling halves --stable 0.9
  mnlearn learn survey.csv --method mpl --save-config run.toml
  mnlearn learn survey.csv --config run.toml
  mnlearn learn survey.csv --method sep --set effort=standard --set keep_pairs=true --json
  mnlearn learn survey.csv --method gsmn* --test g2 --alpha 0.01 --out network.graphml
  mnlearn learn genes.parquet --method pc --test pcor --set max_conditioning=3 --json
  mnlearn learn patients.csv --discretize frequency --bins 3 --missing drop_rows
  mnlearn learn survey.csv --method mpl --require stress,headaches --forbid stress,exercise
  mnlearn learn large.mnpack --method mpl --checkpoint run1 --workers 4
  mnlearn learn small.csv --method exhaustive --score bjp --set averaging=true --json
"""

Require = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="An edge that must be there; repeatable. Not for methods by tests."),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="An edge that must not be there; repeatable. Not for methods by tests."),
]
Out = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write the network: .json (the whole result), .graphml, .gml, .dot, .edges, .edges.csv or .csv (matrix).",
    ),
]
Plot = Annotated[
    str | None, typer.Option(metavar="FILE", help="Draw the network: .png, .svg or .pdf. More kinds: mnlearn plot.")
]
Report = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a report for a browser, with all that was learned: .html.")
]
Bootstrap = Annotated[
    int | None, typer.Option(metavar="B", help="Learn B times more from rows drawn anew: how often is each edge there?")
]
SamplingOption = Annotated[
    str | None,
    typer.Option(
        metavar="subsamples|bootstrap|halves",
        help="How --bootstrap draws rows: 63.2 % without replacement (the default), all with replacement, or halves.",
    ),
]
BootstrapSeed = Annotated[int | None, typer.Option(metavar="S", help="Seed of --bootstrap; 0 by default.")]
Stable = Annotated[
    float | None, typer.Option(metavar="T", help="Keep the pairs that are an edge in at least this share of samples.")
]
All = Annotated[bool, typer.Option("--all", help=f"List all edges, not only the first {SHOWN}.")]


def learn(
    context: typer.Context,
    data: options.Data,
    *,
    method: options.Method = None,
    testing: Testing,
    score: options.Score = None,
    require: Require = None,
    forbid: Forbid = None,
    set_: options.Set = None,
    bootstrap: Bootstrap = None,
    sampling: SamplingOption = None,
    bootstrap_seed: BootstrapSeed = None,
    stable: Stable = None,
    out: Out = None,
    plot: Plot = None,
    report: Report = None,
    column: options.Columns = None,
    preparing: Preparing,
    reading: Reading,
    all_: All = False,
    jobs: options.Jobs = None,
    elsewhere: Elsewhere,
    max_memory: options.MaxMemory = None,
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = False,
    _config: Config = None,
    save_config_: SaveConfig = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Learn the structure of a Markov network from the columns of DATA.

    Ctrl-C ends the search with the best network so far, marked as such.
    """
    from mnlearn import pipeline

    wishes = testing.said() | preparing.said()
    wishes |= options.said(
        score=score,
        required=_pairs("--require", require),
        forbidden=_pairs("--forbid", forbid),
        columns=column,
        n_jobs=jobs,
        max_memory=options.size_in_bytes(max_memory),
        checkpoint=checkpoint,
        resume=resume or None,
    )
    how = reading.keywords()
    own = options.settings(set_, pipeline.learn, wishes)
    draws = Draws(bootstrap, sampling, bootstrap_seed, stable)
    check_target("--out", out)
    check_target("--save-config", save_config_, graph=False)
    _check_pictures(plot, report)
    with elsewhere.client() as client:
        with watched() as monitor:
            learned = pipeline.learn(data, method, monitor=monitor, client=client, **how, **wishes, **own)
        save_config(context, save_config_)
        stopped = monitor.interrupted
        if draws.n_samples is not None and not stopped:
            learned, stopped = draws.drawn(learned, jobs, client)
    written, failure = _written(learned, out, plot, report, Path(data).name)
    if as_json:
        show_json(learned.to_dict())
    else:
        show_network(learned, all_edges=all_)
        for path in written:
            say(f"wrote {printable(path)}")
    if failure is not None:  # what was found is not lost with the file
        raise failure
    if stopped:
        note(f"interrupted: {cut_short(learned, sampled=draws.n_samples is not None)}")
        raise typer.Exit(EXIT_INTERRUPTED)


def _written(
    learned: Learned, out: str | None, plot: str | None, report: str | None, source: str
) -> tuple[list[str], FileError | None]:
    """Write what was asked for, up to the first file that cannot be; and why it cannot."""
    tasks: list[tuple[str | None, Callable[[str], object]]] = [
        (out, learned.save),
        (plot, learned.plot),
        (report, lambda path: learned.report(path, source=source)),
    ]
    done: list[str] = []
    for path, write in tasks:
        try:
            if path is not None:
                write(path)
                done.append(path)
        except FileError as error:
            return done, error
    return done, None


def _pairs(option: str, texts: list[str] | None) -> list[list[str]] | None:
    """Pairs of names as the user writes them; a name with a comma stands in double quotes."""
    if texts is None:
        return None
    pairs = [next(csv.reader([text]), []) for text in texts]  # each alone: an open quote must not reach for the next
    for text, pair in zip(texts, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            raise InputError(
                f"{option} must have the form A,B, two columns; got {text!r}. Put a name that has a comma in double "
                "quotes."
            )
    return pairs


def _check_pictures(plot: str | None, report: str | None) -> None:
    """The same for pictures and reports."""
    if plot is not None:
        check_picture("--plot", plot)
    if report is not None:
        check_report("--report", report)
