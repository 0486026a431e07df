"""Conversion of the X of scikit-learn to a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from mnlearn.data.dataset import Dataset, check_names
from mnlearn.data.options import MissingPolicy
from mnlearn.data.readers import read
from mnlearn.errors import InputError, MnlearnError, UnsuitableError, check_name, check_unmasked, is_one_of

Categorical: TypeAlias = Literal["from_dtype", "all", "none"] | Sequence[str] | Sequence[int] | Sequence[bool]


def columns_of(
    estimator: BaseEstimator, X: object, *, reset: bool, missing: str = "error"
) -> tuple[list[str], list[Any]]:
    """Return the names and columns of X, after the checks that scikit-learn requires of an estimator.

    A data frame keeps the types of its columns; everything else becomes one array.
    """
    if _is_frame(X):
        names, columns = _columns_of_frame(X)
        with refusals("X"):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
    else:
        with refusals("X"):
            checked = _checked_array(X, finite=is_one_of(missing, ("error",)))
            validate_data(estimator, checked, reset=reset, skip_check_array=True)
        names, columns = [f"x{j}" for j in range(checked.shape[1])], list(checked.T)
    _check_size(len(columns[0]) if columns else 0, len(names))
    return names, columns


def _columns_of_frame(frame: Any) -> tuple[list[str], list[Any]]:
    """Return the names and columns of a data frame; names must differ, since columns are found by them."""
    listed = list(getattr(frame, "column_names", frame.columns))
    names = [str(name) for name in listed]
    check_names(names)
    return names, [frame[name] for name in listed]


def _checked_array(X: object, *, finite: bool) -> NDArray[Any]:
    """Return X as an array that passes the checks of scikit-learn, with the mask that they would drop."""
    values = array_of_list(X)
    mask = _mask_of(values)
    if mask is not None:
        values = values.filled(values.data[~mask][0]) if not mask.all() else values.data
    checked: NDArray[Any] = check_array(values, dtype=None, ensure_all_finite=True if finite else "allow-nan")
    if checked.dtype.kind == "c":
        raise InputError("X must be real; got complex data. Complex data not supported: give two columns each.")
    return checked if mask is None else np.ma.MaskedArray(checked, mask)


def _mask_of(values: Any) -> NDArray[np.bool_] | None:
    """Return the mask of an array that has masked values."""
    if not isinstance(values, np.ma.MaskedArray) or values.dtype.names is not None:
        return None
    return np.ma.getmaskarray(values) if np.ma.is_masked(values) else None


def array_of_list(values: Any) -> Any:
    """Return a list that holds masked values, or strings and numbers, as an array of objects; others as they are.

    Masked values become None. One array of strings would make labels of the numbers.
    """
    if not isinstance(values, list | tuple):
        return values
    rows = [_unmasked(row) for row in values]
    kinds = {isinstance(value, str) for row in rows if isinstance(row, list | tuple) for value in row}
    if len(kinds) < 2 and all(new is old for new, old in zip(rows, values, strict=True)):
        return values
    return np.array(rows, dtype=object)


def _unmasked(row: Any) -> Any:
    """Return a row of a list, or a single value, with None where it is masked."""
    if isinstance(row, np.ma.MaskedArray):
        return row.tolist()
    if isinstance(row, list | tuple) and any(isinstance(value, np.ma.MaskedArray) for value in row):
        return [_unmasked(value) for value in row]
    return row


@contextmanager
def refusals(argument: str) -> Iterator[None]:
    """Turn the errors of scikit-learn about an argument into those of this library, with its reasons."""
    try:
        yield
    except MnlearnError:
        raise
    except (TypeError, ValueError) as error:
        raise UnsuitableError(f"{argument} must be as scikit-learn requires; {_sentence(error)}") from error


def _sentence(error: Exception) -> str:
    """Return the message of an error with a full stop."""
    text = str(error).strip()
    return text if text.endswith((".", "?", "!")) else f"{text}."


def coded(
    names: Sequence[str],
    columns: Sequence[Any],
    *,
    categorical: Categorical = "from_dtype",
    missing: MissingPolicy = "error",
    sample_weight: object = None,
) -> Dataset:
    """Return the columns as a data set, each of the type of its values or of the setting."""
    table = dict(zip(names, columns, strict=True))
    title = add_weights(table, sample_weight)
    types = types_of(names, categorical) or types_by_dtype(names, columns)
    return read(table, types=types, missing=missing, weights=title)


def types_by_dtype(names: Sequence[str], columns: Sequence[Any]) -> dict[str, Literal["categorical", "continuous"]]:
    """Return the types that follow from a dtype, whatever the values: integers, and decimals of an array."""
    found: dict[str, Literal["categorical", "continuous"]] = {}
    for name, column in zip(names, columns, strict=True):
        kind = str(getattr(column, "dtype", "")).lower()
        if kind.startswith(("int", "uint")):
            found[name] = "categorical"
        elif kind.startswith("float") and isinstance(column, np.ndarray):
            found[name] = "continuous"
    return found


def add_weights(table: dict[str, Any], sample_weight: object) -> str | None:
    """Add survey weights to a dict of columns; return the name of their column, None if there are none."""
    if sample_weight is None:
        return None
    check_unmasked("sample_weight", sample_weight, "Drop those rows.")
    with refusals("sample_weight"):
        weights = column_or_1d(sample_weight, dtype=np.float64)
        check_consistent_length(next(iter(table.values())), weights)
    title = "sample_weight"
    while title in table:
        title += "_"
    table[title] = weights
    return title


def types_of(names: Sequence[str], categorical: Categorical) -> dict[str, Literal["categorical", "continuous"]] | None:
    """Return the type of each column by `categorical_features`; None leaves it to the values."""
    if isinstance(categorical, str):
        known: dict[str, Any] = {"from_dtype": None, "all": "categorical", "none": "continuous"}
        check_name("categorical_features", categorical, known)
        kind = known[categorical]
        return None if kind is None else dict.fromkeys(names, kind)
    check_unmasked("categorical_features", categorical)
    try:
        given = np.asarray(categorical)
    except ValueError:  # ragged
        given = np.array(None)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "biuUO"):
        raise InputError(
            f"categorical_features must be 'from_dtype', 'all', 'none', or a list of bools, positions or names; got "
            f"{categorical!r:.80}. Leave it out for 'from_dtype'."
        )
    chosen = _chosen(names, given)
    return {name: "categorical" if name in chosen else "continuous" for name in names}


def _chosen(names: Sequence[str], given: NDArray[Any]) -> set[str]:
    """Return the categorical columns, given by a mask, by positions or by names."""
    if not given.size:
        return set()
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
