"""Questions asked in turns, each decided before the next, inside the native core: a blanket that grows or shrinks."""

from __future__ import annotations

from mnlearn import _core
from mnlearn.errors import check_room, true_or_false
from mnlearn.protocols import Indices, Kernel, Turns, VarSet
from mnlearn.statistics._questions import UNREADABLE, refusal

_KNOWLEDGE = 4.25  # bytes for each of n² pairs: where its facts begin, and whether there are any
_IN_A_ROW = 32  # after so many independent y a scan of the next is sooner than each alone


class BlanketScans:
    """What `Counts` does for whole blankets. A search looks at every answer once, and there are a few dozen."""

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
        """Try each y in turn, given z and those before it that depend on x: the support of independence of each.

        Parameters
        ----------
        kernel
            That of a test: chi2 or g2, whose support is log p, or bayes, whose support is the log posterior.
        level
            A y is independent of x iff its support is above it.
        x, ys, z
            The variable, whom to try in which order, and what is given from the start.
        to_first
            Whether to stop at the first that depends on x.
        ahead
            After 32 independent ones in a row, how many of the next may be tested together: a scan is faster then,
            although those after the first that depends on x are tested in vain.
        known
            What rules may answer before a test does; it learns every answer. Of these counts: `knowledge`.

        Returns
        -------
        Turns
            Answers about the first of the ys. The support of a test is what `reduce` leads to, to the bit. None where
            the core has no fast way (rows cannot be sorted on the portable code path, by variables of more than nine
            states, or with repeats); no more than 4096 at once.

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
        """Try each y in turn, a member of z, given the rest of z without those before it that turned out independent.

        Otherwise as `grow`; all answers come from one table of x and z.

        Examples
        --------
        >>> from mnlearn.data import Dataset
        >>> from mnlearn.statistics import Counts, kernels
        >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1] * 9, [0, 0, 1, 1] * 9, [0, 0, 1, 1] * 9]))
        >>> counts.shrink(kernels.chi2(), -3.0, 0, [1, 2], frozenset({1, 2})).independent in ([True, False], [])
        True
        """
        try:
            return Turns(*_core.shrink(self._store, kernel.name, kernel.settings, level, x, ys, z, known))
        except UNREADABLE as error:
            raise refusal(error, kernel, [x], [ys], [z], level=level, known=known) from None

    def knowledge(self, *, mirrored: bool = False) -> _core.Knowledge:
        """No knowledge yet, for `grow` and `shrink` to reason by  [JAIR09, Algorithm 5].

        Parameters
        ----------
        mirrored
            Whether independence is also inferred by the triangle rule with x and y exchanged.

        Notes
        -----
        It takes 4.25 bytes for each of n² pairs, and n / 8 for each set that it learns of; no part of `max_memory`.

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
        way_out = "Choose fewer columns, or a method that does not reason: gsmn*."
        check_room("knowledge", _KNOWLEDGE * n * n, f"what is known of every pair of {n:,} variables", way_out)
        return _core.Knowledge(n, mirrored)
