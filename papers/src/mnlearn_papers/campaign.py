"""All published experiments within a time limit, the least known first.

Every experiment is run with one data set a cell, then with 2, 5, 10, 20, 50 and so on up to the number of the paper; a
cell is a source, a size and a method. A cell whose estimated time exceeds what is left is skipped. Results are kept in
the journals of the experiments, from which a later campaign continues.

Cost of published experiments: processor time so far, and at full published size.

Missing runs are estimated cell by cell: the mean over the runs of a source, a size and a method, times the repetitions
of the paper. A cell without a run is taken to cost as much as the nearest one of its method, in proportion to the size.
"""

from __future__ import annotations

import signal
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, log, nan
from pathlib import Path
from statistics import fmean
from time import monotonic
from types import FrameType
from typing import NamedTuple, NoReturn

from mnlearn.errors import FileError, InputError, MnlearnError, whole_number
from mnlearn.parallel import job_count
from mnlearn.protocols import Monitor
from mnlearn_papers.experiment import RunCell
from mnlearn_papers.journal import Record, read_records
from mnlearn_papers.reproduction import Comparison, ReproducibleMeasure, Reproduction, Request


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


MOST_OF_THE_REST, MOST_OF_THE_ESTIMATE = 0.25, 3.0
"""The runs of one experiment are stopped after this share of the time left, or this multiple of their estimate."""
ALARM_AGAIN = 10.0
"""Seconds between alarms after the time limit: Python drops an error raised in a finalizer or a callback of its gc."""
WORTH_PROCESSES = 4.0
"""Seconds of work below which starting several processes takes longer than it saves."""


class CellState(NamedTuple):
    """How many data sets a cell has, of how many in the paper."""

    experiment: str
    cell: RunCell
    done: int
    of: int


class FailedSource(NamedTuple):
    """A source that cannot be run here, for example for lack of memory."""

    experiment: str
    source: str
    error: str


class Campaign(NamedTuple):
    """State after a campaign: all cells, sources that cannot be run, and experiments whose data are not there."""

    cells: tuple[CellState, ...]
    failed: tuple[FailedSource, ...]
    without_data: tuple[str, ...]


def run_campaign(known: Mapping[str, Reproduction], request: Request, *, seconds: float | None = None) -> Campaign:
    """Run what fits a time limit of all experiments.

    Parameters
    ----------
    known
        The experiments by name.
    request
        The folder of the journals, which is required; the data, the processes and the monitor. Its repetitions are the
        most data sets of a cell.
    seconds
        Time limit; None for no limit. An experiment is stopped after a quarter of the time that is left, or three times
        its estimate; the cell that was running is not tried again. At the limit everything is stopped. Runs that are
        stopped are lost. In a thread, and where the system has no alarm signal, they are finished.

    Raises
    ------
    InputError
        If there is no folder for the journals.
    """
    if request.out is None:
        raise InputError("out must be a folder for the journals of all experiments; got None. Name one.")
    if request.repetitions is not None:
        whole_number("repetitions", request.repetitions, least=1, hint="Ask for at least one.")
    clock = _Deadline(request.monitor, monotonic(), inf if seconds is None else seconds)
    planned: list[_Planned] = []
    without_data: list[str] = []
    for sharing in by_journal(known).values():
        measure = known[sharing[0]].measure
        try:
            planned.append(_Planned(sharing[0], measure, measure.cells(request.data), replace(request, monitor=clock)))
        except FileError:
            without_data += sharing
    for item in planned:  # the smallest size tells the time of the others
        item.raise_to(1, clock, item.measure.sizes[:1])
    for level in _levels(max((item.most for item in planned), default=0)):
        for item in sorted(planned, key=lambda item: item.cost(level)):
            item.raise_to(level, clock, item.measure.sizes)
    return Campaign(
        tuple(state for item in planned for state in item.states()),
        tuple(FailedSource(item.name, *failure) for item in planned for failure in item.failed.items()),
        tuple(without_data),
    )


