"""What published experiments cost: processor time so far, and at full published size.

The journals of a folder know what every run took. What is missing is reckoned cell by cell: the mean of the runs of a
source, a size and a method, times the repetitions of the paper. Cells that were never run are not reckoned with, so a
run with `--reps 1` of everything comes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from mnlearn.evaluation._journal import Record, read_records
from mnlearn.evaluation.reproduction import Comparison, Reproduction


class Cost(NamedTuple):
    """Of all runs of a journal, in seconds of processor time; drawing the data included."""

    experiments: tuple[str, ...]  # those that are measured by the same runs
    done: int  # runs, of one method on one data set
    of: int  # runs at full published size
    seconds: float
    in_full: float


def costs(known: Mapping[str, Reproduction], folder: Path) -> list[Cost]:
    """What the experiments cost of which a folder has runs.

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
    total = Cost(("all",), *(sum(column) for column in list(zip(*found, strict=True))[1:]))
    return [
        Comparison(" and ".join(cost.experiments), 0, name, None, float(value), nan, cost.done, None, cost.seconds)
        for cost in [*found, total]
        for name, value in zip(Cost._fields[1:], cost[1:], strict=True)
    ]


def _cost(experiments: tuple[str, ...], records: Sequence[Record], repetitions: int) -> Cost:
    """So far, and with all repetitions."""
    cells: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for record in records:
        seconds = float(record.get("seconds", nan)) + float(record.get("drawing", 0.0))
        cells[record["source"], record["n_rows"], record["method"]].append(seconds)
    so_far = sum(sum(cell) for cell in cells.values())
    in_full = sum(fmean(cell) * repetitions for cell in cells.values())
    return Cost(experiments, len(records), len(cells) * repetitions, so_far, in_full)
