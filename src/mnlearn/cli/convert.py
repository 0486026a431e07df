"""`mnlearn convert`: a graph from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._wording import counted, printable
from mnlearn.errors import FileError, InputError

if TYPE_CHECKING:
    from mnlearn.graphs import NamedGraph

EXAMPLES = """\b
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
    from mnlearn.graphs import read_graph

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
