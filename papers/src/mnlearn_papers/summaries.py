"""Figures of all runs in a folder, by the name of the experiment: from its journal, else from its summary.

A journal holds every run. The summary `NAME.csv` holds only the figures, with six significant digits. Both give the
same figures, so a page can be made from summaries that are kept when the journals are gone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from mnlearn.errors import FileError, InputError, check_name
from mnlearn.files import replacing, write_errors
from mnlearn_papers import learners, learners_page
from mnlearn_papers.campaign import as_figures, costs
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.page import fill_page
from mnlearn_papers.reproduction import Comparison
from mnlearn_papers.reproduction_page import overview_figures

COSTS = "costs"
"""Name of the table of all costs."""
OVERVIEW = "overview"
"""Name of the table with one line for each experiment."""


def recorded_figures(name: str, folder: Path) -> list[Comparison]:
    """Return the figures of an experiment in a folder; for "costs" and "overview", numbers of all experiments.

    Parameters
    ----------
    name
        Of the experiment.
    folder
        Where its journal is, or where there is none, its summary.
    """
    check_name("table", name, [*REPRODUCTIONS, COSTS, OVERVIEW, learners.NAME])
    if name == OVERVIEW:
        figures = all_figures(folder)
        return overview_figures(REPRODUCTIONS, figures, recorded_figures(COSTS, folder)) if figures else []
    found = [as_written(line) for line in _from_journals(name, folder)]
    summary = folder / f"{name}.csv"
    return found or (read_comparisons(summary) if summary.exists() else [])


def all_figures(folder: Path) -> dict[str, list[Comparison]]:
    """Return the figures of every experiment that has some in a folder, by name."""
    found = {name: recorded_figures(name, folder) for name in REPRODUCTIONS}
    return {name: lines for name, lines in found.items() if lines}


def write_summaries(folder: Path, target: Path) -> list[str]:
    """Write the summary of every experiment that has figures in a folder, and of the costs.

    Parameters
    ----------
    folder
        Where the journals are.
    target
        Where the summaries are written; others that are there stay.

    Returns
    -------
    list of str
        The names of the experiments.
    """
    written = []
    for name in (*REPRODUCTIONS, COSTS):
        found = recorded_figures(name, folder)
        if found:
            write_comparisons(found, target / f"{name}.csv")
            written.append(name)
    return written


def write_tables(layouts: Path, runs: Path, target: Path) -> list[Path]:
    """Write every page of a folder with its tables filled; a page that would not change keeps its time.

    Parameters
    ----------
    layouts
        Folder of pages in Markdown, with a marker for each table, as `experiments.page` explains.
    runs
        Folder of the journals or summaries.
    target
        Folder for the filled pages, made if need be.

    Returns
    -------
    list of Path
        The filled pages.

    Raises
    ------
    InputError
        If a table has no figures.
    """
    target.mkdir(parents=True, exist_ok=True)
    pages = []
    for layout in sorted(layouts.glob("*.md")):
        filled = fill_page(layout.read_text(encoding="utf-8"), partial(recorded_figures, folder=runs))
        if filled.kept:
            raise InputError(
                f"layouts must name experiments with figures in {runs}; {layout} has {', '.join(filled.kept)}. Run "
                "mnlearn reproduce --summaries, or remove the table."
            )
        page = target / layout.name
        if not page.exists() or page.read_text(encoding="utf-8") != filled.text:
            with write_errors(page), replacing(page) as part:
                part.write_text(filled.text, encoding="utf-8")
        pages.append(page)
    return pages


def _from_journals(name: str, folder: Path) -> list[Comparison]:
    """Return the figures of the journals alone."""
    if name == learners.NAME:
        journal = folder / f"{name}.jsonl"
        return learners_page.figures(learners.recorded_times(journal)) if journal.exists() else []
    if name == COSTS:
        found = costs(REPRODUCTIONS, folder)
        return as_figures(found) if found else []
    return REPRODUCTIONS[name].measure.recorded(folder)


def write_comparisons(lines: Iterable[Comparison], path: Path) -> None:
    """Write the figures as CSV, with six significant digits; no partial file is left."""
    with write_errors(path), replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Comparison._fields)
        writer.writerows([f"{x:.6g}" if isinstance(x, float) else x for x in line] for line in lines)


def read_comparisons(path: Path) -> list[Comparison]:
    """Return the figures of a file of `write_comparisons`.

    Raises
    ------
    FileError
        If the file cannot be read, or a line is not a figure.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *lines = csv.reader(file)
        if tuple(header) == Comparison._fields:
            return [as_written(line) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise FileError(
            f"figures must be a table that mnlearn wrote; {path}: {error}. Delete it, or write it again."
        ) from error
    raise FileError(
        f"figures must have the columns {', '.join(Comparison._fields)}; {path} has {', '.join(header)}. Delete it, or "
        "write it again."
    )


def as_written(line: Iterable[object]) -> Comparison:
    """Return the figure that is read from the file to which this one is written.

    Examples
    --------
    >>> as_written(Comparison("ring", 100, "mpl", None, 10 / 3, 0.1, 3, None, 0.25)).ours
    3.33333
    """
    source, n_rows, learner, published, ours, sd, n, away, seconds, visible = line

    def rounded(number: object) -> float:
        return float(f"{float(str(number)):.6g}")

    def known(number: object) -> float | None:
        return None if number in (None, "") else rounded(number)

    place = str(source), int(str(n_rows)), str(learner)
    return Comparison(
        *place, known(published), rounded(ours), rounded(sd), int(str(n)), known(away), rounded(seconds), known(visible)
    )
