"""How much of the machine a piece of work may use: its share of the cores, beside other jobs of `run`."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from mnlearn.errors import InputError, MnlearnError, UnsuitableError, check_methods, is_one_of, require, whole_number
from mnlearn.protocols.search import SILENT, Monitor

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_JOBS = 4096
_share: ContextVar[int] = ContextVar("mnlearn_share", default=1)  # how many work beside us on the cores there are


def cores() -> int:
    """How many cores this code may use: those the process is bound to, shared with the jobs of `run` beside it."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, bound // _share.get())


def job_count(n_jobs: int | None) -> int:
    """How many jobs a wish means: None and −1 are all cores; inside a job of `run`, at most its share of them."""
    wish: object = n_jobs
    if wish is None or (isinstance(wish, Integral) and wish == -1):
        return cores()
    wanted = min(whole_number("n_jobs", wish, least=1, way_out="Leave it out for all cores."), MOST_JOBS)
    return wanted if _share.get() == 1 else min(wanted, cores())


def beside() -> int:
    """How many work on the cores there are, this code among them."""
    return _share.get()


@dataclass(frozen=True)
class Shared(Generic[Item, Answer]):
    """The function, told how many work beside it."""

    function: Callable[[Item], Answer]
    share: int

    def __call__(self, item: Item) -> Answer:
        token = _share.set(self.share)
        try:
            return self.function(item)
        finally:
            _share.reset(token)


# Dask clusters: joined by their address or started here, and watched while they work.


PATIENCE = 30.0  # seconds without any worker, in which a killed one may be started anew
_LOOK = 1.0  # seconds between two looks at who is there
_QUIET = 40  # of logging: the workers report errors only
_LOCALLY = {"distributed.scheduler.reuse-broadcast-comm": True}  # halves the round trip of a scan: 3 ms instead of 6


@contextmanager
def cluster(address: str | None = None, *, workers: int | None = None) -> Iterator[Any]:
    """Join a Dask cluster, or start one on this machine that ends with the block.

    Parameters
    ----------
    address
        Of a scheduler, such as ``"tcp://10.0.0.1:8786"``.
    workers
        How many processes to start here instead; the cores are shared out among them.

    Yields
    ------
    distributed.Client
        For `run`, for `mnlearn.learn(..., client=...)`, for `mnlearn.statistics.ShardedCounts`.

    Raises
    ------
    InputError
        If not one of the two is given, or nobody answers at the address.

    Examples
    --------
    >>> with cluster(workers=2) as client:  # doctest: +SKIP
    ...     print(list(run(len, ["a", "bb"], client=client)))
    [1, 2]
    """
    if (address is None) == (workers is None):
        raise InputError("a cluster needs an address or a number of workers, one of the two. Drop one, or add one.")
    distributed = require("distributed", "dask")
    if workers is None:
        try:
            client = distributed.Client(address, timeout=10)
        except (OSError, ValueError, TimeoutError, MemoryError) as error:  # the last: what answers is no scheduler
            raise InputError(
                f"cluster must be the address of a Dask scheduler; nobody answers at {address!r} ({error}). Start one: "
                "dask scheduler."
            ) from error
        with client:
            yield client
        return
    count = whole_number("workers", workers, least=1, way_out="Ask for at least one.")
    with ExitStack() as opened:
        opened.enter_context(require("dask", "dask").config.set(_LOCALLY))
        with ctrl_c_held():  # one that comes meanwhile is heard once there is something to stop
            local = distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=max(1, cores() // count),
                dashboard_address=":0",
                silence_logs=_QUIET,
            )
            opened.enter_context(local)
            client = opened.enter_context(distributed.Client(local))
        yield client


