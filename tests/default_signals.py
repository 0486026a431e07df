"""Children that end at a signal, however the tests were started.

`nohup`, a shell that starts the tests in the background and some runners ignore SIGINT, SIGHUP or others. Children
inherit that, and would outlive the signal that a test sends to them.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

ENDING = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM") if hasattr(signal, name))


def restore_signals() -> None:
    """Set the signals that end a program to the handlers of a new Python, if they are ignored, and unblock them."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


@contextmanager
def restored_signals() -> Iterator[None]:
    """Restore the signals of this process inside; afterwards they are as before."""
    handlers = {number: signal.getsignal(number) for number in ENDING}
    masked = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ()) if masked else ()
    restore_signals()
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:  # one of a C library, which Python cannot set
                signal.signal(number, handler)
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def with_default_signals(command: Sequence[str]) -> list[str]:
    """Return a command that restores the signals and then becomes the given one, in the same process.

    A `preexec_fn` would restore them between fork and exec, where no Python code is safe beside other threads.
    """
    if os.name != "posix":  # where children inherit no ignored signals, and exec starts another process
        return list(command)
    return [sys.executable, "-I", "-S", __file__, *command]


if __name__ == "__main__":
    restore_signals()
    os.execvp(sys.argv[1], sys.argv[1:])
