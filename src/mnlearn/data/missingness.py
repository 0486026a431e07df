"""Missing values of a table: how many, which rows are complete, and whether gaps depend on other columns.

Evidence by ``missing="testwise"`` assumes that, given the variables of a question, a value is not missing because of
what it is. No data can show that. They can show whether the gaps of one column go with the values of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.readers import read

FloatArray = NDArray[np.float64]

LEVEL = 0.01
"""Corrected p-value up to which the gaps of a column depend on another one."""
MOST_COLUMNS = 200
"""Number of columns whose gaps are tested; those with the most gaps, where there are more."""
_BLOCK = 1 << 14  # rows at a time, so that the indicators take little memory


class GapDependence(NamedTuple):
    """Dependence of the gaps of one column on the values of another.

    Attributes
    ----------
    column, other
        The column with gaps, and the one whose values were compared.
    n_rows
        Rows in which `other` has a value.
    strength
        Cramér's V of "is missing" and the states of `other`; of numbers the size of the correlation. From 0 to 1.
    p, p_corrected
        p-value of the chi-square test, or of the t test of the correlation; corrected for all tests by Holm's method.
    """

    column: str
    other: str
    n_rows: int
    strength: float
    p: float
    p_corrected: float


@dataclass(frozen=True)
class Missingness:
    """Missing values of a table.

    Attributes
    ----------
    n_rows, complete_rows
        Stored rows, and those without a gap.
    counts
        Gaps of each column that has some, the most first.
    fewest
        The two columns with the fewest common rows, and their number; None without gaps or with one column.
    dependences
        Every test of the gaps of a column against another column, the smallest p-value first.
    """

    n_rows: int
    complete_rows: int
    counts: Mapping[str, int]
    fewest: tuple[str, str, int] | None
    dependences: tuple[GapDependence, ...]

    def depends(self, level: float = LEVEL) -> dict[str, list[str]]:
        """Return the columns on which the gaps of each column depend, the clearest first; without those of none."""
        found: dict[str, list[str]] = {}
        for one in self.dependences:
            if one.p_corrected <= level:
                found.setdefault(one.column, []).append(one.other)
        return found


def missingness(source: object, **options: Any) -> Missingness:
    """Count missing values, and test whether the gaps of each column depend on other columns.

    Parameters
    ----------
    source
        Anything that `read` accepts, or a data set with gaps.
    options
        Options of `read`, except `missing`.

    Returns
    -------
    Missingness
        Counts, and one test for each column with gaps and each other column.

    Notes
    -----
    Tests are marginal: gaps that depend on one column go with all columns that are associated with it. Gaps of more
    than 200 columns are counted, and tested for those with the most. One pass over the rows for each column.

    Examples
    --------
    >>> ages = [30, None, 41, None] * 25
    >>> found = missingness({"age": ages, "ward": ["a", "b", "a", "b"] * 25, "sex": ["f", "f", "m", "m"] * 25})
    >>> found.complete_rows, found.depends()
    (50, {'age': ['ward']})
    """
    data = source if isinstance(source, Dataset) and not options else read(source, missing="testwise", **options)
    data.verify()
    masks = {name: mask for name in data.names if (mask := data.observed(name)) is not None}
    counts = {name: int(np.count_nonzero(~mask)) for name, mask in masks.items()}
    counts = {name: counts[name] for name in sorted(counts, key=lambda name: -counts[name]) if counts[name]}
    complete = np.ones(data.n_records, dtype=np.bool_)
    for mask in masks.values():
        complete &= mask
    tested = list(counts)[:MOST_COLUMNS]
    return Missingness(
        n_rows=data.n_records,
        complete_rows=int(np.count_nonzero(complete)),
        counts=counts,
        fewest=_fewest(data, tested, masks),
        dependences=_dependences(data, tested, masks),
    )


def _fewest(data: Dataset, tested: list[str], masks: Mapping[str, NDArray[np.bool_]]) -> tuple[str, str, int] | None:
    """Return the two columns with the fewest common rows; a column without gaps shares all rows of the other."""
    if not tested or data.n_variables < 2:
        return None
    others = [name for name in data.names if name not in masks][:1]
    found = [(int(np.count_nonzero(masks[tested[0]])), tested[0], name) for name in others]
    seen = np.stack([masks[name] for name in tested]).astype(np.float32)
    common = sum(
        (seen[:, k : k + _BLOCK] @ seen[:, k : k + _BLOCK].T).astype(np.int64) for k in range(0, data.n_records, _BLOCK)
    )
    found += [(int(np.asarray(common)[i, j]), tested[i], tested[j]) for j in range(len(tested)) for i in range(j)]
    n_rows, first, second = min(found)
    return first, second, n_rows


def _dependences(data: Dataset, tested: list[str], masks: Mapping[str, NDArray[np.bool_]]) -> tuple[GapDependence, ...]:
    """Test the gaps of some columns against all others; p-values are corrected by the method of Holm."""
    if not tested:
        return ()
    lacks = np.stack([~masks[name] for name in tested], axis=1)
    found: list[GapDependence] = []
    for y, other in enumerate(data.names):
        seen = masks.get(other)
        rows = slice(None) if seen is None else seen
        values, repeats = data.columns[y][rows], None if data.repeats is None else data.repeats[rows]
        test = _of_states if data.cards[y] else _of_numbers
        n_rows = len(values)
        for column, (strength, p) in zip(tested, test(values, lacks[rows], repeats), strict=True):
            if column != other:
                found.append(GapDependence(column, other, n_rows, strength, p, 1.0))
    return _corrected(found)


def _corrected(found: list[GapDependence]) -> tuple[GapDependence, ...]:
    """Return the tests by ascending p-value, corrected for their number by Holm's method."""
    ordered = sorted(found, key=lambda one: (one.p, -one.strength))
    p = np.array([one.p for one in ordered])
    corrected = np.minimum(np.maximum.accumulate(p * np.arange(len(p), 0, -1)), 1.0)
    return tuple(one._replace(p_corrected=float(value)) for one, value in zip(ordered, corrected, strict=True))