@contextmanager
def ctrl_c_held() -> Iterator[None]:
    """Hold Ctrl-C back while processes start, where a system can: they inherit that, and never hear it.

    A terminal sends Ctrl-C to every process; whether to stop is for the one that was asked, not for its workers.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # lets go of what is held when it starts; so first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ClusterMonitor:
    """A monitor that also looks whether the cluster has workers: work that nobody does would wait for ever."""

    def __init__(self, monitor: Monitor, client: Any) -> None:
        self.progress = monitor.progress
        self._cancelled, self._client = monitor.cancelled, client
        self._looked = self._seen = monotonic()

    def cancelled(self) -> bool:
        """Whether the caller had enough; without any worker for a while, an error."""
        now = monotonic()
        if now - self._looked > _LOOK:
            self._looked = now
            if self._client.nthreads():
                self._seen = now
            elif now - self._seen > PATIENCE:
                raise no_workers()
        return self._cancelled()


def no_workers() -> MnlearnError:
    """What to say when all are gone."""
    return MnlearnError(
        f"client must have at least one worker; it has none, and none came within {PATIENCE:g} s. Start some, or wait "
        "for them: client.wait_for_workers(1)."
    )


# Items done by a plain loop, threads, processes or a Dask cluster, with the same answers in the same order.


Backend: TypeAlias = Literal["threads", "processes"]

_AHEAD = 8  # items handed out for each job: enough that a slow one does not leave the others idle
_PATIENCE = 0.1  # seconds between two looks at the monitor
_IDLE = 300  # seconds that a process waits for more work before it ends


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
        Takes one item. For processes and clusters it must be something that can be sent: a function of a module, a
        partial of one, a record of plain values.
    items
        What there is to do.
    n_jobs
        How many at a time: None or −1 for all cores, else that many. Any number gives the same result.
        All cores are those that the process is bound to; 1 is a plain loop. Not for a client.
    client
        A `distributed.Client`: the items are done by its workers, and `n_jobs` and `backend` do not matter.
    backend
        ``"threads"``, for functions that spend their time in the native core or in NumPy; ``"processes"`` for those
        that spend it in Python.
    in_order
        Whether the answers come in the order of the items; if not, each comes as soon as it is there.
    monitor
        Hears how many items are done. When it has had enough, nothing new is begun and what is under way still
        comes (a cluster calls it off): there are fewer answers than items then.

    Returns
    -------
    iterator
        One answer for each item. The first exception reaches the caller, at the place of its answer, and calls off
        the rest; so does leaving the loop, or Ctrl-C.

    Raises
    ------
    InputError
        If a setting breaks a rule; nothing was begun then.
    MnlearnError
        If a process died: it was killed, or ran out of memory; or if a cluster has no worker left.

    Notes
    -----
    The answers are held until their turn comes, those of at most eight items per job. Inside an item, `cores` is the
    item's share of the machine: n items at a time have cores / n each, an item on a cluster has one.

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
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out to hear nothing.")
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
    """Hand items on while a thread of its own makes the next one: for items that are made outside Python."""
    from concurrent.futures import ThreadPoolExecutor

    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="mnlearn") as pool:
        coming = pool.submit(lambda: list(islice(source, 1)))
        while item := coming.result():
            coming = pool.submit(lambda: list(islice(source, 1)))
            yield item[0]


class Quietly:
    """A monitor that may stop the work but hears nothing of it: for callers that count in their own way."""

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
        task = Shared(function, beside() * jobs)
        yield from _answers(pool, task, items, ahead=jobs * _AHEAD, in_order=in_order, monitor=monitor)
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:  # who pressed Ctrl-C is not made to wait for what is under way
        pool.shutdown(wait=not interrupted, cancel_futures=True)


def _in_processes(
    function: Callable[[Item], Answer], items: list[Item], jobs: int, in_order: bool, monitor: Monitor
) -> Iterator[Answer]:
    """Fresh processes that inherit no threads holding locks; they stay for the next call, and end when idle."""
    from concurrent.futures import BrokenExecutor

    from joblib.externals.loky import get_reusable_executor

    pool = None
    try:
        with ctrl_c_held():
            pool = get_reusable_executor(max_workers=jobs, timeout=_IDLE)
            pool.submit(int)
        task = Shared(function, beside() * jobs)
        ahead = jobs * _AHEAD
        yield from _answers(pool, task, items, ahead=ahead, in_order=in_order, monitor=monitor, killed=True)
    except BrokenExecutor as error:
        raise MnlearnError(
            f"a worker process must live until its work is done; one of {jobs} was killed or ran out of memory. "
            "Use fewer jobs (n_jobs=...), or smaller work."
        ) from error
    except KeyboardInterrupt:  # also one that was held back while the processes began
        if pool is not None:
            pool.shutdown(kill_workers=True)
        raise


def _on_cluster(
    function: Callable[[Item], Answer], items: list[Item], client: Any, in_order: bool, monitor: Monitor
) -> Iterator[Answer]:
    """By the workers of a Dask client; what a lost worker had in hand is done by another one."""
    with client.get_executor(pure=False) as pool:
        ahead = _AHEAD * max(1, sum(client.nthreads().values()))
        watched = ClusterMonitor(monitor, client)
        yield from _answers(pool, Shared(function, MOST_JOBS), items, ahead=ahead, in_order=in_order, monitor=watched)


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
    """The answers of a pool, `ahead` items handed out at a time; a pool that Ctrl-C kills calls them off itself."""
    queue = iter(items)
    waiting: deque[Future[Answer]] = deque()
    try:
        while not monitor.cancelled():
            waiting.extend(pool.submit(task, item) for item in islice(queue, ahead - len(waiting)))
            if not waiting:
                return
            yield from _finished(waiting, in_order)
        yield from (future.result() for future in _begun(waiting))
    except Exception:
        if not in_order:  # one failure does not cost what the others did
            yield from (future.result() for future in _begun(waiting) if future.exception() is None)
        raise
    except KeyboardInterrupt:
        if killed:
            waiting.clear()  # loky's thread trips over what was called off before, and then kills nobody
        raise
    finally:
        for future in waiting:
            future.cancel()


def _finished(waiting: deque[Future[Answer]], in_order: bool) -> Iterator[Answer]:
    """Those whose turn it is and that are done, after a short wait; a failure comes last."""
    from concurrent.futures import FIRST_COMPLETED, wait

    wait([waiting[0]] if in_order else waiting, _PATIENCE, return_when=FIRST_COMPLETED)
    if in_order:
        while waiting and waiting[0].done():
            yield waiting.popleft().result()
        return
    done = sorted((future for future in waiting if future.done()), key=lambda future: future.exception() is not None)
    for future in done:
        waiting.remove(future)
        yield future.result()


def _begun(waiting: deque[Future[Answer]]) -> list[Future[Answer]]:
    """What could not be called off any more; from the back, or a free job would begin what comes next."""
    return [future for future in reversed(waiting) if not future.cancel()][::-1]
