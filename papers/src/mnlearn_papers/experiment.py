"""Experiments: every (source × rows × repetition) drawn once, every method run on it, one tidy row per learned graph.

A run writes each result to a journal as soon as it has it. A run that was killed continues from there: nothing is
computed twice, and of what was finished nothing is lost.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from time import monotonic, process_time
from typing import Any, Literal, NamedTuple, Protocol, TypeVar
from zlib import crc32

import numpy as np

from mnlearn import parallel
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.bayesian import BayesianNetwork
from mnlearn.distributions.bif import read_bif
from mnlearn.distributions.factors import ParameterLaw, with_log_odds
from mnlearn.distributions.sampling import sample
from mnlearn.errors import InputError, unknown_name, whole_number
from mnlearn.evaluation.metrics import Confusion, Reliability, compare_edges, reliability
from mnlearn.files import replacing, write_errors
from mnlearn.graphs.generators import random_graph
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import SILENT, FloatArray, Monitor
from mnlearn_papers.journal import Journal, Record, RunKey, read_records

T = TypeVar("T")


class Case(NamedTuple):
    """Data and the graph behind them."""

    data: Dataset
    truth: Graph


class Source(Protocol):
    """Function that draws data from a known graph."""

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case: ...


@dataclass(frozen=True)
class RandomNetwork:
    """A random graph with one log odds ratio on every edge, new for every data set  [JAIR09, Sec. 5.1.2; IBMAP14]."""

    n_variables: int
    average_degree: float
    log_odds: float
    signs: Literal["same", "mixed"] = "same"
    law: ParameterLaw = "alike"

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """Draw a network, then rows of it."""
        graph = random_graph(self.n_variables, self.average_degree, rng)
        network = with_log_odds(graph, self.log_odds, rng, signs=self.signs, law=self.law)
        return Case(sample(network, n_rows, rng).dataset(), graph)


def read_pairs(path: str | Path) -> Graph:
    """Read a graph from a file with the two ends of an edge on each line; lines with # are comments."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith("#")]
    position = {name: x for x, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
    return Graph(len(position), [[position[name] for name in pair] for pair in pairs])


@dataclass(frozen=True)
class RepositoryNetwork:
    """A Bayesian network in a BIF file; the true graph is its moral graph  [MPL17, Sec. 5.2].

    Learners see the states that occur in the rows, as if read from a file. With all declared states MPL misses the
    figures of Barley (up to 67 states) by up to one edge and a half; with those that occur it meets them.
    """

    file: str

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """Draw rows of the network."""
        network = _network(self.file)
        return Case(observed_states(network.sample(n_rows, rng)), network.moral_graph())


def observed_states(data: Dataset) -> Dataset:
    """Return the rows with only the states that occur in them."""
    found = [np.unique(column, return_inverse=True) for column in data.columns]
    codes = [inverse.reshape(-1) for _, inverse in found]
    return Dataset.from_codes(codes, cards=[len(seen) for seen, _ in found], names=data.names)


@lru_cache(maxsize=16)  # one process reads a network once
def _network(file: str) -> BayesianNetwork:
    return read_bif(file)


class WithLogOdds(NamedTuple):
    """A learned graph with the log odds of every pair, for calibration."""

    graph: Graph
    log_odds: FloatArray


class Method(Protocol):
    """Function that learns from data; may return several graphs, each with its name in the table."""

    def __call__(self, data: Dataset) -> Mapping[str, Graph] | Mapping[str, Graph | WithLogOdds]: ...


class RunCell(NamedTuple):
    """Runs that differ only in their data: one method on one source, at one number of rows."""

    source: str
    n_rows: int
    method: str


class Row(NamedTuple):
    """One learned graph compared with the true one."""

    source: str
    n_rows: int
    repetition: int
    learner: str
    hamming: int
    false_positives: int
    false_negatives: int
    seconds: float  # of processor time, of the method; all graphs of one run share it
    n_variables: int = 0
    true_edges: int = 0
    reliability: Reliability | None = None  # of the probabilities, where the method gives some

    @property
    def confusion(self) -> Confusion:
        """Confusion counts of the pairs of variables."""
        pairs = self.n_variables * (self.n_variables - 1) // 2
        found, added, missed = self.true_edges - self.false_negatives, self.false_positives, self.false_negatives
        return Confusion(found, added, missed, pairs - self.true_edges - added)

    def tidy(self) -> dict[str, object]:
        """Return all fields and derived measures: one line of the table."""
        measures = ("normalized_hamming", "precision", "recall", "f1")
        fields = {name: value for name, value in self._asdict().items() if name != "reliability"}
        return {**fields, **{name: getattr(self.confusion, name) for name in measures}}


@dataclass(frozen=True)
class Experiment:
    """Sources of data and methods that learn from them.

    Parameters
    ----------
    name
        Enters the seeds, with the source, the rows and the repetition: other experiments draw other data.
    sources, methods
        By name. To run in several processes they must be functions of a module, or records of plain values.
    leave_out
        Pairs (source, method) that are not run.

    Examples
    --------
    >>> from mnlearn.graphs import path
    >>> def chain(n_rows, rng):
    ...     codes = np.cumsum(rng.random((n_rows, 3)) < 0.2, axis=1) % 2
    ...     return Case(Dataset.from_codes(codes), path(3))
    >>> guess = Experiment("guess", {"chain": chain}, {"none": lambda data: {"none": Graph(data.n_variables)}})
    >>> [(row.learner, row.hamming) for row in run_experiment(guess, sizes=[10], repetitions=2)]
    [('none', 2), ('none', 2)]
    """

    name: str
    sources: Mapping[str, Source]
    methods: Mapping[str, Method]
    leave_out: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def only(self, sources: Iterable[str] = (), methods: Iterable[str] = ()) -> Experiment:
        """Return the experiment with some of its sources and methods, by default all; its data do not change."""
        return Experiment(
            self.name,
            _chosen("source", self.sources, sources),
            _chosen("method", self.methods, methods),
            self.leave_out,
        )

    def cells(self, sizes: Iterable[int]) -> list[RunCell]:
        """Return what is run at these numbers of rows."""
        pairs = [(source, method) for source in self.sources for method in self.methods]
        return [RunCell(s, n_rows, m) for n_rows in sizes for s, m in pairs if (s, m) not in self.leave_out]


class _Task(NamedTuple):
    """One data set, and the methods still to run on it."""

    source: str
    n_rows: int
    repetition: int
    methods: tuple[str, ...]


def run_experiment(
    experiment: Experiment,
    sizes: Sequence[int],
    repetitions: int,
    *,
    journal: Path | None = None,
    n_jobs: int | None = 1,
    client: Any = None,
    monitor: Monitor = SILENT,
    only: Collection[RunCell] | None = None,
) -> list[Row]:
    """Run an experiment.

    Parameters
    ----------
    experiment
        What is drawn and what learns.
    sizes
        Numbers of rows.
    repetitions
        Data sets for every source and number of rows.
    journal
        A file that keeps every result; what it holds already is not computed again.
    n_jobs
        Number of processes: None or −1 for all cores, else that many. Any number gives the same result.
        But for the seconds.
    client
        A `distributed.Client` whose workers take the place of the processes.
    monitor
        Receives the number of finished runs and may cancel after any of them.
    only
        Cells to run; all by default.

    Returns
    -------
    list of Row
        In the order of the sources, the sizes, the repetitions and the learners.

    Raises
    ------
    InputError
        If a number is too small, or a size is named twice.
    FileError
        If the journal cannot be read or written.
    """
    whole_number("repetitions", repetitions, least=1, hint="Ask for at least one.")
    parallel.job_count(n_jobs)  # raises
    rows_of = [whole_number("sizes", size, least=1, hint="Every data set has at least one row.") for size in sizes]
    if not rows_of:
        raise InputError("sizes must name at least one number of rows; got none. Add one, for example 1000.")
    if len(set(rows_of)) < len(rows_of):
        twice = next(size for k, size in enumerate(rows_of) if size in rows_of[:k])
        raise InputError(f"sizes must be different numbers of rows; got {twice} twice. Drop one.")
    with Journal(experiment.name, journal) as book:
        wanted = experiment.cells(rows_of) if only is None else only
        tasks = list(_tasks(experiment, rows_of, repetitions, book.done, set(wanted)))
        _run_tasks(experiment, tasks, book, monitor, n_jobs=n_jobs, client=client)
    return _sorted(experiment, _rows(_asked_for(experiment, book.records, set(rows_of), repetitions)))


def _run_tasks(
    experiment: Experiment, tasks: list[_Task], book: Journal, monitor: Monitor, *, n_jobs: int | None, client: Any
) -> None:
    """Run what is left, and enter it into the journal."""
    total = sum(len(task.methods) for task in tasks)
    left, started = total, monotonic()
    done = parallel.run(
        partial(_execute, experiment),
        tasks,
        n_jobs=n_jobs,
        client=client,
        backend="processes",
        in_order=False,
        monitor=parallel.Quietly(monitor),
    )
    for records in done:
        book.add(records)
        left -= len(records)
        seconds = (monotonic() - started) * left / (total - left)
        monitor.progress(total - left, total, f"{experiment.name}: {left} of {total} runs left, about {seconds:.0f} s")


def recorded(experiment: str, journal: Path) -> list[Row]:
    """Return all rows of the journal of an experiment; nothing is run."""
    return list(_rows(read_records(experiment, journal, ("seconds", "errors"))))


def generator_of(experiment: str, source: str, n_rows: int, repetition: int) -> np.random.Generator:
    """Return the random generator of one data set, independent of what else is run."""
    return np.random.default_rng([crc32(f"{experiment}/{source}".encode()), n_rows, repetition])


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write one tidy table as CSV or Parquet; no partial file is left."""
    lines = [row.tidy() for row in rows]
    columns = list(lines[0]) if lines else list(Row("", 0, 0, "", 0, 0, 0, 0.0).tidy())
    with write_errors(path), replacing(path) as part:
        if path.suffix.lower() == ".parquet":
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.table({name: [line[name] for line in lines] for name in columns}), part)
            return
        with part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(lines)


def _tasks(
    experiment: Experiment, sizes: Sequence[int], repetitions: int, done: set[RunKey], wanted: set[RunCell]
) -> Iterator[_Task]:
    """Return what is left to run, repetition by repetition, so that a cancelled run is a smaller experiment."""
    for repetition in range(repetitions):
        for source in experiment.sources:
            for n_rows in sizes:
                mine = [method for method in experiment.methods if RunCell(source, n_rows, method) in wanted]
                missing = tuple(method for method in mine if (source, n_rows, repetition, method) not in done)
                if missing:
                    yield _Task(source, n_rows, repetition, missing)


def _execute(experiment: Experiment, task: _Task) -> list[dict[str, object]]:
    """Draw the data and run the methods; one record per method, sharing the time of the drawing."""
    started = process_time()
    rng = generator_of(experiment.name, task.source, task.n_rows, task.repetition)
    case = experiment.sources[task.source](task.n_rows, rng)
    drawing = round((process_time() - started) / len(task.methods), 4)
    records: list[dict[str, object]] = []
    for method in task.methods:
        started = process_time()
        graphs = experiment.methods[method](case.data)
        seconds = process_time() - started
        found = {name: compare_edges(_graph(learned), case.truth) for name, learned in graphs.items()}
        errors = {name: [counts.false_positives, counts.false_negatives] for name, counts in found.items()}
        key = {"source": task.source, "n_rows": task.n_rows, "repetition": task.repetition, "method": method}
        size = {"variables": case.truth.n_variables, "true_edges": case.truth.n_edges}
        weighed = {
            name: reliability(learned.log_odds, case.truth)
            for name, learned in graphs.items()
            if isinstance(learned, WithLogOdds)
        }
        spent = {"seconds": round(seconds, 4), "drawing": drawing}
        records.append({**key, **size, **spent, "errors": errors, "reliability": weighed})
    return records


def _graph(learned: Graph | WithLogOdds) -> Graph:
    return learned.graph if isinstance(learned, WithLogOdds) else learned


def _asked_for(
    experiment: Experiment, records: Iterable[Record], sizes: set[int], repetitions: int
) -> Iterator[Record]:
    """Return the records of these sizes, repetitions and methods; a journal may hold more."""
    for record in records:
        wanted = record["n_rows"] in sizes and record["repetition"] < repetitions
        if wanted and record["method"] in experiment.methods:
            yield record


def _rows(records: Iterable[Record]) -> Iterator[Row]:
    """Return one row per graph."""
    for record in records:
        key = record["source"], record["n_rows"], record["repetition"]
        size = record.get("variables", 0), record.get("true_edges", 0)
        weighed = record.get("reliability", {})
        for learner, (added, missed) in record["errors"].items():
            sure = Reliability(*map(tuple, weighed[learner])) if learner in weighed else None
            yield Row(*key, learner, added + missed, added, missed, record["seconds"], *size, sure)


def _sorted(experiment: Experiment, rows: Iterable[Row]) -> list[Row]:
    """Sort by source in the order of the experiment, then rows, repetition and learner."""
    place = {source: k for k, source in enumerate(experiment.sources)}
    mine = [row for row in rows if row.source in place]
    return sorted(mine, key=lambda row: (place[row.source], row.n_rows, row.repetition, row.learner))


def _chosen(kind: str, known: Mapping[str, T], names: Iterable[str]) -> dict[str, T]:
    """Return the named items in their order; all if none is named."""
    wanted = list(names)
    for name in wanted:
        if name not in known:
            raise unknown_name(kind, name, known)
    return {name: item for name, item in known.items() if not wanted or name in wanted}
