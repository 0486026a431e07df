"""EDA operators: selection of individuals, and sampling of new ones.

Evaluation of the fitness function: one by one, vectorised or parallel, with checked results.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, MnlearnError, check_name, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import log
from mnlearn.parallel import Backend, Quietly, job_count, run
from mnlearn.protocols import FloatArray, IntArray, Monitor
from mnlearn.simulate.markovian import Weighing, sample_markovian
from mnlearn_papers.optimize.history import Optimum


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


_PIECES = 4  # pieces of a population for each job: a slow individual does not leave the others idle


class FitnessError(MnlearnError):
    """The fitness function failed, or returned something that is not a fitness.

    Attributes
    ----------
    individual
        The one that it happened to; None if it happens only to many together.
    result
        The run so far: best individual and history. None if not even the first population was done.
    """

    def __init__(self, message: str, individual: NDArray[np.int64] | None = None) -> None:
        super().__init__(message)
        self.individual = individual
        self.result: Optimum | None = None


class _Failure(NamedTuple):
    """Where, and what; `row` is None if it happens only to many together."""

    row: int | None
    error: Exception


@dataclass(frozen=True)
class _Piece:
    """Picklable task: evaluate some individuals; errors are returned, not raised."""

    fitness: Callable[[NDArray[np.int64]], Any]
    vectorized: bool
    travels: bool

    def __call__(self, rows: NDArray[np.int64]) -> tuple[list[Any], _Failure | None]:
        values: list[Any] = []
        if self.vectorized:
            try:
                return [self.fitness(rows.copy())], None
            except Exception as error:
                return [], _Failure(self._culprit(rows), self._told(error))
        for place, row in enumerate(rows.copy()):  # a function that writes into its individual changes no run
            try:
                values.append(self.fitness(row))
            except Exception as error:
                return values, _Failure(place, self._told(error))
        return values, None

    def _told(self, error: Exception) -> Exception:
        return _portable(error) if self.travels else error

    def _culprit(self, rows: NDArray[np.int64]) -> int | None:
        """Return the first individual that fails by itself."""
        for place in range(len(rows)):
            try:
                self.fitness(rows[place : place + 1].copy())
            except Exception:
                return place
        return None


def _portable(error: Exception) -> Exception:
    """Return the exception if it can be pickled, else one with its description."""
    try:
        deepcopy(error)
    except Exception:
        told = RuntimeError(f"{type(error).__name__}: {error}")
        told.add_note("".join(traceback.format_exception(error)))
        return told
    return error


@dataclass(frozen=True)
class Evaluator:
    """A fitness function with what is known about calling it.

    Parameters
    ----------
    fitness
        Takes an individual, or with `vectorized` a 2-D array of them; returns a number, or an array of them.
    vectorized
        Which of the two.
    n_jobs, backend, client
        As for `mnlearn.parallel.run`.
    """

    fitness: Callable[[NDArray[np.int64]], Any]
    vectorized: bool = False
    n_jobs: int | None = 1
    backend: Backend = "threads"
    client: Any = None

    def __call__(self, rows: NDArray[np.int64], monitor: Monitor) -> FloatArray | None:
        """Return the fitness of every row, or None if cancelled; independent of the number of jobs."""
        pieces = self._pieces(rows)
        values: list[FloatArray] = []
        piece = _Piece(self.fitness, self.vectorized, self.client is not None or self.backend == "processes")
        jobs = {"n_jobs": self.n_jobs, "backend": self.backend, "client": self.client}
        for mine, (found, failure) in zip(
            pieces,
            run(piece, pieces, monitor=Quietly(monitor), **jobs),
            strict=False,
        ):
            if failure is not None:
                raise _failed(mine, failure) from failure.error
            values.append(_checked(mine, found, self.vectorized))
        return np.concatenate(values) if len(values) == len(pieces) else None

    def _pieces(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The rows in as many pieces as are worth it."""
        if self.client is not None:
            wanted = len(rows)
        else:
            jobs = job_count(self.n_jobs)
            wanted = 1 if jobs == 1 else min(len(rows), _PIECES * jobs)
        return np.array_split(rows, wanted) if wanted > 1 else [rows]


def _failed(rows: NDArray[np.int64], failure: _Failure) -> FitnessError:
    """The error for an exception of the user's."""
    what = f"{type(failure.error).__name__}: {failure.error}"
    if failure.row is None:
        return FitnessError(
            f"fitness must not fail; it raised {what} for {len(rows)} individuals together, for none of them alone. "
            "The exception is the cause of this one."
        )
    return FitnessError(
        f"fitness must not fail; it raised {what} for the individual {shown(rows[failure.row])}. The exception is the "
        "cause of this one; the run so far is its result.",
        rows[failure.row],
    )


def _checked(rows: NDArray[np.int64], found: list[Any], vectorized: bool) -> FloatArray:
    """One number for each row, none of them NaN."""
    if vectorized:
        values = _numbers(found[0], f"an array of {len(rows)} numbers, one for each individual", None)
        if values.shape != (len(rows),):
            raise FitnessError(
                f"fitness must return an array of {len(rows)} numbers, one for each individual; got the shape "
                f"{values.shape}. For a function of a single individual, leave out vectorized=True."
            )
    else:
        values = np.array([_number(value, row) for value, row in zip(found, rows, strict=True)], dtype=np.float64)
    wrong = np.flatnonzero(np.isnan(values))
    if len(wrong):
        raise FitnessError(
            f"fitness must return numbers; got NaN for the individual {shown(rows[wrong[0]])}. Return -inf (inf when "
            "minimizing) for individuals that are not allowed.",
            rows[wrong[0]],
        )
    return values


def _number(value: Any, row: NDArray[np.int64]) -> float:
    """A number, or an array of one."""
    number = _numbers(value, "one number", row)
    if number.size != 1:
        raise FitnessError(
            f"fitness must return one number; got the shape {number.shape} for the individual {shown(row)}. For a "
            "function of many individuals at once, use vectorized=True.",
            row,
        )
    return float(number.reshape(()))


def _numbers(value: Any, wanted: str, row: NDArray[np.int64] | None) -> FloatArray:
    """Return the result of the function as an array of numbers."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and not np.ma.is_masked(value):
            return array.astype(np.float64)
    except ValueError:
        pass
    raise FitnessError(f"fitness must return {wanted}; got {value!r:.60}. Return a float.", row)


def shown(row: NDArray[np.int64]) -> str:
    """A short text for an individual."""
    values = row.tolist()
    return "[" + ", ".join(map(str, values[:24])) + (f", ... ({len(values)} genes)]" if len(values) > 24 else "]")
