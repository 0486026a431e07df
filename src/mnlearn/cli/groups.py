"""`mnlearn compare-groups`: do two groups of rows have the same network?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Judging, Preparing, Reading
from mnlearn.cli._config import Config
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.errors import MnlearnError

EXAMPLES = """\b
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
    from mnlearn import pipeline

    wishes = judging.said() | preparing.said() | options.said(columns=column)
    how = reading.keywords()
    own = options.settings(set_, pipeline.learn, wishes)
    asked: dict[str, Any] = {"n_permutations": permutations, "correction": correction, "seed": seed, "n_jobs": jobs}
    everything: dict[str, Any] = {"groups": group or None, **asked, **how, **wishes, **own}
    with watched() as monitor:
        try:
            found = pipeline.compare_groups(data, by, method, monitor=monitor, **everything)
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
