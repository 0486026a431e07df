"""Clusters on this machine; workers that are restarted when they die, or, like remote machines, gone for good."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import pytest

from mnlearn.parallel import joined


@contextmanager
def local_cluster(n: int) -> Iterator[Any]:
    """Provide a client of a cluster of n processes that only this machine can reach."""
    distributed: Any = pytest.importorskip("distributed")

    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 60}
    with (
        distributed.LocalCluster(n_workers=n, threads_per_worker=1, **options) as local,
        joined(local.scheduler_address) as client,
    ):
        yield client


@contextmanager
def lonely_workers(n: int, log: Any = subprocess.DEVNULL) -> Iterator[tuple[Any, list[subprocess.Popen[bytes]]]]:
    """A client, and its n workers as processes without a nanny, and where they say what they do."""
    distributed: Any = pytest.importorskip("distributed")

    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=50) as scheduler:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler.scheduler_address]
        command += ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        workers = [subprocess.Popen(command, stdout=log, stderr=log, env=environment) for _ in range(n)]
        try:
            with distributed.Client(scheduler) as client:
                client.wait_for_workers(n, timeout=120)
                yield client, workers
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def kill(client: Any, worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker, and wait until its scheduler has noticed: asking before that waits half a minute for it."""
    before, given_up = len(client.nthreads()), monotonic() + 60
    worker.kill()
    while len(client.nthreads()) == before:
        assert monotonic() < given_up
        sleep(0.05)
