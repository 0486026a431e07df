"""Counting of shards in this process or on the workers of a Dask cluster, and the code that runs on a worker."""

from __future__ import annotations

import atexit
import logging
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
TableQuestion: TypeAlias = tuple[int, NDArray[np.int32] | None, NDArray[np.int32]]  # x, ys (None: cells of x and z), z

OPENED = 16  # shards that a worker holds open
TRIES = 3
PAUSE = 0.5  # seconds between two polls


class Shard(NamedTuple):
    """Rows of a packed file: all of them, or those from `start` up to `stop`."""

    path: str
    start: int = 0
    stop: int | None = None

    def __str__(self) -> str:
        """Return the name used in messages."""
        return self.path if self.stop is None else f"{self.path}, rows {self.start:,} to {self.stop:,}"


class ShardDescription(NamedTuple):
    """Variables, levels, rows and fingerprint of a shard."""

    names: tuple[str, ...]
    levels: tuple[Any, ...]
    n_rows: int
    fingerprint: str
    gaps: tuple[bool, ...] = ()  # which variables have missing values


def row_shards(data: Dataset, n: int) -> list[Shard]:
    """Split the rows of a pack into n shards of nearly the same size, each a whole number of words of 64 rows."""
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
    """Open a shard and return its description."""
    data = read(shard.path)
    if 0 in data.cards:
        raise UnsuitableError(
            f"ShardedCounts needs categorical variables; {data.names[data.cards.index(0)]!r} is continuous. Pack it "
            "discretised, or leave it out."
        )
    assert data.pack is not None
    rows = _rows_of(data, shard)
    gaps = tuple(name in rows.gaps for name in rows.names)
    return ShardDescription(rows.names, rows.levels, rows.n_rows, data.pack.fingerprint, gaps)


def _rows_of(data: Dataset, shard: Shard) -> Dataset:
    if shard.stop is None:
        return data
    part = slice(shard.start, shard.stop)
    repeats = None if data.repeats is None else data.repeats[part]
    columns = tuple(column[part] for column in data.columns)
    return Dataset.trusted(**{**data.__dict__, "columns": columns, "repeats": repeats})


@lru_cache(maxsize=OPENED)
def _opened(shard: Shard, fingerprint: str, n_jobs: int | None) -> Counts:
    """Open a shard once in each process: opening verifies the file, and its caches serve later questions."""
    data = read(shard.path)
    assert data.pack is not None
    if data.pack.fingerprint != fingerprint:
        raise FileError(f"shards must not change while they are counted; {shard} was replaced. Start again.")
    return Counts(_rows_of(data, shard), n_jobs=n_jobs)


atexit.register(_opened.cache_clear)  # before the interpreter unloads the core


def count_shard(shard: Shard, fingerprint: str, questions: Sequence[TableQuestion], n_jobs: int | None) -> PackedTables:
    """Count the tables of one shard."""
    counts = _opened(shard, fingerprint, n_jobs)
    store, threads = counts._store, counts._threads
    found: list[ShardTable] = []
    for x, ys, z in questions:
        if ys is None:
            states, sizes = _core.cells(store, x, z)
            found.append(ShardTable(states.T, sizes.T))
        else:
            found.append(ShardTable(*_core.flat_tables(store, x, ys, z, MAX_TABLE_CELLS, threads)))
    return PackedTables.of(found)


class LocalExecutor:
    """Executor that counts shards in this process."""

    threads: int | None = None

    def map(self, function: Any, jobs: Sequence[tuple[Any, ...]], _shards: Sequence[Shard]) -> list[Any]:
        return [function(*job) for job in jobs]


