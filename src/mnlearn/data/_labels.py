"""Labels of states as JSON, and back: the same value of the same type."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from mnlearn.errors import DataError

# A subclass stands before its parent: a datetime is a date too.
_WRITERS: tuple[tuple[type, str, Callable[[Any], object]], ...] = (
    (dt.datetime, "datetime", lambda label: label.isoformat()),
    (dt.date, "date", lambda label: label.isoformat()),
    (dt.time, "time", lambda label: label.isoformat()),
    (dt.timedelta, "timedelta", lambda label: [label.days, label.seconds, label.microseconds]),
    (Decimal, "decimal", str),
    (UUID, "uuid", str),
    (bytes, "bytes", lambda label: label.hex()),
    (tuple, "tuple", lambda label: [as_json(part) for part in label]),
)
_READERS: Mapping[str, Callable[[Any], Hashable]] = {
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda parts: dt.timedelta(*parts),
    "decimal": Decimal,
    "uuid": UUID,
    "bytes": bytes.fromhex,
    "tuple": lambda parts: tuple(from_json(part) for part in parts),
}


def as_json(label: Hashable) -> object:
    """A label in JSON; what JSON has no word for is an object with one entry, its type."""
    if label is None or type(label) in (bool, int, float, str):
        return label
    for kind, name, write in _WRITERS:
        if isinstance(label, kind):
            return {name: write(label)}
    plain = getattr(label, "item", None)  # NumPy's numbers
    if callable(plain):
        return as_json(plain())
    raise DataError(
        f"labels must be texts, numbers, truths, dates, times or bytes to be written to a file; got {label!r}. "
        "Turn them into texts first."
    )


def from_json(value: Any) -> Hashable:
    """The label that `as_json` wrote."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    ((kind, written),) = value.items()
    return _READERS[kind](written)
