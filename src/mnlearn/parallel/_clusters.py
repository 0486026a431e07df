"""Dask clusters: joined by their address or started here, and watched while they work."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import Any

from mnlearn.errors import InputError, MnlearnError, require, whole_number
from mnlearn.parallel._share import cores
from mnlearn.protocols import Monitor

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


class Watched:
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
