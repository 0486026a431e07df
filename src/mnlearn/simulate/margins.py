"""Kinds of simulated variables and their distributions without neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import Seed, rng_from
from mnlearn.data.dataset import Dataset, Kind
from mnlearn.errors import InputError, check_name, check_number, whole_number
from mnlearn.numbers import exp
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
