"""Markov network EDA: learn the structure of the selected individuals, and sample new ones from it.

An estimation of distribution algorithm with the loop of the Markovianity based optimisation algorithm, Shakya & Santana
(2008)  [MOA08], and any structure learner in it, as proposed by Schlüter, Bromberg & Edera (2014)  [IBMAP14]: MOA is
the mutual information of pairs with a bound on the neighbours, MOA' is IBMAP-HC, which needs none. One generation:

    select  →  learn a structure  →  sample new individuals from it  →  evaluate  →  replace all but the elite

The structure of a population: which genes depend on one another among the selected individuals.

Whatever makes a graph of a data set will do. Two are named: ``"moa"``, the mutual information of pairs with a cut and a
bound on the neighbours, Shakya & Santana (2008)  [MOA08]; and ``"moa'"``, IBMAP-HC with the IB-score, which has no such
bound, Schlüter, Bromberg & Edera (2014)  [IBMAP14].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import MOST_STATES
from mnlearn.errors import InputError, check_name, check_unmasked, is_number, true_or_false, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.independence.bayesian import BayesianTest
from mnlearn.numbers import Seed, ranks, rng_from, tolerance
from mnlearn.protocols import FloatArray, Learner
from mnlearn.scores.ib import IBScore
from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts
from mnlearn_papers.optimize.history import Generation
from mnlearn_papers.optimize.operators import MarkovianSampler, Sampler, Selection, Truncation, amount_of

StructureLearner: TypeAlias = Callable[[Dataset], Graph]
"""Function from the selected individuals to the structure."""


@dataclass(frozen=True, kw_only=True)
class MutualInformationStructure:
    """MOA's structure: join the pairs whose mutual information stands out, the strongest first  [MOA08].

    Parameters
    ----------
    max_neighbors
        How many neighbours a gene may have: what an expert knows about the problem. None for any number.
    cut
        A pair must have more than so many times the mean mutual information of all pairs.

    Notes
    -----
    "At most k neighbours, the strongest kept" is read as: pairs are joined in order of their mutual information (equal
    up to rounding: the first pair) unless one of the two has k neighbours already. The graph is symmetric, and no gene
    has more than k.

    Examples
    --------
    >>> a, b = [0, 1] * 20, [0, 0, 1, 1] * 10
    >>> MutualInformationStructure(max_neighbors=1)(Dataset.from_codes([a, a, b, b]))
    Graph(4, [(0, 1), (2, 3)])
    """

    max_neighbors: int | None = 3
    cut: float = 1.5

    def __post_init__(self) -> None:
        if self.max_neighbors is not None:
            whole_number("max_neighbors", self.max_neighbors, least=0, hint="Use None for any number.")
        if not is_number(self.cut) or self.cut < 0:
            raise InputError(f"cut must be a number of at least 0; got {self.cut!r}. The usual one is 1.5.")

    def __call__(self, data: Dataset) -> Graph:
        """The graph of a population."""
        n = data.n_variables
        if n < 2:
            return Graph.empty(n)
        information = Counts(data, n_jobs=1).reduce_all(kernels.mi())[0]
        return Graph(n, _strongest(information, n, self.cut, n if self.max_neighbors is None else self.max_neighbors))


def _strongest(information: FloatArray, n: int, cut: float, most: int) -> list[tuple[int, int]]:
    """Pairs above the cut, from the strongest on, as long as both ends have room."""
    level = cut * float(information.mean())
    candidates = np.flatnonzero(information > level + tolerance([level]))
    candidates = candidates[np.argsort(ranks(-information[candidates]), kind="stable")]
    ends = np.cumsum(np.arange(n - 1, 0, -1))  # of the pairs (u, v > u), by u
    us = np.searchsorted(ends, candidates, side="right")
    vs = n + candidates - ends[us]
    room, left, chosen = [most] * n, n, []
    for u, v in zip(us.tolist(), vs.tolist(), strict=True):
        if room[u] and room[v]:
            room[u] -= 1
            room[v] -= 1
            chosen.append((u, v))
            left -= (not room[u]) + (not room[v])
            if left < 2:  # no candidate pair is left
                break
    return chosen


@dataclass(frozen=True)
class Judged:
    """Any learner of this library, with what makes its judge from the selected individuals.

    Parameters
    ----------
    learner
        Settings of a search, such as ``GSIMN()``.
    judge
        Makes the judge that the search meets, such as ``lambda data: ChiSquare(Counts(data))``.

    Examples
    --------
    >>> from mnlearn.algorithms import TwoPhase
    >>> from mnlearn.scores import MPL
    >>> learner = Judged(TwoPhase(), lambda data: MPL(Counts(data)))
    >>> learner(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20]))
    Graph(2, [(0, 1)])
    """

    learner: Learner[Any]
    judge: Callable[[Dataset], Any]

    def __call__(self, data: Dataset) -> Graph:
        """The graph of a population; of a single gene, no search is asked."""
        return self.learner.learn(self.judge(data)).graph if data.n_variables > 1 else Graph.empty(data.n_variables)


def ib_judge(data: Dataset) -> IBScore:
    """The IB-score of a population, with the Bayesian test of [BJP18]."""
    return IBScore(BayesianTest(Counts(data, n_jobs=1)))


LEARNERS: Mapping[str, StructureLearner] = {
    "moa": MutualInformationStructure(),
    "moa'": Judged(IBMAPHC(), ib_judge),
}
"""Structure learners by name."""


def learner_by_name(learner: str | StructureLearner) -> StructureLearner:
    """Return the learner, by name if a string is given."""
    if isinstance(learner, str):
        check_name("learner", learner, LEARNERS)
        return LEARNERS[learner]
    if not callable(learner):
        raise InputError(
            f"learner must be a name ({', '.join(LEARNERS)}) or make a Graph of a Dataset when called; got a "
            f"{type(learner).__name__}. Put a learner and its judge together with Judged."
        )
    return learner


@dataclass(frozen=True, kw_only=True)
class MarkovEDA:
    """An estimation of distribution algorithm whose distribution is a Markov network.

    Parameters
    ----------
    learner
        ``"moa'"`` (IBMAP-HC), ``"moa"`` (mutual information, at most 3 neighbours), or whatever makes a `Graph` of a
        `Dataset`: a `MutualInformationStructure`, a `Judged` learner, `mnlearn_papers.named.structure_learner(name)`.
    population
        How many individuals there are, at least 2.
    selection
        The best of them that the network is learned from: a share, or a number; or a `Tournament`, or another
        `Selection`.
    elitism
        How many of the best stay for the next generation without being evaluated again: a share, or a number.
    sampler
        Draws new individuals.

    Raises
    ------
    InputError
        If a setting is invalid.

    Examples
    --------
    >>> from mnlearn_papers.optimize import MarkovEDA, maximize, royal_road
    >>> found = maximize(royal_road(24, group=4), algorithm=MarkovEDA(population=200), seed=1)
    >>> found.fitness, found.reason
    (24.0, 'target')
    """

    learner: str | StructureLearner = "moa'"
    population: int = 500
    selection: float | Selection = 0.5
    elitism: float = 0.5
    sampler: Sampler = field(default_factory=MarkovianSampler)

    def __post_init__(self) -> None:
        learner_by_name(self.learner)
        size = whole_number("population", self.population, least=2, hint="Some hundred are usual.")
        if not callable(getattr(self.chooser, "size", None)):
            raise InputError(
                f"selection must be a share, a whole number or a Selection, as Tournament is; got {self.selection!r}. "
                "0.5 is usual."
            )
        chosen = self.chooser.size(size)
        if isinstance(self.chooser, Truncation) and chosen > size:
            raise InputError(
                f"population must not be smaller than the selection; got population={size}, selection={chosen}. "
                "Raise the one or lower the other."
            )
        if self.n_elite >= size:
            raise InputError(
                f"elitism must leave room for new individuals; got {self.n_elite} of a population of {size}. Lower it."
            )
        if not callable(self.sampler):
            raise InputError(
                f"sampler must be callable, as a MarkovianSampler is; got {self.sampler!r}. Leave it out for that one."
            )

    @property
    def chooser(self) -> Selection:
        """Return the selection operator."""
        given: Any = self.selection
        if isinstance(given, np.number):
            given = given.item()
        chosen: Selection = Truncation(given) if isinstance(given, int | float) else given
        return chosen

    @property
    def n_elite(self) -> int:
        """Number of elite individuals."""
        return amount_of("elitism", self.elitism, self.population, least=0)

    def start(
        self, n_variables: int, *, states: int | Sequence[int] = 2, seed: Seed = 0, minimize: bool = False
    ) -> Run:
        """Start a run with the ask/tell interface.

        Parameters
        ----------
        n_variables
            How many genes an individual has, at least 1.
        states
            How many values a gene may have: one number for all, or one for each; at most 256.
        seed
            An integer, or a generator to draw from.
        minimize
            Whether less is better.

        Examples
        --------
        >>> run = MarkovEDA(population=60).start(12, seed=1)
        >>> while run.generation < 15:
        ...     individuals = run.ask()
        ...     run.tell(individuals, individuals.sum(axis=1))
        >>> run.best_fitness
        12.0
        """
        return Run(self, genes(n_variables, states), seed, minimize=minimize)

    def described(self) -> dict[str, object]:
        """The settings as text and numbers."""
        told = {name: getattr(self, name) for name in ("learner", "population", "selection", "elitism", "sampler")}
        return {
            name: value if isinstance(value, int | float | str) else _described(value) for name, value in told.items()
        }


class Run:
    """A run of a `MarkovEDA`, one generation at a time: `ask` for individuals, `tell` their fitness, and again.

    All randomness of generation g comes from the seed and g alone, so a run can be continued anywhere.

    Attributes
    ----------
    generation
        How many generations came after the first population; −1 before the first `tell`.
    evaluations
        Number of evaluated individuals.
    individuals, fitness
        The present population; the elite comes first.
    best, best_fitness
        The best individual ever told.
    history
        A `Generation` for each `tell`.
    """

    def __init__(self, algorithm: MarkovEDA, cards: tuple[int, ...], seed: Seed, *, minimize: bool = False) -> None:
        true_or_false(minimize=minimize)
        self.algorithm, self.cards, self.minimize = algorithm, cards, minimize
        self.key = int(rng_from(seed).integers(2**63))
        self.generation, self.evaluations = -1, 0
        self.individuals = np.empty((0, len(cards)), dtype=np.uint8)
        self.fitness: FloatArray = np.empty(0)
        self.best: NDArray[np.int64] | None = None
        self.best_fitness = np.inf if minimize else -np.inf
        self.history: list[Generation] = []
        self._learn = learner_by_name(algorithm.learner)
        first = Dataset.from_codes(np.zeros((1, len(cards)), dtype=np.uint8), cards=cards)
        self._sound = dict(vars(first))  # checked once; 100 columns take half a millisecond
        self._asked: NDArray[np.uint8] | None = None
        self._elite: tuple[NDArray[np.uint8], FloatArray] = (self.individuals, self.fitness)
        self._drawn_from: tuple[Graph | None, float, float] = (None, 0.0, 0.0)

    def ask(self) -> NDArray[np.int64]:
        """Return the individuals to evaluate, one row each; unchanged until `tell` is called."""
        if self._asked is None:
            rng = np.random.default_rng([self.key, self.generation + 1])
            self._asked = self._first(rng) if self.generation < 0 else self._next(rng)
        return self._asked.astype(np.int64)

    def tell(self, individuals: ArrayLike, fitness: ArrayLike) -> None:
        """Report the fitness of the individuals of `ask`; repaired individuals may replace them."""
        if self._asked is None:
            raise InputError("tell must come after ask; there is no pending population. Call ask() first.")
        rows = _codes(individuals, self.cards, len(self._asked))
        values = _values(fitness, len(rows))
        self.individuals = np.concatenate([self._elite[0], rows])
        self.fitness = np.concatenate([self._elite[1], values])
        self.generation += 1
        self.evaluations += len(rows)
        self._asked = None
        self._note()

    def _note(self) -> None:
        """Keep the best, and a line of history."""
        merit = self.merit
        top = int(np.argmax(merit))
        if self.best is None or merit[top] > (-self.best_fitness if self.minimize else self.best_fitness):
            self.best, self.best_fitness = self.individuals[top].astype(np.int64), float(self.fitness[top])
        finite = self.fitness[np.isfinite(self.fitness)]
        mean = float(finite.mean()) if finite.size else np.nan
        line = Generation(self.generation, float(self.fitness[top]), mean, self.evaluations, *self._drawn_from)
        self.history.append(line)

    @property
    def merit(self) -> FloatArray:
        """The fitness, or its opposite where less is better."""
        return -self.fitness if self.minimize else self.fitness

    @property
    def is_uniform(self) -> bool:
        """Return whether all individuals are equal."""
        return bool((self.individuals == self.individuals[:1]).all())

    def _first(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        return rng.integers(self.cards, size=(self.algorithm.population, len(self.cards))).astype(np.uint8)

    def _next(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Select, learn, sample."""
        algorithm, merit = self.algorithm, self.merit
        selected = self.individuals[algorithm.chooser(merit, rng)]
        staying = np.argsort(-merit, kind="stable")[: algorithm.n_elite]
        self._elite = self.individuals[staying], self.fitness[staying]
        began = perf_counter()
        graph: Any = self._learn(self._dataset(selected))
        if not isinstance(graph, Graph) or graph.n_variables != len(self.cards):
            raise InputError(
                f"learner must return a Graph of the {len(self.cards)} genes; got {graph!r:.60}. Return one, such as "
                "Graph.empty(n)."
            )
        learned = perf_counter()
        n_new = algorithm.population - algorithm.n_elite
        new = algorithm.sampler(graph, selected, n_new, cards=self.cards, generation=self.generation + 1, rng=rng)
        self._drawn_from = graph, learned - began, perf_counter() - learned
        return new

    def _dataset(self, selected: NDArray[np.uint8]) -> Dataset:
        """The selected individuals as the learners take them."""
        columns = np.ascontiguousarray(selected.T)
        columns.flags.writeable = False
        return Dataset.trusted(**{**self._sound, "columns": tuple(columns)})


