"""`mnlearn reproduce`, `mnlearn bench` and `mnlearn bench accuracy`: published experiments, speed and accuracy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mnlearn._atomic_files import replacing, write_errors
from mnlearn.cli import options
from mnlearn.cli.console import exit_interrupted, note, progress_monitor, say, show, simple_table
from mnlearn.cli.files import reads, writes, writes_into
from mnlearn.cli.options import OutputOptions, argument, flag, option
from mnlearn.errors import FileError, InputError, check_name

if TYPE_CHECKING:
    from rich.table import Table

    from mnlearn.experiments.accuracy import Half
    from mnlearn.experiments.accuracy_page import Standings
    from mnlearn.experiments.experiment import Row
    from mnlearn.experiments.reproduction import Comparison, Cost, Reproduction
    from mnlearn.experiments.speed import Figure

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


def reproduce_command(
    name: Annotated[str | None, argument("NAME", "Name of the experiment; --list shows them.")] = None,
    *,
    list_them: Annotated[bool, flag("--list", "List the experiments; with --out also the time of their runs.")] = False,
    reps: Annotated[int | None, option("R", "Data sets for each figure; as in the paper by default.")] = None,
    sizes: Sizes = None,
    source: Annotated[list[str] | None, option("NAME", "Only this source of data; repeatable.", "--source")] = None,
    method: Annotated[list[str] | None, option("NAME", "Only this method; repeatable.", "--method")] = None,
    out: RunFolder = None,
    data: DataFolder = None,
    jobs: options.Jobs = 1,
    page: PageFile = None,
    output: OutputOptions,
) -> None:
    """Repeat a published experiment.

    Prints the published figures beside ours. The difference is in standard errors; above 3 the two hardly agree. Ctrl-C
    stops after the current run and prints the figures so far.

    Examples:
      mnlearn reproduce --list
      mnlearn reproduce mpl-table1 --source d=64 --method mpl --reps 10
      mnlearn reproduce mpl-table3 --sizes 250,500 --data ../shared/data --out runs
      mnlearn reproduce --page docs/reproduction.md --out runs
    """
    from mnlearn.experiments.catalogue import REPRODUCTIONS
    from mnlearn.experiments.reproduction import Request

    if list_them:
        _show_experiments(REPRODUCTIONS, _costs(REPRODUCTIONS, out), output)
        return
    if page is not None:
        _fill(page, name, out)
        return
    if name is None:
        raise InputError("NAME must be one of the experiments; got none. See mnlearn reproduce --list.")
    check_name("experiment", name, REPRODUCTIONS)
    chosen, folder = REPRODUCTIONS[name], data_folder(data)
    if chosen.needs_data and folder is None:
        raise FileError(f"--data must be the folder of the data, which {name} needs; got none. Or set MNLEARN_DATA.")
    if out is not None:
        make_folder(out)
    with progress_monitor() as monitor:
        request = Request(
            numbers_of_rows(sizes), tuple(source or ()), tuple(method or ()), reps, folder, out, jobs, monitor
        )
        lines = chosen.measure(request)
    output.show(
        lambda: {"experiment": name, "title": chosen.title, "figures": [line._asdict() for line in lines]},
        lambda: _show_experiment(lines, chosen),
    )
    if out is not None:  # after the figures, which are printed even if a file cannot be written
        _write_experiment(lines, chosen, out, name)
    if monitor.interrupted:
        exit_interrupted(CONTINUE)


def _show_experiment(lines: Sequence[Comparison], chosen: Reproduction) -> None:
    """Print one line for each figure, and how many agree with the paper."""
    from mnlearn.experiments.reproduction import without_details

    numbers = (chosen.axis, "published", "ours", "sd", "runs", "away")
    table = simple_table("source", chosen.axis, "learner", *numbers[1:], numbers=numbers)
    table.title = f"{chosen.title}: {chosen.quantity}"
    for line in without_details(lines):
        published = "" if line.published is None else f"{line.published:g}"
        away = "" if line.standard_errors is None else f"{line.standard_errors:+.1f} se"
        figures = (published, _short(line.ours), _short(line.sd), str(line.n), away)
        table.add_row(line.source, str(line.n_rows), line.learner, *figures)
    show(table)
    say(agreement(lines))


def _short(number: float) -> str:
    """Return a number with two decimals, or three if it is below 1."""
    return f"{number:.3f}" if abs(number) < 1 else f"{number:.2f}"


def agreement(lines: Sequence[Comparison]) -> str:
    """Return how many of the published figures agree with ours."""
    known = [abs(line.standard_errors) for line in lines if line.standard_errors is not None]
    if not known:
        return "no published figure to compare with"
    near = sum(away <= 3 for away in known)
    return f"{near} of {len(known)} published figures within 3 standard errors; largest difference {max(known):.1f}"


def _write_experiment(lines: Sequence[Comparison], chosen: Reproduction, out: Path, name: str) -> None:
    """Write the figures, and a plot if matplotlib is installed."""
    from mnlearn.experiments.reproduction import plot, without_details, write_comparisons

    write_comparisons(lines, out / f"{name}.csv")
    if lines and find_spec("matplotlib") is not None:
        plot(without_details(lines), chosen, out / f"{name}.png")


def _fill(page: Path, name: str | None, out: Path | None) -> None:
    """Fill the tables of a page from the runs in a folder."""
    if name is not None:
        raise InputError(f"--page excludes an experiment; got {name}. Run that first, with --out.")
    fill_from_runs(page, out)


def fill_from_runs(page: Path, out: Path | None) -> None:
    """Fill every table of a page that has runs in a folder."""
    from mnlearn.experiments.page import fill_page

    if out is None or not out.is_dir():
        raise FileError(
            f"--out must be the folder of the runs for --page; got {out or 'none'}. Run an experiment first."
        )
    try:
        filled = fill_page(page.read_text(encoding="utf-8"), partial(recorded_figures, folder=out))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"--page must be a readable text file; {page}: {error}. Name another.") from error
    with write_errors(page), replacing(page) as part:
        part.write_text(filled.text, encoding="utf-8")
    say(f"{page}: {len(filled.filled)} tables from {out}" + "".join(f"\n  {table}" for table in filled.filled))
    if filled.kept:
        note(f"unchanged, without runs in the folder: {', '.join(dict.fromkeys(filled.kept))}")


def recorded_figures(name: str, folder: Path) -> list[Comparison]:
    """Return the figures of all runs of an experiment in a folder; for "costs", the cost of all experiments."""
    from mnlearn.experiments import learners, learners_page
    from mnlearn.experiments.catalogue import REPRODUCTIONS
    from mnlearn.experiments.reproduction import as_figures

    if name == learners.NAME:
        journal = folder / f"{name}.jsonl"
        return learners_page.figures(learners.recorded_times(journal)) if journal.exists() else []
    if name == "costs":
        found = list(dict.fromkeys(_costs(REPRODUCTIONS, folder).values()))
        return as_figures(found) if found else []
    check_name("table", name, [*REPRODUCTIONS, "costs", learners.NAME])
    return REPRODUCTIONS[name].measure.recorded(folder)


def _costs(known: Mapping[str, Reproduction], folder: Path | None) -> dict[str, Cost]:
    """Return the cost of the experiments that have runs in a folder, by name."""
    from mnlearn.experiments.reproduction import costs

    if folder is None:
        return {}
    return {name: cost for cost in costs(known, folder) for name in cost.experiments}


def _show_experiments(known: Mapping[str, Reproduction], spent: Mapping[str, Cost], output: OutputOptions) -> None:
    """Print the experiments, one line each."""

    def document() -> dict[str, object]:
        costs = {name: cost._asdict() for name, cost in spent.items()}
        listed = [
            {"name": name, "title": item.title, "sizes": item.sizes, "reps": item.repetitions, "data": item.needs_data}
            | {key: value for key, value in costs.get(name, {}).items() if key != "experiments"}
            for name, item in known.items()
        ]
        return {"experiments": listed}

    def text() -> None:
        more = ("runs", "CPU s", "CPU s in full") if spent else ()
        table = simple_table("name", "title", "reps", "data", *more, numbers=("reps", *more))
        for name, item in known.items():
            numbers = _cost_cells(spent[name]) if name in spent else ("",) * len(more)
            data = "--data DIR" if item.needs_data else "none"
            table.add_row(name, item.title, str(item.repetitions), data, *numbers)
        show(table)

    output.show(document, text)


def _cost_cells(cost: Cost) -> tuple[str, str, str]:
    """Return the runs, the seconds so far and in full; a question mark where the journal has none."""
    seconds, in_full = ("?" if number is None else f"{number:.0f}" for number in (cost.seconds, cost.in_full))
    return f"{cost.done} of {cost.of}", seconds, in_full


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


def make_folder(out: Path) -> None:
    """Create the folder of --out."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"--out must be a folder that can be made; {out}: {error.strerror}. Name another.") from error


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
    from mnlearn.experiments.speed import measure

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
    about an hour. Ctrl-C stops after the current run and prints the results so far.

    Examples:
      mnlearn bench accuracy --quick
      mnlearn bench accuracy --kind alarm --learner sep --learner mpl --draws 2 --data ../shared/data
      mnlearn bench accuracy --half held-out --data ../shared/data --out runs
    """
    from mnlearn.experiments.accuracy import DRAWS, SIZES
    from mnlearn.experiments.accuracy_page import Standings
    from mnlearn.learning.experiments import accuracy_battery
    from mnlearn.parallel import job_count

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
    """Write the table of all runs, the page, and a figure of the probabilities if matplotlib is installed."""
    from mnlearn.evaluation.calibration import bins, plot_reliability
    from mnlearn.experiments.accuracy_page import page
    from mnlearn.experiments.experiment import write_rows

    write_rows(rows, out / f"accuracy-{half}.csv")
    target = out / f"accuracy-{half}.md"
    with write_errors(target), replacing(target) as part:
        part.write_text(page(rows, title=f"The {half} half", reference=against), encoding="utf-8")
    known = [row.reliability for row in rows if row.learner == against and row.reliability is not None]
    if known and find_spec("matplotlib") is not None:
        plot_reliability(bins(known), out / f"accuracy-{half}.svg")
