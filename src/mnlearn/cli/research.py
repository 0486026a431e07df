"""`mnlearn reproduce`: a published experiment again, its figures beside ours."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mnlearn._atomic_files import replacing
from mnlearn.cli import options
from mnlearn.cli.console import EXIT_INTERRUPTED, note, say, show, show_json, simple_table, watched
from mnlearn.errors import FileError, InputError, check_name

if TYPE_CHECKING:
    from rich.table import Table

    from mnlearn.experiments.accuracy import Half
    from mnlearn.experiments.accuracy_page import Standings
    from mnlearn.experiments.experiment import Row
    from mnlearn.experiments.reproduction import Comparison, Cost, Reproduction
    from mnlearn.experiments.speed import Figure


REPRODUCE_EXAMPLES = """\b
Examples:
  mnlearn reproduce --list
  mnlearn reproduce mpl-table1 --source d=64 --method mpl --reps 10
  mnlearn reproduce mpl-table3 --sizes 250,500 --data ../shared/data --out runs
  mnlearn reproduce --page docs/reproduction.md --out runs
"""

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="Which experiment; --list shows them.")]
List = Annotated[
    bool, typer.Option("--list", help="List the experiments and exit; with --out also what its runs took, and will.")
]
Reps = Annotated[int | None, typer.Option(metavar="R", help="Data sets for each figure; else as many as the paper.")]
Sizes = Annotated[
    str | None, typer.Option(metavar="N,N,...", help="Sizes, mostly numbers of rows; else as in the paper.")
]
Source = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this source of data; repeatable.")]
Method = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this method; repeatable.")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write tables and a plot there; a stopped run continues there.")
]
DataFolder = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="The folder of the data; else MNLEARN_DATA.")
]
PageFile = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE", help="Run nothing; make the tables of this page from the runs in --out."),
]


def reproduce(
    name: Name = None,
    *,
    list_them: List = False,
    reps: Reps = None,
    sizes: Sizes = None,
    source: Source = None,
    method: Method = None,
    out: Out = None,
    data: DataFolder = None,
    jobs: options.Jobs = 1,
    page: PageFile = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Run a published experiment and print its figures beside ours.

    The difference is in standard errors of itself: beyond 3 the two hardly agree. Ctrl-C stops after the present
    run and shows what there is.
    """
    from mnlearn.experiments.catalogue import REPRODUCTIONS
    from mnlearn.experiments.reproduction import Request

    if list_them:
        _show_list(REPRODUCTIONS, _costs(REPRODUCTIONS, out), as_json=as_json)
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
    with watched() as watcher:
        request = Request(
            numbers_of_rows(sizes), tuple(source or ()), tuple(method or ()), reps, folder, out, jobs, watcher
        )
        lines = chosen.measure(request)
    if out is not None:
        _write(lines, chosen, out, name)
    if as_json:
        show_json({"experiment": name, "title": chosen.title, "figures": [line._asdict() for line in lines]})
    else:
        show(lay_out_experiment(lines, chosen))
        say(summary(lines))
    if watcher.interrupted:
        note("stopped before the end; the same command with the same --out continues")
        raise typer.Exit(EXIT_INTERRUPTED)


def lay_out_experiment(lines: Sequence[Comparison], chosen: Reproduction) -> Table:
    """One line for each figure."""
    numbers = (chosen.axis, "published", "ours", "sd", "runs", "away")
    table = simple_table("source", chosen.axis, "learner", *numbers[1:], numbers=numbers)
    table.title = f"{chosen.title}: {chosen.quantity}"
    for line in lines:
        published = "" if line.published is None else f"{line.published:g}"
        away = "" if line.standard_errors is None else f"{line.standard_errors:+.1f} se"
        figures = (published, _short(line.ours), _short(line.sd), str(line.n), away)
        table.add_row(line.source, str(line.n_rows), line.learner, *figures)
    return table


def _short(number: float) -> str:
    """Two decimals; three for a small number, as ratios and rates are."""
    return f"{number:.3f}" if abs(number) < 1 else f"{number:.2f}"


def summary(lines: Sequence[Comparison]) -> str:
    """How many of the published figures are met."""
    known = [abs(line.standard_errors) for line in lines if line.standard_errors is not None]
    if not known:
        return "no published figure to compare with"
    near = sum(away <= 3 for away in known)
    return f"{near} of {len(known)} published figures within 3 standard errors; the farthest at {max(known):.1f}"


