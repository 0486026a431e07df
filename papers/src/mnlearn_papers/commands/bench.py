"""`mnlearn bench` and `mnlearn bench accuracy`: speed and accuracy; folders and pages of runs for `reproduce` too."""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mnlearn.cli import options
from mnlearn.cli.console import (
    exit_interrupted,
    note,
    progress_monitor,
    reads,
    say,
    show,
    simple_table,
    writes,
    writes_into,
)
from mnlearn.cli.options import OutputOptions, flag, option
from mnlearn.errors import FileError, InputError, check_name
from mnlearn.files import replacing, write_errors

if TYPE_CHECKING:
    from rich.table import Table

    from mnlearn_papers.accuracy import Half
    from mnlearn_papers.accuracy_page import Standings
    from mnlearn_papers.experiment import Row
    from mnlearn_papers.speed import Figure

CONTINUE = "the same command with the same --out continues"
_QUICK_KINDS, _QUICK_SIZES = ("stars", "ferromagnet", "cliques", "independent"), (250, 1000)

Sizes = Annotated[str | None, option("N,N,...", "Sizes, mostly numbers of rows; those of the experiment by default.")]
RunFolder = Annotated[
    Path | None, writes_into(option("DIR", "Write tables and plots to DIR; a stopped run continues there."))
]
DataFolder = Annotated[Path | None, reads(option("DIR", "Folder of the data; MNLEARN_DATA by default.", "--data"), "*")]
PageFile = Annotated[
    Path | None, writes(option("FILE", "Only fill the tables of this page from the runs in --out.", "--page"))
]
Quick = Annotated[bool, flag("--quick", "Run only a small part, in seconds.")]


def fill_from_runs(page: Path, out: Path | None) -> None:
    """Fill every table of a page that has runs in a folder."""
    from mnlearn_papers.page import fill_page
    from mnlearn_papers.summaries import recorded_figures

    folder = folder_of_runs(out, "--page")
    try:
        filled = fill_page(page.read_text(encoding="utf-8"), partial(recorded_figures, folder=folder))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"--page must be a readable text file; {page}: {error}. Name another.") from error
    if not filled.filled and not filled.kept:
        raise InputError(f"--page must hold a table to fill; {page} has no <!-- table. Name another.")
    with write_errors(page), replacing(page) as part:
        part.write_text(filled.text, encoding="utf-8")
    say(f"{page}: {len(filled.filled)} tables from {out}" + "".join(f"\n  {table}" for table in filled.filled))
    if filled.kept:
        note(f"unchanged, without runs in the folder: {', '.join(dict.fromkeys(filled.kept))}")


def folder_of_runs(out: Path | None, wanted_by: str) -> Path:
    """Return the folder of --out, which must exist."""
    if out is None or not out.is_dir():
        raise FileError(
            f"--out must be the folder of the runs for {wanted_by}; got {out or 'none'}. Run an experiment first."
        )
    return out


def data_folder(data: Path | None) -> Path | None:
    """Return the folder of the data from the option or the environment."""
    named = data or (Path(os.environ["MNLEARN_DATA"]) if os.environ.get("MNLEARN_DATA") else None)
    if named is not None and not named.is_dir():
        raise FileError(f"--data must be a folder; there is no {named}. Name another, or correct MNLEARN_DATA.")
    return named


def numbers_of_rows(text: str | None) -> tuple[int, ...]:
    """Return the numbers of --sizes."""
    try:
        sizes = [int(word) for word in text.split(",")] if text is not None else []
    except ValueError:
        raise InputError(f"--sizes must be whole numbers with commas between; got {text!r}. Write 250,500.") from None
    for k, size in enumerate(sizes):
        if size < 1:
            raise InputError(f"--sizes must be whole numbers of at least 1; got {size}. Write 250,500.")
        if size in sizes[:k]:
            raise InputError(f"--sizes must be different numbers of rows; got {size} twice. Drop one.")
    return tuple(sizes)


def make_folder(out: Path, option_name: str = "--out") -> None:
    """Create the folder of an option."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{option_name} must be a folder that can be made; {out}: {error.strerror}. Name another."
        ) from error


def bench_command(context: typer.Context, *, quick: Quick = False, output: OutputOptions) -> None:
    """Measure the speed of counting and scoring.

    Each line is a ratio to the limit of this processor, or to a simple alternative in the same run. mnlearn bench
    accuracy measures how well the learners learn, mnlearn bench learners their times beside those of other packages.

    Examples:
      mnlearn bench
      mnlearn bench --quick --json
      mnlearn bench accuracy --quick
      mnlearn bench learners --quick
    """
    if context.invoked_subcommand is not None:
        return
    from mnlearn_papers.speed import measure

    figures = list(measure(quick=quick))
    output.show(lambda: {"figures": [figure.as_dict() for figure in figures]}, lambda: show(lay_out_speed(figures)))


def lay_out_speed(figures: list[Figure]) -> Table:
    """Return a table with one line for each figure."""
    table = simple_table("what", "time", "for each", "against", "ratio", "limit", numbers=("time", "ratio"))
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.3g}x " + ("faster" if figure.faster else "the time")
        table.add_row(figure.what, _time(figure.nanoseconds), figure.per, figure.against, ratio, _limit(figure))
    return table


def _time(nanoseconds: float) -> str:
    """Return a time in a suitable unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _limit(figure: Figure) -> str:
    """Return the required value, and whether it is reached."""
    if figure.required is None:
        return ""
    unit = "ns" if figure.ratio is None else "x"
    return f"{'>=' if figure.faster else '<='} {figure.required:g}{unit}: {'yes' if figure.holds else 'no'}"


