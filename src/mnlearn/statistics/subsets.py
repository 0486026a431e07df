"""Searches that try one set after another until one separates, run inside the native core."""

from __future__ import annotations

from collections.abc import Callable

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.protocols import Around, BoolArray, Indices, Kernel, Separated, SeparatingSets, SetLevel


class SubsetScans:
    """Walks over sets by one test, each question decided before the next.

    Made by `Counts.subsets`. Answers are the bits that `Counts.reduce` leads to. One thread.

    Parameters
    ----------
    store
        The data in the native core.
    kernel
        That of a test: chi2 or g2, whose support is log p, or bayes, whose support is the log posterior.
    level
        A pair is independent iff its support is above it.

    Examples
    --------
    >>> import numpy as np
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.protocols import SetLevel
    >>> from mnlearn.statistics import Counts, kernels
    >>> copies = [[0, 0, 1, 1] * 9] * 3
    >>> walk = Counts(Dataset.from_codes(copies)).subsets(kernels.chi2(), -3.0)
    >>> pairs = ~np.eye(3, dtype=bool)
    >>> found = walk.separate(SetLevel(1, pairs, pairs.copy(), np.full((3, 3), np.nan)), range(3), lambda x: True)
    >>> found.sets.tolist(), found.asked
    ([[0, 2, 1], [0, 1, 2], [1, 2, 0]], 3)
    """

    def __init__(self, store: _core.Store, kernel: Kernel, level: float) -> None:
        self._test = store, kernel.name, kernel.settings, level

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """A level of PC-stable, as `mnlearn.protocols.SubsetWalk` says; None if log p needs SciPy."""
        try:
            found = _core.separate(*self._test, xs.start, xs.stop, *level, go_on)
        except ValueError as error:  # the core writes whole sentences
            raise InputError(str(error)) from None
        return None if found is None else Separated(*found)

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Interleaved HITON-PC around x, as `mnlearn.protocols.SubsetWalk` says; None if log p needs SciPy."""
        most = len(candidates) if limit is None else limit
        try:
            found = _core.explain_away(*self._test, x, candidates, most, go_on)
        except ValueError as error:
            raise InputError(str(error)) from None
        return None if found is None else Around(*found)

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """Votes of all sets of neighbours, as `mnlearn.protocols.SubsetWalk` says; None if log p needs SciPy."""
        most = len(around) if limit is None else limit
        try:
            found = _core.count_separating(*self._test, x, ys, around, most, go_on)
        except ValueError as error:
            raise InputError(str(error)) from None
        return None if found is None else SeparatingSets(*found)