def _levels(most: int) -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on, up to the largest number of data sets."""
    power = 1
    while power < most:
        yield from (step * power for step in (1, 2, 5) if step * power < most)
        power *= 10
    if most:
        yield most


class _TimeOver(KeyboardInterrupt):
    """Raised at the end of the time limit; as Ctrl-C, it ends the worker processes."""


def _ends_within(seconds: float, action: Callable[[], None]) -> bool:
    """Call an action and return whether it ended in time; else it is stopped, wherever it is."""
    main = threading.current_thread() is threading.main_thread()  # Python allows signal handlers only there
    if seconds == inf or not main or not hasattr(signal, "setitimer"):
        action()
        return True

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise _TimeOver

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), ALARM_AGAIN)
    try:
        action()
    except _TimeOver:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return True


class _Deadline:
    """Monitor that cancels at the end of the time limit; progress is the share of the limit."""

    def __init__(self, monitor: Monitor, start: float, limit: float) -> None:
        self._monitor, self._start, self._limit = monitor, start, limit

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return self._start + self._limit - monotonic()

    def progress(self, done: float, _total: float | None, message: str = "") -> None:
        """Report the time instead of the runs, of which there are more to come."""
        limited = self._limit < inf
        self._monitor.progress(self._limit - self.left if limited else done, self._limit if limited else None, message)

    def cancelled(self) -> bool:
        """Return whether the limit is reached, or the monitor cancels."""
        return self.left <= 0 or self._monitor.cancelled()


@dataclass
class _Planned:
    """One experiment: its cells, and the runs of its journal so far."""

    name: str
    measure: ReproducibleMeasure
    cells: list[RunCell]
    request: Request
    records: list[Record] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # error by source
    slow: set[RunCell] = field(default_factory=set)  # cells that were stopped; not tried again in this campaign

    def __post_init__(self) -> None:
        self._read()

    @property
    def most(self) -> int:
        """Return the data sets of a cell at the end."""
        limit = self.request.repetitions
        return self.measure.repetitions if limit is None else min(limit, self.measure.repetitions)

    def cost(self, level: int) -> float:
        """Return the estimated seconds to this number of data sets."""
        return sum(self._costs(self.cells, level).values())

    def raise_to(self, level: int, clock: _Deadline, sizes: Collection[int]) -> None:
        """Run the cells of some sizes that fit, the cheapest first."""
        costs = self._costs((cell for cell in self.cells if cell.n_rows in sizes), level)
        jobs = job_count(self.request.n_jobs)
        left, chosen = clock.left * jobs, set()
        for cell in sorted(costs, key=costs.__getitem__):
            left -= costs[cell]
            if left > 0:
                chosen.add(cell)
        if not chosen or clock.cancelled():
            return
        expected = sum(costs[cell] for cell in chosen)
        request = replace(
            self.request,
            sizes=tuple(sorted({cell.n_rows for cell in chosen})),
            repetitions=min(level, self.most),
            n_jobs=jobs if expected > WORTH_PROCESSES else 1,
        )
        limit = min(clock.left, max(clock.left * MOST_OF_THE_REST, MOST_OF_THE_ESTIMATE * expected))
        in_time = _ends_within(limit, partial(self._run, request, chosen))
        self._read()
        if not in_time:
            self._give_up(self._costs(chosen, level))

    def _give_up(self, missing: Iterable[RunCell]) -> None:
        """Leave out the cell that was running when the time was over (the first that is missing) and larger ones."""
        done, sources = Counter(map(cell_of, self.records)), [cell.source for cell in self.cells]
        first = min(missing, key=lambda cell: (done[cell], sources.index(cell.source), cell.n_rows), default=None)
        if first is not None:
            self.slow |= {c for c in self.cells if c.source == first.source and c.n_rows >= first.n_rows}

    def _run(self, request: Request, chosen: set[RunCell]) -> None:
        """Run some cells; after an error, source by source, so that only sources that cannot be run are left out."""
        try:
            self.measure(replace(request, cells=frozenset(chosen)))
        except (MnlearnError, MemoryError):
            for source in dict.fromkeys(cell.source for cell in self.cells):
                mine = frozenset(cell for cell in chosen if cell.source == source)
                try:
                    if mine:
                        self.measure(replace(request, cells=mine))
                except (MnlearnError, MemoryError) as error:
                    self.failed[source] = str(error) or "not enough memory"
        self.cells = [cell for cell in self.cells if cell.source not in self.failed]

    def states(self) -> list[CellState]:
        """Return the number of data sets of every cell."""
        done = Counter(map(cell_of, self.records))
        return [CellState(self.name, cell, done[cell], self.most) for cell in self.cells]

    def _costs(self, cells: Iterable[RunCell], level: int) -> dict[RunCell, float]:
        """Return the estimated seconds of the cells that are below a level; 0 for one without a neighbour."""
        done, known = Counter(map(cell_of, self.records)), times(self.records)
        sources = list(dict.fromkeys(cell.source for cell in self.cells))
        missing = {cell: min(level, self.most) - done[cell] for cell in cells if cell not in self.slow}
        return {
            cell: number * (estimate(cell, known, sources) or 0.0) for cell, number in missing.items() if number > 0
        }

    def _read(self) -> None:
        if self.request.out is not None:
            self.records = recorded_runs(self.measure, self.request.out)
