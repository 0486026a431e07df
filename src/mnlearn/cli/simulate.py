"""`mnlearn simulate`: data from a known network, and the network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import note, say, show, show_json, simple_table
from mnlearn.cli._wording import counted, printable
from mnlearn.errors import InputError, check_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from rich.table import Table

    Entry: TypeAlias = tuple[str, str, Mapping[str, Any]]

EXAMPLES = """\b
Examples:
  mnlearn simulate --list
  mnlearn simulate random:n=50,degree=4 --distribution odds:theta=1.5 --rows 2000 --seed 1 --out data.csv
  mnlearn simulate grid:rows=10,columns=10,periodic=true --distribution ising:coupling=0.3 --out lattice.parquet
  mnlearn simulate alarm.bif --rows 500 --out alarm.csv --truth alarm.graphml
"""

Network = Annotated[
    str | None,
    typer.Argument(metavar="NETWORK", help="A name with settings (see --list), a graph file, or a BIF file."),
]
Distribution = Annotated[
    str | None, typer.Option(metavar="NAME", help="What is put on the graph (see --list); uniform by default.")
]
Rows = Annotated[int, typer.Option(metavar="N", help="How many rows.")]
Seed = Annotated[int, typer.Option(metavar="S", help="The same seed gives the same data.")]
Out = Annotated[str, typer.Option(metavar="FILE", help="The data: .csv, .tsv or .parquet.")]
Truth = Annotated[
    str | None, typer.Option(metavar="FILE", help="The true graph; beside the data, .truth.edges, by default.")
]
Sampler = Annotated[
    str, typer.Option("--sampler", metavar="auto|enumerate|eliminate|gibbs", help="How rows are drawn.")
]
Chains = Annotated[int | None, typer.Option(metavar="N", help="Gibbs chains; 4 by default.")]
BurnIn = Annotated[int | None, typer.Option(metavar="N", help="Sweeps before the first row; 1000 by default.")]
Thin = Annotated[int | None, typer.Option(metavar="N", help="Sweeps from row to row of a chain; 10 by default.")]
List = Annotated[bool, typer.Option("--list", help="List networks and distributions with their settings.")]


def simulate(
    network: Network = None,
    *,
    distribution: Distribution = None,
    rows: Rows = 1000,
    seed: Seed = 1,
    out: Out = "data.csv",
    truth: Truth = None,
    sampler: Sampler = "auto",
    chains: Chains = None,
    burn_in: BurnIn = None,
    thin: Thin = None,
    list_: List = False,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Draw data from a network that is known, and write both to files.

    Rows are drawn exactly where the network allows it, else by Gibbs chains, which say whether they converged.
    """
    from mnlearn.data.writers import check_data_path, write_data
    from mnlearn.graphs import write_graph
    from mnlearn.graphs.formats import carries_numbers
    from mnlearn.simulate import GibbsPlan
    from mnlearn.simulate import simulate as draw
    from mnlearn.simulate.sampling import METHODS

    if list_:
        _list(as_json)
        return
    if network is None:
        raise InputError("NETWORK must be given; got none. Name one, for example random:n=50,degree=4; --list has all.")
    target = Path(truth) if truth is not None else Path(out).with_suffix(".truth.edges")
    check_data_path(out)
    if target.resolve() == Path(out).resolve():
        raise InputError(f"--truth must be another file than --out; got {out!r} for both. Rename one.")
    check_name("sampler", sampler, METHODS)
    carries_numbers(target)  # knows the format, or says which there are
    wishes = {"chains": chains, "burn_in": burn_in, "thin": thin}
    said = {name: value for name, value in wishes.items() if value is not None}
    plan = GibbsPlan(**said)
    way: Any = sampler
    drawn = draw(network, distribution, n_rows=rows, seed=seed, method=way, plan=plan)
    write_data(drawn.data, out)
    write_graph(target, drawn.truth.graph, drawn.truth.names)
    if said and not drawn.notes.startswith("Gibbs"):
        unused = ", ".join(f"--{name.replace('_', '-')}" for name in said)
        note(f"{unused} had no effect: there were no Gibbs chains; --sampler gibbs asks for them")
    if not drawn.converged:
        note(f"the rows may not follow the distribution: {drawn.notes}")
    graph = drawn.truth.graph
    if as_json:
        files = {"data": out, "truth": str(target)}
        size = {"rows": rows, "variables": graph.n_variables, "edges": graph.n_edges}
        show_json({"files": files, **size, "seed": seed, "drawn": drawn.notes, "converged": drawn.converged})
        return
    size_of = f"{counted(rows, 'row')} of {counted(graph.n_variables, 'variable')}"
    say(f"{printable(out)}: {size_of}, {drawn.notes}")
    say(f"{printable(str(target))}: the network behind them, {counted(graph.n_edges, 'edge')}")


def _list(as_json: bool) -> None:
    """Every name, with its settings."""
    from mnlearn.simulate.catalogue import DISTRIBUTIONS, EXPRESSION, NETWORKS

    networks = [(name, shape.title, shape.settings) for name, shape in NETWORKS.items()]
    networks.append(("expression", "genes at steady state, with their own distribution", EXPRESSION))
    laws = [(name, law.title, law.settings) for name, law in DISTRIBUTIONS.items()]
    if as_json:
        show_json({"networks": _described(networks), "distributions": _described(laws)})
    else:
        show(_table("network", networks), _table("distribution", laws))


def _described(entries: Sequence[Entry]) -> dict[str, object]:
    """Names with what they are and their defaults, for a document."""
    return {name: {"title": title, "settings": dict(settings)} for name, title, settings in entries}


def _table(kind: str, entries: Sequence[Entry]) -> Table:
    """Names with what they are and their defaults, for a reader."""
    table = simple_table(kind, "", "settings", numbers=())
    for name, title, settings in entries:
        table.add_row(name, title, ",".join(f"{key}={str(value).lower()}" for key, value in settings.items()))
    return table
