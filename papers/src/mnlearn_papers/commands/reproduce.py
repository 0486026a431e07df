"""`mnlearn reproduce`: published experiments, run again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from mnlearn.cli import options
from mnlearn.cli.console import (
    exit_interrupted,
    note,
    progress_monitor,
    say,
    show,
    simple_table,
    with_noun,
    writes_into,
)
from mnlearn.cli.options import OutputOptions, argument, flag, option
from mnlearn.errors import FileError, InputError, check_name
from mnlearn_papers.commands.bench import (
    CONTINUE,
    DataFolder,
    PageFile,
    RunFolder,
    Sizes,
    data_folder,
    fill_from_runs,
    folder_of_runs,
    make_folder,
    numbers_of_rows,
)

if TYPE_CHECKING:
    from mnlearn_papers.campaign import Campaign, Cost
    from mnlearn_papers.reproduction import Comparison, Reproduction, Request

ALL = "all"
"""Name for all experiments."""


def reproduce_command(
    name: Annotated[str | None, argument("NAME", "Name of the experiment, or all; --list shows them.")] = None,
    *,
    list_them: Annotated[bool, flag("--list", "List the experiments; with --out also the time of their runs.")] = False,
    reps: Annotated[int | None, option("R", "Data sets for each figure; as in the paper by default.")] = None,
    sizes: Sizes = None,
    source: Annotated[list[str] | None, option("NAME", "Only this source of data; repeatable.", "--source")] = None,
    method: Annotated[list[str] | None, option("NAME", "Only this method; repeatable.", "--method")] = None,
    out: RunFolder = None,
    data: DataFolder = None,
    jobs: options.Jobs = 1,
    budget: Annotated[str | None, option("TIME", "Time limit of all, e.g. 90s, 30m, 2h; no limit by default.")] = None,
    page: PageFile = None,
    summaries: Annotated[
        Path | None, writes_into(option("DIR", "Only write the figures of all runs in --out to DIR.", "--summaries"))
    ] = None,
    output: OutputOptions,
) -> None:
    """Repeat a published experiment.

    Prints the published figures beside ours. The difference is in standard errors; above 3 the two hardly agree. The
    column "3 se" is the smallest difference that could be seen. Ctrl-C stops after the current run and prints the
    figures so far.

    all runs every experiment, first with one data set for each figure, then with more while the time limit allows. It
    writes the page OUT/reproduction.md. The same command continues.

    Examples:
      mnlearn reproduce --list
      mnlearn reproduce mpl-table1 --source d=64 --method mpl --reps 10
      mnlearn reproduce mpl-table3 --sizes 250,500 --data ../shared/data --out runs
      mnlearn reproduce all --budget 2h --data ../shared/data --out runs --jobs 2
      mnlearn reproduce --summaries docs/reproduction/runs --out runs
      mnlearn reproduce --page docs/reproduction.md --out runs
    """
    from mnlearn_papers.catalogue import REPRODUCTIONS
    from mnlearn_papers.reproduction import Request

    if list_them:
        _show_experiments(REPRODUCTIONS, _costs(REPRODUCTIONS, out, data_folder(data)), output)
        return
    if page is not None or summaries is not None:
        _from_runs(page, summaries, name, out)
        return
    if name is None:
        raise InputError("NAME must be one of the experiments; got none. See mnlearn reproduce --list.")
    check_name("experiment", name, [*REPRODUCTIONS, ALL])
    seconds = None if budget is None else duration(budget)
    if name == ALL:
        _check_all(sizes, source, method, out)
    elif budget is not None:
        raise InputError(f"--budget is a limit of all experiments; got {budget} with {name}. Write reproduce all.")
    part = numbers_of_rows(sizes), tuple(source or ()), tuple(method or ())
    request = Request(*part, reps, data_folder(data), out, jobs)
    interrupted = _run_all(request, seconds, output) if name == ALL else _run_one(name, request, output)
    if interrupted:
        exit_interrupted(CONTINUE)


def _run_one(name: str, request: Request, output: OutputOptions) -> bool:
    """Run one experiment, print its figures and write them; return whether Ctrl-C was pressed."""
    from mnlearn_papers.catalogue import REPRODUCTIONS

    chosen = REPRODUCTIONS[name]
    if chosen.needs_data and request.data is None:
        raise FileError(f"--data must be the folder of the data, which {name} needs; got none. Or set MNLEARN_DATA.")
    if request.out is not None:
        make_folder(request.out)
    with progress_monitor() as monitor:
        lines = chosen.measure(replace(request, monitor=monitor))
    output.show(
        lambda: {"experiment": name, "title": chosen.title, "figures": [line._asdict() for line in lines]},
        lambda: _show_experiment(lines, chosen),
    )
    if request.out is not None:  # after the figures, which are printed even if a file cannot be written
        _write_experiment(lines, chosen, request.out, name)
    return monitor.interrupted


def duration(text: str) -> float:
    """Return the seconds of a time such as 90s, 30m or 2h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text.strip())
    seconds = float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]] if match else 0.0
    if seconds <= 0:
        raise InputError(f"--budget must be a time with its unit, s, m or h; got {text!r}. Write 90s, 30m or 2h.")
    return seconds


