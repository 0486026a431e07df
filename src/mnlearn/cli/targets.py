"""`mnlearn blanket`: the Markov blanket of one variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mnlearn.cli import options
from mnlearn.cli.console import escaped, exit_interrupted, progress_monitor, say, show_rows, simple_table
from mnlearn.cli.options import InputOptions, OutputOptions, argument, flag, option, transform_argument

if TYPE_CHECKING:
    from mnlearn.results.blanket import Blanket

SHOWN = 10  # other variables listed without --all

BlanketMethod = Annotated[
    str | None,
    option("sep|gsmn|gsmn*|hhc-mn", "By default sep, or gsmn* if a test is named.", show_default=False),
]


def blanket_command(
    data: options.Data,
    target: Annotated[str, argument("COL", "Variable whose blanket is learned.")],
    *,
    method: BlanketMethod = None,
    test: options.Test = None,
    alpha: options.Alpha = None,
    dof: options.Dof = None,
    set_: options.Set = None,
    column: options.Columns = None,
    reading: InputOptions,
    transform: options.Transform = None,
    jobs: options.Jobs = None,
    all_: Annotated[bool, flag("--all", f"List all other variables weighed, not only {SHOWN}.")] = False,
    output: OutputOptions,
) -> None:
    """Learn the Markov blanket of one column of DATA.

    The blanket is the set of columns that makes COL independent of all others. The rest of the network is not
    learned, which is much faster with many columns. Ctrl-C stops the search and prints what is known.

    Examples:
      mnlearn blanket survey.csv fatigue
      mnlearn blanket genes.parquet BRCA1 --json
      mnlearn blanket survey.csv fatigue --method hhc-mn --test g2 --alpha 0.01
    """
    from mnlearn.learning import blanket

    given = {"method": method, "test": test, "alpha": alpha, "dof": dof, "columns": column, "n_jobs": jobs}
    arguments = reading.arguments(blanket, set_, **given) | transform_argument(transform)
    with progress_monitor() as monitor:
        found = blanket(data, target, monitor=monitor, **arguments)
    output.show(found.to_dict, lambda: _show_blanket(found, all_others=all_))
    if monitor.interrupted:
        exit_interrupted("this is what is known of the blanket; the search did not end")


def _show_blanket(found: Blanket, *, all_others: bool) -> None:
    """Print the members, then the variables that come next."""
    by_odds = found.support_scale == "log_odds"
    scale = "log odds" if by_odds else "log p"
    numbers = (scale, "probability") if by_odds else (scale,)
    say(escaped(found.headline()))
    for title, listed, limit in (("member", found.members, None), ("not a member", found.others, SHOWN)):
        rows = []
        for one in listed:
            support = "" if one.support is None else f"{one.support:.4g}"
            rows.append((one.name, support, *([f"{one.probability:.3f}"] if by_odds else [])))
        if rows:
            show_rows(simple_table(title, *numbers, numbers=numbers), rows, limit=None if all_others else limit)
