"""`mnlearn learn`: the network behind the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import note, say, show, show_json, simple_table
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.cli._wording import counted, printable
from mnlearn.cli.ask import Alpha, Bins, Discretize, Dof, Permutations, Prior, Seed, Test, Threshold
from mnlearn.errors import FileError, InputError

if TYPE_CHECKING:
    from mnlearn.output import Learned

EXAMPLES = """\b
Examples:
  mnlearn learn survey.csv
  mnlearn learn survey.csv --method gsmn* --test g2 --alpha 0.01 --out network.graphml
  mnlearn learn genes.parquet --method pc --test pcor --set max_conditioning=3 --json
  mnlearn learn patients.csv --discretize frequency --bins 3 --missing drop_rows
"""

SHOWN = 40  # edges listed without --all

Method = Annotated[str | None, typer.Option(metavar="gsmn|gsmn*|gsimn|gsimn-fch|hhc-mn|pc", help="By default gsimn.")]
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
All = Annotated[bool, typer.Option("--all", help=f"List all edges, not only the first {SHOWN}.")]


def learn(
    data: options.Data,
    *,
    method: Method = None,
    test: Test = None,
    alpha: Alpha = None,
    dof: Dof = None,
    prior: Prior = None,
    threshold: Threshold = None,
    permutations: Permutations = None,
    seed: Seed = None,
    set_: Set = None,
    out: Out = None,
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
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Learn the structure of a Markov network from the columns of DATA.

    Ctrl-C ends the search with the best network so far, marked as such.
    """
    from mnlearn import pipeline

    said = {
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
    _check_target(out)
    with watched() as monitor:
        learned = pipeline.learn(data, method, test=test, monitor=monitor, **how, **wishes, **_settings(set_ or []))
    if out is not None:
        learned.save(out)
    if as_json:
        show_json(learned.to_dict())
    else:
        _show(learned, out, all_edges=all_)
    if monitor.interrupted:
        note("interrupted: this is the best network so far, not where the search would have ended")
        raise typer.Exit(EXIT_INTERRUPTED)


def _settings(pairs: list[str]) -> dict[str, Any]:
    """Settings of the method as the user writes them: true, 3, 0.5, none or a word."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or not name.strip() or not text.strip():
            raise InputError(f"--set must have the form NAME=VALUE; got {pair!r}. Write for example propagation=false.")
        key, value = name.strip().replace("-", "_"), text.strip()
        if key in found:
            raise InputError(f"--set must name each setting once; got {key} twice. Drop one.")
        try:
            found[key] = json.loads({"none": "null"}.get(value.lower(), value.lower()))
        except ValueError:
            found[key] = value
    return found


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


def _show(learned: Learned, out: str | None, *, all_edges: bool) -> None:
    """What was found, edge by edge, and what it cost."""
    from rich.text import Text

    graph, cost = learned.graph, learned.cost
    isolated = sum(1 for v in range(graph.n_variables) if not graph.degree(v))
    lone = f" ({isolated} without an edge)" if isolated else ""
    say(f"{counted(graph.n_edges, 'edge')} among {counted(graph.n_variables, 'variable')}{lone}, by {learned.method}")
    edges = learned.edges()
    if edges:
        table = simple_table("edge", "", "log support", numbers=("log support",))
        for edge in edges if all_edges else edges[:SHOWN]:
            support = "" if edge.support is None else f"{edge.support:.4g}"
            table.add_row(Text(printable(edge.u)), Text(printable(edge.v)), support)
        show(table)
    if len(edges) > SHOWN and not all_edges:
        say(f"and {len(edges) - SHOWN} more; --all lists them")
    inferred = f", {cost['inferred']:,.0f} inferred" if cost.get("inferred") else ""
    seconds = f", {cost['seconds']:.1f} s" if cost.get("seconds", 0.0) >= 1.0 else ""
    ended = "" if learned.converged else "; stopped before its end"
    say(f"{cost.get('asked', 0):,.0f} tests{inferred}{seconds}{ended}")
    if out is not None:
        say(f"wrote {printable(out)}")
