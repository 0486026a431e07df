"""Kinds of simulated variables and their distributions without neighbours.

Remove values from complete data: completely at random, or depending on columns that stay complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, Kind, MissingReport, code_type
from mnlearn.errors import DataError, InputError, check_instance, check_name, check_number, whole_number
from mnlearn.numbers import Seed, exp, rng_from
from mnlearn.protocols import FloatArray

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Margin:
    """The kind of a variable and its distribution without neighbours.

    Parameters
    ----------
    kind
        "nominal", "ordinal", "count" or "continuous".
    states
        Number of states of a nominal or ordinal variable, 2 to 256.
    skew
        Logarithm of the ratio of the shares of successive states; 0 for equal shares.
    mean
        Mean of a count, above 0 and at most 1000.
    thresholds
        Log weight of each state of a nominal or ordinal variable, in addition to the skew; zeros when left out.

    Examples
    --------
    >>> Margin("ordinal", states=3, skew=np.log(2)).shares().round(3).tolist()
    [0.571, 0.286, 0.143]
    """

    kind: Kind
    states: int = 3
    skew: float = 0.0
    mean: float = 3.0
    thresholds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_name("kind", self.kind, KINDS)
        whole_number("states", self.states, least=2, most=256, hint="Use for example 5.")
        check_number("skew", self.skew, "Use 0 for equal shares.", least=-20, most=20)
        check_number("mean", self.mean, "Use for example 3.", least=1e-3, most=1e3)
        for threshold in self.thresholds:
            check_number("every one of thresholds", threshold, "Use 0 for equal shares.", least=-1000, most=1000)
        if self.thresholds and len(self.thresholds) != self.states:
            raise InputError(
                f"thresholds must have one entry for each of {self.states} states; got {len(self.thresholds)}. Leave "
                f"them out for equal shares."
            )

    def shares(self) -> FloatArray:
        """Return the probability of each state without neighbours; empty for a continuous variable."""
        if self.kind == "continuous":
            return np.empty(0)
        if self.kind == "count":
            from scipy.stats import poisson

            return np.asarray(poisson.pmf(np.arange(_largest_count(self.mean) + 1), self.mean))
        logs = np.array(self.thresholds or (0.0,) * self.states) - self.skew * np.arange(self.states)
        weights = exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def features(self) -> FloatArray:
        """Return φ of each state, one row per state; empty for a continuous variable."""
        if self.kind == "nominal":
            return _contrasts(self.states)
        if self.kind == "ordinal":
            scores = np.arange(self.states, dtype=np.float64)[:, None]
            return np.asarray((scores - scores.mean()) / scores.std())
        if self.kind == "count":
            counts = np.arange(_largest_count(self.mean) + 1, dtype=np.float64)[:, None]
            return np.asarray((np.minimum(counts, _bound(self.mean)) - self.mean) / sqrt(self.mean))
        return np.empty((0, 1))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.states - 1 if self.kind == "nominal" else 1


def spread_margins(n_variables: int, margins: Sequence[Margin], seed: Seed) -> tuple[Margin, ...]:
    """Return the margins in turn for n variables, in random order.

    Examples
    --------
    >>> [margin.kind for margin in spread_margins(3, [Margin("count"), Margin("continuous")], seed=1)]
    ['count', 'continuous', 'count']
    """
    n = whole_number("n_variables", n_variables, least=1, hint="Use at least one variable.")
    if not margins:
        raise InputError("margins must hold at least one margin; got none. Use [Margin('ordinal')].")
    order = rng_from(seed).permutation(n).tolist()
    return tuple(margins[k % len(margins)] for k in order)


def random_thresholds(margins: Sequence[Margin], deviation: float, seed: Seed) -> tuple[Margin, ...]:
    """Return margins whose nominal and ordinal states have normal thresholds with this standard deviation.

    Examples
    --------
    >>> [margin] = random_thresholds([Margin("ordinal", states=3)], 0.5, seed=1)
    >>> margin.shares().round(2).tolist()
    [0.31, 0.39, 0.3]
    """
    check_number("deviation", deviation, "Use for example 0.5.", least=0, most=100)
    rng = rng_from(seed)
    coded = [margin.kind in ("nominal", "ordinal") for margin in margins]
    return tuple(
        replace(margin, thresholds=tuple(rng.normal(0.0, deviation, margin.states).tolist())) if code else margin
        for margin, code in zip(margins, coded, strict=True)
    )


def mixed_dataset(
    margins: Sequence[Margin], columns: Sequence[NDArray[Any]], names: Sequence[str] | None = None
) -> Dataset:
    """Return codes and numbers as a data set with the kinds of the margins.

    Ordinal states are labelled 1, 2, ..., nominal states a, b, ... or s1, s2, ... if there are more than 26.
    """
    labels = tuple(f"x{x}" for x in range(len(margins))) if names is None else tuple(names)
    coded = [margin.kind in ("nominal", "ordinal") for margin in margins]
    stored = [column.astype(np.uint8 if code else np.float64) for column, code in zip(columns, coded, strict=True)]
    pairs = list(zip(labels, margins, strict=True))
    return Dataset(
        labels,
        tuple(margin.states if code else 0 for margin, code in zip(margins, coded, strict=True)),
        tuple(stored),
        tuple(_labels(margin) if code else None for margin, code in zip(margins, coded, strict=True)),
        declared=frozenset(name for (name, _), code in zip(pairs, coded, strict=True) if code),
        ordinal=frozenset(name for name, margin in pairs if margin.kind == "ordinal"),
        counted=frozenset(name for name, margin in pairs if margin.kind == "count"),
    )


def _labels(margin: Margin) -> tuple[int | str, ...]:
    """Return the label of each state."""
    if margin.kind == "ordinal":
        return tuple(range(1, margin.states + 1))
    if margin.states <= 26:
        return tuple("abcdefghijklmnopqrstuvwxyz"[: margin.states])
    return tuple(f"s{k + 1}" for k in range(margin.states))


def _contrasts(states: int) -> FloatArray:
    """Return Helmert contrasts, one row per state; each has mean 0 and variance 1 over equally frequent states."""
    contrasts = np.zeros((states, states - 1))
    for k in range(1, states):
        contrasts[:k, k - 1], contrasts[k, k - 1] = -1.0, k
    return np.asarray(contrasts / contrasts.std(axis=0))


def _bound(mean: float) -> int:
    """Return the count R above which the feature of a count is constant."""
    return ceil(mean + 3 * sqrt(mean))


def _largest_count(mean: float) -> int:
    """Return a count so large that more than it have less than 1e-12 of the weight that R has."""
    from scipy.stats import poisson

    return int(poisson.isf(1e-12 * poisson.pmf(_bound(mean), mean), mean))


def random_gaps(data: Dataset, share: float, seed: Seed, *, columns: Sequence[str] | None = None) -> Dataset:
    """Remove each value with the same probability, independently of everything (MCAR).

    Parameters
    ----------
    data
        The data; values that are missing already stay missing.
    share
        Probability that a value is removed, from 0 to below 1.
    seed
        An integer, or a generator to draw from.
    columns
        Names of the variables that lose values; all when left out.

    Returns
    -------
    Dataset
        Data with gaps, as `read` with ``missing="testwise"`` returns them.

    Raises
    ------
    DataError
        If a variable is left without any value.

    Examples
    --------
    >>> whole = Dataset.from_codes([[0, 1, 1, 0]] * 2, cards=[2, 2])
    >>> sorted(random_gaps(whole, 0.2, seed=1).gaps)
    ['x0']
    """
    _check_data(data)
    check_number("share", share, "Use for example 0.2.", least=0, most=1)
    chosen = range(data.n_variables) if columns is None else [data.index(name) for name in columns]
    rng = rng_from(seed)
    return with_gaps(data, {x: rng.random(data.n_records) < share for x in chosen})


def dependent_gaps(data: Dataset, seed: Seed, *, low: float = 0.1, high: float = 0.6) -> Dataset:
    """Remove values with a probability that depends on another column without gaps (MAR).

    A random half of the variables, rounded up, stays complete. Each other variable is paired with one of them: it loses
    values with probability `high` in rows where that one is in the upper part of its values, and else with `low`.
    The parts are divided where they are most equal; states count in the order of their codes.

    Parameters
    ----------
    data
        The data, complete, of at least two variables.
    seed
        An integer, or a generator to draw from.
    low, high
        The two probabilities, from 0 to 1.

    Returns
    -------
    Dataset
        Data with gaps, as `read` with ``missing="testwise"`` returns them.

    Examples
    --------
    >>> whole = Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (100, 4)))
    >>> len(dependent_gaps(whole, seed=1).gaps)
    2
    """
    _check_data(data)
    if data.gaps or data.n_variables < 2:
        raise InputError("data must be complete and have at least two variables. Use random_gaps instead.")
    for name, value in (("low", low), ("high", high)):
        check_number(name, value, "Use for example 0.1 and 0.6.", least=0, most=1)
    rng = rng_from(seed)
    order = rng.permutation(data.n_variables).tolist()
    half = (data.n_variables + 1) // 2
    masks = {}
    for x in order[half:]:
        upper = _upper_part(data.columns[int(rng.choice(order[:half]))])
        masks[x] = rng.random(data.n_records) < np.where(upper, high, low)
    return with_gaps(data, masks)


def with_gaps(data: Dataset, masks: dict[int, NDArray[np.bool_]]) -> Dataset:
    """Return the data without the values that the masks name, one mask per position of a variable."""
    columns, counts = list(data.columns), {}
    for x, mask in masks.items():
        seen = data.observed(x)
        missing = mask if seen is None else mask | ~seen
        if missing.all():
            raise DataError(
                f"every variable must keep a value; {data.names[x]!r} lost all {data.n_records}. Remove fewer values."
            )
        if missing.any():
            columns[x] = _emptied(data.columns[x], data.cards[x], missing)
            counts[data.names[x]] = int(missing.sum())
    known = {name: number for name, number in data.missing.counts.items() if name in data.gaps}
    in_order = {name: n for name in data.names if (n := counts.get(name, known.get(name, 0)))}
    return Dataset(
        data.names,
        data.cards,
        tuple(columns),
        data.levels,
        missing=MissingReport(policy="testwise", counts=MappingProxyType(in_order)),
        cuts=data.cuts,
        declared=data.declared,
        unused=data.unused,
        ordinal=data.ordinal,
        counted=data.counted,
        gaps=data.gaps | set(counts),
    )


def _emptied(column: NDArray[Any], card: int, missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return a column with the mark of a missing value in some rows."""
    emptied = column.astype(code_type(card + 1) if card else np.float64)
    emptied[missing] = card if card else np.nan
    return emptied


def _upper_part(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows have a value above the threshold that divides the rows most equally."""
    values, numbers = np.unique(column, return_counts=True)
    below = np.cumsum(numbers)
    return np.asarray(column > values[np.argmin(np.abs(below - len(column) / 2))])


def _check_data(data: Dataset) -> None:
    """Raise InputError unless every row of the data set is stored once."""
    check_instance("data", data, Dataset, "Read it first: mnlearn.read(...).")
    if data.repeats is not None:
        raise InputError("data must have no repeats or weights; got some. Use one row per record.")
