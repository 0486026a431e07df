"""Critical population: the smallest that finds the optimum often enough, and what it costs; the measure of [IBMAP14].

The population is doubled until enough of some independent runs reach the optimum, then the interval between the last
failure and the first success is halved until it is short. The fitness evaluations of the runs at the size that is left
are the price of the problem for this algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, floor
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from mnlearn.errors import InputError, MnlearnError, check_instance, check_methods, is_number, whole_number
from mnlearn.numbers import Seed, rng_from
from mnlearn.parallel import Quietly, run
from mnlearn.protocols import SILENT, Monitor
from mnlearn_papers.optimize.driver import maximize
from mnlearn_papers.optimize.eda import MarkovEDA
from mnlearn_papers.optimize.problems import Problem


class Trials(NamedTuple):
    """Independent runs with one population: how many reached the optimum, and what each of those cost."""

    runs: int
    evaluations: tuple[int, ...]

    @property
    def success_rate(self) -> float:
        """The share of runs that reached the optimum."""
        return len(self.evaluations) / self.runs


@dataclass(frozen=True)
class CriticalPopulation:
    """The smallest population that was found to be enough.

    Attributes
    ----------
    population
        Its size.
    trials
        The runs with it.
    tried
        The success rate of every size that was tried; one that was given up early counts the runs that were made.
    """

    population: int
    trials: Trials
    tried: Mapping[int, float]

    @property
    def success_rate(self) -> float:
        """The share of runs with this population that reached the optimum."""
        return self.trials.success_rate

    @property
    def evaluations(self) -> float:
        """Fitness evaluations of a run that reached the optimum, on average."""
        return fmean(self.trials.evaluations)

    @property
    def evaluations_sd(self) -> float:
        """Their standard deviation; 0 for a single run."""
        return stdev(self.trials.evaluations) if len(self.trials.evaluations) > 1 else 0.0


def critical_population(
    problem: Problem,
    algorithm: MarkovEDA | None = None,
    *,
    success_rate: float = 0.95,
    runs: int = 20,
    tolerance: float = 0.05,
    smallest: int = 8,
    largest: int = 65_536,
    max_generations: int = 100,
    seed: Seed = 0,
    n_jobs: int | None = 1,
    monitor: Monitor = SILENT,
) -> CriticalPopulation:
    """Find the smallest population with which an algorithm solves a problem, by doubling and bisection.

    Parameters
    ----------
    problem
        One whose optimum is known.
    algorithm
        Whose population is to be found; the one in it does not matter.
    success_rate
        The share of runs that must reach the optimum.
    runs
        Independent runs for each size; a size is given up as soon as too many have failed.
    tolerance
        The bisection ends when the interval is at most this share of its upper end, or has no size inside.
    smallest, largest
        Where the doubling begins, and where it gives up.
    max_generations
        What a run may take.
    seed
        An integer, or a generator to draw from.
    n_jobs
        Number of processes for the runs: None or −1 for all cores, else that many. Any number gives the same result.
    monitor
        Receives the progress and may cancel: the smallest population that was enough so far is the answer then.

    Raises
    ------
    InputError
        If the optimum is not known, or a setting is invalid.
    MnlearnError
        If the largest population is not enough, or the search is stopped before any was.

    Examples
    --------
    >>> from mnlearn_papers.optimize import onemax
    >>> found = critical_population(onemax(10), runs=5, success_rate=0.8, seed=1)
    >>> found.success_rate >= 0.8, found.tried[found.population] >= 0.8
    (True, True)
    """
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for none.")
    chosen = MarkovEDA() if algorithm is None else algorithm
    check_instance("algorithm", chosen, MarkovEDA, "Leave it out for the default.")
    whole_number("runs", runs, least=1, most=10**9, hint="100 is usual.")
    search = _Search(problem, chosen, _checked_rate(success_rate), max_generations)
    _check_what(problem, search.algorithm, runs)
    first = whole_number("smallest", smallest, least=4, hint="8 is usual.")
    whole_number("largest", largest, least=first, hint="65536 is usual.")
    if not is_number(tolerance) or not 0 <= tolerance < 1:
        raise InputError(f"tolerance must be from 0 to below 1; got {tolerance!r}. 0.05 is usual.")
    key = int(rng_from(seed).integers(2**63))
    good: dict[int, Trials] = {}
    tried: dict[int, float] = {}

    def enough(size: int) -> bool:
        found = search.trials(size, runs, key, n_jobs, monitor)
        if monitor.cancelled():
            raise _Stopped
        tried[size] = found.success_rate
        monitor.progress(len(tried), None, f"population {size}: success rate {found.success_rate:.2f}")
        if found.success_rate >= search.rate:
            good[size] = found
        return size in good

    low, high = first - 1, first
    try:
        while not enough(high):
            low, high = high, 2 * high
            if high > largest:
                raise MnlearnError(
                    f"largest must be enough to solve {problem.name}; {low} reached the optimum in a share of "
                    f"{tried[low]:.2f} runs. Raise largest, or use another algorithm."
                )
        while high - low > max(1.0, tolerance * high):
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
    except _Stopped:
        if high not in good:
            raise MnlearnError(
                f"the search was stopped before any population was enough to solve {problem.name}; tried were "
                f"{', '.join(map(str, tried)) or 'none'}. Begin with a larger one: smallest=..."
            ) from None
    return CriticalPopulation(high, good[high], tried)


class _Stopped(Exception):  # noqa: N818 - nothing went wrong
    """Raised when the monitor cancels."""


def success(
    problem: Problem,
    algorithm: MarkovEDA,
    *,
    runs: int = 100,
    max_generations: int = 100,
    seed: Seed = 0,
    n_jobs: int | None = 1,
) -> Trials:
    """Independent runs of an algorithm as it is: how many reach the optimum, and what they cost.

    Parameters
    ----------
    problem, algorithm
        The problem and the algorithm.
    runs, max_generations, seed
        As for `critical_population`; no run is left out.
    n_jobs
        Number of processes for the runs: None or −1 for all cores, else that many. Any number gives the same result.

    Examples
    --------
    >>> from mnlearn_papers.optimize import onemax
    >>> success(onemax(10), MarkovEDA(population=60), runs=10, seed=1).success_rate
    1.0
    """
    _check_what(problem, algorithm, runs)
    key = int(rng_from(seed).integers(2**63))
    return _Search(problem, algorithm, 0.0, max_generations).trials(algorithm.population, runs, key, n_jobs)


@dataclass(frozen=True)
class _Search:
    """Settings of the runs and the required success rate."""

    problem: Problem
    algorithm: MarkovEDA
    rate: float
    max_generations: int

    def trials(self, population: int, runs: int, key: int, n_jobs: int | None, monitor: Monitor = SILENT) -> Trials:
        """Runs with one population, up to the one that spoils the rate."""
        allowed = floor(runs - ceil(self.rate * runs - 1e-9) + 1e-9)
        seeds = [int(seed) for seed in np.random.default_rng([key, population]).integers(2**63, size=runs)]
        task = _OneRun(self.problem, replace(self.algorithm, population=population), self.max_generations)
        costs: list[int] = []
        done = 0
        for cost in run(task, seeds, n_jobs=n_jobs, backend="processes", monitor=Quietly(monitor)):
            done += 1
            if cost is not None:
                costs.append(cost)
            if done - len(costs) > allowed:
                break
        return Trials(done, tuple(costs))


@dataclass(frozen=True)
class _OneRun:
    """Run once with a seed; return the evaluations up to the optimum, or None if it was not reached."""

    problem: Problem
    algorithm: MarkovEDA
    max_generations: int

    def __call__(self, seed: int) -> int | None:
        found = maximize(self.problem, algorithm=self.algorithm, seed=seed, max_generations=self.max_generations)
        return found.evaluations if found.reached else None


def _check_what(problem: Problem, algorithm: MarkovEDA, runs: int) -> None:
    """Raise InputError unless the optimum is known and the settings are valid."""
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem; got a {type(problem).__name__}. Use one, such as onemax(20).")
    if not isinstance(algorithm, MarkovEDA):
        raise InputError(f"algorithm must be a MarkovEDA; got a {type(algorithm).__name__}. Use MarkovEDA(...).")
    whole_number("runs", runs, least=1, hint="20 are usual.")
    if problem.optimum is None:
        raise InputError(f"problem must have a known optimum; {problem.name} has none. Take a smaller one.")


def _checked_rate(success_rate: float) -> float:
    if not is_number(success_rate) or not 0 < success_rate <= 1:
        raise InputError(f"success_rate must be above 0 and at most 1; got {success_rate!r}. 0.95 is usual.")
    return float(success_rate)
