"""What an evidence has done so far."""

from __future__ import annotations


class Work(dict[str, int]):
    """Scans asked for, models fitted, and those of them that could not be."""

    def __init__(self) -> None:
        super().__init__(scans=0, fits=0, fallbacks=0)

    def book(self, *, scans: int, fits: int, fallbacks: int) -> None:
        """Add to it."""
        self["scans"] += scans
        self["fits"] += fits
        self["fallbacks"] += fallbacks
