"""Rows of new data, aligned with a model: columns by name, states by label, numbers by the cuts of the fitted data.

Rows of a mixed model: codes of states and standardised numbers, from data and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import UndeclaredError
from mnlearn.data.dataset import Dataset, check_no_gaps, code_type
from mnlearn.data.readers import already_coded, read_incomplete, read_rows
from mnlearn.errors import DataError, InputError, UnsuitableError, is_number, unknown_name
from mnlearn.model.base import Label, Levels
from mnlearn.numbers import expm1, log, log1p
from mnlearn.protocols import FloatArray
from mnlearn.regression.features import Features


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


_LARGEST_LOG = 30.0  # of 1 + count that is drawn


@dataclass(frozen=True, eq=False)
class RowCoding:
    """Translation between the values of a table and the codes and standardised numbers of a model."""

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...] | None, ...]
    features: tuple[Features, ...]
    cuts: Mapping[str, FloatArray]

    def labels(self, x: int) -> tuple[Label, ...]:
        """The labels of a variable of states."""
        labels = self.levels[x]
        if labels is None:
            raise UnsuitableError(f"{self.names[x]!r} has numbers and no labels. Name a variable of states.")
        return labels

    def incomplete(self, data: object, wanted: Sequence[int]) -> tuple[FloatArray, list[int]]:
        """The values of some variables in a matrix of all, NaN where unknown; and those with a column in the data."""
        levels = [self.levels[x] for x in wanted]
        found, present = incomplete_values(data, [self.names[x] for x in wanted], levels, self.cuts)
        values = np.full((len(found), len(self.names)), np.nan)
        values[:, list(wanted)] = found
        return values, [wanted[k] for k in present]

    def complete(self, data: object, wanted: Sequence[int]) -> Dataset:
        """The data with these variables as columns, coded as the model codes them, without gaps."""
        values, present = self.incomplete(data, wanted)
        for x in wanted:
            if x not in present:
                known = [self.names[y] for y in present]
                raise unknown_name("data must have a column for every variable: column", self.names[x], known)
            if np.isnan(values[:, x]).any():
                raise DataError(
                    f"data must be complete; {self.names[x]!r} has missing values. Fill them with impute(), or drop "
                    "such rows."
                )
        self.standardised(values)
        columns = tuple(self._typed(x, values[:, x]) for x in wanted)
        coded = already_coded(data)
        weights = {} if coded is None else {"repeats": coded.repeats, "weighting": coded.weighting}
        return self._named(wanted, columns)._with(**weights)

    def standardised(self, values: FloatArray) -> FloatArray:
        """Codes as they are, numbers on the scale of their features; raise DataError for impossible counts."""
        found = values.copy()
        for x, each in enumerate(self.features):
            if each.card:
                continue
            known = values[~np.isnan(values[:, x]), x]
            if each.kind == "count" and ((known < 0) | (known != np.floor(known))).any():
                raise DataError(
                    f"data must have whole numbers from 0 in column {self.names[x]!r}, a count; got others. Correct "
                    "them, or fit the model with that column declared continuous."
                )
            found[:, x] = each.standardised(values[:, x])
        return found

    def log_units(self, rows: Dataset) -> FloatArray:
        """The log of the change of scale of each value, to be added to the log density of its feature.

        Of a column that never changes 0, or −∞ elsewhere.
        """
        found = np.zeros((rows.n_records, len(self.names)))
        for x, each in enumerate(self.features):
            if each.card:
                continue
            values = rows.columns[x].astype(np.float64)
            if each.size:
                found[:, x] = -log(each.scale) - (log1p(values) if each.kind == "count" else 0.0)
            else:
                found[:, x] = np.where(values == each.original(np.zeros(1)), 0.0, -np.inf)
        return found

    def dataset(self, values: FloatArray, present: Sequence[int], known: FloatArray | None = None) -> Dataset:
        """Rows of codes and standardised numbers as a data set of some variables.

        Counts are rounded, at least 0. Values that are `known`, in the units of the data, stay as they are.
        """
        columns = []
        for x in present:
            each = self.features[x]
            column = values[:, x]
            if each.kind == "count":
                column = np.maximum(np.rint(expm1(np.minimum(each.center + each.scale * column, _LARGEST_LOG))), 0.0)
            elif not each.card:
                column = each.original(column)
            if known is not None:
                column = np.where(np.isnan(known[:, x]), column, known[:, x])
            columns.append(self._typed(x, column))
        return self._named(present, tuple(columns))

    def row(self, evidence: Mapping[str, Any]) -> FloatArray:
        """Evidence as a row of codes and standardised numbers; NaN for all else."""
        found = np.full((1, len(self.names)), np.nan)
        for name, value in evidence.items():
            if name not in self.names:
                raise unknown_name("evidence: variable", name, self.names)
            x = self.names.index(name)
            labels = self.levels[x]
            is_cut = labels is not None and name in self.cuts and is_number(value) and value not in labels
            if labels is None or is_cut:
                if not is_number(value):
                    raise InputError(f"evidence must hold finite numbers; got {value!r} for {name!r}. Correct it.")
                found[0, x] = np.searchsorted(self.cuts[name], value, side="right") if is_cut else float(value)
            elif value in labels:
                found[0, x] = labels.index(value)
            else:
                known = ", ".join(map(repr, labels))
                raise InputError(f"evidence must hold labels of the model; {name!r} has {known}, got {value!r}.")
        return self.standardised(found)

    def _typed(self, x: int, column: FloatArray) -> NDArray[Any]:
        """Return a column in the type of its codes, or as numbers."""
        card = self.features[x].card
        return np.ascontiguousarray(column.astype(code_type(card) if card else np.float64))

    def _named(self, present: Sequence[int], columns: tuple[NDArray[Any], ...]) -> Dataset:
        """Return columns of some variables with their names, labels and kinds."""
        names, levels = tuple(self.names[x] for x in present), tuple(self.levels[x] for x in present)
        kinds = {self.names[x]: self.features[x].kind for x in present}
        ordinal, counted = (frozenset(n for n in names if kinds[n] == kind) for kind in ("ordinal", "count"))
        cards = tuple(self.features[x].card for x in present)
        return Dataset(names, cards, columns, levels, ordinal=ordinal, counted=counted)
