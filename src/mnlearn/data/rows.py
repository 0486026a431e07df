"""Resample rows: with replacement, in two disjoint parts, or at given positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import rng_from
from mnlearn.data import _checks
from mnlearn.data.dataset import Dataset, _draw, check_not_weighted
from mnlearn.errors import InputError


def resample(dataset: Dataset, seed: int | np.random.Generator) -> Dataset:
    """Draw as many rows as the data have, with replacement.

    Parameters
    ----------
    dataset
        The rows to draw from.
    seed
        A seed or a generator; the same seed draws the same rows.

    Returns
    -------
    Dataset
        The drawn rows in their old order, with all declared states. A row drawn k times is stored k times, unless
        the data have repeats: then it is stored once, with its repeats.

    Notes
    -----
    Rows are copied rather than weighted: counting bits of plain rows is up to 3 times as fast as adding weights.

    Examples
    --------
    >>> resample(Dataset.from_codes([[0, 1, 0, 1], [0, 0, 1, 1]]), seed=1).n_rows
    4
    """
    generator = rng_from(seed)
    if dataset.repeats is None:
        return take(dataset, np.sort(generator.integers(dataset.n_records, size=dataset.n_records)))
    shares = dataset.repeats / dataset.repeats.sum()
    return dataset._weighted(generator.multinomial(dataset.n_rows, shares).astype(np.int64))


def split(dataset: Dataset, n_rows: int, seed: int | np.random.Generator) -> tuple[Dataset, Dataset]:
    """Draw rows without replacement, and return them and the others.

    Parameters
    ----------
    dataset
        The rows to divide.
    n_rows
        Number of rows to draw: at least one, and fewer than all.
    seed
        A seed or a generator; the same seed draws the same rows.

    Raises
    ------
    InputError
        If one of the two parts would be empty.

    Examples
    --------
    >>> first, second = split(Dataset.from_codes([[0, 1, 0, 1], [0, 0, 1, 1]]), 1, seed=1)
    >>> first.n_rows, second.n_rows
    (1, 3)
    """
    if not _checks.is_whole(n_rows) or not 1 <= n_rows < dataset.n_rows:
        raise InputError(
            f"n_rows must be a whole number from 1 to {dataset.n_rows - 1}, so that both parts have rows; got "
            f"{n_rows!r}. Choose another number."
        )
    check_not_weighted(dataset, "rows split in two", "Draw with replacement (sampling='bootstrap').")
    generator = rng_from(seed)
    if dataset.repeats is not None:
        drawn = _draw(dataset.repeats, n_rows, generator)
        return dataset._weighted(drawn), dataset._weighted(dataset.repeats - drawn)
    chosen = np.zeros(dataset.n_records, dtype=np.bool_)
    chosen[generator.choice(dataset.n_records, size=n_rows, replace=False, shuffle=False)] = True
    return take(dataset, np.flatnonzero(chosen)), take(dataset, np.flatnonzero(~chosen))


def take(dataset: Dataset, kept: NDArray[np.integer]) -> Dataset:
    """Return the stored rows at given positions, with their repeats.

    Examples
    --------
    >>> take(Dataset.from_codes([[0, 1, 0], [1, 1, 0]]), np.array([2])).columns[1].tolist()
    [0]
    """
    repeats = None if dataset.repeats is None else dataset.repeats[kept]
    return dataset._rows(np.asarray(kept, dtype=np.int64), repeats)


def observed_rows(dataset: Dataset, variables: Sequence[int]) -> Dataset:
    """Return the rows in which all of some variables are observed; these variables have no gaps any more.

    Examples
    --------
    >>> gaps = Dataset(("z",), (0,), (np.array([1.0, np.nan, 2.0]),), (None,), gaps=frozenset({"z"}))
    >>> observed_rows(gaps, [0]).columns[0].tolist()
    [1.0, 2.0]
    """
    masks = {x: mask for x in variables if (mask := dataset.observed(x)) is not None}
    if not masks:
        return dataset
    kept = take(dataset, np.flatnonzero(np.logical_and.reduce(list(masks.values()))))
    columns = list(kept.columns)
    for x in masks:
        if dataset.cards[x]:
            columns[x] = columns[x].astype(_checks.code_type(dataset.cards[x]))
            columns[x].flags.writeable = False
    return kept._with(columns=tuple(columns), gaps=dataset.gaps - {dataset.names[x] for x in masks})


def without_foreign_levels(part: Dataset, whole: Dataset) -> Dataset:
    """Return some rows of a table without the levels that only its other rows have, unless they were declared.

    Examples
    --------
    >>> whole = Dataset.from_codes([[0, 1, 2], [0, 1, 1]])
    >>> without_foreign_levels(take(whole, np.array([0, 2])), whole).levels
    ((0, 2), (0, 1))
    """
    cards, columns, levels = list(part.cards), list(part.columns), list(part.levels)
    for k, (name, labels) in enumerate(zip(part.names, part.levels, strict=True)):
        if labels is None or name in part.declared:
            continue
        here, there = (np.bincount(data.columns[k], minlength=len(labels))[: len(labels)] > 0 for data in (part, whole))
        kept = here | ~there
        if not kept.all():
            levels[k] = tuple(label for label, stays in zip(labels, kept, strict=True) if stays)
            cards[k] = int(kept.sum())
            codes = np.append(np.cumsum(kept) - 1, cards[k])  # a gap comes after the last level
            columns[k] = codes.astype(_checks.code_type(cards[k] + (name in part.gaps)))[part.columns[k]]
            columns[k].flags.writeable = False
    return part._with(cards=tuple(cards), columns=tuple(columns), levels=tuple(levels), pack=None)
