"""Continuous variables row by row, for statistics beyond the covariance: ranks, kernel densities, resamples.

Rows are sorted by their values, so that folds, subsamples and permutations drawn by a seed do not depend on the order
in which rows were read, nor on how repeats are stored.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from mnlearn._lazy import cached
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.numbers import exp, log
from mnlearn.protocols.statistics import FloatArray
from mnlearn.statistics.moments import LARGEST, Moments
from mnlearn.statistics.scaling import products, standardized

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset

MOST_VALUES = 1 << 28
"""Largest number of values, 2 GB, after repeats are expanded into rows."""


class Rows:
    """All rows of continuous variables, each variable with mean 0 and variance 1.

    Parameters
    ----------
    dataset
        Continuous variables only. `repeats` are expanded into that many equal rows.

    Raises
    ------
    UnsuitableError
        If a variable is categorical.
    InputError
        If the expanded rows would need too much memory.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> rows = Rows(read({"a": [1.0, 2.0, 3.0], "b": [0.1, 7.0, 0.3]}))
    >>> rows.n_rows, rows.rank_correlation().round(2).tolist()
    (3, [[1.0, 0.5], [0.5, 1.0]])
    """

    def __init__(self, dataset: Dataset) -> None:
        for name, card in zip(dataset.names, dataset.cards, strict=True):
            if card:
                raise UnsuitableError(
                    f"Rows needs continuous variables; {name!r} has {card} state{'s' if card > 1 else ''}. "
                    "Select the continuous columns, or use Counts."
                )
        from mnlearn.data.dataset import check_no_gaps, check_not_weighted

        check_no_gaps(dataset, "this method, which reads all rows at once,")

        hint = "Use a method based on the covariance alone, such as sep, lasso, glasso or pc."
        check_not_weighted(dataset, "rows that this method reads one by one", hint)
        if dataset.n_rows * dataset.n_variables > MOST_VALUES:
            raise InputError(
                f"data must have at most {MOST_VALUES:,} values to be expanded into rows; got {dataset.n_rows:,} "
                f"rows of {dataset.n_variables}. Use a method based on the covariance alone, or fewer rows."
            )
        dataset.verify()
        order = np.lexsort(dataset.columns[::-1])
        if dataset.repeats is not None:
            order = np.repeat(order, dataset.repeats[order])
        self.values: FloatArray = np.asfortranarray(standardized(dataset)[order])
        self.values.flags.writeable = False

    @property
    def n_rows(self) -> int:
        """Number of rows, repeats included."""
        return len(self.values)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return int(self.values.shape[1])

    @cached
    def moments(self) -> Moments:
        """Covariance of these rows."""
        return moments_of(self.values)

    @cached
    def ranks(self) -> FloatArray:
        """Rank of each value in its column, from 1; equal values have the mean of their ranks."""
        from scipy.stats import rankdata

        return np.asfortranarray(rankdata(self.values, axis=0))

    def normal_scores(self) -> FloatArray:
        """Return Φ⁻¹((rank − ½) / N): every column made normal, its order kept; zeros for a constant one."""
        from scipy.special import ndtri

        return np.asfortranarray(ndtri((self.ranks - 0.5) / self.n_rows))

    def rank_correlation(self) -> FloatArray:
        """Return Spearman's ρ of every pair, within ±`LARGEST` off the diagonal; 0 with a constant variable."""
        return correlation(self.ranks)


def correlation(columns: FloatArray) -> FloatArray:
    """Return the correlations of columns, within ±`LARGEST` off the diagonal; 0 with a constant one, never NaN."""
    centred = columns - columns.mean(axis=0)
    size = np.sqrt(np.square(centred).sum(axis=0))
    varies = size > 1e-12 * np.sqrt(len(columns)) * np.abs(columns).max(axis=0, initial=1.0)
    centred /= np.where(varies, size, 1.0)
    centred[:, ~varies] = 0.0
    matrix: FloatArray = np.clip(products(centred.T), -LARGEST, LARGEST)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def moments_of(values: FloatArray) -> Moments:
    """Return the moments of some rows of standardized values."""
    centred = values - values.mean(axis=0)
    covariance = products(centred.T) / len(values)
    return Moments.from_covariance((covariance + covariance.T) / 2, n_rows=len(values))


def kernel_information(scores: FloatArray, width: float | None = None) -> FloatArray:
    """Return the mutual information of every pair by Gaussian kernel densities, in nats  [ARACNE06].

    I(x; y) = Σ_i log(f(x_i, y_i) / (f(x_i) f(y_i))) / N; each density is a mean of Gaussian kernels over all rows.

    Parameters
    ----------
    scores
        Rows of columns on one scale, such as `Rows.normal_scores`.
    width
        The standard deviation of the kernel; by default N^(−1/6), the normal rule for densities of two variables.

    Returns
    -------
    A symmetric matrix with zeros on its diagonal, nothing below 0.

    Notes
    -----
    The kernel of a pair is the product of the kernels of its ends. So for each row i one matrix product gives the
    densities of all pairs there: N products of n × N by N × n in all.
    """
    n_rows, n = scores.shape
    scale = 1.0 / (n_rows ** (-1 / 6) if width is None else width)
    total = np.zeros((n, n))
    for row in scores:
        kernel = exp(-0.5 * np.square((scores - row) * scale))
        at_x = kernel.mean(axis=0)
        total += log(kernel.T @ kernel / n_rows) - log(np.outer(at_x, at_x))
    information = np.maximum(total + total.T, 0.0) / (2 * n_rows)
    np.fill_diagonal(information, 0.0)
    return np.asarray(information)


def shuffled(columns: FloatArray, n_pairs: int, seed: int) -> FloatArray:
    """Return shuffled copies of the columns, as many as make at least `n_pairs` pairs.

    The columns are used in turn, and sorted before they are shuffled: the order of the rows does not matter.
    """
    rng = np.random.default_rng(seed)
    n_columns = ceil(0.5 + sqrt(0.25 + 2 * n_pairs))
    table = np.sort(columns, axis=0)[:, np.arange(n_columns) % columns.shape[1]]
    return np.asfortranarray(rng.permuted(table, axis=0))
