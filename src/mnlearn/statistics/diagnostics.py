"""Diagnostics of a data set in sentences: constant, copied and explained columns, equal values, categories, rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.copies import copied_columns
from mnlearn.statistics.moments import Moments

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset

_MOST_WORK = 1 << 30  # multiplications for finding columns that others explain
_SHOWN = 6
_MOST_EQUAL = 0.5  # of the rows of a continuous column
_MANY = 10  # categories that are no cause for concern, and rows that each category should have on average


def oddities(dataset: Dataset) -> tuple[str, ...]:
    """Return sentences about problems that every method has with the data; none for sound data.

    Parameters
    ----------
    dataset
        The data. Columns that others explain are searched only where that is quick.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> oddities(read({"a": [0.1, 0.2, 0.4], "b": [0.5, 0.5, 0.5], "c": [0.1, 0.2, 0.4]}))
    ("constant, so without an edge: 'b'", "copies, which no method can tell apart: 'c' of 'a'")
    """
    places = [k for k, card in enumerate(dataset.cards) if not card]
    columns = [_observed(dataset, k) for k in places]
    alike = [(k, column) for k, column in zip(places, columns, strict=True) if column[0] == column[-1]]  # few, mostly
    constant = [k for k, column in alike if column.min() == column.max()]
    single = sorted([*constant, *(k for k, card in enumerate(dataset.cards) if card == 1)])
    original: dict[bytes, int] = {}
    copies = copied_columns(dataset.columns, dataset.cards)
    for k, column in zip(places, columns, strict=True):
        if k not in constant:
            mask = dataset.observed(k)
            first = original.setdefault(column.tobytes() + (b"" if mask is None else mask.tobytes()), k)
            copies.update({k: first} if first != k else {})
    notes = [f"constant, so without an edge: {_listed(dataset, single)}"] if single else []
    notes += _crowded(dataset)
    notes += _dominated(dataset, [k for k in places if k not in constant])
    if copies:
        pairs = [f"{dataset.names[k]!r} of {dataset.names[first]!r}" for k, first in sorted(copies.items())]
        notes.append(f"copies, which no method can tell apart: {_cut(pairs)}")
    return (*notes, *_explained(dataset, [k for k in places if k not in constant and k not in copies]))


def _observed(dataset: Dataset, variable: int) -> NDArray[np.generic]:
    """Return the values of a column without its gaps."""
    column, seen = np.asarray(dataset.columns[variable]), dataset.observed(variable)
    return column if seen is None else column[seen]


def _crowded(dataset: Dataset) -> list[str]:
    """Name categorical columns with few rows per category: identifiers, dates, numbers not meant as labels."""
    many = [k for k, card in enumerate(dataset.cards) if card > max(_MANY, dataset.n_rows / _MANY)]
    if not many:
        return []
    counts = _cut([f"{dataset.names[k]!r} {dataset.cards[k]:,}" for k in many])
    return [
        f"many categories for {dataset.n_rows:,} rows, so that hardly an edge can be seen: {counts}. Leave out what "
        "only numbers the rows; join categories, or read numbers as continuous"
    ]


def _dominated(dataset: Dataset, places: list[int]) -> list[str]:
    """Name continuous columns with one value in most rows, such as zeros below a limit of detection."""
    shares = {k: _largest_share(_observed(dataset, k), _repeats(dataset, k)) for k in places}
    most = [f"{dataset.names[k]!r} {share:.0%}" for k, share in shares.items() if share > _MOST_EQUAL]
    return [f"one value in most rows, so that weak edges cannot be seen: {_cut(most)}"] if most else []


def _repeats(dataset: Dataset, variable: int) -> NDArray[np.int64] | None:
    """Return the repeats of the rows in which a variable is observed."""
    seen = dataset.observed(variable)
    return dataset.repeats if seen is None or dataset.repeats is None else dataset.repeats[seen]


def _largest_share(column: NDArray[np.generic], repeats: NDArray[np.int64] | None) -> float:
    """Return the share of rows with the median, which is the value of most rows if there is one."""
    if repeats is None:
        half = len(column) // 2
        return float(np.mean(column == np.partition(column, half)[half]))
    groups = np.unique(column, return_inverse=True)[1]
    return float(np.bincount(groups, weights=repeats).max() / repeats.sum())


def _explained(dataset: Dataset, places: list[int]) -> list[str]:
    """Report fewer rows than variables, or else complete columns that are linear combinations of others."""
    places = [k for k in places if dataset.names[k] not in dataset.gaps]
    n, n_rows = len(places), dataset.n_rows
    if n_rows <= n:
        return [
            f"{n_rows} rows for {n} varying variables: no more than {max(n_rows - 2, 0)} can be neighbours of one, and "
            "weak edges cannot be seen"
        ]
    if n < 2 or n * n * (n + dataset.n_records) > _MOST_WORK:
        return []
    left_over = Moments(dataset.select(places)).explained()
    if not left_over:
        return []
    return [
        f"explained by other columns to within 1e-5 of their size: {_listed(dataset, [places[k] for k in left_over])}"
    ]


def _listed(dataset: Dataset, places: list[int]) -> str:
    """Return the first few names."""
    return _cut([repr(dataset.names[k]) for k in places])


def _cut(texts: list[str]) -> str:
    """Join the first few items and the number of the others."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
