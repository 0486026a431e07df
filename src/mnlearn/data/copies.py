"""Copies among columns: categorical ones that split the rows in the same way, whatever their labels."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray


def split_of_rows(codes: NDArray[Any], n_codes: int, *, gaps: bool = False) -> bytes:
    """Return a digest of the codes that is the same for any labels of the categories.

    With gaps, the last code marks missing values, which are no category.

    Examples
    --------
    >>> split_of_rows(np.array([0, 1, 1], np.uint8), 2) == split_of_rows(np.array([2, 0, 0], np.uint8), 3)
    True
    """
    if gaps:
        missing = codes == n_codes - 1
        digest = blake2b(np.packbits(missing).tobytes(), person=b"gaps")
        digest.update(split_of_rows(codes[~missing], n_codes - 1))
        return digest.digest()
    n_rows = len(codes)
    first = np.full(n_codes, n_rows, dtype=np.int64)
    first[codes[::-1]] = np.arange(n_rows - 1, -1, -1)  # the last write is that of the first row
    rank = np.empty(n_codes, dtype=np.uint16)
    rank[np.argsort(first, kind="stable")] = np.arange(n_codes)
    return blake2b(rank[codes].tobytes(), person=b"categorical").digest()


def copied_columns(columns: Sequence[NDArray[Any]], cards: Sequence[int]) -> dict[int, int]:
    """Return the index of the original of each copy: the first column that splits the rows as it does.

    Parameters
    ----------
    columns
        Codes of the rows, column by column.
    cards
        Number of states of each; a column without states is continuous, and none of the copies. Nor is a constant one.
        A code equal to it marks a missing value; copies have the same gaps.

    Examples
    --------
    >>> copied_columns([np.array([0, 1, 1]), np.array([1, 1, 1]), np.array([1, 0, 0])], [2, 2, 2])
    {2: 0}
    """
    original: dict[bytes, int] = {}
    copies = {}
    for k, (column, card) in enumerate(zip(columns, cards, strict=True)):
        codes = np.asarray(column)
        if card < 2 or not len(codes) or (codes == codes[0]).all():
            continue
        gaps = bool(codes.max() == card)
        known = codes[codes < card] if gaps else codes
        if (known == known[0]).all():
            continue
        first = original.setdefault(split_of_rows(codes, card + gaps, gaps=gaps), k)
        if first != k:
            copies[k] = first
    return copies
