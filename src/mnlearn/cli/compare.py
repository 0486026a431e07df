"""`mnlearn compare` and `mnlearn compare-groups`: several methods on one data set, and one method on groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli import options
from mnlearn.cli.console import exit_interrupted, note, progress_monitor, reads, say, show, simple_table, writes
from mnlearn.cli.learn import check_picture
from mnlearn.cli.options import (
    CandidateOptions,
    ClusterOptions,
    InputOptions,
    JudgeOptions,
    MethodOptions,
    OutputOptions,
    option,
)
from mnlearn.errors import MnlearnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnlearn.learning.comparison import MethodResult

Group = Annotated[list[str] | None, option("LABEL", "Label of a group to compare; all by default; repeatable.")]
Adjust = Annotated[list[str] | None, option("COL", "Covariate to adjust for; repeatable.")]
Seed = Annotated[int, option("S", "Seed of the permutations.")]
Plot = Annotated[
    str | None, writes(option("FILE", "Draw the difference of two groups, or more networks: .png, .svg or .pdf."))
]


def compare_command(
    data: options.Data,
    *,
    truth: Annotated[str, reads(option("FILE", "True graph over the columns of DATA."))],
    methods: Annotated[str, option("A,B,C", "Names of methods, as for mnlearn learn --method.")],
    test: options.Test = None,
    alpha: options.Alpha = None,
    reading: InputOptions,
    jobs: options.Jobs = None,
    workers: ClusterOptions,
    output: OutputOptions,
) -> None:
    """Compare several methods with the true graph.

    --test and --alpha apply to the methods by tests. If a method does not suit the data, a note gives the reason and
    the others run.

    Examples:
      mnlearn compare data.csv --truth data.truth.edges.csv --methods gsmn*,gsimn,mpl
      mnlearn compare data.csv --truth truth.graphml --methods gsimn,pc --alpha 0.01 --json
    """
    from mnlearn import learning

    dataset = learning.load_data(data, **reading.arguments())
    names = [name.strip() for name in methods.split(",") if name.strip()]
    with workers.client() as client, progress_monitor() as monitor:
        found = learning.compare(
            dataset, truth, names, test=test, alpha=alpha, n_jobs=jobs, client=client, monitor=monitor
        )
    size = {"data": data, "truth": truth, "rows": dataset.n_rows, "variables": dataset.n_variables}
    output.show(lambda: {**size, "methods": [line.to_dict() for line in found]}, lambda: _show_methods(found))
    if monitor.interrupted:
        exit_interrupted("methods that did not run are missing, and the last one may not have ended")


def _show_methods(found: Sequence[MethodResult]) -> None:
    """Print one line for each method."""
    headings = ("edges", "Hamming", "too many", "missing", "precision", "recall", "F", "tests", "CPU s")
    table = simple_table("method", *headings, numbers=headings)
    for line in found:
        if line.learned is None or line.edges is None:
            table.add_row(line.method, *["-"] * len(headings))
            note(f"{line.method}: {line.refusal}")
            continue
        edges, cost = line.edges, line.learned.cost
        asked = cost.get("asked") if "weighted" in cost else None  # l1lr counts neighbourhoods there, not tests
        rates = (f"{edges.precision:.3f}", f"{edges.recall:.3f}", f"{edges.f1:.3f}")
        errors = (str(edges.hamming), str(edges.false_positives), str(edges.false_negatives))
        tests = "" if asked is None else f"{asked:,.0f}"
        table.add_row(line.method, str(line.learned.graph.n_edges), *errors, *rates, tests, f"{line.seconds:.2f}")
    show(table)
    for test, methods in _methods_by_test(found).items():
        say(f"{', '.join(methods)} by {test}")


def _methods_by_test(found: Sequence[MethodResult]) -> dict[str, list[str]]:
    """Return the methods that ran with each test."""
    methods: dict[str, list[str]] = {}
    for line in found:
        if line.learned is not None and line.learned.test is not None:
            methods.setdefault(line.learned.test, []).append(line.method)
    return methods


def compare_groups_command(
    data: options.Data,
    *,
    by: Annotated[str, option("COL", "Column that holds the group of each row.")],
    group: Group = None,
    adjust: Adjust = None,
    permutations: Annotated[
        int, option("K", "Number of permutations of the rows.", "--permutations", "--n-permutations")
    ] = 200,
    correction: Annotated[str, option("max|holm|fdr|none", "Correction for the number of pairs.")] = "max",
    seed: Seed = 0,
    plot: Plot = None,
    learning: MethodOptions,
    judging: JudgeOptions,
    pairs: CandidateOptions,
    output: OutputOptions,
) -> None:
    """Test whether groups of rows have the same network.

    Learns a network from each group and permutes the rows between them. Ctrl-C stops after the permutations so far.
    With --adjust, rows are permuted among those with similar covariates, which are not part of the networks.

    Examples:
      mnlearn compare-groups survey.csv --by sex
      mnlearn compare-groups trial.csv --by arm --group placebo --group drug --method mpl --permutations 500
      mnlearn compare-groups survey.csv --by country --adjust age --adjust sex --plot countries.svg
      mnlearn compare-groups survey.csv --by night_shifts --correction fdr --json
    """
    from mnlearn.learning import compare_groups

    if plot is not None:
        check_picture("--plot", plot)
    arguments: dict[str, Any] = {"groups": group or None, "adjust": adjust or ()}
    arguments |= {"n_permutations": permutations, "correction": correction, "seed": seed}
    arguments |= learning.learn_arguments(**judging.given(), **pairs.given())
    with progress_monitor() as monitor:
        try:
            found = compare_groups(data, by, monitor=monitor, **arguments)
        except MnlearnError as error:
            if monitor.interrupted:  # before the end of the first permutation
                raise KeyboardInterrupt from error
            raise
    output.show(found.to_dict, lambda: say(str(found)))
    if plot is not None:  # after the result, which is printed even if the file cannot be written
        found.plot(plot)
    if monitor.interrupted:
        exit_interrupted(f"the p-values are from {found.done} permutations")