def _blocks(
    values: NDArray[Any], lacks: NDArray[np.bool_], repeats: NDArray[Any] | None
) -> Iterator[tuple[NDArray[Any], FloatArray, FloatArray]]:
    """Yield some rows at a time: values, indicators of gaps, and how often each row occurred."""
    for k in range(0, len(values), _BLOCK):
        part = slice(k, k + _BLOCK)
        weight = np.ones(len(values[part])) if repeats is None else repeats[part].astype(np.float64)
        yield values[part], lacks[part].astype(np.float64), weight


def _of_states(
    values: NDArray[Any], lacks: NDArray[np.bool_], repeats: NDArray[Any] | None
) -> list[tuple[float, float]]:
    """Return Cramér's V and the p-value of the chi-square test of each indicator and the states of a column."""
    from scipy.special import gammaincc

    states, codes = np.unique(values, return_inverse=True)
    missing, total = np.zeros((len(states), lacks.shape[1])), np.zeros(len(states))
    for part, gaps, weight in _blocks(codes.reshape(-1), lacks, repeats):
        total += np.bincount(part, weights=weight, minlength=len(states))
        for j in range(gaps.shape[1]):
            missing[:, j] += np.bincount(part, weights=weight * gaps[:, j], minlength=len(states))
    n, share = total.sum(), missing.sum(0) / max(total.sum(), 1.0)
    expected = np.outer(total, share)
    with np.errstate(divide="ignore", invalid="ignore"):  # no gaps among these rows, or nothing but gaps
        statistic = ((missing - expected) ** 2 / expected / (1.0 - share)).sum(0)
    decided = (share > 0) & (share < 1) & (len(states) > 1)
    statistic = np.where(decided, statistic, 0.0)
    p = np.where(decided, gammaincc((max(len(states), 2) - 1) / 2, statistic / 2), 1.0)
    return list(zip(np.sqrt(statistic / max(n, 1.0)).tolist(), p.tolist(), strict=True))


def _of_numbers(
    values: NDArray[Any], lacks: NDArray[np.bool_], repeats: NDArray[Any] | None
) -> list[tuple[float, float]]:
    """Return the size of the correlation and its p-value by the t test of each indicator and the values of a column."""
    from scipy.special import stdtr

    weight = np.ones(len(values)) if repeats is None else repeats.astype(np.float64)
    n = weight.sum()
    scale = float(np.abs(values).max(initial=0.0)) or 1.0  # squares of large numbers overflow
    centred = values / scale - (weight @ (values / scale)) / max(n, 1.0)
    product, gaps_sum = np.zeros(lacks.shape[1]), np.zeros(lacks.shape[1])
    for part, gaps, weights in _blocks(centred, lacks, repeats):
        product += (weights * part) @ gaps
        gaps_sum += weights @ gaps
    spread = gaps_sum * (1.0 - gaps_sum / max(n, 1.0)) * (weight @ centred**2)
    decided = (spread > 0) & (n > 2)
    r = np.where(decided, np.abs(product) / np.sqrt(np.where(decided, spread, 1.0)), 0.0).clip(0.0, 1.0)
    dof = max(n - 2, 1.0)
    p = np.where(decided, 2 * stdtr(dof, -r * np.sqrt(dof / np.maximum(1 - r**2, 1e-300))), 1.0)
    return list(zip(r.tolist(), p.tolist(), strict=True))
