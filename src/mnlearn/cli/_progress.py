"""Progress on standard error, and Ctrl-C as a wish to stop rather than a crash."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_INTERRUPTED = 130
_REDRAW = 0.1  # seconds between two lines
_AFTER = 1.0  # seconds before the first one: what is done by then needs no progress


class Watcher:
    """A monitor that shows how far a search is, on a terminal only, and hears Ctrl-C."""

    def __init__(self) -> None:
        self.interrupted = False
        self._terminal = sys.stderr.isatty()
        self._start = time.monotonic()
        self._next = self._start + _AFTER
        self._drawn = False

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Redraw the line if it is time."""
        now = time.monotonic()
        if not self._terminal or now < self._next:
            return
        self._next, self._drawn = now + _REDRAW, True
        share = f"{done:g}" if total is None else f"{100 * done / max(total, 1):.0f} %"
        left = ""
        if total is not None and done > 0:
            left = f", about {(now - self._start) * (total - done) / done:.0f} s left"
        sys.stderr.write(f"\r\x1b[K{share}{left} {message}".rstrip())
        sys.stderr.flush()

    def cancelled(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self.interrupted

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """The first Ctrl-C asks the search to stop; the second ends the program."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def watched() -> Iterator[Watcher]:
    """Watch over a search: inside, Ctrl-C stops it gently."""
    watcher = Watcher()
    main = threading.current_thread() is threading.main_thread()  # only there can signals be heard
    before = signal.signal(signal.SIGINT, watcher.interrupt) if main else None
    try:
        yield watcher
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
        watcher.clear()
