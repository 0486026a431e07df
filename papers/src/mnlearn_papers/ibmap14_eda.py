"""Does a better structure save fitness evaluations?  MOA against MOA' on OneMax and Royal Road  [IBMAP14].

Schlüter, Bromberg & Edera, AMAI (2014), the section on estimation of distribution algorithms: MOA learns its
structure by mutual information with a bound on the neighbours, MOA' by IBMAP-HC without one. For growing problems
the paper gives the critical population (the smallest with the wanted success rate) and the fitness evaluations at
that size, and finds that MOA' never needs more: on Royal Road at best half of the evaluations, on OneMax a quarter
less.

Readings. The text available to us has lost all numbers of this section: there are no published figures here. Ours:
truncation of one half, one half stays (elitism), T = 1 / (0.2 g), 4 n ln n updates, at most 60 generations; 19 of
20 runs must reach the optimum, and the bisection ends at a tenth. MOA knows the truth about its bound: group − 1
neighbours, on OneMax one. After the bisection 20 other runs at the critical population tell the success rate, the
evaluations and the distance of the last structure that was learned to the cliques of the groups; a repetition is
one such search. An algorithm that fails with 8192 individuals has the success 0 and no other number.

- "population", "evaluations": of those that reached the optimum;
- "success": the share of the other runs that did;
- "hamming": edges too many and edges missing in the last structure;
- "ratio": evaluations of MOA' to those of MOA.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from statistics import fmean
from time import process_time

import numpy as np

from mnlearn.errors import InputError, MnlearnError
from mnlearn_papers.measured import Measured, Measurement, Trial
from mnlearn_papers.optimize.critical import critical_population
from mnlearn_papers.optimize.driver import maximize
from mnlearn_papers.optimize.eda import MarkovEDA
from mnlearn_papers.optimize.history import Optimum
from mnlearn_papers.optimize.problems import Problem, royal_road
from mnlearn_papers.optimize.structures import MutualInformationStructure
from mnlearn_papers.reproduction import Reproduction

ONEMAX_SIZES = (25, 50, 75, 100)
ROAD_SIZES = (24, 48, 72, 96)
GROUPS = (4, 8)
OPTIMIZE_REPETITIONS = 10
RUNS = 20
SUCCESS_RATE = 0.95
TOLERANCE = 0.1
GENERATIONS = 60
LARGEST_POPULATION = 8192
OPTIMIZE_NUMBERS = ("population", "evaluations", "success", "hamming")
OPTIMIZE_LEARNERS = (*(f"{name} {number}" for number in OPTIMIZE_NUMBERS for name in ("moa", "moa'")), "ratio")


@dataclass(frozen=True)
class Contest:
    """Both algorithms on one problem: groups of so many genes, 1 for OneMax."""

    group: int
    runs: int = RUNS
    largest: int = LARGEST_POPULATION

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers of both for `size` genes; none if `size` is not a multiple of the group."""
        if size % self.group:
            return {}
        problem = royal_road(size, group=self.group)
        bound = MutualInformationStructure(max_neighbors=max(1, self.group - 1))
        found: dict[str, Measured] = {}
        for name, algorithm in (("moa", MarkovEDA(learner=bound)), ("moa'", MarkovEDA(learner="moa'"))):
            found |= {f"{name} {number}": value for number, value in self._measure(problem, algorithm, rng).items()}
        ratio = found["moa' evaluations"].value / found["moa evaluations"].value
        return found | {"ratio": Measured(ratio, 0.0)}

    def _measure(self, problem: Problem, algorithm: MarkovEDA, rng: np.random.Generator) -> dict[str, Measured]:
        """A bisection, and other runs at the size that it found."""
        started = process_time()
        rate = SUCCESS_RATE if self.runs >= RUNS else 1 - 1 / self.runs
        try:
            critical = critical_population(
                problem,
                algorithm,
                success_rate=rate,
                runs=self.runs,
                tolerance=TOLERANCE,
                smallest=16,
                largest=self.largest,
                max_generations=GENERATIONS,
                seed=rng,
            )
        except InputError:
            raise
        except MnlearnError:  # the largest population is not enough
            seconds = process_time() - started
            return {name: Measured(0.0 if name == "success" else nan, seconds) for name in OPTIMIZE_NUMBERS}
        chosen = replace(algorithm, population=critical.population)
        fresh = [maximize(problem, algorithm=chosen, seed=rng, max_generations=GENERATIONS) for _ in range(self.runs)]
        reached = [run for run in fresh if run.reached]
        evaluations = fmean(run.evaluations for run in reached) if reached else nan
        distance = fmean(_distance(run, problem) for run in fresh)
        numbers = (float(critical.population), float(evaluations), len(reached) / len(fresh), distance)
        seconds = process_time() - started
        return {name: Measured(value, seconds) for name, value in zip(OPTIMIZE_NUMBERS, numbers, strict=True)}


def _distance(run: Optimum, problem: Problem) -> int:
    """Edges too many and edges missing in the last structure."""
    learned = () if run.graph is None else run.graph.edges
    return len(set(learned) ^ set(problem.structure.edges))


def _onemax(_data: Path | None) -> Mapping[str, Trial]:
    return {"onemax": Contest(1)}


def _roads(_data: Path | None) -> Mapping[str, Trial]:
    return {f"group={group}": Contest(group) for group in GROUPS}


ONEMAX = Reproduction(
    title="IBMAP14 (EDAs): MOA against MOA' on OneMax",
    measure=Measurement(
        name="ibmap-onemax",
        trials=_onemax,
        learners=OPTIMIZE_LEARNERS,
        sizes=ONEMAX_SIZES,
        repetitions=OPTIMIZE_REPETITIONS,
    ),
    quantity="population, evaluations, rates",
    axis="genes",
)

ROYAL_ROAD = Reproduction(
    title="IBMAP14 (EDAs): MOA against MOA' on Royal Road",
    measure=Measurement(
        name="ibmap-royalroad",
        trials=_roads,
        learners=OPTIMIZE_LEARNERS,
        sizes=ROAD_SIZES,
        repetitions=OPTIMIZE_REPETITIONS,
    ),
    quantity="population, evaluations, rates",
    axis="genes",
)
