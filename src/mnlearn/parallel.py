"""Parallel work: `run` applies a function to items in threads, processes or on a Dask cluster.

Answers come in the same order with any number of jobs. Jobs that run side by side share the cores of the machine.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from mnlearn.errors import InputError, MnlearnError, UnsuitableError, check_methods, is_one_of, require, whole_number
from mnlearn.processes import process_pool
from mnlearn.run import SILENT, Monitor

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_JOBS = 4096
_log = logging.getLogger("mnlearn.parallel")
_share: ContextVar[int] = ContextVar("mnlearn_share", default=1)  # how many jobs share the cores
_limit: ContextVar[int] = ContextVar("mnlearn_limit", default=MOST_JOBS)  # how many cores to use at most


def cores() -> int:
    """Return the number of cores this code may use: those of the process, shared among the jobs of `run`."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(bound // _share.get(), _limit.get()))


@contextmanager
def limited(jobs: int) -> Iterator[None]:
    """Use at most this many cores inside the block, wherever all of them would be used."""
    token = _limit.set(jobs)
    try:
        yield
    finally:
        _limit.reset(token)


def job_count(n_jobs: int | None) -> int:
    """Return the number of jobs: None and −1 mean all cores; inside a job of `run`, at most its share of them."""
    given: object = n_jobs
    if given is None or (isinstance(given, Integral) and given == -1):
        return cores()
    wanted = min(whole_number("n_jobs", given, least=1, hint="Leave it out for all cores."), MOST_JOBS)
    return wanted if _share.get() == 1 else min(wanted, cores())


@dataclass(frozen=True)
class _Shared(Generic[Item, Answer]):
    """Function that runs with the number of jobs that share the cores."""

    function: Callable[[Item], Answer]
    share: int

    def __call__(self, item: Item) -> Answer:
        token = _share.set(self.share)
        try:
            return self.function(item)
        finally:
            _share.reset(token)


# Dask clusters.


PATIENCE = 30.0  # seconds without any worker before an error: a killed one may be restarted
SILENCE = 30.0  # seconds without a sign of life of a worker before a warning: it is stopped, or its machine sleeps
_POLL_WORKERS = 1.0  # seconds between two looks at the list of workers
_QUIET = logging.CRITICAL + 1  # level for Dask's own log: what matters of it is a note or an error here
_DASK_LOGGERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")  # own levels


@contextmanager
def joined(address: str) -> Iterator[Any]:
    """Provide a client of the scheduler at an address, such as ``"tcp://10.0.0.1:8786"``, with Dask's own log silent.

    Raises
    ------
    InputError
        If nothing answers at the address.
    """
    distributed = require("distributed", "dask")
    with _quiet_dask():
        try:
            client = distributed.Client(address, timeout=10)
        except (OSError, ValueError, TimeoutError, MemoryError) as error:  # MemoryError: not a scheduler
            raise InputError(
                f"cluster must be the address of a Dask scheduler; nothing answers at {address!r} ({error}). Start "
                "one: dask scheduler."
            ) from error
        with client:
            yield client


@contextmanager
def _quiet_dask() -> Iterator[None]:
    """Silence the log of Dask and its event loop, which prints a traceback when a worker or the scheduler is lost."""
    loggers = [logging.getLogger(name) for name in _DASK_LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(_QUIET)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):  # workers that just ended may still send messages
            logger.setLevel(max(level, logging.WARNING) if level else level)


class ClusterMonitor:
    """Monitor that also watches the workers: it logs lost and silent ones, and without any, work would never end."""

    def __init__(self, monitor: Monitor, client: Any) -> None:
        self.progress = monitor.progress
        self._cancelled, self._client = monitor.cancelled, client
        self._polled = self._seen = monotonic()
        self._workers = set(client.nthreads())
        self._heard: dict[str, tuple[object, float, bool]] = {}  # the last sign of life, since when, and whether told

    def cancelled(self) -> bool:
        """Return whether the caller cancelled; raise MnlearnError if there was no worker for a while."""
        now = monotonic()
        if now - self._polled > _POLL_WORKERS:
            self._polled = now
            workers = set(self._client.nthreads())
            if lost := len(self._workers - workers):
                _log.info("lost %d of %d workers of the cluster: their work is done again", lost, len(self._workers))
            self._workers = workers
            self._tell_who_is_silent(now)
            if workers:
                self._seen = now
            elif now - self._seen > PATIENCE:
                raise no_workers()
        return self._cancelled()

    def _tell_who_is_silent(self, now: float) -> None:
        """Warn once of each worker that the scheduler did not hear of for a while: its work is waited for."""
        before, self._heard = self._heard, {}
        for worker, about in self._client.scheduler_info(n_workers=-1)["workers"].items():
            sign, since, told = before.get(worker, (None, now, False))
            if about["last_seen"] != sign:
                sign, since, told = about["last_seen"], now, False
            elif now - since > SILENCE and not told:
                told = True
                _log.warning(
                    "waiting for worker %s, silent for %.0f s. Wake it, or end it: others then do its work, as they do "
                    "after the time that Dask has for it, distributed.scheduler.worker-ttl",
                    worker,
                    now - since,
                )
            self._heard[worker] = (sign, since, told)


