"""Observed values: in which rows all variables of a question have a value, and how many rows these are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.protocols.statistics import BoolArray, IntArray

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset


class Observed:
    """Masks of the variables with gaps.

    Parameters
    ----------
    dataset
        Any data set; without gaps every question has all rows.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> Observed(Dataset.from_codes([[0, 1, 1], [0, 0, 1]])).rows(0, [1], ())
    array([3])
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self.n_rows = dataset, dataset.n_rows
        self._masks: dict[int, BoolArray] = {}
        self._gaps = frozenset(v for v, name in enumerate(dataset.names) if name in dataset.gaps)

    def mask(self, variables: Iterable[int]) -> BoolArray | None:
        """Return in which stored rows all of these variables have a value; None for all of the rows."""
        found: BoolArray | None = None
        for v in variables:
            if v in self._gaps:
                found = self._mask(v) if found is None else found & self._mask(v)
        return found

    def rows(self, x: int, ys: Sequence[int], z: Iterable[int]) -> IntArray:
        """Return the number of rows, repeats included, in which x, z and each y have a value."""
        common = self.mask((x, *z))
        counts = np.full(len(ys), self._count(common), dtype=np.int64)
        for k, y in enumerate(ys):
            if y in self._gaps:
                counts[k] = self._count(self._mask(y) if common is None else common & self._mask(y))
        return counts

    def missing_rows(self, variable: int) -> IntArray:
        """Return the stored rows in which a variable has no value."""
        mask = self.mask([variable])
        return np.empty(0, dtype=np.int64) if mask is None else np.flatnonzero(~mask).astype(np.int64)

    def complete(self, variables: Sequence[int]) -> Dataset | None:
        """Return the rows in which all of these variables have a value, and only these; None if there are none."""
        data = self._dataset.select(variables)
        mask = self.mask(variables)
        if mask is not None and not mask.any():
            return None
        kept = slice(None) if mask is None else mask
        parts: dict[str, object] = {
            "columns": tuple(column[kept] for column in data.columns),
            "repeats": None if data.repeats is None else data.repeats[kept],
            "gaps": frozenset(),
            "pack": None,
        }
        return data.trusted(**{**data.__dict__, **parts})

    def _mask(self, variable: int) -> BoolArray:
        if variable not in self._masks:
            observed = self._dataset.observed(variable)
            assert observed is not None, "the variable has gaps"
            self._masks[variable] = observed
        return self._masks[variable]

    def _count(self, mask: BoolArray | None) -> int:
        if mask is None:
            return self.n_rows
        repeats = self._dataset.repeats
        return int(np.count_nonzero(mask)) if repeats is None else round(float(repeats[mask].sum()))
