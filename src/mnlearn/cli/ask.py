"""`mnlearn test`: is X independent of Y given other columns?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Preparing, Reading, Testing
from mnlearn.cli._output import show, show_json
from mnlearn.cli._wording import joined, printable, probability

if TYPE_CHECKING:
    from mnlearn.questions import TestResult

EXAMPLES = """\b
Examples:
  mnlearn test survey.csv stress headaches
  mnlearn test survey.csv night_shifts fatigue --given poor_sleep --test g2
  mnlearn test body.parquet height weight --given age --alpha 0.01 --json
  mnlearn test patients.csv age smoker --discretize frequency --missing drop_rows
"""

X = Annotated[str, typer.Argument(metavar="X", help="A column.")]
Y = Annotated[str, typer.Argument(metavar="Y", help="Another column.")]
Given = Annotated[list[str] | None, typer.Option("--given", "-g", metavar="COL", help="Condition on it; repeatable.")]


def ask(
    data: options.Data,
    x: X,
    y: Y,
    *,
    given: Given = None,
    testing: Testing,
    preparing: Preparing,
    reading: Reading,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Test whether X is independent of Y, given other columns."""
    from mnlearn.questions import independence_test

    wishes = testing.said() | preparing.said()
    result = independence_test(data, x, y, given or (), **reading.keywords(), **wishes)
    if as_json:
        show_json(result.to_dict())
    else:
        show_result(result, wishes)


def show_result(result: TestResult, wishes: Mapping[str, Any]) -> None:
    """The question, the numbers that the test computes, and the decision in words."""
    from rich.table import Table
    from rich.text import Text

    from mnlearn.pipeline import TESTS

    lines = {
        "question": f"{printable(result.x)} and {printable(result.y)}",
        "given": joined(result.given) if result.given else "nothing",
        "test": f"{result.test} ({TESTS[result.test].title})",
        "statistic": _number(result.statistic),
        "degrees of freedom": _number(result.dof),
        "log p": _log_probability(result.log_p, "p"),
        "log P(independent)": _log_probability(result.log_independent, "P"),
        "log P(dependent)": _log_probability(result.log_dependent, "P"),
        "decision": _decision(result, wishes),
    }
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for label, line in lines.items():
        if line is not None:
            style = ("green" if result.independent else "red") if label == "decision" else ""
            table.add_row(label, Text(line, style=style))
    show(table)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"


def _log_probability(log_p: float | None, symbol: str) -> str | None:
    return None if log_p is None else f"{log_p:.6g} ({symbol} = {probability(log_p)})"


def _decision(result: TestResult, wishes: Mapping[str, Any]) -> str:
    """The decision and the rule it follows from."""
    from mnlearn.pipeline import DEFAULT_ALPHA

    if result.log_p is not None:
        sign, level = ">" if result.independent else "<=", wishes.get("alpha", DEFAULT_ALPHA)
        reason = f"p {sign} {level:g}"
    elif result.log_independent is not None:
        reason = f"P(independent) {'>' if result.independent else '<='} P(dependent)"
    else:
        reason = f"statistic {'<=' if result.independent else '>'} {wishes['threshold']:g}"
    return f"{'independent' if result.independent else 'dependent'}: {reason}"