def no_workers() -> MnlearnError:
    """Return the error for a cluster without workers."""
    return MnlearnError(
        f"client must have at least one worker; it has none, and none came within {PATIENCE:g} s. Start some, or wait "
        "for them: client.wait_for_workers(1)."
    )


# `run` and its four ways: a plain loop, threads, processes, a Dask cluster.


Backend: TypeAlias = Literal["threads", "processes"]

_AHEAD = 8  # items submitted per job: enough that a slow one does not leave the others idle
_POLL_MONITOR = 0.1  # seconds between two polls of the monitor


def run(
    function: Callable[[Item], Answer],
    items: Iterable[Item],
    *,
    n_jobs: int | None = None,
    client: Any = None,
    backend: Backend = "threads",
    in_order: bool = True,
    monitor: Monitor = SILENT,
) -> Iterator[Answer]:
    """Apply a function to every item.

    Parameters
    ----------
    function
        Takes one item. For processes and clusters it must be picklable: a function of a module, a partial of one, a
        record of plain values.
    items
        The items.
    n_jobs
        Number of items at a time: None or −1 for all cores, else that many. Any number gives the same result. 1 is a
        plain loop. Ignored with a client.
    client
        A `distributed.Client` whose workers do the items; `n_jobs` and `backend` are ignored.
    backend
        ``"threads"`` for functions that spend their time in the native core or in NumPy; ``"processes"`` for those that
        spend it in Python.
    in_order
        Whether answers come in the order of the items; if not, each comes as soon as it is ready.
    monitor
        Receives the number of items done. When it cancels, no new item starts; answers of running items still come
        (a cluster cancels them), so that there are fewer answers than items.

    Returns
    -------
    iterator
        One answer per item. The first exception is raised in place of its answer and cancels the rest; so does leaving
        the loop, or Ctrl-C.

    Raises
    ------
    InputError
        If a setting breaks a rule; no item has started then.
    MnlearnError
        If a process was killed or ran out of memory, or a cluster has no worker left.

    Notes
    -----
    Answers of at most eight items per job are held until their turn. Inside an item, `cores` is the item's share of the
    machine: n items at a time have cores / n each, an item on a cluster has one.

    Examples
    --------
    >>> list(run(len, ["a", "bb", "ccc"], n_jobs=2))
    [1, 2, 3]
    """
    if not is_one_of(backend, get_args(Backend)):
        raise InputError(f"backend must be 'threads' or 'processes'; got {backend!r}. Leave it out for threads.")
    if client is not None and not hasattr(client, "get_executor"):
        raise UnsuitableError(
            f"client must be a distributed.Client; got a {type(client).__name__}. Make one: Client('address:port')."
        )
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for no progress.")
    todo = list(items)
    jobs = job_count(n_jobs)
    if client is not None:
        answers = _on_cluster(function, todo, client, in_order, monitor)
    elif min(jobs, len(todo)) <= 1:
        answers = _one_by_one(function, todo, monitor)
    elif backend == "threads":
        answers = _in_threads(function, todo, min(jobs, len(todo)), in_order, monitor)
    else:
        answers = _in_processes(function, todo, min(jobs, len(todo)), in_order, monitor)
    return _counted(answers, len(todo), monitor)


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items while a background thread makes the next one: for items that are made outside Python."""
    from concurrent.futures import ThreadPoolExecutor

    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="mnlearn") as pool:
        coming = pool.submit(lambda: list(islice(source, 1)))
        while item := coming.result():
            coming = pool.submit(lambda: list(islice(source, 1)))
            yield item[0]


class Quietly:
    """Monitor that can cancel but ignores progress: for callers that report progress themselves."""

    def __init__(self, monitor: Monitor) -> None:
        self.cancelled = monitor.cancelled

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Ignore it."""


def _counted(answers: Iterator[Answer], total: int, monitor: Monitor) -> Iterator[Answer]:
    for done, answer in enumerate(answers, start=1):
        monitor.progress(done, total)
        yield answer


def _one_by_one(function: Callable[[Item], Answer], items: list[Item], monitor: Monitor) -> Iterator[Answer]:
    for item in items:
        if monitor.cancelled():
            return
        yield function(item)


