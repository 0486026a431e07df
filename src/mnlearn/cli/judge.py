"""`mnlearn test`: is X independent of Y given other columns?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import options
from mnlearn.cli.console import joined, printable, probability, say, show, show_json, simple_table
from mnlearn.cli.options import Elsewhere, Preparing, Reading, Testing

if TYPE_CHECKING:
    from mnlearn.learning.api import GraphScore
    from mnlearn.learning.pairs import TestResult


TEST_EXAMPLES = """\b
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
    from mnlearn.learning.pairs import independence_test

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

    from mnlearn.learning.registry import TESTS

    lines = {
        "question": f"{printable(result.x)} and {printable(result.y)}",
        "given": joined(result.given) if result.given else "nothing",
        "test": f"{result.test} ({TESTS[result.test].help})",
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
    from mnlearn.learning.registry import DEFAULT_ALPHA

    if result.log_p is not None:
        sign, level = ">" if result.independent else "<=", wishes.get("alpha", DEFAULT_ALPHA)
        reason = f"p {sign} {level:g}"
    elif result.log_independent is not None:
        reason = f"P(independent) {'>' if result.independent else '<='} P(dependent)"
    else:
        reason = f"statistic {'<=' if result.independent else '>'} {wishes['threshold']:g}"
    return f"{'independent' if result.independent else 'dependent'}: {reason}"


# `mnlearn score`: how well a graph fits the data.


SCORE_EXAMPLES = """\b
Examples:
  mnlearn score survey.csv network.graphml
  mnlearn score survey.csv network.edges --score mpl --set prior_cell=1 --json
"""

SHOWN = 40  # terms listed without --all

Source = Annotated[str, typer.Argument(metavar="GRAPH", help="A graph file; its variables are matched by name.")]
Name = Annotated[
    str,
    typer.Option(
        "--score",
        metavar="NAME",
        help="ib, bjp, mpl, pic, entropy, ebic, evidence, evidence-pairwise or evidence-table.",
    ),
]
Prior = Annotated[
    float | None,
    typer.Option(metavar="P", help="ib, bjp: probability of independence beforehand; 0.5 by default."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the score, such as prior_cell=1; repeatable."),
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="COL", help="Score these columns only; repeatable.")
]
All = Annotated[bool, typer.Option("--all", help=f"List all terms, not only the {SHOWN} lowest.")]


def score(
    data: options.Data,
    graph: Source,
    *,
    name: Name = "ib",
    prior: Prior = None,
    set_: Set = None,
    column: Columns = None,
    preparing: Preparing,
    reading: Reading,
    jobs: options.Jobs = None,
    elsewhere: Elsewhere,
    all_: All = False,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Score a graph given the data: natural-log units, higher is better.

    Terms are per variable, or for bjp per pair of variables. The lowest come first: they are what speaks
    most against the graph.
    """
    from mnlearn import learning

    wishes = options.said(prior=prior, columns=column, n_jobs=jobs) | preparing.said()
    how = reading.keywords()
    own = options.settings(set_, learning.score, wishes)
    with elsewhere.client() as client:
        found = learning.score(data, graph, name, client=client, **how, **wishes, **own)
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found, all_terms=all_)


def _show(found: GraphScore, *, all_terms: bool) -> None:
    """The terms, lowest first, and their sum."""
    from rich.text import Text

    pairs = any(len(part.variables) > 1 for part in found.terms)
    table = simple_table("pair" if pairs else "variable", *[""] * pairs, "term", numbers=("term",))
    terms = sorted(found.terms, key=lambda part: part.value)
    for part in terms if all_terms else terms[:SHOWN]:
        table.add_row(*(Text(printable(name)) for name in part.variables), f"{part.value:.6g}")
    show(table)
    if len(terms) > SHOWN and not all_terms:
        say(f"and {len(terms) - SHOWN} more; --all lists them")
    say(f"{found.score} score {found.value:.6f}")
