"""From whatever holds data to a data set that a judge can be made for."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from mnlearn.data import Dataset, read
from mnlearn.data.discretize import discretize as discretize_dataset
from mnlearn.errors import InputError, UnsuitableError

_log = logging.getLogger("mnlearn.pipeline")


class Reading(TypedDict):
    """How data are read: the options of `mnlearn.data.read` but for the columns."""

    types: Mapping[str, Literal["categorical", "continuous"]] | None
    levels: Mapping[str, Sequence[Hashable]] | None
    missing: Literal["error", "drop_rows", "category"]
    missing_values: Iterable[Hashable]
    repeats: str | None
    delimiter: str | None


AS_IT_COMES: Reading = {
    "types": None,
    "levels": None,
    "missing": "error",
    "missing_values": (),
    "repeats": None,
    "delimiter": None,
}
"""What is taken where nothing is said."""


def load_data(
    data: object,
    columns: Sequence[str] | None,
    reading: Reading,
    method: Literal["width", "frequency"] | None,
    bins: int | None,
) -> Dataset:
    """Read data, say what was missing, and cut continuous variables into states if that is asked for."""
    dataset = read(data, columns=columns, **reading)
    dataset.verify()
    if dataset.missing.counts:
        _log.info("%s", dataset.missing)
    if method is not None:
        return discretize_dataset(dataset, method=method, bins=bins)
    if bins is not None:
        raise InputError(
            f"bins is for discretize='width' or discretize='frequency'; got {bins}. Add one, or drop bins."
        )
    return dataset


def check_dataset(argument: str, data: object) -> None:
    """Refuse data that were not read yet, where they must have been."""
    if not isinstance(data, Dataset):
        raise UnsuitableError(
            f"{argument} must be a Dataset; got a {type(data).__name__}. Read it first: mnlearn.read(...)."
        )


def is_continuous(dataset: Dataset, judge: str) -> bool:
    """Whether all variables are continuous, as against all categorical; a mixture is refused in the judge's name."""
    continuous = [name for name, card in zip(dataset.names, dataset.cards, strict=True) if not card]
    if 0 < len(continuous) < dataset.n_variables:
        other = next(name for name, card in zip(dataset.names, dataset.cards, strict=True) if card)
        raise UnsuitableError(
            f"{judge} needs variables of one type; {continuous[0]!r} is continuous and {other!r} is categorical. "
            "Discretise the continuous ones (discretize='frequency'), or choose columns of one type."
        )
    return bool(continuous)
