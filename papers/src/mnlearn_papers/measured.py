"""Experiments with measures other than Hamming distances: numbers by source, size and repetition, in a journal."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import NamedTuple, Protocol

import numpy as np

from mnlearn import parallel
from mnlearn.errors import FileError, unknown_name, whole_number
from mnlearn.files import replacing, write_errors
from mnlearn_papers.experiment import RunCell, generator_of
from mnlearn_papers.journal import Journal, Record, read_records
from mnlearn_papers.reproduction import Comparison, Key, Published, Request, figure, in_order, with_steps


class Measured(NamedTuple):
    """A number, and the processor time behind it."""

    value: float
    seconds: float


class Trial(Protocol):
    """One repetition: numbers by name; none for an impossible trial, such as more edges than pairs."""

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]: ...


@dataclass(frozen=True)
class Measurement:
    """Trials by source, size and repetition, and which of their numbers are the figures of a paper.

    Parameters
    ----------
    name
        Enters the seeds and the name of the journal: two measurements of one name are of the same trials.
    trials
        Makes the trials by source; takes the folder of the data, which those that need none ignore.
    learners
        The numbers that are shown, by name; a trial may give more.
    sizes, repetitions
        As in the paper.
    published
        The figures of the paper.
    nested
        Whether all sizes of a repetition have the same generator: a smaller data set can be the beginning of a larger.
    figure
        Makes a figure from the numbers of all repetitions.
    """

    name: str
    trials: Callable[[Path | None], Mapping[str, Trial]]
    learners: Sequence[str]
    sizes: tuple[int, ...]
    repetitions: int
    published: Mapping[Key, Published] = field(default_factory=dict)
    nested: bool = False
    figure: Callable[[Key, Sequence[float], Published | None, float], Comparison] = figure

    def cells(self, data: Path | None) -> list[RunCell]:
        """Return all that is run at full size; a trial runs all methods."""
        return [RunCell(source, size, _METHOD) for size in self.sizes for source in self.trials(data)]

    def __call__(self, request: Request) -> list[Comparison]:
        """Run the requested part."""
        learners = _chosen("method", self.learners, request.methods)
        trials = self.trials(request.data)
        wanted = _chosen("source", trials, request.sources)
        sizes = [whole_number("sizes", size, least=1, hint="Drop it.") for size in request.sizes or self.sizes]
        sizes = list(dict.fromkeys(sizes))
        repetitions = self.repetitions if request.repetitions is None else request.repetitions
        whole_number("repetitions", repetitions, least=1, hint="Ask for at least one.")
        tasks = [_Task(source, size, k) for k in range(repetitions) for source in wanted for size in sizes]
        if request.cells is not None:
            tasks = [task for task in tasks if RunCell(task.source, task.size, _METHOD) in request.cells]
        path = None if request.out is None else request.out / f"{self.name}.jsonl"
        with Journal(self.name, path, results=_RESULTS) as book:
            self._run([task for task in tasks if (*task, _METHOD) not in book.done], trials, book, request)
        places = {task: place for place, task in enumerate(tasks)}
        records = sorted((r for r in book.records if _task_of(r) in places), key=lambda r: places[_task_of(r)])
        if request.out is not None and request.cells is None:
            _write_runs(records, request.out / f"{self.name}.runs.csv")
        return self._figures(records, wanted, sizes, learners)

    def _run(self, missing: list[_Task], trials: Mapping[str, Trial], book: Journal, request: Request) -> None:
        """Run the trials that are missing, and enter them into the journal."""
        records_of = parallel.run(
            partial(_execute, self.name, trials, self.nested),
            missing,
            n_jobs=request.n_jobs,
            backend="processes",
            in_order=False,
            monitor=parallel.Quietly(request.monitor),
        )
        for done, record in enumerate(records_of, start=1):
            book.add([record])
            request.monitor.progress(done, len(missing), f"{self.name}: {len(missing) - done} trials left")

    def recorded(self, folder: Path) -> list[Comparison]:
        """The figures of all trials in a folder."""
        journal = folder / f"{self.name}.jsonl"
        if not journal.exists():
            return []
        records = sorted(read_records(self.name, journal, _RESULTS), key=lambda record: int(record["repetition"]))
        sources = in_order(self, (record["source"] for record in records))
        return self._figures(records, sources, sorted({record["n_rows"] for record in records}), self.learners)

    def _figures(
        self, records: Iterable[Record], sources: Iterable[str], sizes: Sequence[int], learners: Sequence[str]
    ) -> list[Comparison]:
        """One figure for every source, size and learner that has a number."""
        cells, published = _cells(records), with_steps(self.published)
        keys = [Key(source, size, learner) for source in sources for size in sizes for learner in learners]
        return [
            self.figure(key, [m.value for m in cell], published.get(key), fmean(m.seconds for m in cell))
            for key in keys
            if (cell := cells[key])
        ]


_RESULTS = ("values",)  # what a record has beside its place
_METHOD = "all"  # a trial is one entry of the journal


class _Task(NamedTuple):
    """One trial."""

    source: str
    size: int
    repetition: int


def _task_of(record: Record) -> _Task:
    """Which trial gave the record."""
    return _Task(record["source"], record["n_rows"], record["repetition"])


def _execute(name: str, trials: Mapping[str, Trial], nested: bool, task: _Task) -> Record:
    """Run one trial with its own random generator."""
    started = process_time()
    rng = generator_of(name, task.source, 0 if nested else task.size, task.repetition)
    found = trials[task.source](task.size, rng)
    values = {learner: [measured.value, round(measured.seconds, 4)] for learner, measured in found.items()}
    return {
        "source": task.source,
        "n_rows": task.size,
        "repetition": task.repetition,
        "method": _METHOD,
        "seconds": round(process_time() - started, 4),
        "values": values,
    }


def _cells(records: Iterable[Record]) -> dict[Key, list[Measured]]:
    """The numbers of each figure, in the order of the repetitions."""
    cells: dict[Key, list[Measured]] = defaultdict(list)
    for record in records:
        for learner, (value, seconds) in record["values"].items():
            if isfinite(value):
                cells[Key(record["source"], record["n_rows"], learner)].append(Measured(value, seconds))
    return cells


def _write_runs(records: Iterable[Record], path: Path) -> None:
    """Write every number of every trial; no partial file is left."""
    with write_errors(path), replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("source", "size", "repetition", "learner", "value", "seconds"))
        for record in records:
            writer.writerows((*_task_of(record), learner, *pair) for learner, pair in record["values"].items())


def _chosen(kind: str, known: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the named items in their order; all if none is named."""
    everything = list(known)
    for name in names:
        if name not in everything:
            raise unknown_name(kind, name, everything)
    return [name for name in everything if not names or name in names]


# The files that published experiments need, in the folder of the data.


def data_files(data: Path | None, pattern: str, files: Mapping[str, str]) -> dict[str, Path]:
    """The path of every file, by the same names; a file may be compressed (`.gz`).

    Parameters
    ----------
    data
        The folder of the data.
    pattern
        Where in it they are, as an error says it: ``networks/*.bif``.
    files
        Their names within that folder, by what they are called in the experiment.

    Raises
    ------
    FileError
        If there is no folder, or a file is not in it.
    """
    if data is None:
        raise FileError(f"data must be the folder that holds {pattern}; got none. Pass it, or set MNLEARN_DATA to it.")
    return {name: _found(data, f"{Path(pattern).parent}/{file}") for name, file in files.items()}


def _found(data: Path, file: str) -> Path:
    """One of them, compressed or not."""
    for path in (data / file, data / f"{file}.gz"):
        if path.exists():
            return path
    raise FileError(f"data must be the folder that holds {file}; {data} does not. Name another.")
