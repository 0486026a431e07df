"""Who is selected: the individuals that the structure and the frequencies are learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mnlearn.errors import InputError, is_number, whole_number
from mnlearn.protocols import FloatArray, IntArray


class Selection(Protocol):
    """Chooses individuals by their merit, of which more is better; the same one may be chosen more than once."""

    def size(self, population: int) -> int:
        """How many are chosen out of so many."""
        ...

    def __call__(self, merit: FloatArray, rng: np.random.Generator) -> IntArray: ...


@dataclass(frozen=True)
class Truncation:
    """The best ones.

    Parameters
    ----------
    amount
        A share of the population below 1, or a number of individuals.

    Examples
    --------
    >>> Truncation(0.5)(np.array([3.0, 9.0, 4.0, 1.0]), np.random.default_rng(0)).tolist()
    [1, 2]
    """

    amount: float = 0.5

    def __post_init__(self) -> None:
        amount_of("selection", self.amount, 1, least=1)

    def size(self, population: int) -> int:
        """How many are chosen out of so many."""
        return amount_of("selection", self.amount, population, least=1)

    def __call__(self, merit: FloatArray, rng: np.random.Generator) -> IntArray:  # noqa: ARG002 - nothing is drawn
        """From the best on; ties: the first."""
        return np.argsort(-merit, kind="stable")[: self.size(len(merit))]


@dataclass(frozen=True)
class Tournament:
    """Winners of tournaments between individuals that are drawn at random.

    Parameters
    ----------
    entrants
        How many meet in a tournament.
    amount
        How many tournaments: a share of the population up to 1, or a number.

    Examples
    --------
    >>> Tournament(2, 3)(np.array([5.0, 7.0]), np.random.default_rng(0)).tolist()
    [1, 1, 0]
    """

    entrants: int = 2
    amount: float = 1.0

    def __post_init__(self) -> None:
        whole_number("entrants", self.entrants, least=1, way_out="2 is usual.")
        amount_of("amount", self.amount, 1, least=1)

    def size(self, population: int) -> int:
        """How many tournaments there are."""
        return amount_of("amount", self.amount, population, least=1)

    def __call__(self, merit: FloatArray, rng: np.random.Generator) -> IntArray:
        """The winners, one of each tournament; ties: who was drawn first."""
        entrants = rng.integers(len(merit), size=(self.size(len(merit)), self.entrants))
        winners: IntArray = entrants[np.arange(len(entrants)), np.argmax(merit[entrants], axis=1)]
        return winners


def amount_of(name: str, amount: object, population: int, *, least: int) -> int:
    """A number of individuals: given as such, or as a share (a float from 0 to 1)."""
    if isinstance(amount, float | np.floating):
        if not is_number(amount) or not 0 <= amount <= 1:
            raise InputError(f"{name} must be a share from 0 to 1, or a whole number; got {amount!r}. 0.5 is usual.")
        return max(least, round(float(amount) * population))
    return whole_number(name, amount, least=least, way_out="Or give a share, such as 0.5.")