def accuracy_command(
    *,
    half: Annotated[str, option("development|held-out", "Half of the battery.", "--half")] = "development",
    quick: Quick = False,
    kind: Annotated[list[str] | None, option("NAME", "Only this kind of network; repeatable.")] = None,
    learner: Annotated[list[str] | None, option("NAME", "Only this learner; repeatable.", "--learner")] = None,
    sizes: Sizes = None,
    draws: Annotated[int | None, option("K", "Data sets for each kind and size; 5 by default.", "--draws")] = None,
    against: Annotated[str, option("NAME", "Learner that the others are compared with.", "--against")] = "sep",
    data: DataFolder = None,
    out: RunFolder = None,
    jobs: options.Jobs = 1,
    output: OutputOptions,
) -> None:
    """Compare the errors of all learners on many networks.

    Use the development half to judge a change of a method; published figures are from the held-out half. A half takes
    about ten minutes. Ctrl-C stops after the current run and prints the results so far.

    Examples:
      mnlearn bench accuracy --quick
      mnlearn bench accuracy --kind alarm --learner sep --learner mpl --draws 2 --data ../shared/data
      mnlearn bench accuracy --half held-out --data ../shared/data --out runs
    """
    from mnlearn.parallel import job_count
    from mnlearn_papers.accuracy import DRAWS, SIZES
    from mnlearn_papers.accuracy_page import Standings
    from mnlearn_papers.named import accuracy_battery

    battery = accuracy_battery(
        cast("Half", half),  # checked by the battery
        data=data_folder(data),
        learners=learner or (),
        only=kind or (_QUICK_KINDS if quick else ()),
        sizes=numbers_of_rows(sizes) or (_QUICK_SIZES if quick else SIZES),
        draws=draws if draws is not None else (1 if quick else DRAWS),
    )
    check_name("--against", against, battery.learners(), shown=30)
    job_count(jobs)  # raises
    if out is not None:
        make_folder(out)
    with progress_monitor() as monitor:
        journal = None if out is None else out / f"accuracy-{half}.jsonl"
        rows = battery.run(journal=journal, n_jobs=jobs, monitor=monitor)
    if not rows:
        raise InputError("no run ended before Ctrl-C. Let it run for longer.")
    standings = Standings(rows, against)
    output.show(lambda: accuracy_document(half, standings), lambda: _show_accuracy(standings))
    if out is not None:
        _write_accuracy(rows, half, against, out)
    if monitor.interrupted:
        exit_interrupted(CONTINUE)


def _show_accuracy(standings: Standings) -> None:
    """Print one line for each learner."""
    numbers = ("data sets", "Hamming", "false +", "false -", "rank", "ratio", "behind", "seconds")
    table = simple_table("learner", *numbers, numbers=numbers)
    for line in standings.learners():
        figures = (line.hamming, line.false_positives, line.false_negatives, line.rank, line.ratio)
        behind = f"{line.behind.mean:+.2f} ± {line.behind.standard_error:.2f}"
        table.add_row(
            line.learner, str(line.behind.n), *(f"{number:.2f}" for number in figures), behind, f"{line.seconds:.2g}"
        )
    show(table)
    say(f"{len(standings.losses())} cells where another is better by more than two standard errors and 10 %")


def accuracy_document(half: str, standings: Standings) -> dict[str, object]:
    """Return the results as one document, with every cell."""
    learners = [{**line._asdict(), "behind": line.behind._asdict()} for line in standings.learners()]
    losses = [{**loss._asdict(), "behind": loss.behind._asdict()} for loss in standings.losses()]
    cells = [{"kind": c.kind, "n_rows": c.n_rows, "hamming": dict(c.hamming)} for c in standings.cells()]
    return {"half": half, "against": standings.reference, "learners": learners, "cells": cells, "losses": losses}


def _write_accuracy(rows: list[Row], half: str, against: str, out: Path) -> None:
    """Write the table of all runs, the page, a chart, and with matplotlib a figure of the probabilities."""
    from mnlearn.evaluation.metrics import bins, plot_reliability
    from mnlearn_papers.accuracy_page import page
    from mnlearn_papers.accuracy_profile import draw_profiles
    from mnlearn_papers.experiment import write_rows

    write_rows(rows, out / f"accuracy-{half}.csv")
    target = out / f"accuracy-{half}.md"
    with write_errors(target), replacing(target) as part:
        part.write_text(page(rows, title=f"The {half} half", reference=against), encoding="utf-8")
    chart = out / f"accuracy-{half}-profile.svg"
    with write_errors(chart), replacing(chart) as part:
        part.write_text(draw_profiles(rows, against), encoding="utf-8")
    known = [row.reliability for row in rows if row.learner == against and row.reliability is not None]
    if known and find_spec("matplotlib") is not None:
        plot_reliability(bins(known), out / f"accuracy-{half}.svg")
