"""Remove values from complete data: completely at random, or depending on columns that stay complete."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import Seed, rng_from
from mnlearn.data._checks import code_type
from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.errors import DataError, InputError, check_instance, check_number


def random_gaps(data: Dataset, share: float, seed: Seed, *, columns: Sequence[str] | None = None) -> Dataset:
    """Remove each value with the same probability, independently of everything (MCAR).

    Parameters
    ----------
    data
        The data; values that are missing already stay missing.
    share
        Probability that a value is removed, from 0 to below 1.
    seed
        An integer, or a generator to draw from.
    columns
        Names of the variables that lose values; all when left out.

    Returns
    -------
    Dataset
        Data with gaps, as `read` with ``missing="testwise"`` returns them.

    Raises
    ------
    DataError
        If a variable is left without any value.

    Examples
    --------
    >>> whole = Dataset.from_codes([[0, 1, 1, 0]] * 2, cards=[2, 2])
    >>> sorted(random_gaps(whole, 0.2, seed=1).gaps)
    ['x0']
    """
    _check_data(data)
    check_number("share", share, "Use for example 0.2.", least=0, most=1)
    chosen = range(data.n_variables) if columns is None else [data.index(name) for name in columns]
    rng = rng_from(seed)
    return with_gaps(data, {x: rng.random(data.n_records) < share for x in chosen})


def dependent_gaps(data: Dataset, seed: Seed, *, low: float = 0.1, high: float = 0.6) -> Dataset:
    """Remove values with a probability that depends on another column without gaps (MAR).

    A random half of the variables, rounded up, stays complete. Each other variable is paired with one of them: it loses
    values with probability `high` in rows where that one is in the upper part of its values, and else with `low`.
    The parts are divided where they are most equal; states count in the order of their codes.

    Parameters
    ----------
    data
        The data, complete, of at least two variables.
    seed
        An integer, or a generator to draw from.
    low, high
        The two probabilities, from 0 to 1.

    Returns
    -------
    Dataset
        Data with gaps, as `read` with ``missing="testwise"`` returns them.

    Examples
    --------
    >>> whole = Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (100, 4)))
    >>> len(dependent_gaps(whole, seed=1).gaps)
    2
    """
    _check_data(data)
    if data.gaps or data.n_variables < 2:
        raise InputError("data must be complete and have at least two variables. Use random_gaps instead.")
    for name, value in (("low", low), ("high", high)):
        check_number(name, value, "Use for example 0.1 and 0.6.", least=0, most=1)
    rng = rng_from(seed)
    order = rng.permutation(data.n_variables).tolist()
    half = (data.n_variables + 1) // 2
    masks = {}
    for x in order[half:]:
        upper = _upper_part(data.columns[int(rng.choice(order[:half]))])
        masks[x] = rng.random(data.n_records) < np.where(upper, high, low)
    return with_gaps(data, masks)


def with_gaps(data: Dataset, masks: dict[int, NDArray[np.bool_]]) -> Dataset:
    """Return the data without the values that the masks name, one mask per position of a variable."""
    columns, counts = list(data.columns), {}
    for x, mask in masks.items():
        seen = data.observed(x)
        missing = mask if seen is None else mask | ~seen
        if missing.all():
            raise DataError(
                f"every variable must keep a value; {data.names[x]!r} lost all {data.n_records}. Remove fewer values."
            )
        if missing.any():
            columns[x] = _emptied(data.columns[x], data.cards[x], missing)
            counts[data.names[x]] = int(missing.sum())
    known = {name: number for name, number in data.missing.counts.items() if name in data.gaps}
    in_order = {name: n for name in data.names if (n := counts.get(name, known.get(name, 0)))}
    return Dataset(
        data.names,
        data.cards,
        tuple(columns),
        data.levels,
        missing=MissingReport(policy="testwise", counts=MappingProxyType(in_order)),
        cuts=data.cuts,
        declared=data.declared,
        unused=data.unused,
        ordinal=data.ordinal,
        counted=data.counted,
        gaps=data.gaps | set(counts),
    )


def _emptied(column: NDArray[Any], card: int, missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return a column with the mark of a missing value in some rows."""
    emptied = column.astype(code_type(card + 1) if card else np.float64)
    emptied[missing] = card if card else np.nan
    return emptied


def _upper_part(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows have a value above the threshold that divides the rows most equally."""
    values, numbers = np.unique(column, return_counts=True)
    below = np.cumsum(numbers)
    return np.asarray(column > values[np.argmin(np.abs(below - len(column) / 2))])


def _check_data(data: Dataset) -> None:
    """Raise InputError unless every row of the data set is stored once."""
    check_instance("data", data, Dataset, "Read it first: mnlearn.read(...).")
    if data.repeats is not None:
        raise InputError("data must have no repeats or weights; got some. Use one row per record.")
