"""`mnlearn test` and `mnlearn score`: one independence test, and the score of a graph."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Annotated

from mnlearn.cli import options
from mnlearn.cli.console import escaped, first_names, probability, say, show, show_rows, simple_table
from mnlearn.cli.options import ClusterOptions, InputOptions, OutputOptions, TestOptions, argument, flag, option

if TYPE_CHECKING:
    from mnlearn.learning.api import GraphScore
    from mnlearn.learning.tests import TestResult

SHOWN = 40  # terms listed without --all

X = Annotated[str, argument("X", "A column.")]
Y = Annotated[str, argument("Y", "Another column.")]
ScoreSet = Annotated[
    list[str] | None, option("NAME=VALUE", "Setting of the score, e.g. prior_cell=1; repeatable.", "--set")
]


def independence_command(
    data: options.Data,
    x: X,
    y: Y,
    *,
    given: Annotated[list[str] | None, option("COL", "Condition on this column; repeatable.", "--given", "-g")] = None,
    testing: TestOptions,
    reading: InputOptions,
    transform: options.Transform = None,
    output: OutputOptions,
) -> None:
    """Test whether X is independent of Y, given other columns.

    Examples:
      mnlearn test survey.csv stress headaches
      mnlearn test survey.csv night_shifts fatigue --given poor_sleep --test g2
      mnlearn test body.parquet height weight --given age --alpha 0.01 --json
      mnlearn test patients.csv age smoker --discretize frequency --missing drop_rows
    """
    from mnlearn.learning.tests import independence_test

    arguments = reading.arguments(**testing.given()) | options.transform_argument(transform)
    result = independence_test(data, x, y, given or (), **arguments)
    output.show(result.to_dict, lambda: _show_test(result, testing))


def _show_test(result: TestResult, testing: TestOptions) -> None:
    """Print the question, the numbers that the test computes, and the decision."""
    from rich.table import Table
    from rich.text import Text

    from mnlearn.learning.registry import TESTS

    lines = {
        "question": f"{escaped(result.x)} and {escaped(result.y)}",
        "given": first_names(result.given) if result.given else "nothing",
        "test": f"{result.test} ({TESTS[result.test].help})",
        "values": "normal scores of the ranks" if result.transform else None,
        "rows": f"{result.n_rows:,} complete, {result.n_incomplete:,} lack a value" if result.n_incomplete else None,
        "statistic": _number(result.statistic),
        "degrees of freedom": _number(result.dof),
        "log p": _log_probability(result.log_p, "p"),
        "log P(independent)": _log_probability(result.log_independent, "P"),
        "log P(dependent)": _log_probability(result.log_dependent, "P"),
        "decision": _decision(result, testing),
        "warning": result.warning,
    }
    styles = {"decision": "green" if result.independent else "red", "warning": "yellow"}
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for label, line in lines.items():
        if line is not None:
            table.add_row(label, Text(line, style=styles.get(label, "")))
    show(table)


def _number(value: float | None) -> str | None:
    return None if value is None or isnan(value) else f"{value:.6g}"


def _log_probability(log_p: float | None, symbol: str) -> str | None:
    return None if log_p is None or isnan(log_p) else f"{log_p:.6g} ({symbol} = {probability(log_p)})"


def _decision(result: TestResult, testing: TestOptions) -> str:
    """Return the decision and its rule."""
    from mnlearn.learning.registry import DEFAULT_ALPHA
    from mnlearn.learning.tests import UNTOLD

    if result.log_p is not None and isnan(result.log_p):
        reason = UNTOLD
    elif result.log_p is not None:
        level = DEFAULT_ALPHA if testing.alpha is None else testing.alpha
        reason = f"p {'>' if result.independent else '<='} {level:g}"
    elif result.log_independent is not None:
        reason = f"P(independent) {'>' if result.independent else '<='} P(dependent)"
    else:
        reason = f"statistic {'<=' if result.independent else '>'} {testing.threshold:g}"
    return f"{'independent' if result.independent else 'dependent'}: {reason}"


def score_command(
    data: options.Data,
    graph: options.GraphFile,
    *,
    name: Annotated[str, options.named("SCORES", "Score: {names}.", "--score")] = "ib",
    prior: Annotated[float | None, option("P", "ib, bjp: prior probability of independence; 0.5 by default.")] = None,
    set_: ScoreSet = None,
    column: options.Columns = None,
    reading: InputOptions,
    transform: options.Transform = None,
    jobs: options.Jobs = None,
    workers: ClusterOptions,
    all_: Annotated[bool, flag("--all", f"List all terms, not only the {SHOWN} lowest.")] = False,
    output: OutputOptions,
) -> None:
    """Score a graph given the data, in natural-log units.

    Higher is better. There is one term for each variable, or for bjp one for each pair. The lowest terms come first:
    they are the strongest evidence against the graph.

    Examples:
      mnlearn score survey.csv network.graphml
      mnlearn score survey.csv network.edges.csv --score mpl --set prior_cell=1 --json
    """
    from mnlearn.learning import score

    arguments = reading.arguments(score, set_, prior=prior, columns=column, n_jobs=jobs)
    arguments |= options.transform_argument(transform)
    with workers.client() as client:
        found = score(data, graph, name, client=client, **arguments)
    output.show(found.to_dict, lambda: _show_score(found, all_terms=all_))


def _show_score(found: GraphScore, *, all_terms: bool) -> None:
    """Print the terms, lowest first, and their sum."""
    pairs = any(len(part.variables) > 1 for part in found.terms)
    table = simple_table("pair" if pairs else "variable", *[""] * pairs, "term", numbers=("term",))
    terms = sorted(found.terms, key=lambda part: part.value)
    rows = [(*part.variables, f"{part.value:.6g}") for part in terms]
    show_rows(table, rows, limit=None if all_terms else SHOWN)
    say(f"{found.score} score {found.value:.6f}{', of normal scores of the ranks' if found.transform else ''}")
