"""`mnlearn learn`: the network behind the data."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import note, say, show, show_json, simple_table
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.cli._sources import check_picture, check_report
from mnlearn.cli._wording import counted, joined, printable
from mnlearn.cli.ask import Alpha, Bins, Discretize, Dof, Permutations, Prior, Seed, Test, Threshold
from mnlearn.errors import FileError, InputError

if TYPE_CHECKING:
    from mnlearn.output import Learned

EXAMPLES = """\b
Examples:
  mnlearn learn survey.csv
  mnlearn learn survey.csv --report report.html --plot network.svg
  mnlearn learn survey.csv --method sep --set effort=standard --set keep_pairs=true --json
  mnlearn learn survey.csv --method gsmn* --test g2 --alpha 0.01 --out network.graphml
  mnlearn learn genes.parquet --method pc --test pcor --set max_conditioning=3 --json
  mnlearn learn patients.csv --discretize frequency --bins 3 --missing drop_rows
  mnlearn learn survey.csv --method mpl --require stress,headaches --forbid stress,exercise
  mnlearn learn large.mnpack --method mpl --checkpoint run1 --workers 4
  mnlearn learn small.csv --method exhaustive --score bjp --set averaging=true --json
"""

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

Method = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="sep (the default), with a probability for every edge. By tests: gsmn, gsmn*, gsimn (the default where a "
        "test is named), gsimn-fch, hhc-mn, pc. By a score: ib, bjp, mpl, pic, mbs, "
        "hillclimb, exhaustive. By regressions: l1lr; lasso, l1mb, glasso (continuous). By mutual information: aracne.",
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="mbs (mpl or ebic by default), hillclimb, exhaustive (bjp): the score; ib, pic, entropy, evidence, ...",
    ),
]
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
    typer.Option(metavar="FILE", help="Write the graph: .graphml, .gml, .dot, .json, .edges or .csv (adjacency)."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, such as propagation=false; repeatable."),
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="COL", help="Learn from these columns only; repeatable.")
]
Plot = Annotated[
    str | None, typer.Option(metavar="FILE", help="Draw the network: .png, .svg or .pdf. More kinds: mnlearn plot.")
]
Report = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a report for a browser, with all that was learned: .html.")
]
All = Annotated[bool, typer.Option("--all", help=f"List all edges, not only the first {SHOWN}.")]


def learn(
    data: options.Data,
    *,
    method: Method = None,
    test: Test = None,
    score: Score = None,
    require: Require = None,
    forbid: Forbid = None,
    alpha: Alpha = None,
    dof: Dof = None,
    prior: Prior = None,
    threshold: Threshold = None,
    permutations: Permutations = None,
    seed: Seed = None,
    set_: Set = None,
    out: Out = None,
    plot: Plot = None,
    report: Report = None,
    column: Columns = None,
    discretize: Discretize = None,
    bins: Bins = None,
    missing: options.Missing = None,
    missing_value: options.MissingValue = None,
    categorical: options.Categorical = None,
    continuous: options.Continuous = None,
    repeats: options.Repeats = None,
    delimiter: options.Delimiter = None,
    all_: All = False,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    max_memory: options.MaxMemory = None,
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = False,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Learn the structure of a Markov network from the columns of DATA.

    Ctrl-C ends the search with the best network so far, marked as such.
    """
    from mnlearn import pipeline

    said = {
        "test": test,
        "score": score,
        "required": _pairs("--require", require),
        "forbidden": _pairs("--forbid", forbid),
        "n_jobs": jobs,
        "max_memory": options.size_in_bytes(max_memory),
        "checkpoint": checkpoint,
        "resume": resume or None,
        "alpha": alpha,
        "dof": dof,
        "prior": prior,
        "threshold": threshold,
        "n_permutations": permutations,
        "seed": seed,
        "discretize": discretize,
        "bins": bins,
        "missing": missing,
        "columns": column,
    }
    wishes: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    how = options.reading(categorical, continuous, missing_value, repeats, delimiter)
    own = options.settings(set_, pipeline.learn, wishes)
    _check_target(out)
    _check_pictures(plot, report)
    with options.cluster(cluster, workers) as client, watched() as monitor:
        learned = pipeline.learn(data, method, monitor=monitor, client=client, **how, **wishes, **own)
    if out is not None:
        learned.save(out)
    if plot is not None:
        learned.plot(plot)
    if report is not None:
        learned.report(report, source=Path(data).name)
    if as_json:
        show_json(learned.to_dict())
    else:
        _show(learned, all_edges=all_)
        for written in filter(None, (out, plot, report)):
            say(f"wrote {printable(written)}")
    if monitor.interrupted:
        note("interrupted: this is the best network so far, not where the search would have ended")
        raise typer.Exit(EXIT_INTERRUPTED)


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


def _check_target(out: str | None) -> None:
    """Refuse what cannot be written before anything is learned."""
    from mnlearn.graphs.formats import carries_numbers

    if out is None:
        return
    target = Path(out)
    carries_numbers(target)  # knows the format, or says which there are
    if target.is_dir():
        raise FileError(f"--out must be a file; {out!r} is a directory. Name a file in it.")
    if not target.parent.is_dir():
        raise FileError(f"--out must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")


def _check_pictures(plot: str | None, report: str | None) -> None:
    """The same for pictures and reports."""
    if plot is not None:
        check_picture("--plot", plot)
    if report is not None:
        check_report("--report", report)


def _show(learned: Learned, *, all_edges: bool) -> None:
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


def _show_edges(learned: Learned, *, all_edges: bool) -> None:
    """A table of the edges, the best supported first."""
    from rich.text import Text

    edges, heading = learned.edge_list(), _SCALES[learned.support_scale]
    if edges:
        extra = ("probability",) if any(edge.probability is not None for edge in edges) else ()
        table = simple_table("edge", "", heading, *extra, numbers=(heading, *extra))
        for edge in edges if all_edges else edges[:SHOWN]:
            support = "" if edge.support is None else f"{edge.support:.4g}"
            chance = ("" if edge.probability is None else f"{edge.probability:.3f}",) if extra else ()
            table.add_row(Text(printable(edge.u)), Text(printable(edge.v)), support, *chance)
        show(table)
    if len(edges) > SHOWN and not all_edges:
        say(f"and {len(edges) - SHOWN} more; --all lists them")


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