def _fill(page: Path, name: str | None, out: Path | None) -> None:
    """The tables of a page from the runs in a folder, and a word on each."""
    from mnlearn.experiments.page import fill_page

    if name is not None:
        raise InputError(f"--page must stand without an experiment; got {name}. Run that first, with --out.")
    if out is None or not out.is_dir():
        raise FileError(
            f"--out must be the folder of the runs for --page; got {out or 'none'}. Run an experiment first."
        )
    try:
        filled = fill_page(page.read_text(encoding="utf-8"), partial(figures_of, folder=out))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"--page must be a text file that can be read; {page}: {error}. Name another.") from error
    with replacing(page) as part:
        part.write_text(filled.text, encoding="utf-8")
    say(f"{page}: {len(filled.filled)} tables from {out}" + "".join(f"\n  {table}" for table in filled.filled))
    if filled.kept:
        note(f"left as they were, having no runs there: {', '.join(dict.fromkeys(filled.kept))}")


def figures_of(name: str, folder: Path) -> list[Comparison]:
    """The figures of all runs of an experiment in a folder; of "costs", what all experiments cost."""
    from mnlearn.experiments.catalogue import REPRODUCTIONS
    from mnlearn.experiments.reproduction import as_figures

    if name == "costs":
        found = list(dict.fromkeys(_costs(REPRODUCTIONS, folder).values()))
        return as_figures(found) if found else []
    check_name("table", name, [*REPRODUCTIONS, "costs"])
    return REPRODUCTIONS[name].measure.recorded(folder)


def _costs(known: Mapping[str, Reproduction], folder: Path | None) -> dict[str, Cost]:
    """What the experiments of which a folder has runs cost, by name."""
    from mnlearn.experiments.reproduction import costs

    if folder is None:
        return {}
    return {name: cost for cost in costs(known, folder) for name in cost.experiments}


def _show_list(known: Mapping[str, Reproduction], spent: Mapping[str, Cost], *, as_json: bool) -> None:
    """The experiments, a line each."""
    if as_json:
        listed = [
            {"name": name, "title": item.title, "sizes": item.sizes, "reps": item.repetitions, "data": item.needs_data}
            | (
                {key: value for key, value in spent[name]._asdict().items() if key != "experiments"}
                if name in spent
                else {}
            )
            for name, item in known.items()
        ]
        show_json({"experiments": listed})
        return
    more = ("runs", "CPU s", "CPU s in full") if spent else ()
    table = simple_table("name", "what", "reps", "data", *more, numbers=("reps", *more))
    for name, item in known.items():
        numbers = _cost_cells(spent[name]) if name in spent else ("",) * len(more)
        table.add_row(name, item.title, str(item.repetitions), "--data DIR" if item.needs_data else "none", *numbers)
    show(table)


def _cost_cells(cost: Cost) -> tuple[str, str, str]:
    """Runs, seconds so far and in full; a question mark where the journal does not tell."""
    seconds, in_full = ("?" if number is None else f"{number:.0f}" for number in (cost.seconds, cost.in_full))
    return f"{cost.done} of {cost.of}", seconds, in_full


def data_folder(data: Path | None) -> Path | None:
    """The folder of the data, by the option or by the environment."""
    named = data or (Path(os.environ["MNLEARN_DATA"]) if os.environ.get("MNLEARN_DATA") else None)
    if named is not None and not named.is_dir():
        raise FileError(f"--data must be a folder; there is no {named}. Name another, or correct MNLEARN_DATA.")
    return named


def numbers_of_rows(text: str | None) -> tuple[int, ...]:
    """Numbers of rows, from text."""
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
    """The folder for what is written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"--out must be a folder that can be made; {out}: {error.strerror}. Name another.") from error


def _write(lines: Sequence[Comparison], chosen: Reproduction, out: Path, name: str) -> None:
    """The figures, and a plot when matplotlib is at hand."""
    from importlib.util import find_spec

    from mnlearn.experiments.reproduction import plot, write_comparisons

    write_comparisons(lines, out / f"{name}.csv")
    if lines and find_spec("matplotlib") is not None:
        plot(lines, chosen, out / f"{name}.png")


# `mnlearn bench`: how fast this machine counts and scores; `mnlearn bench accuracy` is in `accuracy.py`.


BENCH_EXAMPLES = """\b
Examples:
  mnlearn bench
  mnlearn bench --quick --json
  mnlearn bench accuracy --quick
