"""Values that are computed on first use: kept once, and without a lock that a forked process could inherit."""

from __future__ import annotations

import os
import pickle
import pkgutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module

import pytest

import mnlearn as mn
from mnlearn._lazy import cached

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
SECONDS = 20.0


class Box:
    """An object with one value, which counts how often it is computed."""

    def __init__(self) -> None:
        self.computed = 0

    @cached
    def value(self) -> object:
        """Some value."""
        self.computed += 1
        time.sleep(0.05)
        return object()


def test_a_value_is_computed_once_and_kept() -> None:
    box = Box()
    assert box.value is box.value
    assert box.computed == 1
    assert Box.value.__doc__ == "Some value."
    assert isinstance(Box.value, cached)


def test_threads_that_ask_at_once_get_the_same_value() -> None:
    box = Box()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(box.value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert set(map(id, found)) == {id(box.value)}


def test_objects_with_a_value_are_pickled_with_it() -> None:
    box = Box()
    box.__dict__["value"] = 3
    assert pickle.loads(pickle.dumps(box)).value == 3


# Forks while another thread computes a value


def every_cached_value() -> Iterator[tuple[type, str]]:
    for module in sorted(info.name for info in pkgutil.walk_packages(mn.__path__, "mnlearn.")):
        if module.endswith("__main__"):
            continue
        with suppress(ImportError):  # of a GPU
            for owner in vars(import_module(module)).values():
                if isinstance(owner, type) and owner.__module__ == module:
                    for name, value in vars(owner).items():
                        if isinstance(value, cached):
                            yield owner, name


def ends_in_a_fork(work: Callable[[], object]) -> bool:
    """Return whether work without an error ends in time in a forked process."""
    child = os.fork()
    if not child:
        with suppress(BaseException):
            work()
            os._exit(0)
        os._exit(1)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("owner", "name"), [pytest.param(*each, id=f"{each[0].__name__}.{each[1]}") for each in every_cached_value()]
)
def test_no_lock_is_held_while_a_value_is_computed(owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started, release = threading.Event(), threading.Event()
    here = threading.get_ident()

    def compute(_: object) -> int:
        if threading.get_ident() != here:
            started.set()
            assert release.wait(SECONDS + 10)
        return 7

    prop = vars(owner)[name]
    monkeypatch.setattr(prop, "func", compute)
    one: object = object.__new__(owner)
    other: object = object.__new__(owner)
    thread = threading.Thread(target=lambda: prop.__get__(one, owner))
    thread.start()
    try:
        assert started.wait(SECONDS)
        assert ends_in_a_fork(lambda: prop.__get__(other, owner))
        assert ends_in_a_fork(lambda: prop.__get__(one, owner))
    finally:
        release.set()
        thread.join()


@forks
@pytest.mark.parametrize("value", ["weights", "intervals", "states", "numbers", "mixed"])
def test_a_fork_while_a_thread_computes_it_computes_it_too(value: str) -> None:
    script = """
import os, threading, time
import numpy as np
import mnlearn as mn
from mnlearn.model import fit

rng = np.random.default_rng(1)
states = {name: rng.integers(0, 2, 200) for name in "abc"}
numbers = {name: rng.normal(size=200) for name in "abc"}
mixed = mn.read({**states, **{name.upper(): values for name, values in numbers.items()}})
states, numbers = mn.read(states), mn.read(numbers)
pair, pairs = mn.Graph(3, [(0, 1)]), mn.Graph(6, [(0, 1), (1, 3), (3, 4)])
made = {
    "weights": lambda: mn.learn(states, "mpl").weights.values,
    "intervals": lambda: mn.learn(states, "mpl").intervals(20, relearn=False, n_jobs=1).observed["strength"],
    "states": lambda: fit(pair, states).log_likelihood(states),
    "numbers": lambda: fit(pair, numbers).log_likelihood(numbers),
    "mixed": lambda: fit(pairs, mixed).log_pseudolikelihood(mixed),
}
make = made[VALUE]
expected, stop = np.asarray(make()), threading.Event()

def repeat():
    while not stop.is_set():
        make()

thread = threading.Thread(target=repeat)
thread.start()
for _ in range(10):
    time.sleep(0.01)
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(np.asarray(make()), expected) else 1)
    until = time.monotonic() + 30
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > until:
            os.kill(child, 9)
            stop.set()
            raise SystemExit("the fork hangs")
        time.sleep(0.001)
    assert ended[1] == 0
stop.set()
"""
    code = f"VALUE = {value!r}\n{script}"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)
