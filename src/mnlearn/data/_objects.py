"""Columns of Python objects: records, lists, object columns. Imported on first use: it needs pyarrow."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from mnlearn.data._coding import Codes, Numbers, coded, mixed, not_a_number
from mnlearn.data._raw import RawColumn
from mnlearn.data._request import Wish
from mnlearn.data._typed import whole_column
from mnlearn.errors import DataError

_WHOLE, _DECIMAL = "whole numbers", "numbers"
_FAMILIES: tuple[tuple[type, ...], ...] = (
    (bool, np.bool_),
    (int, float, Decimal, np.integer, np.floating),
    (str,),
)
_SAME = frozenset({date, datetime, time, timedelta, np.datetime64, np.timedelta64})  # not their subclasses


def object_column(wish: Wish, values: Sequence[object]) -> RawColumn:
    """Read a list of values: through Arrow when it has one type for all of them, else one by one."""
    array = _as_arrow(values)
    return _each(wish, values) if array is None else whole_column(wish, array)


def _as_arrow(values: Sequence[object]) -> Any:
    """The values as an Arrow array, or None when their labels would not come back as they were."""
    if not _are_alike(values):
        return None
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    kinds = pa.types
    if kinds.is_nested(array.type) or kinds.is_binary(array.type) or isinstance(array, pa.ExtensionArray):
        return None
    return array


def _are_alike(values: Sequence[object]) -> bool:
    """Whether Arrow can be trusted with these types.

    What it makes of a mixture depends on the order: after a date it cuts a datetime to its day and takes 1 for
    2 January 1970, after 1.5 it takes True for 1, after a datetime it drops a time zone. pandas' own times lose their
    nanoseconds.
    """
    types = {type_ for type_ in set(map(type, values)) if type_.__name__ not in ("NoneType", "NAType", "NaTType")}
    families = {next((family[0] for family in _FAMILIES if issubclass(type_, family)), type_) for type_ in types}
    if families == {datetime}:
        return len({value.tzinfo for value in values if type(value) is datetime}) == 1
    if families == {str, int}:  # NaN marks what is missing; Arrow refuses any other number among texts
        return types <= {str, float}
    return len(families) <= 1 and all(family in _SAME or family in (bool, int, str) for family in families)


def _each(wish: Wish, values: Sequence[object]) -> RawColumn:
    """Read value by value: labels may be anything hashable, but of one kind unless declared categorical."""
    labels = [_label(wish, value, row) for row, value in enumerate(values, start=1)]
    doubts = tuple(dict.fromkeys(str(label) for label in labels if wish.is_doubtful(label)))
    labels = [None if wish.is_missing(label) or wish.is_doubtful(label) else label for label in labels]
    kinds: dict[str, tuple[Hashable, int]] = {}
    for row, label in enumerate(labels, start=1):
        if label is not None:
            kinds.setdefault(_kind(label), (label, row))
    _refuse_mixture(wish, kinds)
    if wish.type == "continuous" or (wish.is_open and _DECIMAL in kinds):
        return _numbers(wish, labels, kinds, doubts)
    codes = Codes(wish)
    rows = np.array([0 if label is None else codes.code(label) for label in labels], dtype=np.uint16)
    codes.extend(range(len(codes.index) + 1), rows)
    return coded(codes, list(codes.index), wish, doubts=doubts).whole()


def _label(wish: Wish, value: object, row: int) -> Hashable:
    """A value as a label: NumPy scalars become Python's, every missing value becomes None."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, np.generic) and np.isnat(value)):
        return None
    try:
        hash(value)
    except TypeError as error:
        raise DataError(
            f"column {wish.name!r} must hold hashable labels; data row {row} holds a {type(value).__name__}. "
            "Turn it into a tuple or a text, or leave the column out with columns=[...]."
        ) from error
    return value


def _kind(label: Hashable) -> str:
    """What kind of value a label is, in words."""
    if isinstance(label, bool):
        return "true/false"
    if isinstance(label, int):
        return _WHOLE
    if isinstance(label, float | Decimal):
        return _DECIMAL
    if isinstance(label, datetime):  # pandas' timestamps too
        return "datetime"
    return "text" if isinstance(label, str) else type(label).__qualname__


def _refuse_mixture(wish: Wish, kinds: dict[str, tuple[Hashable, int]]) -> None:
    """Two kinds of values are an error, unless both are numbers or the caller said what they are."""
    if not wish.is_open or not kinds:
        return
    first = next(iter(kinds))
    alike = {_WHOLE, _DECIMAL} if first in (_WHOLE, _DECIMAL) else {first}
    other = next((kind for kind in kinds if kind not in alike), None)
    if other is not None:
        raise mixed(wish.name, (first, *kinds[first]), (other, *kinds[other]))


def _numbers(
    wish: Wish, labels: Sequence[Hashable], kinds: dict[str, tuple[Hashable, int]], doubts: tuple[str, ...]
) -> RawColumn:
    """The column as numbers."""
    for kind, (label, row) in kinds.items():
        if kind not in (_WHOLE, _DECIMAL):
            raise not_a_number(wish, label, row)
    numbers = Numbers(wish)
    numbers.extend(np.array([np.nan if label is None else float(label) for label in labels]))  # type: ignore[arg-type]
    return numbers.settle(doubts).whole()
