"""Rows of new data, aligned with a model: columns by name, states by label, numbers by the cuts of the fitted data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data._checks import code_type
from mnlearn.data.columns import UndeclaredError
from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.data.readers import already_coded, read_incomplete, read_rows
from mnlearn.errors import DataError, UnsuitableError
from mnlearn.model.base import Label, Levels
from mnlearn.protocols import FloatArray


def categorical_rows(data: object, names: Sequence[str], levels: Levels, cuts: Mapping[str, FloatArray]) -> Dataset:
    """The data with these columns in this order, coded by these labels.

    A column that the model knows in intervals may come as numbers, which are cut where the model's data were, or as the
    labels of the intervals.
    """
    coded = already_coded(data)
    if coded is None:
        declared = {
            name: [label for label in labels if label is not None]
            for name, labels in zip(names, levels, strict=True)
            if name not in cuts
        }
        with_holes = any(None in labels for labels in levels)
        try:
            coded = read_rows(data, columns=names, levels=declared, missing="category" if with_holes else "error")
        except UndeclaredError as error:
            raise _unknown_state(error.column, levels[names.index(error.column)], error.label) from error
    coded.verify()
    rows = coded.select(names)
    check_no_gaps(rows, "the likelihood of a model", "impute()")
    columns = tuple(
        _coded(name, column, given, labels, cuts.get(name))
        for name, column, given, labels in zip(names, rows.columns, rows.levels, levels, strict=True)
    )
    return Dataset(tuple(names), tuple(map(len, levels)), columns, levels, rows.repeats, weighting=rows.weighting)


def continuous_rows(data: object, names: Sequence[str]) -> Dataset:
    """The data with these columns in this order, all of them numbers."""
    coded = already_coded(data)
    if coded is None:
        coded = read_rows(data, columns=names, types=dict.fromkeys(names, "continuous"))
    coded.verify()
    rows = coded.select(names)
    check_no_gaps(rows, "the likelihood of a model", "impute()")
    for name, card in zip(rows.names, rows.cards, strict=True):
        if card:
            raise _not_numbers(name, card)
    return rows


def incomplete_states(
    data: object, names: Sequence[str], levels: Levels, cuts: Mapping[str, FloatArray]
) -> tuple[NDArray[np.intp], list[int]]:
    """Return the codes of the rows, −1 where a value is unknown, and the variables of which the data have a column.

    An empty cell is unknown, unless the model has a state for missing values.
    """
    declared = {
        name: [label for label in labels if label is not None]
        for name, labels in zip(names, levels, strict=True)
        if name not in cuts
    }
    try:
        columns = read_incomplete(data, names, levels=declared)
    except UndeclaredError as error:
        raise _unknown_state(error.column, levels[names.index(error.column)], error.label) from error
    place = {name: x for x, name in enumerate(names)}
    found = np.full((len(columns[0].values), len(names)), -1, dtype=np.intp)
    for name, values, known, given in columns:
        labels = levels[place[name]]
        codes = _coded(name, values[known], given, labels, cuts.get(name))
        found[known, place[name]] = codes
        if None in labels:
            found[~known, place[name]] = labels.index(None)
    return found, [place[column.name] for column in columns]


def incomplete_numbers(data: object, names: Sequence[str]) -> tuple[FloatArray, list[int]]:
    """Return the numbers of the rows, NaN where a value is unknown, and the variables with a column in the data."""
    columns = read_incomplete(data, names, types=dict.fromkeys(names, "continuous"))
    place = {name: x for x, name in enumerate(names)}
    found = np.full((len(columns[0].values), len(names)), np.nan)
    for name, values, known, levels in columns:
        found[known, place[name]] = _finite(name, values[known], levels)
    return found, [place[column.name] for column in columns]


def incomplete_values(
    data: object, names: Sequence[str], levels: Sequence[tuple[Label, ...] | None], cuts: Mapping[str, FloatArray]
) -> tuple[FloatArray, list[int]]:
    """Return codes and numbers of the rows, NaN where a value is unknown, and the variables with a column in the data.

    A variable without levels is a number.
    """
    known_levels = {name: labels for name, labels in zip(names, levels, strict=True) if labels is not None}
    declared = {
        name: [label for label in labels if label is not None]
        for name, labels in known_levels.items()
        if name not in cuts
    }
    types: Any = {name: "continuous" for name in names if name not in known_levels}
    try:
        columns = read_incomplete(data, names, types=types, levels=declared)
    except UndeclaredError as error:
        raise _unknown_state(error.column, known_levels[error.column], error.label) from error
    place = {name: x for x, name in enumerate(names)}
    found = np.full((len(columns[0].values), len(names)), np.nan)
    for name, values, known, given in columns:
        labels = known_levels.get(name)
        if labels is None:
            found[known, place[name]] = _finite(name, values[known], given)
            continue
        found[known, place[name]] = _coded(name, values[known], given, labels, cuts.get(name))
        if None in labels:
            found[~known, place[name]] = labels.index(None)
    return found, [place[column.name] for column in columns]


def _finite(name: str, values: NDArray[Any], levels: tuple[Label, ...] | None) -> NDArray[Any]:
    """Return a column of finite numbers; raise an error for others."""
    if levels is not None:
        raise _not_numbers(name, len(levels))
    if np.isinf(values).any():
        raise DataError(f"data must have finite numbers in column {name!r}; got an infinite one. Correct it.")
    return values


def _not_numbers(name: str, card: int) -> UnsuitableError:
    """Return the error for a column of states where a Gaussian model needs numbers."""
    return UnsuitableError(
        f"data must have numbers in every column of numbers of the model; {name!r} has {card} states. Read it with "
        f"types={{{name!r}: 'continuous'}}."
    )


def _coded(
    name: str,
    column: NDArray[Any],
    given: tuple[Label, ...] | None,
    labels: tuple[Label, ...],
    cuts: FloatArray | None,
) -> NDArray[Any]:
    """One column in the codes of the model."""
    kind = code_type(len(labels))
    if given == labels:
        return column
    if cuts is not None and (given is None or not set(given) <= set(labels)):
        numbers = column if given is None else _numbers(name, given)[column]
        return np.searchsorted(cuts, numbers, side="right").astype(kind)
    if given is None:
        raise UnsuitableError(
            f"data must have the states of the model in column {name!r} ({_listed(labels)}); got numbers. Read it with "
            f"types={{{name!r}: 'categorical'}}."
        )
    place = {label: code for code, label in enumerate(labels)}
    occurring = np.zeros(len(given), dtype=np.bool_)
    occurring[column] = True
    for label, occurs in zip(given, occurring.tolist(), strict=True):
        if occurs and label not in place:
            raise _unknown_state(name, labels, label)
    table = np.array([place.get(label, 0) for label in given], dtype=kind)
    return np.asarray(table[column])


def _unknown_state(name: str, labels: Sequence[Label], label: Label) -> DataError:
    """The error for a state that no factor has a cell for."""
    return DataError(
        f"data must have states that the model knows in column {name!r} ({_listed(labels)}); got {label!r}. Empty "
        "these cells if it marks a missing value, leave such rows out, or fit the model with that state declared "
        "(levels={...})."
    )


def _numbers(name: str, labels: Sequence[Label]) -> FloatArray:
    """Labels that are numbers, as such."""
    numbers: Sequence[Any] = labels
    wrong = [label for label in numbers if not isinstance(label, Real)]
    if wrong:
        raise DataError(
            f"data must have numbers, or the intervals of the model, in column {name!r}; got {wrong[0]!r}. Read it as "
            "the model's data were read."
        )
    return np.array([float(label) for label in numbers])


def _listed(labels: Sequence[Label]) -> str:
    """The first few labels."""
    return ", ".join(map(repr, labels[:6])) + (", ..." if len(labels) > 6 else "")
