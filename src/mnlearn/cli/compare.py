"""`mnlearn compare`: several methods on the same data, each against the true graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import options
from mnlearn.cli.config import Config
from mnlearn.cli.console import EXIT_INTERRUPTED, note, say, show, show_json, simple_table, watched
from mnlearn.cli.options import Elsewhere, Judging, Preparing, Reading
from mnlearn.errors import MnlearnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnlearn.learning.comparison import MethodResult


COMPARE_EXAMPLES = """\b
Examples:
  mnlearn compare data.csv --truth data.truth.edges --methods gsmn*,gsimn,mpl
  mnlearn compare data.csv --truth truth.graphml --methods gsimn,pc --alpha 0.01 --json
"""

Truth = Annotated[str, typer.Option(metavar="FILE", help="The true graph, over the columns of DATA.")]
Methods = Annotated[str, typer.Option(metavar="A,B,C", help="Methods by name, as mnlearn learn --method has them.")]
Alpha = Annotated[float | None, typer.Option(metavar="A", help="The level of the tests; 0.05 by default.")]


def compare(
    data: options.Data,
    *,
    truth: Truth,
    methods: Methods,
    test: options.Test = None,
    alpha: Alpha = None,
    preparing: Preparing,
    reading: Reading,
    jobs: options.Jobs = None,
    elsewhere: Elsewhere,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Learn from DATA by several methods, and hold each network against the true one.

    --test and --alpha are for the methods that ask independence tests. A method that does not fit the data says why;
    the others go on.
    """
    from mnlearn import learning

    dataset = learning.load_data(data, **reading.keywords(), **preparing.said())
    named = [name.strip() for name in methods.split(",") if name.strip()]
    with elsewhere.client() as client, watched() as monitor:
        found = learning.compare(
            dataset, truth, named, test=test, alpha=alpha, n_jobs=jobs, client=client, monitor=monitor
        )
    if as_json:
        size = {"rows": dataset.n_rows, "variables": dataset.n_variables}
        show_json({"data": data, "truth": truth, **size, "methods": [line.to_dict() for line in found]})
    else:
        _show(found)
    if monitor.interrupted:
        note("interrupted: methods that were not run are missing, and the last one may not have ended")
        raise typer.Exit(EXIT_INTERRUPTED)


def _show(found: Sequence[MethodResult]) -> None:
    """One line per method."""
    headings = ("edges", "Hamming", "too many", "missing", "precision", "recall", "F", "tests", "CPU s")
    table = simple_table("method", *headings, numbers=headings)
    for line in found:
        if line.learned is None or line.edges is None:
            table.add_row(line.method, *["-"] * len(headings))
            note(f"{line.method}: {line.refusal}")
            continue
        edges, cost = line.edges, line.learned.cost
        asked = cost.get("asked") if "weighted" in cost else None  # l1lr asks for neighbourhoods: those are no tests
        rates = (f"{edges.precision:.3f}", f"{edges.recall:.3f}", f"{edges.f1:.3f}")
        errors = (str(edges.hamming), str(edges.false_positives), str(edges.false_negatives))
        tests = "" if asked is None else f"{asked:,.0f}"
        table.add_row(line.method, str(line.learned.graph.n_edges), *errors, *rates, tests, f"{line.seconds:.2f}")
    show(table)


# `mnlearn compare-groups`: do two groups of rows have the same network?


GROUPS_EXAMPLES = """\b
Examples:
  mnlearn compare-groups survey.csv --by sex
  mnlearn compare-groups trial.csv --by arm --group placebo --group drug --method mpl --permutations 500
  mnlearn compare-groups survey.csv --by night_shifts --correction fdr --json
"""

By = Annotated[str, typer.Option(metavar="COL", help="The column that says to which group a row belongs.")]
Group = Annotated[
    list[str] | None, typer.Option(metavar="LABEL", help="A label of that column: two, if it has more; repeatable.")
]
Permutations = Annotated[int, typer.Option(metavar="K", help="How often the rows are dealt out anew.")]
Correction = Annotated[str, typer.Option(metavar="holm|fdr|none", help="For the number of pairs.")]
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of the permutations.")]


def compare_groups(
    data: options.Data,
    *,
    by: By,
    group: Group = None,
    permutations: Permutations = 200,
    correction: Correction = "holm",
    seed: Seed = 0,
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
    """Learn the network of each of two groups of rows, and test by permutation whether they differ.

    Ctrl-C ends with the permutations so far.
    """
    from mnlearn import learning

    wishes = judging.said() | preparing.said() | options.said(columns=column)
    how = reading.keywords()
    own = options.settings(set_, learning.learn, wishes)
    asked: dict[str, Any] = {"n_permutations": permutations, "correction": correction, "seed": seed, "n_jobs": jobs}
    everything: dict[str, Any] = {"groups": group or None, **asked, **how, **wishes, **own}
    with watched() as monitor:
        try:
            found = learning.compare_groups(data, by, method, monitor=monitor, **everything)
        except MnlearnError as error:
            if monitor.interrupted:  # before the first permutation was done
                raise KeyboardInterrupt from error
            raise
    if as_json:
        show_json(found.to_dict())
    else:
        say(str(found))
    if monitor.interrupted:
        note(f"interrupted: p-values are those of {found.done} permutations")
        raise typer.Exit(EXIT_INTERRUPTED)
