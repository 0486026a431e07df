"""`mnlearn blanket`: the Markov blanket of one variable.

`mnlearn screen`: the strongest partners of every variable, printed and written to a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mnlearn.cli import options
from mnlearn.cli.console import (
    escaped,
    exit_interrupted,
    progress_monitor,
    say,
    show_rows,
    simple_table,
    writes,
    writes_into,
)
from mnlearn.cli.learn import MaxMemory, Resume, size_in_bytes
from mnlearn.cli.options import ClusterOptions, InputOptions, OutputOptions, argument, flag, option, transform_argument

if TYPE_CHECKING:
    from mnlearn.results.targets import Blanket, Screened


OTHERS_SHOWN = 10  # other variables listed without --all

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
    all_: Annotated[bool, flag("--all", f"List all other variables weighed, not only {OTHERS_SHOWN}.")] = False,
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
    for title, listed, limit in (("member", found.members, None), ("not a member", found.others, OTHERS_SHOWN)):
        rows = []
        for one in listed:
            support = "" if one.support is None else f"{one.support:.4g}"
            rows.append((one.name, support, *([f"{one.probability:.3f}"] if by_odds else [])))
        if rows:
            show_rows(simple_table(title, *numbers, numbers=numbers), rows, limit=None if all_others else limit)


PAIRS_SHOWN = 40  # pairs listed without --all

CheckpointFolder = Annotated[
    str | None,
    writes_into(option("DIR", "Store pairs in DIR, so that a killed run can be resumed."), "answers.mncheck"),
]


def screen_command(
    data: options.Data,
    *,
    k: Annotated[int | None, option("K", "Partners of each variable; 20 by default.", "-k", "--k")] = None,
    threshold: Annotated[
        float | None,
        option("EVIDENCE", "Least evidence of a pair; without -k, all such pairs. 10.83 is p = 0.001 for g2 and x2."),
    ] = None,
    statistic: Annotated[str | None, option("g2|x2|mi", "Evidence of a pair; g2 by default.")] = None,
    out: Annotated[str | None, writes(option("FILE", "Write the screen, for later use."))] = None,
    all_: Annotated[bool, flag("--all", f"List all pairs, not only the first {PAIRS_SHOWN}.")] = False,
    column: options.Columns = None,
    reading: InputOptions,
    transform: options.Transform = None,
    jobs: options.Jobs = None,
    device: options.Device = None,
    workers: ClusterOptions,
    max_memory: MaxMemory = None,
    checkpoint: CheckpointFolder = None,
    resume: Resume = False,
    output: OutputOptions,
) -> None:
    """List the strongest partners of every column of DATA, by marginal evidence.

    Looks at all pairs once and keeps the strongest, also of 100,000 columns. Ctrl-C stops; nothing is written then.

    Examples:
      mnlearn screen survey.csv
      mnlearn screen genotypes.mnpack -k 20 --out screen.mns
      mnlearn screen genotypes.mnpack --threshold 30 --statistic g2 --json
      mnlearn screen genotypes.mnpack --out screen.mns --checkpoint run1
    """
    from mnlearn.learning import screen

    settings = options.drop_none(threshold=threshold, statistic=statistic, columns=column, n_jobs=jobs, device=device)
    run = options.drop_none(max_memory=size_in_bytes(max_memory), checkpoint=checkpoint, resume=resume or None)
    if k is not None or threshold is not None:
        settings["k"] = k
    arguments = reading.arguments(**run) | options.transform_argument(transform) | settings
    with workers.client() as client, progress_monitor() as monitor:
        screened = screen(data, client=client, monitor=monitor, **arguments)
    if not screened.complete:
        exit_interrupted("not all pairs were looked at")
    if out is not None:
        screened.save(out)
    output.show(lambda: _document(screened, all_pairs=all_), lambda: _show(screened, out, all_pairs=all_))


def _document(screened: Screened, *, all_pairs: bool) -> dict[str, object]:
    """Return the numbers of the screen and its strongest pairs."""
    u, v, evidence = screened.ranked(None if all_pairs else PAIRS_SHOWN)
    pairs = zip(u.tolist(), v.tolist(), evidence.tolist(), strict=True)
    return {
        "variables": screened.n_variables,
        "rows": screened.n_rows,
        "statistic": screened.rule.statistic,
        "k": screened.rule.k,
        "least": screened.least,
        "pairs": screened.n_pairs,
        "strongest": [{"u": screened.names[a], "v": screened.names[b], "evidence": e} for a, b, e in pairs],
    }


def _show(screened: Screened, written: str | None, *, all_pairs: bool) -> None:
    """Print the size of the screen and its strongest pairs."""
    say(repr(screened)[len("<Screened ") : -1])
    if not screened.n_pairs:
        say("no pair has that much evidence")
    u, v, evidence = screened.ranked()
    limit = None if all_pairs else PAIRS_SHOWN
    shown = zip(u[:limit].tolist(), v[:limit].tolist(), evidence[:limit].tolist(), strict=True)
    rows = [(screened.names[a], screened.names[b], f"{e:.6g}") for a, b, e in shown]
    show_rows(simple_table("variable", "partner", "evidence", numbers=("evidence",)), rows, limit=None)
    if limit is not None and screened.n_pairs > limit:
        say(f"... and {screened.n_pairs - limit:,} more (--all)")
    if written is not None:
        say(f"wrote {escaped(written)}")
