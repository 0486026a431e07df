"""`mnlearn why`: the evidence for or against one edge."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Judging, Preparing, Reading
from mnlearn.cli._config import Config
from mnlearn.cli._output import say, show_json
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.cli._sources import is_result
from mnlearn.errors import InputError, unknown_name

EXAMPLES = """\b
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
    from mnlearn import pipeline
    from mnlearn.data import read

    if is_result(data):
        raise InputError(
            f"DATA must be a data file; {data!r} is a saved result. Name the data, and the result after it: "
            f"mnlearn why DATA A B --network {shlex.quote(data)}."
        )
    wishes = options.said(method=method, columns=column, n_jobs=jobs) | judging.said() | preparing.said()
    how = reading.keywords()
    own = options.settings(set_, pipeline.learn, wishes)
    if network is not None:
        if any(wishes) or own or any(how.values()):
            raise InputError(
                "--network excludes options of learning, which the file has; got both. Drop one of the two."
            )
        found = pipeline.load(network).with_data(data).why(x, y)
    else:
        table = read(data, columns=wishes.pop("columns", None), missing=wishes.pop("missing", "error"), **how)
        _check_pair(table.names, x, y)
        with watched() as monitor:
            learned = pipeline.learn(table, monitor=monitor, **wishes, **own)
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
