"""Searches that try one set after another until one separates, run inside the native core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mnlearn import _core
from mnlearn.errors import InputError, whole_number
from mnlearn.protocols import Around, BoolArray, Indices, Kernel, Separated, SeparatingSets, SetLevel
from mnlearn.statistics._questions import LARGEST_INDEX, check_level, question, refusal

_SIZE = "It is how many variables each set has."


class SubsetScans:
    """Walks over sets by one test, each question decided before the next.

    Made by `Counts.subsets`. Answers are the bits that `Counts.reduce` leads to. A level of PC-stable
    goes to all threads, each with some x; elsewhere each answer decides the next question, on one.

    Parameters
    ----------
    store
        The data in the native core.
    kernel
        That of a test: chi2 or g2, whose support is log p, or bayes, whose support is the log posterior.
    level
        A pair is independent iff its support is above it.
    n_threads
        How many threads may take part.

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

    def __init__(self, store: _core.Store, kernel: Kernel, level: float, *, n_threads: int = 1) -> None:
        if not isinstance(kernel, Kernel):
            raise refusal(TypeError(), kernel, (), (), ())
        check_level(level)
        self._test, self._n_variables = (store, kernel.name, kernel.settings, level), store.n_variables
        self._threads = n_threads

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """A level of PC-stable, as `mnlearn.protocols.SubsetWalk` says; None if log p needs SciPy."""
        self._check_level(level)
        self._check_range(xs)
        _check_call(go_on)
        found = _core.separate(*self._test, xs.start, max(xs.start, xs.stop), self._threads, *level, go_on)
        return None if found is None else Separated(*found)

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Interleaved HITON-PC around x, as `mnlearn.protocols.SubsetWalk` says; None if log p needs SciPy."""
        _check_call(go_on)
        first, ys, _ = question(x, candidates, frozenset())
        found = _core.explain_away(*self._test, first, ys, _most(limit, len(ys)), go_on)
        return None if found is None else Around(*found)

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """Votes of all sets of neighbours, as `mnlearn.protocols.SubsetWalk` says; None if log p needs SciPy."""
        _check_call(go_on)
        self._check_matrix("around", around, np.bool_)
        first, apart, _ = question(x, ys, frozenset())
        found = _core.count_separating(*self._test, first, apart, around, _most(limit, len(around)), go_on)
        return None if found is None else SeparatingSets(*found)

    def _check_level(self, level: SetLevel) -> None:
        if not isinstance(level, SetLevel):
            raise InputError(f"level must be a SetLevel; got a {type(level).__name__}. See mnlearn.protocols.SetLevel.")
        if whole_number("size", level.size, least=0, way_out=_SIZE) > LARGEST_INDEX:
            raise InputError(f"size must be a number of variables; got {level.size}. {_SIZE}")
        self._check_matrix("around", level.around, np.bool_)
        self._check_matrix("left", level.left, np.bool_, writeable=True)
        self._check_matrix("weakest", level.weakest, np.float64, writeable=True)

    def _check_matrix(self, name: str, given: object, kind: type, *, writeable: bool = False) -> None:
        """The core reads, and writes, where the numbers stand: nothing is converted on the way."""
        n, way_out = self._n_variables, f"Use numpy.array({name}, dtype=numpy.{kind.__name__})."
        if not isinstance(given, np.ndarray) or given.dtype != kind:
            what = f"one of {given.dtype}" if isinstance(given, np.ndarray) else f"a {type(given).__name__}"
            raise InputError(f"{name} must be an array of {kind.__name__}; got {what}. {way_out}")
        if given.shape != (n, n):
            shape = " by ".join(map(str, given.shape))
            raise InputError(
                f"{name} must have a row and a column for each of {n} variables; got {shape}. Give all their place."
            )
        if not given.flags.c_contiguous or (writeable and not given.flags.writeable):
            raise InputError(f"{name} must be C-contiguous{' and writeable' * writeable}; got a view. {way_out}")

    def _check_range(self, xs: object) -> None:
        n = self._n_variables
        if not isinstance(xs, range) or xs.step != 1 or not 0 <= xs.start <= max(xs.start, xs.stop) <= n:
            raise InputError(f"xs must be a range within 0 to {n}, in steps of 1; got {xs!r}. Use range({n}) for all.")


def _check_call(go_on: object) -> None:
    if not callable(go_on):
        raise InputError(f"go_on must be a function of a variable; got {go_on!r}. Use lambda x: True to hear nobody.")


def _most(limit: int | None, n: int) -> int:
    """How many variables a set may have."""
    if limit is None:
        return n
    return min(whole_number("limit", limit, least=0, way_out="Use None for no limit."), n)
