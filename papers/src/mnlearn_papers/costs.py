"""Cost of published experiments: processor time so far, and at full published size.

Missing runs are estimated cell by cell: the mean over the runs of a source, a size and a method, times the repetitions
of the paper. A cell without a run is taken to cost as much as the nearest one of its method, in proportion to the size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log, nan
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from mnlearn.errors import FileError
from mnlearn_papers.experiment import RunCell
from mnlearn_papers.journal import Record, read_records
from mnlearn_papers.reproduction import Comparison, ReproducibleMeasure, Reproduction


class Cost(NamedTuple):
    """Of all runs of a journal, in seconds of processor time; drawing the data included."""

    experiments: tuple[str, ...]  # those that are measured by the same runs
    done: int  # runs, of one method on one data set
    of: int  # runs at full published size
    seconds: float | None  # None where a journal of an earlier version does not give
    in_full: float | None
    estimated: int = 0  # cells without a run, whose time is that of the nearest cell
    complete: bool = True  # whether the full size holds all cells; else it is a lower bound


def costs(known: Mapping[str, Reproduction], folder: Path, data: Path | None = None) -> list[Cost]:
    """Return the cost of the experiments that have runs in a folder.

    Parameters
    ----------
    known
        The experiments by name.
    folder
        Where their journals are.
    data
        The folder of the data. Without it, an experiment that needs data has the sources and methods of its runs.
    """
    found = []
    for sharing in by_journal(known).values():
        records = recorded_runs(known[sharing[0]].measure, folder)
        if records:
            found.append(_cost(sharing, records, known[sharing[0]].measure, data))
    return found


def by_journal(known: Mapping[str, Reproduction]) -> dict[str, tuple[str, ...]]:
    """Return the experiments that are measured by the same runs, by the name of their journal."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, item in known.items():
        names[item.measure.name].append(name)
    return {journal: tuple(sharing) for journal, sharing in names.items()}


def recorded_runs(measure: ReproducibleMeasure, folder: Path) -> list[Record]:
    """Return the runs of an experiment in a folder."""
    path = folder / f"{measure.name}.jsonl"
    return read_records(measure.name, path, ()) if path.exists() else []


def as_figures(found: Sequence[Cost]) -> list[Comparison]:
    """The costs in the form of other figures, with a line for all of them, for the tables of a page."""
    names = Cost._fields[1:-1]
    lines = {" and ".join(cost.experiments): {name: getattr(cost, name) for name in names} for cost in found}
    lines["all"] = {name: sum(line[name] or 0 for line in lines.values()) for name in names}
    return [
        Comparison(source, 0, name, None, float(value), nan, line["done"], None, nan)
        for source, line in lines.items()
        for name, value in line.items()
        if value is not None
    ]


def times(records: Iterable[Record]) -> dict[RunCell, float]:
    """Return the mean processor time of a run, of every cell of which the journal gives a time."""
    known: dict[RunCell, list[float]] = defaultdict(list)
    for record in records:
        seconds = _seconds(record)
        if seconds is not None:
            known[cell_of(record)].append(seconds)
    return {cell: fmean(seconds) for cell, seconds in known.items()}


def estimate(cell: RunCell, known: Mapping[RunCell, float], sources: Sequence[str]) -> float | None:
    """Return the processor time of a run: its own, or that of the nearest cell, in proportion to the size.

    Near is a cell of the same method, of a source near in their order, of a similar size; None if there is none.

    Examples
    --------
    >>> known = {RunCell("d=64", 250, "mpl"): 1.0, RunCell("d=128", 500, "mpl"): 3.0, RunCell("d=256", 500, "pc"): 9.0}
    >>> estimate(RunCell("d=256", 1000, "mpl"), known, ["d=64", "d=128", "d=256"])
    6.0
    """
    if cell in known:
        return known[cell]
    place = {source: k for k, source in enumerate(sources)}

    def distance(other: RunCell) -> tuple[int, float]:
        apart = abs(place.get(other.source, len(place)) - place.get(cell.source, len(place)))
        return apart, abs(log(other.n_rows / cell.n_rows))

    nearest = min((other for other in known if other.method == cell.method), key=distance, default=None)
    return None if nearest is None else known[nearest] * cell.n_rows / nearest.n_rows


def _cost(sharing: tuple[str, ...], records: Sequence[Record], measure: ReproducibleMeasure, data: Path | None) -> Cost:
    """So far, and with all repetitions; runs that do not give their time are taken for as long as those that do."""
    cells, complete = _all_cells(measure, records, data)
    known = times(records)
    done, of = len(records), len(cells) * measure.repetitions
    run = {cell_of(record) for record in records}
    if not run <= known.keys():
        return Cost(sharing, done, of, None, None, complete=complete)
    sources = list(dict.fromkeys(cell.source for cell in cells))
    expected = {cell: estimate(cell, known, sources) for cell in cells}
    so_far = sum(known[cell_of(record)] for record in records)
    in_full = sum(seconds for seconds in expected.values() if seconds is not None) * measure.repetitions
    estimated = sum(seconds is not None and cell not in known for cell, seconds in expected.items())
    return Cost(sharing, done, of, so_far, in_full, estimated, complete and None not in expected.values())


def _all_cells(
    measure: ReproducibleMeasure, records: Iterable[Record], data: Path | None
) -> tuple[list[RunCell], bool]:
    """Return the cells at full size, and whether these are all: without the data, only those with runs are known."""
    try:
        return measure.cells(data), True
    except FileError:
        pairs = dict.fromkeys((record["source"], record["method"]) for record in records)
        return [RunCell(source, size, method) for size in measure.sizes for source, method in pairs], False


def cell_of(record: Record) -> RunCell:
    """Return the cell of a run."""
    return RunCell(record["source"], record["n_rows"], record["method"])


def _seconds(record: Record) -> float | None:
    """Of drawing and learning; journals of earlier versions did not give the drawing."""
    if "seconds" not in record or not ("values" in record or "drawing" in record):  # a trial tells both at once
        return None
    return float(record["seconds"]) + float(record.get("drawing", 0.0))
