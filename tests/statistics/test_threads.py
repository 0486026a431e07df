"""Threads of the core: identical bits for any caller, number and order; no thread is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.statistics import Counts, kernels

TASKS = Path("/proc/self/task")


def _counts(n_jobs: int) -> Counts:
    """Enough binary data for threads to be worth it."""
    data = np.random.default_rng(5).integers(0, 2, (300, 1000), dtype=np.uint8)
    return Counts(Dataset.from_codes(list(data), cards=[2] * 300), n_jobs=n_jobs)


def test_many_short_calls_in_a_row_give_the_same_bits() -> None:
    one, four = _counts(1), _counts(4)
    expected = one.reduce_all(kernels.g2())
    for _ in range(50):
        np.testing.assert_array_equal(four.reduce_all(kernels.g2()), expected)


def test_several_callers_at_once_do_not_disturb_each_other() -> None:
    expected, counts = _counts(1).reduce_all(kernels.g2()), _counts(3)
    right: list[bool] = []

    def ask() -> None:
        right.extend(np.array_equal(counts.reduce_all(kernels.g2()), expected) for _ in range(20))

    callers = [threading.Thread(target=ask) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert right == [True] * 80


@pytest.mark.skipif(not TASKS.exists(), reason="threads can be listed on Linux only")
def test_nobody_stays_behind() -> None:
    before = set(os.listdir(TASKS))
    _counts(4).reduce_all(kernels.g2())
    end = time.monotonic() + 30
    while not set(os.listdir(TASKS)) <= before and time.monotonic() < end:
        time.sleep(0.01)
    assert set(os.listdir(TASKS)) <= before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_finds_threads_of_its_own() -> None:
    script = """
import os
import numpy as np
from mnlearn.data import Dataset
from mnlearn.statistics import Counts, kernels

data = np.random.default_rng(5).integers(0, 2, (300, 1000), dtype=np.uint8)
counts = Counts(Dataset.from_codes(list(data), cards=[2] * 300), n_jobs=2)
expected = counts.reduce_all(kernels.g2())
child = os.fork()
same = np.array_equal(counts.reduce_all(kernels.g2()), expected)
if child == 0:
    os._exit(0 if same else 1)
assert same and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)
