"""Optimisation: estimation-of-distribution algorithms with any structure learner."""

from mnlearn_papers.optimize.critical import CriticalPopulation, Trials, critical_population, success
from mnlearn_papers.optimize.driver import maximize, minimize
from mnlearn_papers.optimize.eda import Judged, MarkovEDA, MutualInformationStructure, Run, StructureLearner
from mnlearn_papers.optimize.history import Generation, Optimum, plot_convergence, plot_structure
from mnlearn_papers.optimize.operators import FitnessError, MarkovianSampler, Sampler, Selection, Tournament, Truncation
from mnlearn_papers.optimize.problems import (
    PROBLEMS,
    Clause,
    MaxSat,
    Problem,
    TableProblem,
    deceptive_trap,
    ising_spin_glass,
    max_sat,
    nk_landscape,
    onemax,
    parse_dimacs,
    problem_named,
    royal_road,
)

__all__ = [
    "PROBLEMS",
    "Clause",
    "CriticalPopulation",
    "FitnessError",
    "Generation",
    "Judged",
    "MarkovEDA",
    "MarkovianSampler",
    "MaxSat",
    "MutualInformationStructure",
    "Optimum",
    "Problem",
    "Run",
    "Sampler",
    "Selection",
    "StructureLearner",
    "TableProblem",
    "Tournament",
    "Trials",
    "Truncation",
    "critical_population",
    "deceptive_trap",
    "ising_spin_glass",
    "max_sat",
    "maximize",
    "minimize",
    "nk_landscape",
    "onemax",
    "parse_dimacs",
    "plot_convergence",
    "plot_structure",
    "problem_named",
    "royal_road",
    "success",
]
