"""Processes: the one module that starts programs and opens pools of them.

A child never has the current folder on its path: Python would run files there that are named like its modules.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING

from mnlearn import errors
from mnlearn.errors import MnlearnError

if TYPE_CHECKING:
    from joblib.externals.loky.reusable_executor import _ReusablePoolExecutor

_SETTINGS = {"PYTHONSAFEPATH": "1"} | dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
_IDLE = 300  # seconds that a process of a pool waits for more work before it ends


class ChildError(Exception):
    """A child process failed; the text is a clause that says why."""


class LimitError(ChildError):
    """A child process reached a limit of time or memory."""


@contextmanager
def environment() -> Iterator[Mapping[str, str]]:
    """Provide the settings of processes that start in the block, which inherit them: a safe path, one BLAS thread."""
    before = {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    try:
        yield _SETTINGS
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def process_pool(jobs: int) -> _ReusablePoolExecutor:
    """Return a started pool of fresh processes, which never receive Ctrl-C; during the start it ends the pool."""
    from joblib.externals.loky import get_reusable_executor

    pool = None
    try:
        with environment() as settings, _ctrl_c_held():
            pool = get_reusable_executor(max_workers=jobs, timeout=_IDLE, env=dict(settings))
            pool.submit(int)
    except KeyboardInterrupt:
        if pool is not None:
            pool.shutdown(kill_workers=True)
        raise
    return pool


@contextmanager
def _ctrl_c_held() -> Iterator[None]:
    """Block Ctrl-C while processes start, where the system can: they inherit the mask and never receive it.

    A terminal sends Ctrl-C to every process of its group, but only the parent decides whether to stop.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # unblocks the signal when it starts, so it starts first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_child(function: str, *args: str, seconds: float = 60.0, memory: int | None = None) -> bytes:
    """Call a function in a process of its own, with limits of time and memory.

    Parameters
    ----------
    function
        Module and name: ``"package.module:function"``. It takes strings and returns bytes.
    args
        Its arguments.
    seconds
        How long it may take.
    memory
        How many bytes it may allocate in all, at most what the machine has; Windows has no such limit.

    Returns
    -------
    bytes
        What the function returned. What it prints is lost.

    Raises
    ------
    MnlearnError
        The one that the function raised.
    ChildError
        If it raised another exception or crashed; `LimitError` if it reached a limit.
    """
    command = [sys.executable, "-P", "-m", __spec__.name, function, str(memory or 0), *args]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=seconds,
            env={**os.environ, **_SETTINGS},
        )
    except subprocess.TimeoutExpired as error:
        raise LimitError(f"it keeps its reader busy for more than {seconds:.0f} s") from error
    if done.returncode == 0 and done.stdout:
        return done.stdout
    raise _reason(done.stderr, memory)


def _reason(stderr: bytes, memory: int | None) -> Exception:
    """Return the error of a child that failed: its last line has the exception, unless it crashed."""
    try:
        kind, text = json.loads(stderr.splitlines()[-1])
    except (IndexError, ValueError, TypeError):
        kind, text = "MemoryError" if b"memory allocation" in stderr else "", ""
    own_class = vars(errors).get(kind)
    if isinstance(own_class, type) and issubclass(own_class, MnlearnError):
        return own_class(text)
    if kind == "MemoryError":
        return LimitError(f"it needs more than {memory / 2**30:.3g} GiB" if memory else "it needs too much memory")
    return ChildError((text.splitlines() or [kind])[0] or "it crashes its reader")


def _limit_memory(most: int) -> None:
    """Limit the memory of this process, and leave no dump of it in a file, where the system can."""
    try:
        import resource
    except ImportError:
        return
    most = min(most, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, most)):
        with suppress(OSError, ValueError):  # a lower limit is already set
            if value or limit == resource.RLIMIT_CORE:
                resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))


def _main(function: str, memory: str, *args: str) -> int:
    """Call the function and write its answer; return the exit status."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # standard output carries the answer alone; libraries print on standard error
    _limit_memory(int(memory))
    module, name = function.split(":")
    try:
        result: bytes = vars(import_module(module))[name](*args)
    except BaseException as error:  # a panic of Rust is no Exception
        sys.stderr.write("\n" + json.dumps([type(error).__name__, str(error)]) + "\n")
        return 1
    with answer:
        answer.write(result)
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
