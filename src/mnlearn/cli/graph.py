"""`mnlearn convert`: a graph from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import options
from mnlearn.cli.console import counted, note, printable, say, show, show_json, simple_table
from mnlearn.errors import FileError, InputError, check_name

if TYPE_CHECKING:
    from mnlearn.evaluation.metrics import Evaluation
    from mnlearn.graphs.named import NamedGraph


CONVERT_EXAMPLES = """\b
Formats and their extensions:
  edges (.edges .tsv .txt), table (.edges.csv), csv (.csv: adjacency), graphml, gml, dot (.dot .gv), json
\b
Examples:
  mnlearn convert network.edges network.graphml
  mnlearn convert matrix.dat network.dot --from csv
"""

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="The graph to read.")]
Target = Annotated[str, typer.Argument(metavar="TARGET", help="The file to write; one that is there is replaced.")]
FromFormat = Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Whatever SOURCE's extension says.")]
ToFormat = Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="Whatever TARGET's extension says.")]


def convert(
    source: Source,
    target: Target,
    *,
    from_format: FromFormat = None,
    to_format: ToFormat = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Convert a graph file to another format.

    Variables keep their names and their order, isolated ones included; edges keep their numbers if the format can carry
    them. The extensions tell the formats.
    """
    from mnlearn.graphs.formats import read_graph

    _check_target(Path(source), Path(target))
    named = read_graph(source, from_format)
    left_out = _write(target, to_format, named)
    summary = {
        "source": source,
        "target": target,
        "variables": named.graph.n_variables,
        "edges": named.graph.n_edges,
        "isolated": sum(not named.graph.neighbors(x) for x in range(named.graph.n_variables)),
        "left_out": left_out,
    }
    if left_out:
        note(f"numbers on edges were left out, {target!r} cannot carry them: {', '.join(left_out)}")
    if as_json:
        show_json(summary)
    else:
        isolated = f" ({summary['isolated']} isolated)" if summary["isolated"] else ""
        size = f"{counted(named.graph.n_variables, 'variable')}{isolated}, {counted(named.graph.n_edges, 'edge')}"
        say(f"{printable(target)}: {size}")


def _check_target(source: Path, target: Path) -> None:
    """Refuse to write over the source, or into a folder that is not there."""
    if target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"TARGET must be another file than SOURCE; got {str(target)!r} for both. Name a new file.")
    if target.is_dir():
        raise FileError(f"TARGET must be a file; {str(target)!r} is a directory. Name a file in it.")
    if not target.parent.is_dir():
        raise FileError(f"TARGET must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")


def _write(target: str, to_format: str | None, named: NamedGraph) -> list[str]:
    """Write the graph, without the numbers on its edges if the format cannot carry them; return the names of those."""
    from mnlearn.graphs.formats import carries_numbers, write_graph

    carried = named.attributes if carries_numbers(target, to_format) else {}
    write_graph(target, named.graph, named.names, format=to_format, attributes=carried)
    return [] if carried else sorted({key for numbers in named.attributes.values() for key in numbers})


# `mnlearn evaluate`: a learned graph against the true one.


EVALUATE_EXAMPLES = """\b
Examples:
  mnlearn evaluate learned.graphml truth.edges
  mnlearn evaluate learned.edges truth.edges --kinds 1N,3C --json
"""

Learned = Annotated[str, typer.Argument(metavar="LEARNED", help="A graph file.")]
Truth = Annotated[str, typer.Argument(metavar="TRUTH", help="A graph file over the same variables, in any order.")]
Kinds = Annotated[
    str | None,
    typer.Option(metavar="SPN,1N,2N,3C,4C", help="Kinds of subgraph for E- and V-scores; all by default, or none."),
]


def evaluate(
    learned: Learned,
    truth: Truth,
    *,
    kinds: Kinds = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Hold a learned graph against the true one, by the names of their variables.

    Hamming distance, errors of both kinds, precision, recall, F, and how well pieces of the true graph were found.
    """
    from mnlearn.evaluation.metrics import evaluate as measure

    chosen = None if kinds is None else [k.strip() for k in kinds.split(",") if k.strip() and k.strip() != "none"]
    found = measure(learned, truth, kinds=chosen)
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found)


def _show(found: Evaluation) -> None:
    """Edges first, then the pieces."""
    edges = found.edges
    say(f"{counted(found.learned_edges, 'edge')} learned, {found.true_edges:,} true, {found.variables:,} variables")
    say(
        f"Hamming distance {edges.hamming} ({edges.false_positives} too many, {edges.false_negatives} missing), "
        f"{edges.normalized_hamming:.4g} of all pairs"
    )
    say(f"precision {edges.precision:.4g}, recall {edges.recall:.4g}, F {edges.f1:.4g}")
    if found.ev:
        table = simple_table("subgraphs", "number", "E", "V", numbers=("number", "E", "V"))
        for kind, score in found.ev.items():
            numbers = ("", "") if score.e is None or score.v is None else (f"{score.e:.3f}", f"{score.v:.3f}")
            table.add_row(kind, f"{score.n_subgraphs:,}", *numbers)
        show(table)


# `mnlearn simulate`: data from a known network, and the network.


if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from rich.table import Table

    Entry: TypeAlias = tuple[str, str, Mapping[str, Any]]

SIMULATE_EXAMPLES = """\b
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
TruthOut = Annotated[
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
    truth: TruthOut = None,
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
    from mnlearn.graphs.formats import carries_numbers, write_graph
    from mnlearn.simulate.catalogue import simulate as draw
    from mnlearn.simulate.gibbs import GibbsPlan
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
