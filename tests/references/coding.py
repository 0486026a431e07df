"""Codes of a column in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def distinct_values(values: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Return the distinct values in ascending order, None last, and the place of each value among them."""
    labels = sorted({value for value in values if value is not None})
    labels += [None] if None in values else []
    return labels, [labels.index(value) for value in values]
