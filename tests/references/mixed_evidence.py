"""Mixed evidence the slow way: regressions of one variable at a time in plain NumPy, all readings, rows by rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset

Floats = NDArray[np.float64]
PRECISION = (25.0, 0.5 / 0.35**2, 1.0)  # by the number of sides that are contrasts


def helmert(card: int) -> Floats:
    """Return orthonormal contrasts, a row for each state."""
    found = np.zeros((card, card - 1))
    for k in range(1, card):
        found[:k, k - 1], found[k, k - 1] = 1, -k
        found[:, k - 1] /= np.sqrt(k * (k + 1))
    return found


def ordinal(data: Dataset, v: int) -> bool:
    """Return whether the order of a variable matters."""
    return data.kinds[v] == "ordinal" and data.cards[v] > 2


def coding(data: Dataset, v: int, reading: str) -> tuple[Floats, int]:
    """Return the features of each state, and 1 if they are contrasts."""
    if not ordinal(data, v) or reading == "nominal":
        return helmert(data.cards[v]), 1
    observed, codes = data.observed(v), data.columns[v].astype(int)
    seen = codes if observed is None else codes[observed]
    score = data.level_scores(v)
    score = (score - score[seen].mean()) / score[seen].std()
    square = score**2 - (score[seen] ** 3).mean() * score
    square = (square - square[seen].mean()) / square[seen].std()
    return (score[:, None] if reading == "ordered" else np.stack([score, square], axis=1)), 0


def features(data: Dataset, v: int, reading: str) -> tuple[Floats, int]:
    """Return the features of each row, 0 where the variable is missing, and 1 if they are contrasts."""
    if data.cards[v] == 0:
        values = np.log1p(data.columns[v]) if data.kinds[v] == "count" else data.columns[v].astype(float)
        return ((values - np.nanmean(values)) / np.nanstd(values))[:, None], 0
    table, contrasts = coding(data, v, reading)
    return np.vstack([table, np.zeros((1, table.shape[1]))])[data.columns[v].astype(int)], contrasts


def rows_of(data: Dataset, variables: Sequence[int]) -> NDArray[np.intp]:
    """Return the rows in which all of these are observed."""
    masks = [data.observed(v) for v in variables]
    seen = [mask for mask in masks if mask is not None]
    return np.flatnonzero(np.logical_and.reduce([np.ones(data.n_records, bool), *seen]))


def moment(mean: NDArray[Any], covariance: NDArray[Any], s2: float) -> float:
    """Return what the moment prior adds."""
    return float(np.log((mean @ mean / s2 + np.trace(covariance)) * PRECISION[0] / len(mean)))


def regression(
    data: Dataset, x: int, members: Sequence[int], reading: str, rows: NDArray[np.intp], *, with_moment: bool
) -> float:
    """Return the log evidence of x given the members against no members."""
    blocks = [features(data, v, reading) for v in members]
    design = np.hstack([block[rows] for block, _ in blocks])
    if data.cards[x] == 0:
        precision = np.concatenate([np.full(block.shape[1], PRECISION[k]) for block, k in blocks])
        return _linear(features(data, x, reading)[0][rows, 0], design, precision, blocks[-1], with_moment)
    statistics, side = coding(data, x, reading)
    precision = np.concatenate([np.full(block.shape[1], PRECISION[k + side]) for block, k in blocks])
    codes = data.columns[x].astype(int)[rows]
    found, mode, covariance = _logistic(codes, statistics, design, precision, data.cards[x])
    empty = _logistic(codes, statistics, design[:, :0], precision[:0], data.cards[x])[0]
    size = blocks[-1][0].shape[1] * statistics.shape[1]
    if with_moment and side + blocks[-1][1] == 0:
        found += moment(mode[-size:], covariance[-size:, -size:], 1.0)
    return found - empty


def _linear(y: Floats, design: Floats, precision: Floats, last: tuple[Floats, int], with_moment: bool) -> float:
    design, y = design - design.mean(axis=0), y - y.mean()
    information = design.T @ design + np.diag(precision)
    b, nu = np.linalg.solve(information, design.T @ y), len(y) - 1
    rss = y @ y - y @ design @ b
    found = 0.5 * np.log(precision).sum() - 0.5 * np.linalg.slogdet(information)[1] - nu / 2 * np.log(rss / (y @ y))
    size = last[0].shape[1]
    if with_moment and last[1] == 0:
        found += moment(b[-size:], np.linalg.inv(information)[-size:, -size:], float(rss / nu))
    return float(found)


def _logistic(
    codes: NDArray[Any], statistics: Floats, design: Floats, slopes: Floats, card: int
) -> tuple[float, Floats, Floats]:
    """Return the Laplace evidence, the mode and the inverse of the information."""
    n, width = len(codes), statistics.shape[1]
    precision = np.concatenate([np.full(card - 1, 0.01), np.repeat(slopes, width)])
    by_feature = (design[:, None, :, None] * statistics[None, :, None, :]).reshape(n, card, -1)
    table = np.concatenate([np.broadcast_to(helmert(card), (n, card, card - 1)), by_feature], axis=2)
    mode = np.zeros(table.shape[2])

    def at(point: Floats) -> tuple[float, Floats]:
        field = table @ point
        field -= field.max(axis=1, keepdims=True)
        p = np.exp(field) / np.exp(field).sum(axis=1, keepdims=True)
        return float(np.log(p[np.arange(n), codes]).sum() - 0.5 * (precision * point**2).sum()), p

    for _ in range(80):
        height, p = at(mode)
        mean = np.einsum("ia,iap->ip", p, table)
        gradient = (table[np.arange(n), codes] - mean).sum(axis=0) - precision * mode
        information = np.einsum("ia,iap,iaq->pq", p, table, table) - mean.T @ mean + np.diag(precision)
        step, length = np.linalg.solve(information, gradient), 1.0
        if gradient @ step < 1e-18:
            break
        while at(mode + length * step)[0] < height and length > 1e-8:
            length /= 2
        mode = mode + length * step
    found = height - 0.5 * np.linalg.slogdet(information)[1] + 0.5 * np.log(precision[card - 1 :]).sum()
    return float(found), mode, np.linalg.inv(information)


def full_table(data: Dataset, x: int, members: Sequence[int], rows: NDArray[np.intp]) -> float:
    """Return F(x | members) less the gift, against no members."""
    card, codes = data.cards[x], data.columns[x].astype(int)

    def score(given: Sequence[int]) -> float:
        tables: dict[tuple[int, ...], Floats] = {}
        for row in rows:
            key = tuple(int(data.columns[v][row]) for v in given)
            tables.setdefault(key, np.zeros(card))[codes[row]] += 1
        return sum(
            lgamma(card / 2) - lgamma(card / 2 + n.sum()) + sum(lgamma(0.5 + c) - lgamma(0.5) for c in n)
            for n in tables.values()
        )

    counts = np.bincount(codes[rows], minlength=card)

    def smooth(a: float) -> float:
        return lgamma(card * a) - lgamma(card * a + len(rows)) + sum(lgamma(a + c) - lgamma(a) for c in counts)

    uniform = max([-len(rows) * log(card), *(smooth(2.0**k) for k in range(15))])
    return score(members) - score([]) - max(0.0, uniform - score([]))


def local(data: Dataset, x: int, members: Sequence[int], rows: NDArray[np.intp], *, with_moment: bool = False) -> float:
    """Return H(x | members), every reading fitted."""
    if not members:
        return 0.0
    everyone = [x, *members]
    by_order = any(ordinal(data, v) for v in everyone)
    readings = ("ordered", "curved", "nominal") if by_order else ("nominal",)
    found = [regression(data, x, members, reading, rows, with_moment=with_moment) for reading in readings]
    if all(data.cards[v] for v in everyone):
        found.append(full_table(data, x, members, rows))
    return max(found)


def evidence(data: Dataset, x: int, y: int, given: Sequence[int]) -> float:
    """Return ev(x, y | given)."""
    rows, given = rows_of(data, [x, y, *given]), sorted(given)
    ends = [
        local(data, u, [*given, v], rows, with_moment=True) - local(data, u, given, rows) for u, v in ((x, y), (y, x))
    ]
    return sum(ends) / 2
