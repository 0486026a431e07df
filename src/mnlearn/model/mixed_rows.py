"""Rows of a mixed model: codes of states and standardised numbers, from data and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data._checks import code_type
from mnlearn.data.dataset import Dataset
from mnlearn.data.readers import already_coded
from mnlearn.errors import DataError, InputError, UnsuitableError, is_number, unknown_name
from mnlearn.model.base import Label
from mnlearn.model.rows import incomplete_values
from mnlearn.numbers import expm1, log, log1p
from mnlearn.protocols import FloatArray
from mnlearn.regression.features import Features

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
