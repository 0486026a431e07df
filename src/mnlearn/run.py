"""Progress of long work and its cancelling: the monitor that every call which may take long accepts."""

from __future__ import annotations

from typing import Protocol


class Monitor(Protocol):
    """Receiver of progress, which may cancel a search; the search then returns its best result so far."""

    def progress(self, done: float, total: float | None, message: str = "") -> None: ...
    def cancelled(self) -> bool: ...


class _Silent:
    """Monitor that ignores progress and never cancels."""

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Ignore it."""

    def cancelled(self) -> bool:
        """Return False."""
        return False

    def __repr__(self) -> str:
        return "SILENT"  # as signatures show it


SILENT: Monitor = _Silent()
