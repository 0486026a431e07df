"""Monitors for tests of work that is stopped."""

from __future__ import annotations

from references.judges import Audited


class Stopping:
    """A monitor that has had enough after some items."""

    def __init__(self, after: int) -> None:
        self.left = after

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
        self.left -= 1

    def cancelled(self) -> bool:
        return self.left <= 0


class Budget:
    """A monitor that cancels as soon as so many tests are spent."""

    def __init__(self, judge: Audited, max_tests: int) -> None:
        self._judge, self._max_tests = judge, max_tests

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Ignore the progress."""

    def cancelled(self) -> bool:
        return self._judge.asked >= self._max_tests
