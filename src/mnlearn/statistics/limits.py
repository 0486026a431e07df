"""Upper bounds of the processor that the speed of counting is measured against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mnlearn import _core

PROBE_BITS = 8192  # counted by the core in one round


def supported_code_paths() -> list[str]:
    """Return the code paths this processor can run, fastest first."""
    return _core.levels()


def popcount_work(path: str, rounds: int, *, n_threads: int = 1) -> Callable[[], object]:
    """Return work that ANDs, counts and adds `rounds` times PROBE_BITS bits in registers, on each of the threads.

    No table is counted faster by these three steps; adding several words before counting them takes fewer.
    """
    return lambda: _core.probe_popcount(path, rounds, n_threads)


def load_work(path: str, n_rows: int) -> Callable[[], object]:
    """Return work that loads n_rows rows of 512 bits one after the other: no list of rows is added up faster.

    The rows begin at multiples of 64 bytes, as those of the core do: across two lines each load would count twice.
    """
    room = np.random.default_rng(0).integers(0, 2**63, n_rows * 8 + 8, dtype=np.uint64)
    first = -room.ctypes.data % 64 // 8
    rows = room[first : first + n_rows * 8]
    return lambda: _core.probe_loads(path, rows)