class ClusterExecutor:
    """Executor that counts shards on the workers that see their files; those of a lost worker move to another.

    Questions are not Dask tasks: `client.run` sends them to the workers directly, without the bookkeeping of the
    scheduler. That takes a fifth of the time, and a lost worker is noticed and replaced here.
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
        """Return the answer of each shard, in one round trip."""
        answers: dict[int, Any] = {}
        for _ in range(TRIES):
            left = [k for k in range(len(jobs)) if k not in answers]
            self._place([shards[k] for k in left])
            answers |= self._round(function, {k: jobs[k] for k in left}, shards)
            if len(answers) == len(jobs):
                return [answers[k] for k in range(len(jobs))]
        raise _lost(next(shards[k] for k in range(len(jobs)) if k not in answers))

    def _round(self, function: Any, jobs: dict[int, tuple[Any, ...]], shards: Sequence[Shard]) -> dict[int, Any]:
        """Return the answers of the workers that are left; shards without an answer lose their worker."""
        todo: dict[str, dict[int, tuple[Any, ...]]] = {}
        for k, job in jobs.items():
            todo.setdefault(self._home[shards[k]], {})[k] = job
        replies = self._run(_answers, function, todo, workers=list(todo))
        answers: dict[int, Any] = {}
        for outcomes in replies.values():
            answers |= {k: outcome for k, outcome in outcomes.items() if not isinstance(outcome, _Lost)}
        for outcome in answers.values():
            if isinstance(outcome, MnlearnError):
                raise outcome
        for k in jobs.keys() - answers.keys():
            _log.info("shard %s is lost: looking for another worker", shards[k])
            self._home.pop(shards[k], None)
        return answers

    def _run(self, function: Any, *given: Any, workers: list[str] | None = None) -> dict[str, Any]:
        """Return the reply of each worker; lost ones are left out."""
        if self._client.status != "running":
            raise MnlearnError(
                f"client must be connected to its scheduler; it is {self._client.status}. Start the cluster anew."
            )
        try:
            present = self._client.nthreads()  # a call of a lost worker would wait for it to come back
            reached = [worker for worker in workers if worker in present] if workers is not None else list(present)
            found = self._client.run(function, *given, workers=reached, on_error="return")
        except OSError as error:
            raise MnlearnError(
                f"client must be connected to its scheduler; it does not answer ({error}). Start the cluster anew."
            ) from error
        for fault in found.values():
            if isinstance(fault, Exception) and not isinstance(fault, OSError):  # the worker is alive, and failed
                raise fault
        return {worker: answer for worker, answer in found.items() if not isinstance(answer, Exception)}

    def _place(self, shards: Sequence[Shard]) -> None:
        """Assign every shard without a worker to one that sees its file, balancing their loads."""
        unassigned = [shard for shard in shards if shard not in self._home]
        if not unassigned:
            return
        seen = self._who_sees([shard.path for shard in unassigned])
        for k, shard in enumerate(unassigned):
            able = sorted(worker for worker, sees in seen.items() if sees[k])
            if not able:
                raise _lost(shard)
            load = [sum(home == worker for home in self._home.values()) for worker in able]
            self._home[shard] = able[int(np.argmin(load))]

    def _who_sees(self, paths: Sequence[str]) -> dict[str, list[bool]]:
        """Return which files each worker sees; if no worker is left, wait for one to come back."""
        deadline = monotonic() + PATIENCE
        while True:
            seen = self._run(_sees, paths)
            if seen:
                return seen
            if monotonic() > deadline:
                raise no_workers()
            sleep(PAUSE)


class _Lost(NamedTuple):
    """Reply of a worker that does not see the file."""

    path: str


async def _answers(function: Any, todo: dict[str, dict[int, tuple[Any, ...]]], dask_worker: Any) -> dict[int, Any]:
    """Run on a worker, in a thread beside its event loop, which stays responsive while it counts."""
    from asyncio import to_thread  # slow to import, and loaded already where there is an event loop

    return await to_thread(_outcomes, function, todo[dask_worker.contact_address])


def _outcomes(function: Any, jobs: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
    """Return the result of each job, or its error."""
    found: dict[int, Any] = {}
    for k, job in jobs.items():
        try:
            found[k] = function(*job) if Path(job[0].path).exists() else _Lost(job[0].path)
        except MnlearnError as error:
            found[k] = error
    return found


def _sees(paths: Sequence[str]) -> list[bool]:
    """Run on a worker: return which files exist, and silence the log of the counting calls."""
    log = logging.getLogger("distributed.worker")
    if _is_not_counting not in log.filters:
        log.addFilter(_is_not_counting)
    return [Path(path).exists() for path in paths]


def _is_not_counting(record: logging.LogRecord) -> bool:
    """Return False for Dask's log lines about counting calls, which would fill the log of a worker."""
    return not (record.args and _answers.__name__ in record.args)


def _lost(shard: Shard) -> FileError:
    return FileError(
        f"shards must be files that a worker can open; {shard} is lost: no remaining worker sees the file. "
        "Put it on a disk that all workers share, or start a worker on its machine."
    )
