"""Items done by a plain loop, threads, processes or a Dask cluster, with the same answers in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from mnlearn.errors import InputError, MnlearnError, UnsuitableError, check_methods, is_one_of
from mnlearn.parallel._clusters import Watched, ctrl_c_held
from mnlearn.parallel._share import MOST_JOBS, Answer, Item, Shared, beside, job_count
from mnlearn.protocols import SILENT, Monitor

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

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
        watched = Watched(monitor, client)
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