def genes(n_variables: int, states: int | Sequence[int]) -> tuple[int, ...]:
    """Return the number of values of each gene."""
    n = whole_number("n_variables", n_variables, least=1, hint="An individual has at least one gene.")
    try:
        cards = (index(states),) * n if not isinstance(states, Sequence | np.ndarray) else tuple(map(index, states))
    except TypeError:
        raise InputError(f"states must be whole numbers; got {states!r}. Use 2 for genes that are 0 or 1.") from None
    if len(cards) != n:
        raise InputError(f"states must be one number, or one for each of the {n} genes; got {len(cards)}. Give {n}.")
    if not all(1 <= card <= MOST_STATES for card in cards):
        wrong = next(card for card in cards if not 1 <= card <= MOST_STATES)
        raise InputError(f"states must be from 1 to {MOST_STATES}; got {wrong}. Join values that are alike.")
    return cards


def _values(fitness: ArrayLike, n_rows: int) -> FloatArray:
    """Fitness as numbers, checked."""
    values = _array(fitness)
    if values.shape == (n_rows,) and values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        if not np.isnan(numbers).any():
            return numbers
        got = "NaN"
    else:
        got = f"the shape {values.shape} and type {values.dtype}"
    raise InputError(f"fitness must be {n_rows} numbers, one for each individual; got {got}. Evaluate all.")


