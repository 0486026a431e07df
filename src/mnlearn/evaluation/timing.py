"""Times on a machine that others use too: works take turns, and low quantiles are looked at."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

OFTEN = 4  # in a row, as a search asks


def cpu_times(*works: Callable[[], object], budget: float = 0.25, sample: float = 150e-6) -> list[float]:
    """Seconds of this thread's CPU for one call of each work: the 10 % quantile of samples of `sample` seconds or more.

    The works take turns, so that a slow spell of a shared machine hits all of them alike; in a long sample each has the
    caches to itself, as in a search that asks nothing else.
    """
    batches = [_batch(work, sample) for work in works]
    samples: list[list[float]] = [[] for _ in works]
    start = time.thread_time()
    while len(samples[0]) < 4 or time.thread_time() - start < budget * len(works):
        for work, batch, taken in zip(works, batches, samples, strict=True):
            before = time.thread_time()
            for _ in range(batch):
                work()
            taken.append((time.thread_time() - before) / batch)
    return [float(np.quantile(taken, 0.1, method="higher")) for taken in samples]


def _batch(work: Callable[[], object], sample: float) -> int:
    """How often to call it for one sample; the first call, which may build something, is not looked at."""
    work()
    before = time.thread_time()
    work()
    return max(1, int(sample / max(time.thread_time() - before, 1e-7)))


def clock_times(*works: Callable[[], object], turns: int = 30) -> list[float]:
    """Seconds by the clock for one call of each work, taking turns: the least of all turns.

    Other work on the machine makes runs longer, never shorter, and those of two threads more than those of one. So
    the ratio of two such times is a lower bound of what threads gain on an idle machine.
    """
    best = [float("inf")] * len(works)
    for turn in range(turns + 1):
        for k, work in enumerate(works):
            before = time.perf_counter()
            work()
            if turn:  # the first one may build something
                best[k] = min(best[k], time.perf_counter() - before)
    return best


def often(work: Callable[[], object]) -> None:
    """The work several times in a row."""
    for _ in range(OFTEN):
        work()


def two_callers(work: Callable[[], object]) -> None:
    """The work, and the same by another thread at the same time."""
    other = threading.Thread(target=work)
    other.start()
    work()
    other.join()
