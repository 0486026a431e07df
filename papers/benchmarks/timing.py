"""Timers, memory and fresh processes of the benchmarks.

There is one timer: CPU seconds of this process, the least disturbed of some runs. Other work on the machine makes runs
longer, never shorter. Absolute times do not carry over to other machines; ratios of two works that take turns do.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
ROOT = Path(__file__).parents[2]


def data_folder() -> Path:
    """Return the folder of networks and tables in files: MNLEARN_DATA, or shared/data beside the checkout."""
    return Path(os.environ.get("MNLEARN_DATA", ROOT.parent / "shared" / "data"))


def cpu(work: Callable[[], T], repeats: int = 5, enough: float = 1.0) -> tuple[float, T]:
    """Return the least CPU seconds of a call, and what the last one returned.

    Short calls are repeated within a sample of a millisecond. No run is started after `enough` seconds.
    """
    best, found = _sample(work, 1)
    batch, spent = max(1, int(1e-3 / max(best, 1e-7))), best
    for _ in range(repeats - 1):
        if spent > enough:
            break
        seconds, found = _sample(work, batch)
        best, spent = min(best, seconds), spent + seconds * batch
    return best, found


def turns(*works: Callable[[], object], repeats: int = 7, enough: float = 1.0) -> list[float]:
    """Return the least CPU seconds of a call of each work; they take turns, so that a slow spell hits all alike."""
    best = [cpu(work, 2, enough)[0] for work in works]
    for _ in range(repeats - 1):
        for k, work in enumerate(works):
            if best[k] * 3 < enough or repeats <= 3:
                best[k] = min(best[k], _sample(work, max(1, int(1e-3 / max(best[k], 1e-7))))[0])
    return best


def clock(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds by the clock of one call, and what it returned."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def _sample(work: Callable[[], T], batch: int) -> tuple[float, T]:
    """Return the CPU seconds of one call, the mean of some in a row."""
    start = time.process_time()
    for _ in range(batch - 1):
        work()
    found = work()
    return (time.process_time() - start) / batch, found


def memory(what: str = "VmHWM") -> float:
    """Return the peak of the resident memory of this process in MB; with "VmRSS" what it has now."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
        return 1024 * int(lines[what].split()[0]) / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else 1024 * peak / 1e6


def forget_peak() -> None:
    """Make the peak of the memory what this process has now."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5", encoding="utf-8")


def fresh(work: Callable[..., T], *given: Any, method: str = "spawn") -> T:
    """Call a function of a module in a process of its own, with a memory of its own; "fork" shares what there is."""
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
        return pool.submit(work, *given).result()