def _check_all(sizes: str | None, source: list[str] | None, method: list[str] | None, out: Path | None) -> None:
    """Raise InputError for options that all experiments do not share, FileError without a folder."""
    for words, given in (("--sizes", sizes), ("--source", source), ("--method", method)):
        if given:
            raise InputError(f"{words} is of one experiment; got it with all. Leave it out, or name one experiment.")
    if out is None:
        raise FileError("--out must be a folder for the runs of all experiments; got none. Add --out runs.")


def _run_all(request: Request, seconds: float | None, output: OutputOptions) -> bool:
    """Run what fits the time limit, then write and print the overview; return whether Ctrl-C was pressed."""
    from mnlearn_papers.campaign import run_campaign
    from mnlearn_papers.catalogue import REPRODUCTIONS
    from mnlearn_papers.reproduction_page import overview_figures, unfinished_lines, write_page
    from mnlearn_papers.summaries import COSTS, all_figures, recorded_figures, write_summaries

    out = cast("Path", request.out)
    with progress_monitor() as monitor:
        found = run_campaign(REPRODUCTIONS, replace(request, monitor=monitor), seconds=seconds)
    if not write_summaries(out, out):
        raise InputError("no run ended within the time limit, or before Ctrl-C. Let it run for longer.")
    figures = all_figures(out)
    overview = overview_figures(REPRODUCTIONS, figures, recorded_figures(COSTS, out))
    write_page(REPRODUCTIONS, {**figures, "overview": overview}, found, out)

    def text() -> None:
        _show_overview(overview)
        say(f"{out / 'reproduction.md'}: the tables of {with_noun(len(figures), 'experiment')}")

    output.show(lambda: _document_of_all(overview, found), text)
    if found.without_data:
        note(f"not run, since --data is missing or incomplete: {', '.join(found.without_data)}")
    for item in found.failed:
        note(f"{item.experiment}: {item.source} cannot be run: {item.error}")
    for line in unfinished_lines(found.cells, shown=4):
        note(line)
    return monitor.interrupted


def _show_overview(overview: Sequence[Comparison]) -> None:
    """Print one line for each experiment, as the table of the page."""
    from mnlearn_papers.page import fill_page
    from mnlearn_papers.reproduction_page import OVERVIEW_TABLE

    lines = [line for line in fill_page(OVERVIEW_TABLE, lambda _: overview).text.splitlines() if line.startswith("|")]
    header, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    table = simple_table(*header, numbers=header[1:])
    for cells in body:
        table.add_row(*cells)
    show(table)


