"""All published experiments within a time limit, the least known first.

Every experiment is run with one data set a cell, then with 2, 5, 10, 20, 50 and so on up to the number of the paper; a
cell is a source, a size and a method. A cell whose estimated time exceeds what is left is skipped. Results are kept in
the journals of the experiments, from which a later campaign continues.
"""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from time import monotonic
from types import FrameType
from typing import NamedTuple, NoReturn

from mnlearn.errors import FileError, InputError, MnlearnError, whole_number
from mnlearn.parallel import job_count
from mnlearn.protocols import Monitor
from mnlearn_papers.costs import by_journal, cell_of, estimate, recorded_runs, times
from mnlearn_papers.experiment import RunCell
from mnlearn_papers.journal import Record
from mnlearn_papers.reproduction import ReproducibleMeasure, Reproduction, Request

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
