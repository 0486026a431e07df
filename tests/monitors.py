"""Monitors for tests of work that is stopped."""

from __future__ import annotations


class Stopping:
    """A monitor that has had enough after some items."""

    def __init__(self, after: int) -> None:
        self.left = after

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
        self.left -= 1

    def cancelled(self) -> bool:
        return self.left <= 0