def _array(values: ArrayLike) -> NDArray[Any]:
    """Return an array, of objects if rows have different lengths."""
    check_unmasked("individuals and fitness", values)
    try:
        return np.asarray(values)
    except ValueError:
        return np.array(None)


def _codes(individuals: ArrayLike, cards: tuple[int, ...], n_rows: int) -> NDArray[np.uint8]:
    """Individuals as codes, checked."""
    rows = _array(individuals)
    if rows.shape != (n_rows, len(cards)) or rows.dtype.kind not in "biu":
        raise InputError(
            f"individuals must be {n_rows} rows of {len(cards)} whole numbers, as ask gave them; got the shape "
            f"{rows.shape} and type {rows.dtype}. Report all individuals of ask()."
        )
    if rows.size and (rows.min() < 0 or (rows >= np.array(cards)).any()):
        raise InputError("individuals must have values from 0 to states - 1; got others. Repair them first.")
    return rows.astype(np.uint8)


def _described(value: Any) -> str:
    """Return a setting as a string that is stable between processes."""
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is None:
        return f"{type(value).__module__}.{type(value).__qualname__}"
    inside = ", ".join(f"{name}={_plain(getattr(value, name))}" for name in fields)
    return f"{type(value).__name__}({inside})"


def _plain(value: Any) -> str:
    return repr(value) if isinstance(value, int | float | str | tuple | None) else _described(value)
