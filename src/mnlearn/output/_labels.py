"""Which names fit into a picture: those of the best connected variables first, none over another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mnlearn.protocols import FloatArray

_WIDE = 0.58  # the width of a letter in font sizes, on average
_HIGH = 1.15


def fitting_labels(
    centers: FloatArray, texts: Sequence[str], font: float, priority: ArrayLike, *, avoid: FloatArray | None = None
) -> list[int]:
    """The labels that can be written without one covering another, by index, in order of priority.

    Parameters
    ----------
    centers
        The middle of each label, one row each, in the unit of the font size.
    texts
        What would be written.
    font
        The font size.
    priority
        The larger, the earlier a label gets its place; ties in the order of the labels.
    avoid
        Places that no label but the one of the same index may cover.
    """
    half = np.array([[len(text) * _WIDE / 2, _HIGH / 2] for text in texts]).reshape(len(texts), 2) * font
    kept: list[int] = []
    for k in np.argsort(-np.asarray(priority, dtype=np.float64), kind="stable"):
        apart = np.abs(centers[kept] - centers[k]) >= half[kept] + half[k]
        if not apart.any(axis=1).all():
            continue
        if avoid is not None and len(texts) > 1:
            others = np.delete(avoid, k, axis=0)
            if not (np.abs(others - centers[k]) >= half[k]).any(axis=1).all():
                continue
        kept.append(int(k))
    return kept
