"""`mnlearn bench`: how fast this machine counts and scores; `mnlearn bench accuracy` is in `accuracy.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import show, show_json, simple_table

if TYPE_CHECKING:
    from rich.table import Table

    from mnlearn.evaluation.speed import Figure

EXAMPLES = """\b
Examples:
  mnlearn bench
  mnlearn bench --quick --json
  mnlearn bench accuracy --quick
"""

Quick = Annotated[bool, typer.Option("--quick", help="Only a few lines, in a few seconds.")]


def bench(
    context: typer.Context, *, quick: Quick = False, as_json: options.AsJson = False, _debug: options.Debug = False
) -> None:
    """Measure counting and scoring on this machine; or, by `accuracy`, how well the learners learn.

    Every line is a ratio to what this processor can do at best, or to a simple rival in the same run.
    """
    if context.invoked_subcommand is not None:
        return
    from mnlearn.evaluation.speed import measure

    figures = list(measure(quick=quick))
    if as_json:
        show_json({"figures": [figure.as_dict() for figure in figures]})
    else:
        show(lay_out(figures))


def lay_out(figures: list[Figure]) -> Table:
    """One line for each figure."""
    table = simple_table("what", "time", "for each", "against", "ratio", "asked", numbers=("time", "ratio"))
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.3g}x " + ("faster" if figure.faster else "the time")
        table.add_row(figure.what, _time(figure.nanoseconds), figure.per, figure.against, ratio, _asked(figure))
    return table


def _time(nanoseconds: float) -> str:
    """In the unit that suits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _asked(figure: Figure) -> str:
    """What is required, and whether it is reached."""
    if figure.required is None:
        return ""
    unit = "ns" if figure.ratio is None else "x"
    return f"{'>=' if figure.faster else '<='} {figure.required:g}{unit}: {'yes' if figure.holds else 'no'}"
