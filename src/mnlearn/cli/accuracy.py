"""`mnlearn bench accuracy`: every learner on networks of many kinds, and what their errors say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import note, say, show, show_json, simple_table
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.cli.reproduce import DataFolder, Sizes, data_folder, make_folder, numbers_of_rows
from mnlearn.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from mnlearn.evaluation.accuracy.battery import Half
    from mnlearn.evaluation.accuracy.standings import Standings
    from mnlearn.evaluation.experiment import Row

EXAMPLES = """\b
Examples:
  mnlearn bench accuracy --quick
  mnlearn bench accuracy --kind alarm --learner sep --learner mpl --draws 2 --data ../shared/data
  mnlearn bench accuracy --half held-out --data ../shared/data --out runs
"""

HalfName = Annotated[str, typer.Option("--half", metavar="development|held-out", help="Which half of the battery.")]
Quick = Annotated[bool, typer.Option("--quick", help="A few kinds, two sizes, one draw: some seconds.")]
Kind = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this kind of network; repeatable.")]
LearnerName = Annotated[list[str] | None, typer.Option("--learner", metavar="NAME", help="Only this one; repeatable.")]
Draws = Annotated[int | None, typer.Option(metavar="K", help="Data sets for each kind and size; 5 by default.")]
Reference = Annotated[str, typer.Option("--against", metavar="NAME", help="Whom the others are held against.")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write tables and pages there; a stopped run continues there.")
]

_QUICK_KINDS, _QUICK_SIZES = ("stars", "ferromagnet", "cliques", "independent"), (250, 1000)


def accuracy(
    *,
    half: HalfName = "development",
    quick: Quick = False,
    kind: Kind = None,
    learner: LearnerName = None,
    sizes: Sizes = None,
    draws: Draws = None,
    against: Reference = "sep",
    data: DataFolder = None,
    out: Out = None,
    jobs: options.Jobs = 1,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Run every learner on networks of many kinds and compare their errors.

    Changes of a method are judged on the development half; the figures of the documentation are of the held-out half.
    The whole of one takes an hour. Ctrl-C stops after the present run and shows what there is.
    """
    from mnlearn.evaluation.accuracy.battery import DRAWS, SIZES
    from mnlearn.evaluation.accuracy.standings import Standings
    from mnlearn.pipeline.accuracy import accuracy_battery

    battery = accuracy_battery(
        cast("Half", half),  # which the battery checks
        data=data_folder(data),
        learners=learner or (),
        only=kind or (_QUICK_KINDS if quick else ()),
        sizes=numbers_of_rows(sizes) or (_QUICK_SIZES if quick else SIZES),
        draws=draws if draws is not None else (1 if quick else DRAWS),
    )
    if out is not None:
        make_folder(out)
    with watched() as watcher:
        journal = None if out is None else out / f"accuracy-{half}.jsonl"
        rows = battery.run(journal=journal, n_jobs=jobs, monitor=watcher)
    if not rows:
        raise InputError("nothing was run before it was stopped. Let it run for longer.")
    standings = Standings(rows, against)
    if out is not None:
        _write(rows, half, against, out)
    if as_json:
        show_json(document(half, standings))
    else:
        show(lay_out(standings))
        say(f"{len(standings.losses())} cells where another is better by more than two standard errors and 10 %")
    if watcher.interrupted:
        note("stopped before the end; the same command with the same --out continues")
        raise typer.Exit(EXIT_INTERRUPTED)


def lay_out(standings: Standings) -> Table:
    """One line for each learner."""
    numbers = ("data sets", "Hamming", "false +", "false -", "rank", "ratio", "behind", "seconds")
    table = simple_table("learner", *numbers, numbers=numbers)
    for line in standings.learners():
        figures = (line.hamming, line.false_positives, line.false_negatives, line.rank, line.ratio)
        behind = f"{line.behind.mean:+.2f} ± {line.behind.standard_error:.2f}"
        table.add_row(
            line.learner, str(line.behind.n), *(f"{number:.2f}" for number in figures), behind, f"{line.seconds:.2g}"
        )
    return table


def document(half: str, standings: Standings) -> dict[str, object]:
    """The same as one document, with every cell."""
    learners = [{**line._asdict(), "behind": line.behind._asdict()} for line in standings.learners()]
    losses = [{**loss._asdict(), "behind": loss.behind._asdict()} for loss in standings.losses()]
    cells = [{"kind": c.kind, "n_rows": c.n_rows, "hamming": dict(c.hamming)} for c in standings.cells()]
    return {"half": half, "against": standings.reference, "learners": learners, "cells": cells, "losses": losses}


def _write(rows: list[Row], half: str, against: str, out: Path) -> None:
    """The tidy table, the page, and the figure of the probabilities when matplotlib is at hand."""
    from importlib.util import find_spec

    from mnlearn.evaluation.accuracy.page import page
    from mnlearn.evaluation.calibration import bins, plot_reliability
    from mnlearn.evaluation.experiment import write_rows

    write_rows(rows, out / f"accuracy-{half}.csv")
    (out / f"accuracy-{half}.md").write_text(page(rows, title=f"The {half} half", reference=against), encoding="utf-8")
    sure = [row.reliability for row in rows if row.learner == against and row.reliability is not None]
    if sure and find_spec("matplotlib") is not None:
        plot_reliability(bins(sure), out / f"accuracy-{half}.svg")
