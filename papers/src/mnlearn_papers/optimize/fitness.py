"""Evaluation of the fitness function: one by one, vectorised or parallel, with checked results."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import MnlearnError
from mnlearn.parallel import Backend, Quietly, job_count, run
from mnlearn.protocols import FloatArray, Monitor
from mnlearn_papers.optimize.history import Optimum

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
