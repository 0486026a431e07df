"""Local evidence from the tables of a data set: models fitted in the native core, many questions at once.

What F, P and their fits are is said where they are judged by, in `mnlearn.scores.evidence`; here they are counted,
fitted and handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import chain, pairwise
from math import inf
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.protocols import BoolArray, FloatArray, Indices, VarSet

Kind: TypeAlias = Literal["local", "estimates", "additions", "pairs", "full_tables"]


class LocalFits(NamedTuple):
    """F of each question (of a set that is not empty: less the gift), and P, the same where it has no fit."""

    full_table: FloatArray
    pairwise: FloatArray
    fell_back: BoolArray


class PairFits(NamedTuple):
    """ev(x, y | S) of each y of a scan; exact, or estimated by one Newton step."""

    log_factor: FloatArray
    exact: BoolArray
    fell_back: int  # models that could not be fitted


class EvidenceScans:
    """Fits of conditional models to the tables of a data set.

    Made by `Counts.evidence`. The work is spread over threads scan by scan; any number gives the same bits.

    Parameters
    ----------
    store
        The data in the native core.
    three_way
        Whether models of up to eight neighbours may have three-way terms.
    n_threads
        How many threads.

    Attributes
    ----------
    n_states
        How many states of each variable occur.
    gift
        What a table of mostly empty configurations gives each variable for nothing.
    """

    _asked: Callable[..., FloatArray] | None = None

    def __init__(self, store: _core.Store, *, three_way: bool, n_threads: int) -> None:
        self._store, self._three_way, self._threads = store, three_way, n_threads
        self.n_states, self._offset, self.gift = _core.evidence_facts(store, n_threads)

    def local(self, xs: Indices, zs: Sequence[VarSet]) -> LocalFits:
        """F(x | z) and P(x | z) of each x with its z."""
        rows = self._ask("local", xs, zs, [()] * len(zs))[0]
        return LocalFits(rows[0], rows[1], rows[2] > 0)

    def additions(
        self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], *, exact: bool = True
    ) -> list[LocalFits]:
        """F(x | z + y) and P(x | z + y) of each x with its z, for each y; P fitted, or estimated by one Newton step."""
        rows, starts = self._ask("additions" if exact else "estimates", xs, zs, yss)
        return [LocalFits(part[0], part[1], part[3] > 0) for part in _parts(rows, starts)]

    def pairs(
        self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], *, fit_above: float = -inf
    ) -> list[PairFits]:
        """ev(x, y | z) of each x with its z, for each y; models of z + y fitted where it may exceed `fit_above`."""
        rows, starts = self._ask("pairs", xs, zs, yss, fit_above)
        return [PairFits(part[0], part[1] > 0, int(part[2].sum())) for part in _parts(rows, starts)]

    def full_tables(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """F(x | z + y) of each x with its z, for each y; the gift is not taken away."""
        rows, starts = self._ask("full_tables", xs, zs, yss)
        return [part[0] for part in _parts(rows, starts)]

    def _ask(
        self, kind: Kind, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], fit_above: float = inf
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        return (self._asked or self.rows)(kind, xs, zs, yss, fit_above), _starts([len(ys) for ys in yss])

    def asking(self, asked: Callable[..., FloatArray]) -> EvidenceScans:
        """The same, with another function in place of `rows`: one that keeps what it was told, say."""
        other = copy(self)
        other._asked = asked
        return other

    def rows(
        self, kind: Kind, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], fit_above: float
    ) -> FloatArray:
        """What the core says of many questions of one kind: see native/evidence.hpp for the rows of each kind."""
        y_starts = _starts([len(ys) for ys in yss])
        ys = np.concatenate([np.empty(0, np.int32), *(np.asarray(ys, dtype=np.int32) for ys in yss)])
        z_starts = _starts([len(z) for z in zs])
        members = np.fromiter(chain.from_iterable(map(sorted, zs)), np.int32, int(z_starts[-1]))
        try:
            return _core.evidence(
                self._store,
                self.n_states,
                self._offset,
                self.gift,
                kind,
                np.asarray(xs, dtype=np.int32),
                z_starts,
                members,
                y_starts,
                ys,
                self._three_way,
                fit_above,
                self._threads,
            )
        except ValueError as error:  # the core writes whole sentences
            raise InputError(str(error)) from None


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def _parts(rows: FloatArray, starts: NDArray[np.int64]) -> Iterator[FloatArray]:
    return (rows[:, begin:end] for begin, end in pairwise(starts.tolist()))
