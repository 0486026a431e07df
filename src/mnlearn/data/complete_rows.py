"""Leave out the rows with gaps, after the data were read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mnlearn.data._checks import code_type
from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import take, without_foreign_levels
from mnlearn.data.weights import scaled_weights
from mnlearn.errors import DataError


def complete_rows(dataset: Dataset) -> Dataset:
    """Return the rows in which every variable is observed, as if they had been read with ``missing="drop_rows"``.

    Raises
    ------
    DataError
        If fewer than two rows are complete.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> complete_rows(read({"a": [1, None, 2], "b": [0, 1, 1]}, missing="testwise")).levels
    ((1, 2), (0, 1))
    """
    if not dataset.gaps:
        return dataset
    seen = np.ones(dataset.n_records, dtype=np.bool_)
    for name in dataset.gaps:
        seen &= np.asarray(dataset.observed(name))
    kept = np.flatnonzero(seen)
    if len(kept) < 2:
        raise DataError(
            f"missing='drop_rows' must leave at least 2 rows; {len(kept)} of {dataset.n_records} are complete. Leave "
            "out columns with many gaps (drop=[...]), or use missing='testwise'."
        )
    part = take(dataset, kept)
    if dataset.weighting is not None and part.repeats is not None:
        repeats, weighting = scaled_weights(dataset.weighting.column, part.repeats)
        part = part._with(repeats=repeats, weighting=weighting)
    plain = [np.asarray(column) for column in part.columns]
    columns = [c.astype(code_type(card)) if card else c for c, card in zip(plain, part.cards, strict=True)]
    for column in columns:
        column.flags.writeable = False
    dropped = dataset.missing.rows_dropped + dataset.n_records - len(kept)
    report = replace(dataset.missing, policy="drop_rows", rows_dropped=dropped)
    return without_foreign_levels(part._with(columns=tuple(columns), gaps=frozenset(), missing=report), dataset)
