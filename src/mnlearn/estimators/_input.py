"""Conversion of the X of scikit-learn to a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from mnlearn.data.dataset import Dataset
from mnlearn.data.readers import read
from mnlearn.errors import InputError, check_name

Categorical: TypeAlias = Literal["from_dtype", "all", "none"] | Sequence[str] | Sequence[int] | Sequence[bool]
MissingPolicy: TypeAlias = Literal["error", "drop_rows", "category"]


def columns_of(
    estimator: BaseEstimator, X: object, *, reset: bool, missing: str = "error"
) -> tuple[list[str], list[Any]]:
    """Return the names and columns of X, after the checks that scikit-learn requires of an estimator.

    A data frame keeps the types of its columns; everything else becomes one array.
    """
    finite = True if missing == "error" else "allow-nan"
    if _is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        frame: Any = X
        names, columns = [str(name) for name in frame.columns], [frame[name] for name in frame.columns]
        _check_size(len(frame), len(names))
        return names, columns
    checked = check_array(X, dtype=None, ensure_all_finite=finite)
    if checked.dtype.kind == "c":
        raise InputError("X must be real; got complex data. Complex data not supported: give two columns each.")
    validate_data(estimator, checked, reset=reset, skip_check_array=True)
    _check_size(len(checked), checked.shape[1])
    return [f"x{j}" for j in range(checked.shape[1])], list(checked.T)


def coded(
    names: Sequence[str],
    columns: Sequence[Any],
    *,
    categorical: Categorical = "from_dtype",
    missing: MissingPolicy = "error",
) -> Dataset:
    """Return the columns as a data set, each of the type of its values or of the setting."""
    return read(dict(zip(names, columns, strict=True)), types=types_of(names, categorical), missing=missing)


def types_of(names: Sequence[str], categorical: Categorical) -> dict[str, Literal["categorical", "continuous"]] | None:
    """Return the type of each column by `categorical_features`; None leaves it to the values."""
    if isinstance(categorical, str):
        known: dict[str, Any] = {"from_dtype": None, "all": "categorical", "none": "continuous"}
        check_name("categorical_features", categorical, known)
        kind = known[categorical]
        return None if kind is None else dict.fromkeys(names, kind)
    chosen = _chosen(names, np.asarray(categorical))
    return {name: "categorical" if name in chosen else "continuous" for name in names}


def _chosen(names: Sequence[str], given: NDArray[Any]) -> set[str]:
    """Return the categorical columns, given by a mask, by positions or by names."""
    if given.dtype == bool:
        if given.shape != (len(names),):
            raise InputError(
                f"categorical_features must have one bool for each of the {len(names)} features; got {given.size}. "
                "Give positions or names for only some."
            )
        return {name for name, chosen in zip(names, given, strict=True) if chosen}
    pick: Callable[[Any], str] = str if given.dtype.kind in "UO" else lambda j: _at(names, int(j))
    picked = {pick(item) for item in given.ravel()}
    for name in picked:
        check_name("feature", name, names)
    return picked


def _at(names: Sequence[str], position: int) -> str:
    """Return the name of the feature at this position."""
    if not 0 <= position < len(names):
        raise InputError(
            f"categorical_features must be positions below {len(names)}, the number of features; got {position}. Count "
            "from 0."
        )
    return names[position]


def _is_frame(X: object) -> bool:
    """Whether X is a data frame: its columns have names and types."""
    return hasattr(X, "columns") and hasattr(X, "__len__") and hasattr(X, "__getitem__")


def _check_size(n_rows: int, n_features: int) -> None:
    """Raise InputError for less than 2 rows or columns, in the words that scikit-learn looks for."""
    if n_rows < 2:
        raise InputError(f"X must have at least 2 rows; got n_samples={n_rows}. Give more rows.")
    if n_features < 2:
        raise InputError(f"X must have at least 2 columns; got n_features={n_features}. Give more columns.")
