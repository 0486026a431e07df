"""A column predicted from the others, as a table, and how well it was predicted where it is known."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, code_type
from mnlearn.data.readers import already_coded
from mnlearn.data.writers import write_data
from mnlearn.errors import MnlearnError, UnsuitableError
from mnlearn.model.base import MarkovModel
from mnlearn.model.discrete import DiscreteModel
from mnlearn.model.gaussian import GaussianModel
from mnlearn.model.mixed import MixedModel
from mnlearn.model.rows import incomplete_numbers, incomplete_states


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of one column, row by row.

    Attributes
    ----------
    column
        The variable.
    table
        The best guess in a column of the variable's name; beside it the probability of every label, ``p(label)``, or
        the standard ``deviation``. Of equal names the later ones are numbered, as in ``deviation (2)``.
    measure
        "accuracy" (the share of rows whose label was guessed) or "rmse" (the root mean square error).
    value
        The measure; None where the data do not hold the column.
    """

    column: str
    table: Dataset = field(repr=False)
    measure: str
    value: float | None

    def rows(self) -> list[list[Any]]:
        """The table row by row, labels as they are."""
        columns = []
        for codes, labels in zip(self.table.columns, self.table.levels, strict=True):
            columns.append(codes.tolist() if labels is None else [labels[code] for code in codes.tolist()])
        return [list(row) for row in zip(*columns, strict=True)]

    def to_dict(self) -> dict[str, object]:
        """The document that `mnlearn predict --json` prints."""
        rows = [[value if _is_plain(value) else str(value) for value in row] for row in self.rows()]
        measured = {self.measure: self.value}
        return {"column": self.column, "columns": list(self.table.names), "rows": rows, **measured}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file: .csv, .tsv or .parquet."""
        write_data(self.table, path)


def predictions(model: MarkovModel, data: object, column: str) -> Predictions:
    """Predict one column from the others, with how sure the model is.

    Parameters
    ----------
    model
        A fitted model.
    data
        Whatever `mnlearn.read` accepts, with the neighbours of the variable; empty cells are unknown. If the column
        itself is there, the predictions are compared with it where it is known.
    column
        The name of the variable.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> from mnlearn.model import fit
    >>> from mnlearn.simulate import example
    >>> survey = example(500, seed=1)
    >>> found = predictions(fit(survey.graph, read(survey.columns())), survey.columns(), "fatigue")
    >>> found.table.names, found.measure, found.value > 0.7
    (('fatigue', 'p(no)', 'p(yes)'), 'accuracy', True)
    """
    if isinstance(model, DiscreteModel):
        return _of_states(model, data, column)
    if isinstance(model, GaussianModel):
        return _of_numbers(model, data, column)
    if isinstance(model, MixedModel):
        numeric = model.levels[model.place("column", column)] is None
        return _of_numbers(model, data, column) if numeric else _of_states(model, data, column)
    raise UnsuitableError(
        f"model must be a DiscreteModel, GaussianModel or MixedModel; got a {type(model).__name__}. Fit one."
    )


def _of_states(model: DiscreteModel | MixedModel, data: object, column: str) -> Predictions:
    """The most probable label and the probability of each."""
    chances = model.predict_proba(data, column)
    labels = model.labels(column)
    best = np.argmax(chances, axis=1)
    known, weights = _known(model, data, column)
    accuracy = None if known is None else _average(best == known, known >= 0, weights)
    names = _distinct([column, *(f"p({label})" for label in labels)])
    columns = (best.astype(code_type(len(labels))), *(np.ascontiguousarray(p) for p in chances.T))
    table = Dataset(names, (len(labels), *[0] * len(labels)), columns, (labels, *[None] * len(labels)))
    return Predictions(column, table, "accuracy", accuracy)


def _of_numbers(model: GaussianModel | MixedModel, data: object, column: str) -> Predictions:
    """The mean and the deviation given the neighbours."""
    means, spread = model.predict(data, column), model.predict_deviation(data, column)
    known, weights = _known(model, data, column)
    error = None if known is None else _average((means - known) ** 2, ~np.isnan(known), weights)
    error = None if error is None else sqrt(error)
    table = Dataset(_distinct([column, "deviation"]), (0, 0), (means, spread), (None, None))
    return Predictions(column, table, "rmse", error)


def _average(values: NDArray[Any], known: NDArray[np.bool_], weights: NDArray[np.int64] | None) -> float | None:
    """Return the mean over the rows where the column is known; None if there are none."""
    if not known.any():
        return None
    return float(np.average(values[known], weights=None if weights is None else weights[known]))


def _known(
    model: DiscreteModel | GaussianModel | MixedModel, data: object, column: str
) -> tuple[NDArray[Any] | None, Any]:
    """Return the column itself, where the data hold it in a form that the model knows, and the repeats of the rows."""
    x, coded = model.place("column", column), already_coded(data)
    labels = None if isinstance(model, GaussianModel) else model.levels[x]
    try:
        if labels is None:
            known: NDArray[Any] = incomplete_numbers(data, [column])[0]
        else:
            known = incomplete_states(data, [column], (labels,), getattr(model, "cuts", {}))[0]
    except MnlearnError:
        return None, None
    return known[:, 0], None if coded is None else coded.repeats


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, numbered from the second of equal ones on."""
    found: list[str] = []
    for name in names:
        tries = (name if k == 1 else f"{name} ({k})" for k in count(1))
        found.append(next(one for one in tries if one not in found))
    return tuple(found)


def _is_plain(value: object) -> bool:
    """Whether JSON knows it."""
    return value is None or isinstance(value, str | bool | int | float)
