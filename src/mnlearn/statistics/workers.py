"""Who counts which shard: this process, or the workers of a Dask cluster; and what a worker does when it is asked."""

from __future__ import annotations

import atexit
import logging
from asyncio import to_thread
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.data.readers import read
from mnlearn.errors import FileError, MnlearnError, UnsuitableError, require
from mnlearn.parallel import PATIENCE, no_workers
from mnlearn.statistics.counts import MAX_TABLE_CELLS, Counts
from mnlearn.statistics.tables import PackedTables, ShardTable

_log = logging.getLogger("mnlearn.statistics")
Asked: TypeAlias = tuple[int, NDArray[np.int32] | None, NDArray[np.int32]]  # x, ys or None for the table of x and z, z

OPENED = 16  # shards that a worker keeps open
TRIES = 3
PAUSE = 0.5  # seconds between two looks


class Shard(NamedTuple):
    """Rows of a packed file: all of them, or those from `start` up to `stop`."""

    path: str
    start: int = 0
    stop: int | None = None

    def __str__(self) -> str:
        """As messages call it."""
        return self.path if self.stop is None else f"{self.path}, rows {self.start:,} to {self.stop:,}"


class ShardDescription(NamedTuple):
    """What a shard says about itself."""

    names: tuple[str, ...]
    levels: tuple[Any, ...]
    n_rows: int
    fingerprint: str


