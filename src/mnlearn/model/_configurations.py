"""How often each state of a variable goes with each configuration of its neighbours, observed ones only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mnlearn.data import Dataset
from mnlearn.data._rows import row_groups
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.simulate.factors import MOST_STATES


class Configurations(NamedTuple):
    """`counts[m, a]`: how often x = a when the others are as in row m of `codes`, one column per other."""

    codes: IntArray
    counts: FloatArray


def observed(dataset: Dataset, x: int, others: Sequence[int]) -> Configurations:
    """The observed configurations of the others, in an order that does not depend on the order of the rows."""
    card, n_records = dataset.cards[x], dataset.n_records
    groups, n_groups = row_groups([dataset.columns[y] for y in others])
    if not others:
        groups, n_groups = np.zeros(n_records, dtype=np.int64), 1
    cells = groups * card + dataset.columns[x].astype(np.int64)
    counts = np.bincount(cells, weights=dataset.repeats, minlength=n_groups * card).reshape(n_groups, card)
    one_of = np.empty(n_groups, dtype=np.int64)
    one_of[groups] = np.arange(n_records)
    codes = np.empty((n_groups, len(others)), dtype=np.int64)
    for place, y in enumerate(others):
        codes[:, place] = dataset.columns[y][one_of]
    return Configurations(codes, counts.astype(np.float64, copy=False))


def check_categorical(dataset: Dataset, method: str) -> None:
    """Refuse what no table of factors could hold."""
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if not card:
            raise UnsuitableError(
                f"method {method!r} needs categorical variables; {name!r} is continuous. Discretise it "
                "(discretize='frequency'), or use method='gaussian' where all variables are continuous."
            )
        if card > MOST_STATES:
            raise InputError(
                f"data must have at most {MOST_STATES} states per variable for a model; {name!r} has {card}. Join "
                "states, or leave the column out (columns=[...])."
            )
