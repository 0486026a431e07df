"""Two profiles of the tests: fast by default, full where MNLEARN_TESTS=full (`make test-full`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

FULL = os.environ.get("MNLEARN_TESTS") == "full"
FAST_EXAMPLES = 20


def few(values: Iterable[T], n: int) -> list[T]:
    """Return n of the values, evenly spread from the first to the last; all of them in the full profile."""
    every = list(values)
    if FULL or len(every) <= n:
        return every
    return [every[round(k * (len(every) - 1) / max(n - 1, 1))] for k in range(n)]
