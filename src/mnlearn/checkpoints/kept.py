"""Judges and statistics whose answers are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mnlearn.checkpoints.journal import Checkpoint


class Kept:
    """Whatever answers by some of its methods, with the answers kept; all else is as it was.

    Parameters
    ----------
    inside
        A judge or statistics.
    checkpoint
        Where answers are kept.
    methods
        The methods whose answers are worth keeping, each with a function that makes an answer from what was kept of
        it; None where it is kept as it is.
    """

    def __init__(self, inside: Any, checkpoint: Checkpoint, methods: Mapping[str, Callable[[Any], Any] | None]) -> None:
        self._inside, self._checkpoint, self._methods = inside, checkpoint, methods

    @property  # type: ignore[misc]  # who tells correlations from counts by their class still can
    def __class__(self) -> Any:
        return self._inside.__class__

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inside, name)
        if name.startswith("_") or name not in self._methods:
            return found
        made = self._methods[name] or (lambda answer: answer)

        def asked(*args: Any, **options: Any) -> Any:
            question = (name, args, sorted(options.items()))
            return made(self._checkpoint.recall(question, lambda: found(*args, **options)))

        return asked
