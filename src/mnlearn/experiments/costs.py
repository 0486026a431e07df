"""Cost of published experiments: processor time so far, and at full published size.

Missing runs are estimated cell by cell: the mean over the runs of a source, a size and a method, times the repetitions
of the paper. Cells without a run are not counted, so run everything with `--reps 1` first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from mnlearn.experiments.journal import Record, read_records
from mnlearn.experiments.reproduction import Comparison, Reproduction


class Cost(NamedTuple):
    """Of all runs of a journal, in seconds of processor time; drawing the data included."""

    experiments: tuple[str, ...]  # those that are measured by the same runs
    done: int  # runs, of one method on one data set
    of: int  # runs at full published size
    seconds: float | None  # None where a journal of an earlier version does not give
    in_full: float | None


def costs(known: Mapping[str, Reproduction], folder: Path) -> list[Cost]:
    """Return the cost of the experiments in a folder.

    Parameters
    ----------
    known
        The experiments by name.
    folder
        Where their journals are.
    """
    names: dict[str, list[str]] = defaultdict(list)
    for name, item in known.items():
        names[item.measure.name].append(name)
    found = []
    for journal, sharing in names.items():
        path = folder / f"{journal}.jsonl"
        records = read_records(journal, path, ()) if path.exists() else []
        if records:
            found.append(_cost(tuple(sharing), records, known[sharing[0]].repetitions))
    return found


def as_figures(found: Sequence[Cost]) -> list[Comparison]:
    """The costs in the form of other figures, with a line for all of them, for the tables of a page."""
    columns = list(zip(*found, strict=True))[1:]
    total = Cost(("all",), *(sum(number for number in column if number is not None) for column in columns))
    return [
        Comparison(" and ".join(cost.experiments), 0, name, None, float(value), nan, cost.done, None, nan)
        for cost in [*found, total]
        for name, value in zip(Cost._fields[1:], cost[1:], strict=True)
        if value is not None
    ]


def _cost(experiments: tuple[str, ...], records: Sequence[Record], repetitions: int) -> Cost:
    """So far, and with all repetitions; runs that do not give their time are taken for as long as those that do."""
    cells: dict[tuple[str, int, str], list[float | None]] = defaultdict(list)
    for record in records:
        cells[record["source"], record["n_rows"], record["method"]].append(_seconds(record))
    told = {key: [seconds for seconds in cell if seconds is not None] for key, cell in cells.items()}
    done, of = len(records), len(cells) * repetitions
    if not all(told.values()):
        return Cost(experiments, done, of, None, None)
    so_far = sum(fmean(seconds) * len(cells[key]) for key, seconds in told.items())
    return Cost(experiments, done, of, so_far, sum(map(fmean, told.values())) * repetitions)


def _seconds(record: Record) -> float | None:
    """Of drawing and learning; journals of earlier versions did not give the drawing."""
    if "seconds" not in record or not ("values" in record or "drawing" in record):  # a trial tells both at once
        return None
    return float(record["seconds"]) + float(record.get("drawing", 0.0))
