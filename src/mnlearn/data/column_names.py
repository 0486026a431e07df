"""Columns as a caller names them: by name, by a range such as A1:O5, or by a list such as A1:O5,age."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from mnlearn.errors import InputError, unknown_name

T = TypeVar("T")


class Named(NamedTuple):
    """A column, and whether its own name was given rather than a range."""

    name: str
    exact: bool


class ColumnNames:
    """The columns of a source in their order."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known
        self._place = {name: k for k, name in enumerate(known)}

    def find(self, argument: str, item: object) -> list[Named]:
        """Return the columns that one item of an argument names.

        The name of a column comes first, whatever its characters. Otherwise commas separate items, where a name with
        a comma is in double quotes, and a colon joins the ends of a range by position; an end that is left out is the
        first or the last column.

        Raises
        ------
        UnknownNameError
            If there is no such column.
        InputError
            If the first end of a range comes after the last.
        """
        text = str(item)
        if text in self._place:
            return [Named(text, exact=True)]
        parts = _parts(text)
        if any(part != text for part in parts):
            return [found for part in parts for found in self.find(argument, part)]
        if ":" in text:
            return [Named(name, exact=False) for name in self._range(argument, text)]
        raise unknown_name(f"{argument}: column", text, self._known)

    def _range(self, argument: str, text: str) -> Sequence[str]:
        """Return the columns from one to another; names that hold colons are possible ends."""
        colons = [k for k, mark in enumerate(text) if mark == ":"]
        ends = [(text[:k].strip(), text[k + 1 :].strip()) for k in colons]
        fit = [pair for pair in ends if all(not end or end in self._place for end in pair)]
        if not fit:
            half = [end for pair in ends for end in pair if end and end not in self._place]
            known = any(end in self._place for pair in ends for end in pair)
            raise unknown_name(f"{argument}: column", half[0] if known and len(half) == 1 else text, self._known)
        first, last = fit[0]
        start, stop = self._place[first] if first else 0, self._place[last] if last else len(self._known) - 1
        if start > stop:
            raise InputError(
                f"{argument} must give the first column of a range before the last; got {text!r}. Use "
                f"{f'{last}:{first}'!r}."
            )
        return self._known[start : stop + 1]

    def choose(self, columns: Iterable[object] | None, drop: Iterable[object]) -> list[str]:
        """Return the columns to read, in order: those of `columns`, or all, without those of `drop`.

        Raises
        ------
        InputError
            If a name is given twice, or in both; ranges may overlap.
        """
        named = [found for item in columns for found in self.find("columns", item)] if columns is not None else None
        names = [found.name for found in named if found.exact] if named is not None else []
        if len(set(names)) < len(names):
            raise InputError(f"columns must name each column once; got {names}. Drop the repeated names.")
        dropped = {found.name for item in drop for found in self.find("drop", item)}
        both = [name for name in names if name in dropped]
        if both:
            raise InputError(f"columns and drop must not share a column; both name {both[0]!r}. Drop it from one.")
        chosen = self._known if named is None else dict.fromkeys(found.name for found in named)
        return [name for name in chosen if name not in dropped]

    def values(self, argument: str, given: Mapping[str, T] | None) -> dict[str, T]:
        """Return what a mapping holds for each column; a column's own name comes before a range.

        Raises
        ------
        InputError
            If two names or two ranges hold different values for one column.
        """
        if not given:
            return {}
        exact: dict[str, T] = {}
        in_ranges: dict[str, T] = {}
        for item, value in given.items():
            for name, is_exact in self.find(argument, item):
                same = exact if is_exact else in_ranges
                if name in same and same[name] != value:
                    where, way = ("named twice", "Drop one") if is_exact else ("in two ranges", "Make them shorter")
                    raise InputError(
                        f"{argument} must hold one value for each column; {name!r} is {where} with different ones. "
                        f"{way}{'' if is_exact else ', or name the column itself'}."
                    )
                same[name] = value
        return in_ranges | exact


def _parts(text: str) -> list[str]:
    """Return the items between commas, where double quotes protect commas; none if there is no comma."""
    try:
        parts = next(csv.reader([text], skipinitialspace=True)) if "," in text else []
    except csv.Error:  # a line end
        return []
    return [part.strip() for part in parts if part.strip()]
