"""Regressions of variables of any kinds on others, in the native core: the statistics of mixed evidence.

Each question uses the rows in which all of its variables are observed; see native/mixed/mixed_scan.hpp.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset, check_not_weighted
from mnlearn.errors import UnsuitableError
from mnlearn.numbers import log1p
from mnlearn.parallel import job_count
from mnlearn.protocols.statistics import FloatArray, Indices, VarSet
from mnlearn.statistics.evidence import bounds, starts
from mnlearn.statistics.searches import indices


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
