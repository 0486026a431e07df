"""Likelihoods of regressions of variables of any kinds, with gaps: what tests and criteria of mixed tables are made of.

Each variable given others is a regression: thresholds and log-linear weights of a categorical variable, least squares
of a numeric one. Features are as in `mnlearn.scores.evidence`, in the ordered reading: the standardised value of
a number, log(1 + count) of a count, the standardised score of an ordinal variable, contrasts of the states of a nominal
one. Fits run in the native core, each scan on one thread; any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Literal, NamedTuple

import numpy as np

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.parallel import job_count
from mnlearn.protocols.statistics import FloatArray, Indices, IntArray, VarSet
from mnlearn.statistics.evidence import native_columns, starts
from mnlearn.statistics.searches import indices


class PairRatios(NamedTuple):
    """Of each y of a scan: the statistic of a likelihood ratio, its degrees of freedom, and the rows behind it."""

    statistic: FloatArray
    dof: FloatArray
    n_rows: IntArray


class Fits(NamedTuple):
    """Log likelihoods, and numbers of parameters beyond those without neighbours."""

    log_likelihood: FloatArray
    parameters: FloatArray


class MixedLikelihoods:
    """Regressions of variables of any kinds on each other, by maximum likelihood.

    Parameters
    ----------
    dataset
        Variables of any kinds; values may be missing. `repeats` count as that many equal rows.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.

    Attributes
    ----------
    without_rows
        Questions so far that had no row in which all of their variables are observed.
    fallbacks
        Models so far that could not be fitted: more than 256 parameters.

    Raises
    ------
    UnsuitableError
        If this is not a data set, or its rows have weights.

    Notes
    -----
    Weights of categorical variables have a ridge of 1e-4, so that they stay finite where states are separated.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])
    >>> MixedLikelihoods(data).ratios([0], [[1, 2]], [frozenset()])[0].statistic.round(2).tolist()
    [51.99, 0.0]
    """

    def __init__(self, dataset: Dataset, *, n_jobs: int | None = None) -> None:
        self._threads, self._native = job_count(n_jobs), native_columns(dataset)
        self.dataset = dataset
        self.without_rows = self.fallbacks = 0

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.dataset.n_variables

    @property
    def n_rows(self) -> int:
        """Number of rows, repeats included."""
        return self.dataset.n_rows

    def ratios(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[PairRatios]:
        """Return the likelihood ratios of x and each y given z, for each x with its ys and its z.

        They are from the rows in which x, y and z are observed. Of both ends, T(x, y) = 2 m / N (l(x | z + y) −
        l(x | z)) with m = N − 1 − w_z − (w_x + w_y + 1) / 2 is taken, and the statistic is the mean; w is the number of
        features. m / N is Bartlett's factor of Wilks' lambda. Degrees of freedom are w_x w_y from either end.
        """
        found, ends = self._ask("tests", xs, zs, yss)
        rows = np.rint(found[2]).astype(np.int64)
        self.without_rows += int(np.count_nonzero(rows == 0))
        return [PairRatios(found[0, a:b], found[1, a:b], rows[a:b]) for a, b in pairwise(ends)]

    def local(self, xs: Indices, zs: Sequence[VarSet]) -> Fits:
        """Return the fit of each x given its z."""
        found, _ = self._ask("local", xs, zs, [()] * len(zs))
        return Fits(found[0], found[1])

    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[Fits]:
        """Return the fit of each x given z and each y."""
        found, ends = self._ask("additions", xs, zs, yss)
        return [Fits(found[0, a:b], found[1, a:b]) for a, b in pairwise(ends)]

    def _ask(
        self,
        question: Literal["tests", "local", "additions"],
        xs: Indices,
        zs: Sequence[VarSet],
        yss: Sequence[Indices],
    ) -> tuple[FloatArray, list[int]]:
        """Return the four rows of the core, and where the answers of each scan begin and end."""
        members = [sorted(z) for z in zs]
        candidates = [indices("ys", ys) for ys in yss]
        found = _core.mixed_likelihoods(
            self._native,
            question,
            indices("xs", xs),
            starts([len(z) for z in members]),
            indices("z", list(chain.from_iterable(members))),
            starts([len(ys) for ys in candidates]),
            np.concatenate([np.empty(0, np.int32), *candidates]),
            self._threads,
        )
        self.fallbacks += int(found[3].sum())
        return found, list(accumulate((len(ys) for ys in candidates), initial=0))
