"""EDA operators: selection of individuals, and sampling of new ones."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, check_name, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import log
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.simulate.markovian import Weighing, sample_markovian


class Selection(Protocol):
    """Selection operator: choose individuals by merit, larger is better; repeats are allowed."""

    def size(self, population: int) -> int:
        """Return the number of individuals chosen from a population of this size."""
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
        """Return the number of individuals chosen from a population of this size."""
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
        Number of tournaments: a share of the population up to 1, or a number.

    Examples
    --------
    >>> Tournament(2, 3)(np.array([5.0, 7.0]), np.random.default_rng(0)).tolist()
    [1, 1, 0]
    """

    entrants: int = 2
    amount: float = 1.0

    def __post_init__(self) -> None:
        whole_number("entrants", self.entrants, least=1, hint="2 is usual.")
        amount_of("amount", self.amount, 1, least=1)

    def size(self, population: int) -> int:
        """Return the number of tournaments."""
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
    return whole_number(name, amount, least=least, hint="Or give a share, such as 0.5.")


# New individuals from the selected ones: Gibbs sampling by conditional frequencies, colder in each generation.
#
# Shakya & Santana (2008)  [MOA08]. An individual starts at random; then c n ln n times a gene is chosen at random and
# its value drawn from
#
#     p(x_i = k | N_i) ∝ exp(f(k, N_i) / T),    T = 1 / (cooling × generation),
#
# f being the share of the selected individuals that have k at i and the present values around it. In the beginning
# everything is possible; later the most frequent value wins.


class Sampler(Protocol):
    """Sampling operator: draw new individuals from a structure and the selected ones."""

    def __call__(
        self,
        graph: Graph,
        selected: NDArray[np.uint8],
        n_new: int,
        *,
        cards: tuple[int, ...],
        generation: int,
        rng: np.random.Generator,
    ) -> NDArray[np.uint8]: ...


@dataclass(frozen=True, kw_only=True)
class MarkovianSampler:
    """MOA's sampler  [MOA08].

    Parameters
    ----------
    cooling
        How fast temperature falls: T = 1 / (cooling × generation), the first new generation being 1.
    updates
        c: a new individual has ⌈c n ln n⌉ of its genes drawn again, n genes being there.
    weighing
        ``"joint"``: f is the frequency of value and neighbours together, small where the neighbours have values that
        few selected individuals have. ``"conditional"``: the frequency of the value among those that have these
        neighbours, however few. ``"plain"``: draw by the conditional frequencies themselves; no temperature.

    Notes
    -----
    Conditional frequencies of a few individuals are near 0 or 1, and once it is cold they keep a group of genes where
    it is: with them MOA solved hardly any run on Royal Road with 96 genes, at any population (docs/optimize.md).

    Examples
    --------
    >>> selected = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]], dtype=np.uint8)
    >>> draw = MarkovianSampler(cooling=5.0)
    >>> rng = np.random.default_rng(1)
    >>> new = draw(Graph.empty(3), selected, 500, cards=(2, 2, 2), generation=4, rng=rng)
    >>> bool(new[:, 0].mean() > 0.95)
    True
    """

    cooling: float = 0.2
    updates: float = 4.0
    weighing: Weighing = "joint"

    def __post_init__(self) -> None:
        for name, value in (("cooling", self.cooling), ("updates", self.updates)):
            if not is_number(value) or value <= 0:
                raise InputError(f"{name} must be a positive number; got {value!r}. Leave it out for the usual one.")
        check_name("weighing", self.weighing, get_args(Weighing))

    def __call__(
        self,
        graph: Graph,
        selected: NDArray[np.uint8],
        n_new: int,
        *,
        cards: tuple[int, ...],
        generation: int,
        rng: np.random.Generator,
    ) -> NDArray[np.uint8]:
        """New individuals; `generation` counts from 1."""
        return sample_markovian(
            *(graph, selected, n_new, rng),
            cards=cards,
            n_updates=self.n_updates(len(cards)),
            inverse_temperature=self.cooling * generation,
            weighing=self.weighing,
        )

    def n_updates(self, n_genes: int) -> int:
        """⌈c n ln n⌉; at least every gene of a very short individual once on average."""
        return ceil(self.updates * n_genes * max(1.0, log(n_genes)))