def _document_of_all(overview: Sequence[Comparison], found: Campaign) -> dict[str, object]:
    """Return the overview and what is left as one document."""
    lines: dict[str, dict[str, object]] = {}
    for line in overview:
        lines.setdefault(line.source, {"name": line.source})[line.learner] = None if isnan(line.ours) else line.ours
    left = [{**state._asdict(), "cell": state.cell._asdict()} for state in found.cells if state.done < state.of]
    failed = [item._asdict() for item in found.failed]
    missing = list(found.without_data)
    return {"experiments": list(lines.values()), "without_data": missing, "failed": failed, "unfinished": left}


def _show_experiment(lines: Sequence[Comparison], chosen: Reproduction) -> None:
    """Print one line for each figure, and how many agree with the paper."""
    from mnlearn_papers.agreement import agreement, agreement_text
    from mnlearn_papers.reproduction import without_details

    numbers = (chosen.axis, "published", "ours", "sd", "runs", "away", "3 se")
    table = simple_table("source", chosen.axis, "learner", *numbers[1:], numbers=numbers)
    table.title = f"{chosen.title}: {chosen.quantity}"
    for line in without_details(lines):
        published = "" if line.published is None else f"{line.published:g}"
        away = "" if line.standard_errors is None else f"{line.standard_errors:+.1f} se"
        seen = "" if line.visible is None else _short(line.visible)
        figures = (published, _short(line.ours), _short(line.sd), str(line.n), away, seen)
        table.add_row(line.source, str(line.n_rows), line.learner, *figures)
    show(table)
    say("\n".join(agreement_text(agreement(lines))))


def _short(number: float) -> str:
    """Return a number with two decimals, or three if it is below 1."""
    return f"{number:.3f}" if abs(number) < 1 else f"{number:.2f}"


def _write_experiment(lines: Sequence[Comparison], chosen: Reproduction, out: Path, name: str) -> None:
    """Write the figures, and a plot if matplotlib is installed."""
    from mnlearn_papers.reproduction import plot, without_details
    from mnlearn_papers.summaries import write_comparisons

    write_comparisons(lines, out / f"{name}.csv")
    if lines and find_spec("matplotlib") is not None:
        plot(without_details(lines), chosen, out / f"{name}.png")


def _from_runs(page: Path | None, summaries: Path | None, name: str | None, out: Path | None) -> None:
    """Write the summaries of the runs in a folder, and fill the tables of a page from them."""
    from mnlearn_papers.summaries import write_summaries

    words = "--page" if page is not None else "--summaries"
    if name is not None:
        raise InputError(f"{words} excludes an experiment; got {name}. Run that first, with --out.")
    if summaries is not None:
        runs = folder_of_runs(out, "--summaries")
        make_folder(summaries, "--summaries")
        written = write_summaries(runs, summaries)
        say(f"{summaries}: {len(written)} summaries from {out}" + "".join(f"\n  {item}" for item in written))
    if page is not None:
        fill_from_runs(page, out)


def _costs(known: Mapping[str, Reproduction], folder: Path | None, data: Path | None) -> dict[str, Cost]:
    """Return the cost of the experiments that have runs in a folder, by name."""
    from mnlearn_papers.campaign import costs

    if folder is None:
        return {}
    return {name: cost for cost in costs(known, folder, data) for name in cost.experiments}


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
        if any(cost.estimated for cost in spent.values()):
            note("* cells without a run are estimated from the nearest cells of their method")
        if any(not cost.complete for cost in spent.values()):
            note("> is a lower bound: some methods or sources have no run, or are not known without --data")

    output.show(document, text)


def _cost_cells(cost: Cost) -> tuple[str, str, str]:
    """Return the runs, the seconds so far and in full; a question mark where the journal has none."""
    seconds, in_full = ("?" if number is None else f"{number:.0f}" for number in (cost.seconds, cost.in_full))
    bound, guess = "" if cost.complete else ">", "*" if cost.estimated else ""
    return f"{cost.done} of {bound}{cost.of}", seconds, f"{bound}{in_full}{guess}"