"""

Quick = Annotated[bool, typer.Option("--quick", help="Only a few lines, in a few seconds.")]


def bench(
    context: typer.Context, *, quick: Quick = False, as_json: options.AsJson = False, _debug: options.Debug = False
) -> None:
    """Measure counting and scoring on this machine; or, by `accuracy`, how well the learners learn.

    Every line is a ratio to what this processor can do at best, or to a simple rival in the same run.
    """
    if context.invoked_subcommand is not None:
        return
    from mnlearn.experiments.speed import measure

    figures = list(measure(quick=quick))
    if as_json:
        show_json({"figures": [figure.as_dict() for figure in figures]})
    else:
        show(lay_out_speed(figures))


def lay_out_speed(figures: list[Figure]) -> Table:
    """One line for each figure."""
    table = simple_table("what", "time", "for each", "against", "ratio", "asked", numbers=("time", "ratio"))
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.3g}x " + ("faster" if figure.faster else "the time")
        table.add_row(figure.what, _time(figure.nanoseconds), figure.per, figure.against, ratio, _asked(figure))
    return table


def _time(nanoseconds: float) -> str:
    """In the unit that suits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _asked(figure: Figure) -> str:
    """What is required, and whether it is reached."""
    if figure.required is None:
        return ""
    unit = "ns" if figure.ratio is None else "x"
    return f"{'>=' if figure.faster else '<='} {figure.required:g}{unit}: {'yes' if figure.holds else 'no'}"


# `mnlearn bench accuracy`: every learner on networks of many kinds, and what their errors say.


ACCURACY_EXAMPLES = """\b
Examples:
  mnlearn bench accuracy --quick
  mnlearn bench accuracy --kind alarm --learner sep --learner mpl --draws 2 --data ../shared/data
  mnlearn bench accuracy --half held-out --data ../shared/data --out runs
"""

HalfName = Annotated[str, typer.Option("--half", metavar="development|held-out", help="Which half of the battery.")]
QuickAccuracy = Annotated[bool, typer.Option("--quick", help="A few kinds, two sizes, one draw: some seconds.")]
Kind = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this kind of network; repeatable.")]
LearnerName = Annotated[list[str] | None, typer.Option("--learner", metavar="NAME", help="Only this one; repeatable.")]
Draws = Annotated[int | None, typer.Option(metavar="K", help="Data sets for each kind and size; 5 by default.")]
Reference = Annotated[str, typer.Option("--against", metavar="NAME", help="Whom the others are held against.")]
AccuracyOut = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write tables and pages there; a stopped run continues there.")
]

_QUICK_KINDS, _QUICK_SIZES = ("stars", "ferromagnet", "cliques", "independent"), (250, 1000)


def accuracy(
    *,
    half: HalfName = "development",
    quick: QuickAccuracy = False,
    kind: Kind = None,
    learner: LearnerName = None,
    sizes: Sizes = None,
    draws: Draws = None,
    against: Reference = "sep",
    data: DataFolder = None,
    out: AccuracyOut = None,
    jobs: options.Jobs = 1,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Run every learner on networks of many kinds and compare their errors.

    Changes of a method are judged on the development half; the figures of the documentation are of the held-out half.
    The whole of one takes an hour. Ctrl-C stops after the present run and shows what there is.
    """
    from mnlearn.experiments.accuracy import DRAWS, SIZES
    from mnlearn.experiments.accuracy_page import Standings
    from mnlearn.learning.experiments import accuracy_battery

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
        _write_accuracy(rows, half, against, out)
    if as_json:
        show_json(document(half, standings))
    else:
        show(lay_out_accuracy(standings))
        say(f"{len(standings.losses())} cells where another is better by more than two standard errors and 10 %")
    if watcher.interrupted:
        note("stopped before the end; the same command with the same --out continues")
        raise typer.Exit(EXIT_INTERRUPTED)


def lay_out_accuracy(standings: Standings) -> Table:
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


def _write_accuracy(rows: list[Row], half: str, against: str, out: Path) -> None:
    """The tidy table, the page, and the figure of the probabilities when matplotlib is at hand."""
    from importlib.util import find_spec

    from mnlearn.evaluation.calibration import bins, plot_reliability
    from mnlearn.experiments.accuracy_page import page
    from mnlearn.experiments.experiment import write_rows

    write_rows(rows, out / f"accuracy-{half}.csv")
    (out / f"accuracy-{half}.md").write_text(page(rows, title=f"The {half} half", reference=against), encoding="utf-8")
    sure = [row.reliability for row in rows if row.learner == against and row.reliability is not None]
    if sure and find_spec("matplotlib") is not None:
        plot_reliability(bins(sure), out / f"accuracy-{half}.svg")
