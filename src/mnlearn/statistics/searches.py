"""Searches that run inside the native core: growing and shrinking blankets, and sets tried one after another.

Also here: the conversion of arguments for the core, and the errors for those it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isnan
from numbers import Real
from operator import index

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError, check_room, is_masked_array, true_or_false, whole_number
from mnlearn.protocols.judges import Around, PairLists, Separated, SeparatingSets, SetLevel, Turns
from mnlearn.protocols.statistics import BoolArray, Indices, Kernel, VarSet

UNREADABLE = (TypeError, AttributeError)  # raised by the core for arguments of the wrong type; rules raise InputError
LARGEST_INDEX = 2**31 - 1


def question(x: int, ys: Indices, z: VarSet) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """Return x, ys and z as the core takes them, z in ascending order."""
    try:
        first, given = _index(x), [_index(v) for v in z]
    except TypeError:
        raise InputError(
            f"x must be the index of a variable and z a set of indices; got x={x!r}, z={z!r}. Use dataset.index(name)."
        ) from None
    if max([first, *given]) > LARGEST_INDEX or min([first, *given]) < 0:
        raise InputError(f"x and z must hold indices of variables; got x={x}, z={set(z)}. Use dataset.index(name).")
    given.sort()
    return first, indices("ys", ys), np.array(given, dtype=np.int32)


def indices(name: str, given: Indices) -> NDArray[np.int32]:
    """Return indices as the core takes them."""
    if type(given) is np.ndarray and given.dtype == np.int32 and given.ndim == 1:
        return np.asarray(given, dtype=np.int32, order="C")
    try:
        array = np.asarray(given.tolist() if is_masked_array(given) else given)
    except ValueError:  # ragged
        array = np.empty((0, 0))
    if array.dtype == np.int32 and array.ndim == 1:
        return np.ascontiguousarray(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{name} must be a sequence of variable indices; got {given!r}. Use dataset.index(name).")
    narrow = array.astype(np.int32)
    wrapped = array[narrow != array]
    if wrapped.size:
        raise InputError(f"{name} must hold indices of variables; got {wrapped[0]}. Use dataset.index(name).")
    return narrow


def _index(value: object) -> int:
    """Return an integer; a bool raises TypeError, since True is hardly meant as the second variable."""
    if isinstance(value, bool):
        raise TypeError
    return index(value)  # type: ignore[arg-type]


def refusal(
    error: Exception, kernel: object, xs: Indices, yss: Iterable[Indices], zs: Iterable[VarSet], **settings: object
) -> Exception:
    """Return the error for a question that the core could not read: it names the first argument of a wrong type."""
    if not isinstance(kernel, Kernel):
        return InputError(
            f"kernel must be a Kernel; got {kernel!r}. Make one by mnlearn.statistics.kernels, chi2() for instance."
        )
    try:
        questions = list(zip(xs, yss, zs, strict=False))
    except TypeError:
        return InputError(
            f"xs, yss and zs must be sequences with one entry per question; got xs={xs!r}, zs={zs!r}. Put a single "
            "question into lists, or use reduce."
        )
    for x, ys, z in questions:
        question(x, ys, z)  # raises
    for x in xs:
        question(x, (), frozenset())  # raises
    for name, value in settings.items():
        _check_setting(name, value)
    return error


def check_level(level: object) -> None:
    """Raise InputError unless the level is a number."""
    if isinstance(level, bool) or not isinstance(level, Real) or isnan(level):
        raise InputError(f"level must be a number; got {level!r}. Use log(alpha), or log(1/2) for a posterior.")


def _check_setting(name: str, value: object) -> None:
    """Raise InputError if an option of `Counts.grow` or `Counts.shrink` breaks its rule."""
    if name == "level":
        check_level(value)
    elif name == "ahead":
        hint = "Use 1 to ask one question at a time."
        if whole_number(name, value, least=1, hint=hint) > LARGEST_INDEX:
            raise InputError(f"ahead must be a number of variables; got {value!r}. {hint}")
    elif name == "known" and not isinstance(value, _core.Knowledge | None):
        raise InputError(f"known must be made by knowledge() of these counts; got a {type(value).__name__}. Make one.")
    elif name == "to_first":
        true_or_false(to_first=value)


_KNOWLEDGE = 4.25  # bytes for each of n² pairs: the offset of its facts, and whether there are any
_IN_A_ROW = 32  # after so many independent y a scan of the next ones is faster than single tests


class BlanketScans:
    """Methods of `Counts` for whole blankets. Answers are lists: there are a few dozen, each read once."""

    _store: _core.Store
    _threads: int

    def grow(
        self,
        kernel: Kernel,
        level: float,
        x: int,
        ys: Indices,
        z: VarSet = frozenset(),
        *,
        to_first: bool = False,
        ahead: int = 1,
        known: _core.Knowledge | None = None,
    ) -> Turns:
        """Test each y in turn, given z and those before it that depend on x.

        Parameters
        ----------
        kernel
            Kernel of a test: chi2 or g2, whose support is log p, or bayes, whose support is the log posterior.
        level
            A y is independent of x iff its support is above it.
        x, ys, z
            The variable, the candidates in order, and the conditioning set at the start.
        to_first
            Whether to stop at the first y that depends on x.
        ahead
            After 32 independent y in a row, how many of the next may be tested together: a scan is faster then, but
            those after the first that depends on x are tested in vain.
        known
            Knowledge base made by `knowledge`: its rules answer before a test does, and it learns every answer.

        Returns
        -------
        Turns
            Answers about the first of the ys, at most 4096, with the support that `reduce` leads to, to the bit. No
            answers where the core has no fast way: on the portable code path, with variables of more than nine states,
            or with repeats.

        Examples
        --------
        >>> from mnlearn.data import Dataset
        >>> from mnlearn.statistics import Counts, kernels
        >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1] * 9, [0, 0, 1, 1] * 9, [0, 0, 1, 1] * 9]))
        >>> counts.grow(kernels.chi2(), -3.0, 0, [1, 2]).independent in ([False, True], [])
        True
        """
        try:
            return Turns(
                *_core.grow(
                    self._store,
                    kernel.name,
                    kernel.settings,
                    level,
                    x,
                    ys,
                    z,
                    to_first,
                    _IN_A_ROW,
                    ahead,
                    self._threads,
                    known,
                )
            )
        except UNREADABLE as error:
            settings = {"level": level, "to_first": to_first, "ahead": ahead, "known": known}
            raise refusal(error, kernel, [x], [ys], [z], **settings) from None

    def shrink(
        self, kernel: Kernel, level: float, x: int, ys: Indices, z: VarSet, *, known: _core.Knowledge | None = None
    ) -> Turns:
        """Test each y in turn, a member of z, given the rest of z without the independent ones before it.

        Otherwise as `grow`; all answers come from one table of x and z.
        """
        try:
            return Turns(*_core.shrink(self._store, kernel.name, kernel.settings, level, x, ys, z, known))
        except UNREADABLE as error:
            raise refusal(error, kernel, [x], [ys], [z], level=level, known=known) from None

    def knowledge(self, *, mirrored: bool = False) -> _core.Knowledge:
        """Return an empty knowledge base for `grow` and `shrink`  [JAIR09, Algorithm 5].

        Parameters
        ----------
        mirrored
            Whether independence is also inferred by the triangle rule with x and y exchanged.

        Notes
        -----
        It takes 4.25 bytes for each of n² pairs, and n / 8 for each set that it learns; not included in `max_memory`.

        Examples
        --------
        >>> from mnlearn.data import Dataset
        >>> from mnlearn.statistics import Counts
        >>> known = Counts(Dataset.from_codes([[0, 1], [0, 1], [0, 1]])).knowledge()
        >>> known.learn(0, 1, frozenset({2}), False)
        >>> known.implied(0, 1, frozenset()), known.implied(0, 2, frozenset())  # by the first rule; by none
        (1, 0)
        """
        true_or_false(mirrored=mirrored)
        n = self._store.n_variables
        advice = "Choose fewer columns, or a method without inference: gsmn*."
        check_room("knowledge", _KNOWLEDGE * n * n, f"facts about every pair of {n:,} variables", advice)
        return _core.Knowledge(n, mirrored)


_SIZE = "It is the number of variables in each set."


class SubsetScans:
    """Search over conditioning sets by one test, each question decided before the next.

    Made by `Counts.subsets` and `Moments.subsets`. Answers have the bits of a scan by the same test. A level of
    PC-stable uses all threads, each with some x; the other methods use one: each answer decides the next question.

    Parameters
    ----------
    tests
        Tests in the native core.
    n_threads
        Number of threads.

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

    def __init__(self, tests: _core.SubsetTests, *, n_threads: int = 1) -> None:
        self._tests, self._n_variables, self._threads = tests, tests.n_variables, n_threads

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """Run one level of PC-stable; see `SubsetWalk.separate`. None if log p needs SciPy."""
        self._check_level(level)
        self._check_range(xs)
        _check_call(go_on)
        turns, arrays = (self._tests, xs.start, max(xs.start, xs.stop), self._threads), level[:-1]
        if level.lists is None:
            found = _core.separate(*turns, *arrays, go_on)
        else:
            found = _core.separate_listed(*turns, *arrays, *level.lists, go_on)
        return None if found is None else Separated(*found)

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Run interleaved HITON-PC around x; see `SubsetWalk.explain_away`. None if log p needs SciPy."""
        _check_call(go_on)
        first, ys, _ = question(x, candidates, frozenset())
        found = _core.explain_away(self._tests, first, ys, _most(limit, len(ys)), go_on)
        return None if found is None else Around(*found)

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray | PairLists, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """Count the separating sets of neighbours; see `SubsetWalk.count_separating`. None if log p needs SciPy."""
        _check_call(go_on)
        first, apart, _ = question(x, ys, frozenset())
        most = _most(limit, self._n_variables)
        if isinstance(around, PairLists):
            found = _core.count_separating_listed(self._tests, first, apart, *around, most, go_on)
        else:
            self._check_array("around", around, np.bool_)
            found = _core.count_separating(self._tests, first, apart, around, most, go_on)
        return None if found is None else SeparatingSets(*found)

    def _check_level(self, level: SetLevel) -> None:
        if not isinstance(level, SetLevel):
            raise InputError(f"level must be a SetLevel; got a {type(level).__name__}. See mnlearn.protocols.SetLevel.")
        if whole_number("size", level.size, least=0, hint=_SIZE) > LARGEST_INDEX:
            raise InputError(f"size must be a number of variables; got {level.size}. {_SIZE}")
        self._check_array("around", level.around, np.bool_, level.lists)
        self._check_array("left", level.left, np.bool_, level.lists, writeable=True)
        self._check_array("weakest", level.weakest, np.float64, level.lists, writeable=True)

    def _check_array(
        self, name: str, given: object, kind: type, lists: PairLists | None = None, *, writeable: bool = False
    ) -> None:
        """Raise InputError unless the core can read, and write, the array in place."""
        n, hint = self._n_variables, f"Use numpy.array({name}, dtype=numpy.{kind.__name__})."
        if not isinstance(given, np.ndarray) or given.dtype != kind:
            what = f"one of {given.dtype}" if isinstance(given, np.ndarray) else f"a {type(given).__name__}"
            raise InputError(f"{name} must be an array of {kind.__name__}; got {what}. {hint}")
        shape = " by ".join(map(str, given.shape))
        if lists is None and given.shape != (n, n):
            raise InputError(
                f"{name} must have a row and a column for each of {n} variables; got {shape}. Give each variable a row."
            )
        if lists is not None and given.shape != lists.partners.shape:
            raise InputError(
                f"{name} must have an entry for each partner in lists; got {shape}. Use one array for all."
            )
        if not given.flags.c_contiguous or (writeable and not given.flags.writeable):
            raise InputError(f"{name} must be C-contiguous{' and writeable' * writeable}; got a view. {hint}")

    def _check_range(self, xs: object) -> None:
        n = self._n_variables
        if not isinstance(xs, range) or xs.step != 1 or not 0 <= xs.start <= max(xs.start, xs.stop) <= n:
            raise InputError(f"xs must be a range within 0 to {n}, in steps of 1; got {xs!r}. Use range({n}) for all.")


def _check_call(go_on: object) -> None:
    if not callable(go_on):
        raise InputError(f"go_on must be a function of a variable; got {go_on!r}. Use lambda x: True to never cancel.")


def _most(limit: int | None, n: int) -> int:
    """Return the largest size of a set."""
    if limit is None:
        return n
    return min(whole_number("limit", limit, least=0, hint="Use None for no limit."), n)
