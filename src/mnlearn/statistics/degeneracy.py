"""What in a covariance leaves a question without an answer: constant columns, copies, columns that others explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mnlearn.statistics.moments import Moments

_SHOWN = 4  # names listed in a sentence


def remarks(moments: Moments) -> list[str]:
    """One sentence for each thing a user should know, with what follows from it; none for sound data."""
    return [text for text in (_constant(moments), _copies(moments), _explained(moments), _few_rows(moments)) if text]


def _constant(moments: Moments) -> str:
    constant = np.flatnonzero(np.diag(moments.covariance) == 0.0)
    if not constant.size:
        return ""
    return f"columns that never vary have no neighbours: {_names(moments, constant.tolist())}."


def _copies(moments: Moments) -> str:
    from mnlearn.statistics.moments import EXPLAINED

    size = np.sqrt(np.diag(moments.covariance))
    unit = np.where(size > 0.0, size, 1.0)
    alike = np.abs(np.triu(moments.covariance / unit[:, None] / unit, 1)) >= 1.0 - EXPLAINED / 2.0
    pairs = np.argwhere(alike).tolist()
    if not pairs:
        return ""
    listed = ", ".join(f"{moments.names[u]!r} of {moments.names[v]!r}" for u, v in pairs[:_SHOWN])
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return (
        "columns that are copies of each other, up to scale, are neighbours, and which of them others join is "
        f"arbitrary: {listed}{more}. Leave out one of each pair."
    )


def _explained(moments: Moments) -> str:
    """Only where rows outnumber variables: else every column is explained by enough others."""
    if moments.n_rows <= moments.n_variables:
        return ""
    everyone = frozenset(range(moments.n_variables))
    explained = sorted(everyone - frozenset(moments.independent(everyone)))
    constant = np.diag(moments.covariance) == 0.0
    left = [x for x in explained if not constant[x]]
    if not left:
        return ""
    listed = _names(moments, left)
    return f"columns that others explain exactly make the edges among them arbitrary: {listed}. Leave them out."


def _few_rows(moments: Moments) -> str:
    if moments.n_rows > moments.n_variables:
        return ""
    return (
        f"there are {moments.n_rows} rows for {moments.n_variables} variables: blankets are kept to at most "
        f"{max(1, (moments.n_rows - 1) // 2)} neighbours, and weak edges cannot be seen."
    )


def _names(moments: Moments, members: list[int]) -> str:
    listed = ", ".join(repr(moments.names[x]) for x in members[:_SHOWN])
    return listed + (f" and {len(members) - _SHOWN} more" if len(members) > _SHOWN else "")
