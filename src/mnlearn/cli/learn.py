"""`mnlearn learn`: the network behind the data."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import options
from mnlearn.cli.config import Config, SaveConfig, check_target, save_config
from mnlearn.cli.console import (
    EXIT_INTERRUPTED,
    Draws,
    counted,
    cut_short,
    joined,
    note,
    printable,
    say,
    show,
    show_json,
    simple_table,
    watched,
)
from mnlearn.cli.options import Bundle, Elsewhere, Preparing, ReaderKeywords, Reading, Testing
from mnlearn.errors import FileError, InputError

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned


# What `report` and `plot` start from: data to learn from, or a result that was saved.


Source = Annotated[
    str,
    typer.Argument(metavar="DATA|RESULT", help="A data file to learn from, or a .json that `learn --out` wrote."),
]
DataOfResult = Annotated[
    str | None,
    typer.Option("--data", metavar="DATA", help="The data behind RESULT: signs, types and warnings need them."),
]

BootstrapDraws = Annotated[
    int | None, typer.Option(metavar="B", help="Learn again from B samples of the rows: how often is each edge found?")
]


def is_result(source: str) -> bool:
    """Whether a file holds a result rather than data."""
    return Path(source).suffix.lower() == ".json"


def learned_from(
    source: str,
    data: str | None,
    method: str | None,
    wishes: dict[str, Any],
    how: ReaderKeywords,
    *,
    bootstrap: int | None = None,
) -> tuple[Learned, bool]:
    """The network that was saved, or the one learned now, and whether Ctrl-C came in between."""
    from mnlearn import learning

    draws = Draws(bootstrap)
    saved = _saved(source, data, {"method": method, **wishes})
    with watched() as monitor:
        learned = saved or learning.learn(source, method, monitor=monitor, **how, **wishes)
    if bootstrap is None or monitor.interrupted:
        return learned, monitor.interrupted
    return draws.drawn(learned, wishes.get("n_jobs"))


def _saved(source: str, data: str | None, wishes: dict[str, Any]) -> Learned | None:
    """The result that a file holds, with its data if they are named; none if the file holds data."""
    from mnlearn import learning

    if not is_result(source):
        if data is not None:
            raise InputError(
                f"--data is for a saved result (.json); {source!r} is none. Drop it: DATA is given already."
            )
        return None
    said = [name for name, value in wishes.items() if value is not None and name != "n_jobs"]
    if said:
        raise InputError(
            f"{said[0]} is for learning; {source!r} is a result already. Name the data file instead to learn anew."
        )
    learned = learning.load(source)
    return learned if data is None else learned.with_data(data)


def check_picture(option: str, path: str) -> None:
    """Refuse a picture that cannot be drawn or written."""
    from mnlearn.errors import require
    from mnlearn.visual.canvas import check_picture_path

    check_picture_path(path, option)
    check_target(option, path, graph=False)
    require("matplotlib", "plot")


def check_report(option: str, path: str) -> None:
    """Refuse a report that cannot be made or written."""
    from mnlearn.errors import require
    from mnlearn.visual.report import check_report_path

    check_report_path(path, option)
    check_target(option, path, graph=False)
    for module in ("jinja2", "bokeh"):
        require(module, "report")


# What `mnlearn learn` can be told besides how to read and to judge, in bundles: edges that are known, rows drawn
# anew,
# files to write, and what a long run keeps.


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


@dataclass(frozen=True, kw_only=True)
class Constraining(Bundle):
    """Edges that are known to be there, or not to be."""

    require: Require = None
    forbid: Forbid = None

    def said(self) -> dict[str, Any]:
        """The same as pairs of names."""
        required, forbidden = _pairs("--require", self.require), _pairs("--forbid", self.forbid)
        return options.said(required=required, forbidden=forbidden)


@dataclass(frozen=True, kw_only=True)
class Redrawing(Bundle):
    """Rows drawn anew after a network was learned."""

    bootstrap: Bootstrap = None
    sampling: SamplingOption = None
    bootstrap_seed: BootstrapSeed = None
    stable: Stable = None

    def draws(self) -> Draws:
        """The same, checked."""
        return Draws(self.bootstrap, self.sampling, self.bootstrap_seed, self.stable)


@dataclass(frozen=True, kw_only=True)
class Writing(Bundle):
    """Files that a network is written to."""

    out: Out = None
    plot: Plot = None
    report: Report = None

    def check(self) -> None:
        """Refuse what could not be written, before anything is learned."""
        check_target("--out", self.out)
        if self.plot is not None:
            check_picture("--plot", self.plot)
        if self.report is not None:
            check_report("--report", self.report)

    def written(self, learned: Learned, source: str) -> tuple[list[str], FileError | None]:
        """Write what was asked for, up to the first file that cannot be; and why it cannot."""
        tasks: list[tuple[str | None, Callable[[str], object]]] = [
            (self.out, learned.save),
            (self.plot, learned.plot),
            (self.report, lambda path: learned.report(path, source=source)),
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


@dataclass(frozen=True, kw_only=True)
class Keeping(Bundle):
    """What a long run may hold in memory, and keeps on disk."""

    max_memory: options.MaxMemory = None
    checkpoint: options.Checkpoint = None
    resume: options.Resume = False

    def said(self) -> dict[str, Any]:
        """The same in bytes."""
        size = options.size_in_bytes(self.max_memory)
        return options.said(max_memory=size, checkpoint=self.checkpoint, resume=self.resume or None)


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


# A learned network on standard output: its edges, and what it cost to find them.


SHOWN = 40  # edges listed without --all
_COUNTED = {
    "graphs": ("graph", "graphs"),
    "asked": ("test", "tests"),
    "fitted": ("model fitted", "models fitted"),
    "inferred": ("inferred", "inferred"),
    "scored": ("term scored", "terms scored"),
    "proposed": ("flip proposed", "flips proposed"),
    "flips": ("flip made", "flips made"),
    "moves": ("move made", "moves made"),
    "fits": ("model fitted", "models fitted"),
    "fallbacks": ("not fitted", "not fitted"),
}
_SCALES = {"log_independence": "log support", "log_odds": "log odds"}  # the smaller the surer; the larger


def show_network(learned: Learned, *, all_edges: bool) -> None:
    """What was found, edge by edge, and what it cost."""
    graph = learned.graph
    isolated = sum(1 for v in range(graph.n_variables) if not graph.degree(v))
    lone = f" ({isolated} without an edge)" if isolated else ""
    say(f"{counted(graph.n_edges, 'edge')} among {counted(graph.n_variables, 'variable')}{lone}, by {learned.method}")
    _show_edges(learned, all_edges=all_edges)
    if learned.score is not None:
        name = learned.settings.get("score", learned.method)
        say(f"{name} score {learned.score:.6f}{_next_best(learned)}")
    say(_cost(learned))
    if learned.resampling is not None:
        say(f"frequencies of {learned.resampling}{_bound(learned)}")


def _show_edges(learned: Learned, *, all_edges: bool) -> None:
    """A table of the edges, the best supported first."""
    from rich.text import Text

    edges, heading = learned.edge_list(), _SCALES[learned.support_scale]
    if edges:
        extra = tuple(n for n in ("probability", "frequency") if any(getattr(edge, n) is not None for edge in edges))
        table = simple_table("edge", "", heading, *extra, numbers=(heading, *extra))
        for edge in edges if all_edges else edges[:SHOWN]:
            support = "" if edge.support is None else f"{edge.support:.4g}"
            known = (getattr(edge, name) for name in extra)
            shares = ("" if value is None else f"{value:.3f}" for value in known)
            table.add_row(Text(printable(edge.u)), Text(printable(edge.v)), support, *shares)
        show(table)
    if len(edges) > SHOWN and not all_edges:
        say(f"and {len(edges) - SHOWN} more; --all lists them")


def _bound(learned: Learned) -> str:
    """How many of the edges chosen by frequency may be false, where there is a bound."""
    record = learned.resampling
    if record is None or record.threshold is None or record.sampling != "halves" or record.threshold <= 0.5:
        return ""
    return f", at most {record.expected_false(record.threshold):.3g} expected to be false"


def _next_best(learned: Learned) -> str:
    """How far the runner-up is behind, where it is known."""
    if not learned.result.alternatives or learned.score is None:
        return ""
    graph, value = learned.result.alternatives[0]
    differing = sorted(set(graph.edges) ^ set(learned.graph.edges))
    pairs = [f"{learned.names[u]} - {learned.names[v]}" for u, v in differing]
    return f", {learned.score - value:.4g} above the next best graph, which differs in {joined(pairs, shown=4)}"


def _cost(learned: Learned) -> str:
    """What the search asked, and how it ended."""
    cost = dict(learned.cost)
    if "fitted" in cost:  # asked are neighbourhoods then, one of each variable
        del cost["asked"]
    asked = {key: words for key, words in _COUNTED.items() if cost.get(key) or key == "asked" in cost}
    counts = [f"{cost[key]:,.0f} {one if cost[key] == 1 else many}" for key, (one, many) in asked.items()]
    seconds = [f"{cost['seconds']:.1f} s"] if cost.get("seconds", 0.0) >= 1.0 else []
    return ", ".join(counts + seconds) + ("" if learned.converged else "; stopped before its end")


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

All = Annotated[bool, typer.Option("--all", help=f"List all edges, not only the first {SHOWN}.")]


def learn(
    context: typer.Context,
    data: options.Data,
    *,
    method: options.Method = None,
    testing: Testing,
    score: options.Score = None,
    constraining: Constraining,
    set_: options.Set = None,
    redrawing: Redrawing,
    writing: Writing,
    column: options.Columns = None,
    preparing: Preparing,
    reading: Reading,
    all_: All = False,
    jobs: options.Jobs = None,
    elsewhere: Elsewhere,
    keeping: Keeping,
    _config: Config = None,
    save_config_: SaveConfig = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Learn the structure of a Markov network from the columns of DATA.

    Ctrl-C ends the search with the best network so far, marked as such.
    """
    from mnlearn import learning

    wishes = options.said(score=score, columns=column, n_jobs=jobs)
    for bundle in (testing, preparing, constraining, keeping):
        wishes |= bundle.said()
    how = reading.keywords()
    own = options.settings(set_, learning.learn, wishes)
    draws = redrawing.draws()
    writing.check()
    check_target("--save-config", save_config_, graph=False)
    with elsewhere.client() as client:
        with watched() as monitor:
            learned = learning.learn(data, method, monitor=monitor, client=client, **how, **wishes, **own)
        save_config(context, save_config_)
        stopped = monitor.interrupted
        if draws.n_samples is not None and not stopped:
            learned, stopped = draws.drawn(learned, jobs, client)
    written, failure = writing.written(learned, Path(data).name)
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