def _in_threads(
    function: Callable[[Item], Answer], items: list[Item], jobs: int, in_order: bool, monitor: Monitor
) -> Iterator[Answer]:
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(jobs, thread_name_prefix="mnlearn")
    interrupted = False
    try:
        task = _Shared(function, _share.get() * jobs)
        yield from _answers(pool, task, items, ahead=jobs * _AHEAD, in_order=in_order, monitor=monitor)
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:  # after Ctrl-C, do not wait for running items
        pool.shutdown(wait=not interrupted, cancel_futures=True)


def _in_processes(
    function: Callable[[Item], Answer], items: list[Item], jobs: int, in_order: bool, monitor: Monitor
) -> Iterator[Answer]:
    """Run in fresh processes, which inherit no locked threads; they stay for the next call and end when idle."""
    from concurrent.futures import BrokenExecutor

    pool = None
    try:
        pool = process_pool(jobs)
        task = _Shared(function, _share.get() * jobs)
        ahead = jobs * _AHEAD
        yield from _answers(pool, task, items, ahead=ahead, in_order=in_order, monitor=monitor, killed=True)
    except BrokenExecutor as error:
        raise MnlearnError(
            f"a worker process must live until its work is done; one of {jobs} was killed or ran out of memory. "
            "Use fewer jobs (n_jobs=...), or smaller work."
        ) from error
    except Exception as error:
        if type(error).__name__ != "PicklingError":
            raise
        raise MnlearnError(
            "what runs in other processes must be picklable; a class or function of yours uses something that is not, "
            "such as a lock or an open file. Make it inside the class, or use one process (n_jobs=1)."
        ) from error
    except KeyboardInterrupt:
        if pool is not None:
            pool.shutdown(kill_workers=True)
        raise


def _on_cluster(
    function: Callable[[Item], Answer], items: list[Item], client: Any, in_order: bool, monitor: Monitor
) -> Iterator[Answer]:
    """Run on the workers of a Dask client; items of a lost worker are done by another one."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    with client.get_executor(pure=False) as pool:
        ahead = _AHEAD * max(1, sum(client.nthreads().values()))
        watched, task = ClusterMonitor(monitor, client), _Shared(function, MOST_JOBS)
        try:
            yield from _answers(pool, task, items, ahead=ahead, in_order=in_order, monitor=watched)
        except KilledWorker as error:
            raise MnlearnError(
                f"a worker must live until its work is done; {error.allowed_failures + 1} were killed or ran out of "
                "memory at the same item. Use fewer workers, or smaller work."
            ) from error
        except CancelledError as error:
            raise MnlearnError(
                f"client must be connected to its scheduler; it is {client.status}, and its work is lost. Start the "
                "cluster anew."
            ) from error


def _answers(
    pool: Executor,
    task: Callable[[Item], Answer],
    items: list[Item],
    *,
    ahead: int,
    in_order: bool,
    monitor: Monitor,
    killed: bool = False,
) -> Iterator[Answer]:
    """Yield the answers of a pool, `ahead` items submitted at a time; a pool that Ctrl-C kills cancels them itself."""
    queue = iter(items)
    waiting: deque[Future[Answer]] = deque()
    try:
        while not monitor.cancelled():
            waiting.extend(pool.submit(task, item) for item in islice(queue, ahead - len(waiting)))
            if not waiting:
                return
            yield from _finished(waiting, in_order)
        yield from (future.result() for future in _running(waiting))
    except Exception:
        if not in_order:  # keep the answers of the other items
            yield from (future.result() for future in _running(waiting) if future.exception() is None)
        raise
    except KeyboardInterrupt:
        if killed:
            waiting.clear()  # the pool fails on cancelled items and then kills no process
        raise
    finally:
        for future in waiting:
            future.cancel()


def _finished(waiting: deque[Future[Answer]], in_order: bool) -> Iterator[Answer]:
    """Yield the answers that are ready and whose turn it is, after a short wait; a failure comes last."""
    from concurrent.futures import FIRST_COMPLETED, wait

    wait([waiting[0]] if in_order else waiting, _POLL_MONITOR, return_when=FIRST_COMPLETED)
    if in_order:
        while waiting and waiting[0].done():
            yield waiting.popleft().result()
        return
    done = sorted((future for future in waiting if future.done()), key=lambda future: future.exception() is not None)
    for future in done:
        waiting.remove(future)
        yield future.result()


def _running(waiting: deque[Future[Answer]]) -> list[Future[Answer]]:
    """Cancel from the back, so that no free job starts the next item; return what was already running."""
    return [future for future in reversed(waiting) if not future.cancel()][::-1]
