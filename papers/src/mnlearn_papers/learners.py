"""Times and errors of learners, ours and those of other packages, on the same data frames.

Each data set has a process of its own, in which libraries of linear algebra have one thread. Its learners run one after
the other. A learner that exceeds the time limit is stopped with the process, and is left out at larger sizes of the
same kind; the next process goes on with the learners that are left.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from time import monotonic, process_time
from typing import Any, NamedTuple

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_name, is_number, whole_number
from mnlearn.evaluation.metrics import compare_edges
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import SILENT, Monitor
from mnlearn_papers.experiment import Case, Source, generator_of
from mnlearn_papers.journal import Journal, Record, read_records
from mnlearn_papers.peers import Peer

NAME = "learners"
"""Name of the experiment: part of the seeds, and the name of the run file."""

Learner = Callable[[Any], Graph]
"""From a data frame to a graph."""

_REPEATS, _LONG = 3, 1.0  # runs of a learner, of which the least counts; one that takes longer than this runs once
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_RESULTS = ("seconds", "errors", "variables", "true_edges")


class DataSet(NamedTuple):
    """A source of data of a kind, with the number of its variables and whether they are continuous."""

    kind: str
    n_variables: int
    source: Source
    continuous: bool = False

    @property
    def name(self) -> str:
        """Return the name in tables."""
        return f"{self.kind} n={self.n_variables}"


class Timing(NamedTuple):
    """One learner on one data set.

    `outcome` is "ended", "stopped" at the time limit, "left out" after it was stopped at a smaller size, or "failed"
    with the error. Without an end `seconds` is infinite and there are no errors.
    """

    kind: str
    n_variables: int
    n_rows: int
    true_edges: int
    learner: str
    seconds: float  # of processor time
    false_positives: int | None
    false_negatives: int | None
    outcome: str

    @property
    def data(self) -> str:
        """Return the name of the data set."""
        return f"{self.kind} n={self.n_variables}"

    @property
    def hamming(self) -> int | None:
        """Return the number of false and missing edges."""
        if self.false_positives is None or self.false_negatives is None:
            return None
        return self.false_positives + self.false_negatives


@dataclass(frozen=True)
class Bench:
    """Data sets × learners.

    Parameters
    ----------
    data_sets
        In any order; learners see those of a kind from the smallest to the largest.
    discrete, continuous
        Learners by name. They must be functions of a module, or records of plain values.
    n_rows
        Rows of every data set.
    limit
        Seconds by the clock after which a learner is stopped.

    Examples
    --------
    >>> Bench([], {}, {}, limit=0)
    Traceback (most recent call last):
    mnlearn.errors.InputError: limit must be a number of seconds above 0; got 0. Use 60, for example.
    """

    data_sets: Sequence[DataSet]
    discrete: Mapping[str, Learner]
    continuous: Mapping[str, Learner]
    n_rows: int = 2000
    limit: float = 60.0

    def __post_init__(self) -> None:
        whole_number("n_rows", self.n_rows, least=2, hint="Use 2000, for example.")
        if not is_number(self.limit) or not 0 < self.limit < inf:
            raise InputError(f"limit must be a number of seconds above 0; got {self.limit}. Use 60, for example.")

    def only(self, kinds: Iterable[str], learners: Iterable[str]) -> Bench:
        """Return the bench with some of its kinds and learners; all where none is named."""
        kinds, learners = list(kinds), list(learners)
        for kind in kinds:
            check_name("kind", kind, list(dict.fromkeys(data.kind for data in self.data_sets)))
        for learner in learners:
            check_name("learner", learner, list(dict.fromkeys([*self.discrete, *self.continuous])), shown=30)
        discrete, continuous = (
            {name: learn for name, learn in table.items() if not learners or name in learners}
            for table in (self.discrete, self.continuous)
        )
        data_sets = [data for data in self.data_sets if not kinds or data.kind in kinds]
        return Bench(data_sets, discrete, continuous, self.n_rows, self.limit)

    def run(self, *, journal: Path | None = None, monitor: Monitor = SILENT) -> list[Timing]:
        """Return one line for each data set and learner; a run that is cancelled returns those that it has.

        Parameters
        ----------
        journal
            A file that keeps every result; what it holds already is not measured again.
        monitor
            Receives the progress and may cancel.
        """
        ordered = sorted(self.data_sets, key=lambda data: data.n_variables)
        asked = {(data.name, name) for data in ordered for name in self._learners(data)}
        with Journal(NAME, journal, _RESULTS) as book:
            done = {(r["source"], r["method"]) for r in book.records if r["n_rows"] == self.n_rows}
            left = len(asked - done)
            for data in ordered:
                waiting = {name: f for name, f in self._learners(data).items() if (data.name, name) not in done}
                for record in self._measure(data, waiting, book.records, monitor):
                    book.add([record])
                    left -= 1
                    monitor.progress(len(asked) - left, len(asked), f"{data.name}, {record['method']}")
            records = [r for r in book.records if (r["source"], r["method"]) in asked and r["n_rows"] == self.n_rows]
        return _timings(records, self.data_sets)

    def _learners(self, data: DataSet) -> Mapping[str, Learner]:
        return self.continuous if data.continuous else self.discrete

    def _measure(
        self, data: DataSet, learners: Mapping[str, Learner], known: Sequence[Record], monitor: Monitor
    ) -> Iterator[dict[str, object]]:
        """Draw a data set and measure learners on it; yield a record for each."""
        if not learners or monitor.cancelled():
            return
        case = data.source(self.n_rows, generator_of(NAME, data.name, self.n_rows, 0))
        common = {"source": data.name, "n_rows": self.n_rows, "repetition": 0}
        common |= {"variables": case.truth.n_variables, "true_edges": case.truth.n_edges}
        nothing: dict[str, object] = {"seconds": self.limit, "errors": {}}
        smaller = [r for r in known if r["n_rows"] == self.n_rows and r["variables"] < data.n_variables]
        slow = {r["method"] for r in smaller if _kind(r) == data.kind and r.get("outcome") in ("stopped", "left out")}
        for name in [name for name in learners if name in slow]:
            yield {**common, "method": name, **nothing, "outcome": "left out"}
        waiting = {name: learn for name, learn in learners.items() if name not in slow}
        while waiting:
            for name, answer in _answers(case, dict(waiting), self.limit, monitor):
                del waiting[name]
                yield {**common, "method": name, **nothing, **answer}
            if monitor.cancelled():
                return


def recorded_times(journal: Path) -> list[Timing]:
    """Return all lines of a run file; nothing is run."""
    return _timings(read_records(NAME, journal, _RESULTS), ())


def _timings(records: Iterable[Record], data_sets: Sequence[DataSet]) -> list[Timing]:
    """Return one line for each record, by kind in the order given, then size."""
    lines = []
    for record in records:
        errors = record["errors"].get(record["method"])  # none without an end
        added, missed = errors or (None, None)
        key = _kind(record), record["variables"], record["n_rows"], record["true_edges"], record["method"]
        seconds = inf if errors is None else record["seconds"]
        lines.append(Timing(*key, seconds, added, missed, str(record.get("outcome", "ended"))))
    kinds = [data.kind for data in data_sets] + [line.kind for line in lines]
    return sorted(lines, key=lambda line: (kinds.index(line.kind), line.n_variables))


def _kind(record: Record) -> str:
    """Return the kind of data of a record."""
    return str(record["source"].rpartition(" n=")[0])


def _answers(
    case: Case, learners: Mapping[str, Learner], limit: float, monitor: Monitor
) -> Iterator[tuple[str, dict[str, object]]]:
    """Measure learners in one new process; yield the result of each until one exceeds the limit or ends the process."""
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(case, list(learners.items()), theirs), daemon=True)
    with _one_thread():
        process.start()
    theirs.close()
    name = next(iter(learners))
    try:
        _received(ours, inf, monitor)  # the process is ready
        for name in learners:
            answer = _received(ours, limit, monitor)
            if answer is None and monitor.cancelled():
                return
            yield name, answer or {"outcome": "stopped"}
            if answer is None:
                return
    except EOFError:
        yield name, {"outcome": "failed: the process ended"}
    finally:
        process.kill()
        process.join()
        ours.close()


def _received(pipe: Connection, limit: float, monitor: Monitor) -> dict[str, object] | None:
    """Return the next message, or None if it does not come within the limit or the run is cancelled."""
    until = monotonic() + limit
    while not pipe.poll(max(0.0, min(0.1, until - monotonic()))):
        if monotonic() >= until or monitor.cancelled():
            return None
    answer: dict[str, object] = pipe.recv()
    return answer


def _serve(case: Case, learners: Sequence[tuple[str, Learner]], pipe: Connection) -> None:
    """Run the learners one after the other and send the result of each; warnings of other packages are not shown."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent ends this one
    Thread(target=_exit_with_parent, daemon=True).start()
    frame = as_frame(case.data)
    pipe.send({})
    for name, learn in learners:
        try:
            graph, seconds = _timed(learn, frame)
        except Exception as error:  # of a package that is not ours
            text = " ".join(f"{type(error).__name__}: {error}".split())
            pipe.send({"outcome": f"failed: {text[:200]}"})
            continue
        found = compare_edges(graph, case.truth)
        errors = {name: [found.false_positives, found.false_negatives]}
        pipe.send({"seconds": round(seconds, 6), "errors": errors, "outcome": "ended"})


def _exit_with_parent() -> None:
    """End this process when its parent has ended, however that was: a learner may run for days."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _timed(learn: Learner, frame: Any) -> tuple[Graph, float]:
    """Return the graph and the least processor time of some runs; the first one loads modules."""
    if isinstance(learn, Peer):
        learn.load()
    best = inf
    for _ in range(_REPEATS):
        before = process_time()
        graph = learn(frame)
        spent = process_time() - before
        best = min(best, spent)
        if spent > _LONG:
            break
    return graph, best


def as_frame(data: Dataset) -> Any:
    """Return the data as a pandas data frame, or as an Arrow table where pandas is not installed."""
    columns = {
        name: column if card == 0 else column.astype(np.int64)
        for name, column, card in zip(data.names, data.columns, data.cards, strict=True)
    }
    if find_spec("pandas") is None:
        import pyarrow as pa

        return pa.table(columns)
    import pandas as pd

    return pd.DataFrame(columns)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that start here use one thread for linear algebra."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
