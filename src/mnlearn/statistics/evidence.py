"""Local evidence from the tables of a data set: models fitted in the native core, many questions at once.

`mnlearn.scores.evidence` defines F, P and their fits; here they are computed.

Regressions of variables of any kinds on others, in the native core: the statistics of mixed evidence.

Each question uses the rows in which all of its variables are observed; see native/mixed/mixed_scan.hpp.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Sized
from itertools import accumulate, chain, pairwise
from math import inf, isnan
from numbers import Real
from operator import index
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset, check_not_weighted
from mnlearn.errors import InputError, UnsuitableError, true_or_false
from mnlearn.numbers import log1p
from mnlearn.parallel import job_count
from mnlearn.protocols.statistics import BoolArray, FloatArray, Indices, VarSet
from mnlearn.statistics.searches import indices

Kind: TypeAlias = Literal["local", "estimates", "additions", "leaders", "pairs", "removals", "full_tables"]

MOST_GIVEN = 6  # members of a set given which all variables can be ranked


class LocalFits(NamedTuple):
    """F of each question (minus the gift unless the set is empty), and P, which equals F where it has no fit."""

    full_table: FloatArray
    pairwise: FloatArray
    fell_back: BoolArray


class PairFits(NamedTuple):
    """Evidence of each y of a scan, such as ev(x, y | S); exact, or estimated by one Newton step."""

    log_factor: FloatArray
    exact: BoolArray
    fell_back: int  # models that could not be fitted


class EvidenceScans:
    """Fits of conditional models to the tables of a data set.

    Made by `Counts.evidence`. Each thread takes whole scans; any number of threads gives the same bits.

    Parameters
    ----------
    store
        Data set in the native core.
    three_way
        Whether models of up to eight neighbours may have three-way terms.
    n_threads
        Number of threads.

    Attributes
    ----------
    n_states
        Number of observed states of each variable.
    gift
        Evidence that a table of mostly empty configurations gives each variable for nothing.
    """

    _store: _core.Store  # none where rows are in shards

    def __init__(self, store: _core.Store, *, three_way: bool, n_threads: int) -> None:
        self._store, self._three_way, self._threads = store, three_way, n_threads
        self.n_states, self._offset, self.gift = _core.evidence_facts(store, n_threads)

    def local(self, xs: Indices, zs: Sequence[VarSet]) -> LocalFits:
        """Return F(x | z) and P(x | z) of each x with its z."""
        rows = self._ask("local", xs, zs, _no_candidates(zs))[0]
        return LocalFits(rows[0], rows[1], rows[2] > 0)

    def additions(
        self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], *, exact: bool = True
    ) -> list[LocalFits]:
        """Return F(x | z + y) and P(x | z + y) of each x and y; P fitted, or estimated by one Newton step."""
        true_or_false(exact=exact)
        rows, starts = self._ask("additions" if exact else "estimates", xs, zs, yss)
        return [LocalFits(part[0], part[1], part[3] > 0) for part in _parts(rows, starts)]

    def pairs(
        self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], *, fit_above: float | FloatArray = -inf
    ) -> list[PairFits]:
        """Return ev(x, y | z) of each x and y; models of z + y are fitted where it may exceed `fit_above` (of x)."""
        _check_bound(fit_above)
        return _fits(*self._ask("pairs", xs, zs, yss, fit_above))

    def leaders(
        self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], above: Sequence[float]
    ) -> list[PairFits]:
        """Return H(x | z + y) of each x and y to first order; what is largest and exceeds `above` of its x, fitted."""
        return _fits(*self._ask("leaders", xs, zs, yss, above))

    def removals(self, xs: Indices, zs: Sequence[VarSet], fit_above: Sequence[float]) -> list[PairFits]:
        """Return H(x | z − y) of each x for the members y of its z, fitted where it may exceed `fit_above` of x."""
        rows = self._ask("removals", xs, zs, _no_candidates(zs), fit_above)[0]
        return _fits(rows, starts([len(z) for z in zs]))

    def full_tables(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return F(x | z + y) of each x and y, the gift included."""
        rows, starts = self._ask("full_tables", xs, zs, yss)
        return [part[0] for part in _parts(rows, starts)]

    def ranks_all(self, z: VarSet) -> bool:
        """Return whether `most_promising` can rank all variables given this set."""
        return len(z) <= MOST_GIVEN and hasattr(self, "_store") and _core.has_promising(self._store)

    def most_promising(
        self, xs: Indices, zs: Sequence[VarSet], k: int, above: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the k variables of all that promise most for each x given its z, and where those of each x begin.

        The promise is an approximation of the gain of H, by chi-square in the strata of z; at least `above`.
        """
        members = [sorted(z) for z in zs]
        given = np.array(list(chain.from_iterable(members)), dtype=np.int32)
        lengths = starts([len(z) for z in members])
        return _core.most_promising(self._store, indices("xs", xs), lengths, given, k, above, self._threads)

    def _ask(
        self,
        kind: Kind,
        xs: Indices,
        zs: Sequence[VarSet],
        yss: Sequence[Indices],
        thresholds: float | Sequence[float] | FloatArray = inf,
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        return self.rows(kind, xs, zs, yss, thresholds), starts([len(ys) for ys in yss])

    def rows(
        self,
        kind: Kind,
        xs: Indices,
        zs: Sequence[VarSet],
        yss: Sequence[Indices],
        thresholds: float | Sequence[float] | FloatArray,
    ) -> FloatArray:
        """Return the rows of many questions of one kind; `native/evidence/evidence.hpp` describes them.

        `thresholds` is one number for all questions, or one for each.
        """
        try:
            members = [sorted(map(index, z)) for z in zs]
            candidates = [indices("ys", ys) for ys in yss]
        except TypeError:
            raise InputError(
                f"xs, zs and yss must be sequences of indices, one entry per question; got zs={zs!r}, yss={yss!r}. "
                "Use dataset.index(name)."
            ) from None
        return _core.evidence(
            self._store,
            self.n_states,
            self._offset,
            self.gift,
            kind,
            indices("xs", xs),
            starts([len(z) for z in members]),
            indices("zs", list(chain.from_iterable(members))),
            starts([len(ys) for ys in candidates]),
            np.concatenate([np.empty(0, np.int32), *candidates]),
            self._three_way,
            bounds(thresholds, len(members)),
            self._threads,
        )


def _no_candidates(zs: object) -> list[tuple[()]]:
    """Return an empty list of candidates for each question."""
    return [()] * len(zs) if isinstance(zs, Sized) else []


def _check_bound(fit_above: object) -> None:
    one = isinstance(fit_above, Real) and not isnan(fit_above)
    each = isinstance(fit_above, np.ndarray) and fit_above.dtype == np.float64 and not np.isnan(fit_above).any()
    if not one and not each:
        raise InputError(
            f"fit_above must be a number, or an array with one for each x; got {fit_above!r}. Leave it out to fit all "
            "models."
        )


def bounds(thresholds: float | Sequence[float] | FloatArray, n_questions: int) -> FloatArray:
    """Return the threshold of each question."""
    each = np.asarray(thresholds, dtype=np.float64)
    if each.shape not in {(), (n_questions,)}:
        raise InputError(
            f"a bound of fits must be one number, or one for each of the {n_questions} questions; got shape "
            f"{each.shape}. Give one number."
        )
    return np.ascontiguousarray(np.broadcast_to(each, n_questions))


def starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.fromiter(accumulate(lengths, initial=0), dtype=np.int64, count=len(lengths) + 1)


def _fits(rows: FloatArray, starts: NDArray[np.int64]) -> list[PairFits]:
    exact, fell_back = rows[1] > 0, np.concatenate(([0], np.cumsum(rows[2])))[starts].astype(np.int64).tolist()
    return [
        PairFits(rows[0, begin:end], exact[begin:end], last - first)
        for (begin, end), (first, last) in zip(pairwise(starts.tolist()), pairwise(fell_back), strict=True)
    ]


def _parts(rows: FloatArray, starts: NDArray[np.int64]) -> Iterator[FloatArray]:
    return (rows[:, begin:end] for begin, end in pairwise(starts.tolist()))


def as_numbers(data: Dataset, v: int) -> NDArray[Any]:
    """Return a column as the models read it: codes, numbers, or log(1 + count)."""
    return log1p(data.columns[v]) if data.kinds[v] == "count" else data.columns[v]


def native_columns(data: Dataset) -> _core.MixedData:
    """Return data of any kinds in the native core, standardised.

    Raises
    ------
    UnsuitableError
        If this is not a data set, or its rows have weights.
    """
    if not isinstance(data, Dataset):
        raise UnsuitableError(
            f"models of several kinds need a Dataset; got a {type(data).__name__}. Read it first: mnlearn.read(...)."
        )
    check_not_weighted(
        data,
        "rows of variables of several kinds, or with gaps,",
        "Leave the weights out, or use variables of one kind with missing='drop_rows'.",
    )
    data.verify()
    kinds, columns = data.kinds, [as_numbers(data, v) for v in range(data.n_variables)]
    scores = [data.level_scores(v) if kind == "ordinal" else np.empty(0) for v, kind in enumerate(kinds)]
    names = [kind if card else "numeric" for card, kind in zip(data.cards, kinds, strict=True)]
    return _core.MixedData(columns, names, data.cards, scores, data.repeats, os.environ.get("MNLEARN_CORE", ""))


class MixedScans:
    """Data of any kinds, standardised, and the evidence of regressions between them.

    Parameters
    ----------
    data
        Variables of any kinds; values may be missing. Counts are used as log(1 + count).
    n_jobs
        Number of threads: None or −1 for all cores. Any number gives the same result.

    Raises
    ------
    UnsuitableError
        If this is not a data set, or its rows have weights.
    """

    def __init__(self, data: Dataset, *, n_jobs: int | None = None) -> None:
        self._threads, self._native = job_count(n_jobs), native_columns(data)

    def rows(
        self,
        question: str,
        xs: Indices,
        zs: Sequence[VarSet],
        yss: Sequence[Indices],
        *,
        three_way: bool = False,
        thresholds: float | FloatArray = inf,
        relative: bool = False,
    ) -> FloatArray:
        """Return the answers to many questions of one kind; native/mixed/mixed_evidence.hpp describes the rows.

        Parameters
        ----------
        question
            "local", "estimates", "additions", "leaders", "pairs" or "removals".
        xs, zs, yss
            One entry for each question.
        three_way
            Whether models of categorical variables may have three-way terms.
        thresholds
            One number for all questions, or one for each.
        relative
            Whether thresholds of "leaders" and "removals" are of differences, not of values.
        """
        members = [sorted(z) for z in zs]
        candidates = [indices("ys", ys) for ys in yss]
        return _core.mixed_evidence(
            self._native,
            question,
            indices("xs", xs),
            starts([len(z) for z in members]),
            indices("zs", list(chain.from_iterable(members))),
            starts([len(ys) for ys in candidates]),
            np.concatenate([np.empty(0, np.int32), *candidates]),
            three_way,
            bounds(thresholds, len(members)),
            relative,
            self._threads,
        )