def row_shards(data: Dataset, n: int) -> list[Shard]:
    """The rows of a pack in n shards of nearly the same size, each a whole number of words of 64 rows."""
    if data.pack is None or not data.pack.holds(data.columns) or len(data.columns) != len(data.pack.columns):
        raise UnsuitableError(
            "a cluster counts packed files; got data that are in memory. Pack them first: mnlearn.data.pack(...), and "
            "choose columns then."
        )
    words = -(-data.n_records // 64)
    cuts = [min(64 * (words * k // n), data.n_records) for k in range(n + 1)]
    path = str(data.pack.path.absolute())
    return [Shard(path, start, stop) for start, stop in pairwise(cuts) if start < stop]


def describe_shard(shard: Shard) -> ShardDescription:
    """Open a shard and say what it has; where no file is, say so in a way that is told from other faults."""
    data = read(shard.path)
    if 0 in data.cards:
        raise UnsuitableError(
            f"ShardedCounts needs categorical variables; {data.names[data.cards.index(0)]!r} is continuous. Pack it "
            "discretised, or leave it out."
        )
    assert data.pack is not None
    rows = _rows_of(data, shard)
    return ShardDescription(rows.names, rows.levels, rows.n_rows, data.pack.fingerprint)


def _rows_of(data: Dataset, shard: Shard) -> Dataset:
    if shard.stop is None:
        return data
    part = slice(shard.start, shard.stop)
    repeats = None if data.repeats is None else data.repeats[part]
    columns = tuple(column[part] for column in data.columns)
    return Dataset.trusted(**{**data.__dict__, "columns": columns, "repeats": repeats})


@lru_cache(maxsize=OPENED)
def _opened(shard: Shard, fingerprint: str, n_jobs: int | None) -> Counts:
    """A shard, opened once in each process: opening verifies the file, and its caches serve later questions."""
    data = read(shard.path)
    assert data.pack is not None
    if data.pack.fingerprint != fingerprint:
        raise FileError(f"shards must stay as they are while they are counted; {shard} was written anew. Start again.")
    return Counts(_rows_of(data, shard), n_jobs=n_jobs)


atexit.register(_opened.cache_clear)  # before the interpreter takes the core away from under the stores


def count_shard(shard: Shard, fingerprint: str, asked: Sequence[Asked], n_jobs: int | None) -> PackedTables:
    """The tables of one shard."""
    counts = _opened(shard, fingerprint, n_jobs)
    store, threads = counts._store, counts._threads
    found: list[ShardTable] = []
    for x, ys, z in asked:
        if ys is None:
            states, sizes = _core.cells(store, x, z)
            found.append(ShardTable(states.T, sizes.T))
        else:
            found.append(ShardTable(*_core.flat_tables(store, x, ys, z, MAX_TABLE_CELLS, threads)))
    return PackedTables.of(found)


class LocalExecutor:
    """Shards counted in this process."""

    threads: int | None = None

    def map(self, function: Any, jobs: Sequence[tuple[Any, ...]], _shards: Sequence[Shard]) -> list[Any]:
        return [function(*job) for job in jobs]


class ClusterExecutor:
    """Shards counted by the workers that have them; one whose worker is gone is counted by another that sees it.

    Questions are no tasks: `client.run` hands them to the workers themselves, without the books that a scheduler keeps
    about tasks. That is a fifth of the time, and a lost worker is noticed here, not repaired behind our back.
    """

    def __init__(self, client: Any) -> None:
        require("distributed", "dask")
        if not hasattr(client, "run_on_scheduler"):
            raise UnsuitableError(
                f"client must be a distributed.Client; got a {type(client).__name__}. Make one: Client('address:port')."
            )
        self._client = client
        self.threads: int | None = min(client.nthreads().values(), default=1)
        self._home: dict[Shard, str] = {}

    def map(self, function: Any, jobs: Sequence[tuple[Any, ...]], shards: Sequence[Shard]) -> list[Any]:
        """The answer of each shard; one round trip."""
        answers: dict[int, Any] = {}
        for _ in range(TRIES):
            left = [k for k in range(len(jobs)) if k not in answers]
            self._place([shards[k] for k in left])
            answers |= self._round(function, {k: jobs[k] for k in left}, shards)
            if len(answers) == len(jobs):
                return [answers[k] for k in range(len(jobs))]
        raise _lost(next(shards[k] for k in range(len(jobs)) if k not in answers))

    def _round(self, function: Any, jobs: dict[int, tuple[Any, ...]], shards: Sequence[Shard]) -> dict[int, Any]:
        """The answers of those workers that are still there; shards without one are homeless after it."""
        todo: dict[str, dict[int, tuple[Any, ...]]] = {}
        for k, job in jobs.items():
            todo.setdefault(self._home[shards[k]], {})[k] = job
        said = self._run(_answers, function, todo, workers=list(todo))
        answers: dict[int, Any] = {}
        for outcomes in said.values():
            answers |= {k: outcome for k, outcome in outcomes.items() if not isinstance(outcome, _Lost)}
        for outcome in answers.values():
            if isinstance(outcome, MnlearnError):
                raise outcome
        for k in jobs.keys() - answers.keys():
            _log.info("shard %s is not where it was: looking for it elsewhere", shards[k])
            self._home.pop(shards[k], None)
        return answers

    def _run(self, function: Any, *given: Any, workers: list[str] | None = None) -> dict[str, Any]:
        """What each worker says; one that is gone is left out."""
        if self._client.status != "running":
            raise MnlearnError(
                f"client must be connected to its scheduler; it is {self._client.status}. Start the cluster anew."
            )
        try:
            present = self._client.nthreads()  # asking a worker that is known to be gone would wait for it to come back
            asked = [worker for worker in workers if worker in present] if workers is not None else list(present)
            found = self._client.run(function, *given, workers=asked, on_error="return")
        except OSError as error:
            raise MnlearnError(
                f"client must be connected to its scheduler; it does not answer ({error}). Start the cluster anew."
            ) from error
        for fault in found.values():
            if isinstance(fault, Exception) and not isinstance(fault, OSError):  # the worker is there, and failed
                raise fault
        return {worker: answer for worker, answer in found.items() if not isinstance(answer, Exception)}

    def _place(self, shards: Sequence[Shard]) -> None:
        """Give every shard without a worker one that sees its file, as few to each as can be."""
        homeless = [shard for shard in shards if shard not in self._home]
        if not homeless:
            return
        seen = self._who_sees([shard.path for shard in homeless])
        for k, shard in enumerate(homeless):
            able = sorted(worker for worker, sees in seen.items() if sees[k])
            if not able:
                raise _lost(shard)
            load = [sum(home == worker for home in self._home.values()) for worker in able]
            self._home[shard] = able[int(np.argmin(load))]

    def _who_sees(self, paths: Sequence[str]) -> dict[str, list[bool]]:
        """For each worker that answers, which files it sees; where none is left, one may come back."""
        given_up = monotonic() + PATIENCE
        while True:
            seen = self._run(_sees, paths)
            if seen:
                return seen
            if monotonic() > given_up:
                raise no_workers()
            sleep(PAUSE)


class _Lost(NamedTuple):
    """There is no such file where the question was asked."""

    path: str


async def _answers(function: Any, todo: dict[str, dict[int, tuple[Any, ...]]], dask_worker: Any) -> dict[int, Any]:
    """Run on a worker: in a thread beside its loop, so that it stays alive for others while it counts."""
    return await to_thread(_outcomes, function, todo[dask_worker.contact_address])


def _outcomes(function: Any, jobs: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
    """The outcome of each job, or why it was refused."""
    found: dict[int, Any] = {}
    for k, job in jobs.items():
        try:
            found[k] = function(*job) if Path(job[0].path).exists() else _Lost(job[0].path)
        except MnlearnError as error:
            found[k] = error
    return found


def _sees(paths: Sequence[str]) -> list[bool]:
    """Run on a worker, before it is asked for tables."""
    log = logging.getLogger("distributed.worker")
    if _unheard not in log.filters:
        log.addFilter(_unheard)
    return [Path(path).exists() for path in paths]


def _unheard(record: logging.LogRecord) -> bool:
    """Dask tells of everything that is run so; a search would fill the log of a worker with its questions."""
    return not (record.args and _answers.__name__ in record.args)


def _lost(shard: Shard) -> FileError:
    return FileError(
        f"shards must lie where a worker can open them; {shard} is lost: no worker that is left sees the file. "
        "Put it on a disk that all workers share, or start a worker where it is."
    )
