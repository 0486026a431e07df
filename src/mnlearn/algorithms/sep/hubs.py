"""Hub prior: the prior chance of an edge between i and j is q_i + q_j, with a rate q_i of each variable.

The rates have a gamma prior of shape a around their common mean. Each expected edge is credited to its two ends in
proportion to their rates; a pair is judged by rates without its own credit, or a false edge would support itself.
A few values of a are compared by the predictive likelihood of the evidence. Hubs must save one bit per drawn edge
(see docs/separator.md); else the price of an edge stays that of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.numbers import exp, log, log1p, log_add_exp, logistic
from mnlearn.protocols import BoolArray, FloatArray

SHAPES = (0.3, 1.0, 3.0, 10.0, 100.0)  # values of a; the last stands for equal rates
MOST_ROUNDS, SETTLED = 30, 1e-4  # limit of iterations for one a; and their tolerance, in probability
FAR = 4.0  # below the threshold by more, the credit of an absent pair is taken to first order in its odds
LEAST_CHANCE, MOST_CHANCE = 1e-9, 0.5


@dataclass(frozen=True)
class JudgedPairs:
    """Candidate pairs with their evidence.

    Parameters
    ----------
    n_variables
        Number of variables.
    ends
        The two variables of each pair, in two rows.
    evidence
        Log Bayes factor of each pair.
    probability
        Of each pair, at the present prices; 1 or 0 if it is fixed.
    fixed
        Whether the pair is required or forbidden.
    odds_of_others
        Mean of exp(evidence) of the pairs that are not listed.
    """

    n_variables: int
    ends: NDArray[Any]
    evidence: FloatArray
    probability: FloatArray
    fixed: BoolArray
    odds_of_others: float = 0.0


def hub_prices(pairs: JudgedPairs, n_edges: int, price: float) -> FloatArray | None:
    """Return the price of each pair, the negative log odds of its prior chance; None if equal prices do.

    Parameters
    ----------
    pairs
        The evidence.
    n_edges
        Number of drawn edges.
    price
        The present price of an edge.

    Examples
    --------
    A star with eight sure leaves of sixteen, and all other leaves doubtful:

    >>> u, v = np.triu_indices(40, 1)
    >>> evidence = np.where(u > 0, -3.0, np.where(v <= 8, 20.0, np.where(v <= 16, 2.0, -3.0)))
    >>> sure = (evidence > 4).astype(float)
    >>> star = JudgedPairs(40, np.stack([u, v]), evidence, sure, np.zeros(len(u), dtype=bool))
    >>> prices = hub_prices(star, n_edges=8, price=4.4)
    >>> bool(prices[9] < 2.0 < 4.4 < prices[-1])
    True
    """
    if not n_edges:
        return None
    split = _split(pairs, price)
    found = [_rates(split, shape) for shape in SHAPES]
    scores = np.array([split.score(rates) for rates in found]) - log(2) * n_edges
    scores[-1] += log(2) * n_edges
    weights = exp(scores - scores.max())
    weights /= weights.sum()
    if weights[-1] > 0.5:
        return None
    chance = sum(weight * split.chance_of_all(rates) for weight, rates in zip(weights, found, strict=True) if weight)
    prices: FloatArray = log1p(-chance) - log(chance)
    return prices


@dataclass(frozen=True)
class _Rates:
    """Rates of the variables by one shape, each pair's own credit taken out."""

    alone: FloatArray  # of each variable, for far pairs, whose credit is next to nothing
    near: FloatArray  # of the two ends of each near pair, in two rows


@dataclass(frozen=True)
class _Split:
    """The pairs near the threshold, which give credit one by one, and the far ones, which do so by variable."""

    n: int
    near: BoolArray
    ends: NDArray[Any]
    evidence: FloatArray
    probability: FloatArray
    fixed: BoolArray
    far_ends: NDArray[Any]
    far_odds: FloatArray  # exp(evidence)
    n_others: NDArray[np.intp]  # number of pairs of each variable that are not listed
    odds_of_others: float

    def odds_by_variable(self) -> FloatArray:
        """Return the sum of the odds of each variable's far and unlisted pairs."""
        odds = np.bincount(self.far_ends.ravel(), weights=np.tile(self.far_odds, 2), minlength=self.n)
        return np.asarray(odds + self.n_others * self.odds_of_others)

    def score(self, rates: _Rates) -> float:
        """Return the log likelihood of the evidence; of unlisted pairs to first order."""
        free = ~self.fixed
        chance, evidence = _chance(rates.near[:, free]), self.evidence[free]
        near = log_add_exp(log1p(-chance), log(chance) + evidence).sum()
        far = log1p(_chance(rates.alone[self.far_ends]) * (self.far_odds - 1)).sum()
        others = self.n_others * (1 - self.odds_of_others) * log1p(-np.minimum(rates.alone, MOST_CHANCE))
        return float(near + far + others.sum())

    def chance_of_all(self, rates: _Rates) -> FloatArray:
        """Return the chance of each listed pair."""
        chance = np.empty(len(self.near))
        chance[self.near] = _chance(rates.near)
        chance[~self.near] = _chance(rates.alone[self.far_ends])
        return chance


def _split(pairs: JudgedPairs, price: float) -> _Split:
    """Part the pairs that are near the threshold, or fixed, from the others."""
    n = pairs.n_variables
    near = (pairs.evidence > min(price - FAR, 0.0)) | pairs.fixed
    return _Split(
        n,
        near,
        pairs.ends[:, near],
        pairs.evidence[near],
        pairs.probability[near],
        pairs.fixed[near],
        pairs.ends[:, ~near],
        exp(pairs.evidence[~near]),
        n - 1 - np.bincount(pairs.ends.ravel(), minlength=n),
        pairs.odds_of_others,
    )


def _rates(split: _Split, shape: float) -> _Rates:
    """Iterate credits, rates and probabilities until these settle."""
    n, probability, odds_far = split.n, split.probability, split.odds_by_variable()
    rate = np.full(n, max(probability.sum(), 1.0) / n / (n - 1))
    for _ in range(MOST_ROUNDS):
        both = rate[split.ends]
        own = probability * both / both.sum(axis=0)
        by_far = odds_far * rate / (1 - np.minimum(rate, MOST_CHANCE))
        credit = np.bincount(split.ends.ravel(), weights=own.ravel(), minlength=n) + by_far
        mean = max(probability.sum() + by_far.sum(), 1.0) / n / (n - 1)
        weight = shape / mean
        rate = (credit + shape) / (n - 1 + weight)
        near = (credit[split.ends] - own + shape) / (n - 2 + weight)
        chance = _chance(near)
        last, probability = probability, logistic(split.evidence + log(chance) - log1p(-chance))
        probability[split.fixed] = last[split.fixed]
        if np.abs(probability - last).max(initial=0.0) < SETTLED:
            break
    return _Rates((credit + shape) / (n - 2 + weight), near)


def _chance(rates: FloatArray) -> FloatArray:
    """Return the chance of an edge by the rates of its ends, in two rows."""
    chance: FloatArray = np.clip(rates[0] + rates[1], LEAST_CHANCE, MOST_CHANCE)
    return chance
