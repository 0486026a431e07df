"""Optimisation: estimation-of-distribution algorithms with any structure learner."""

from mnlearn_papers.optimize.catalogue import PROBLEMS, problem_named
from mnlearn_papers.optimize.critical import CriticalPopulation, Trials, critical_population, success
from mnlearn_papers.optimize.driver import maximize, minimize
from mnlearn_papers.optimize.eda import MarkovEDA, Run
from mnlearn_papers.optimize.fitness import FitnessError
from mnlearn_papers.optimize.history import Generation, Optimum, plot_convergence, plot_structure
from mnlearn_papers.optimize.operators import MarkovianSampler, Sampler, Selection, Tournament, Truncation
from mnlearn_papers.optimize.problems import (
    Problem,
    TableProblem,
    deceptive_trap,
    ising_spin_glass,
    nk_landscape,
    onemax,
    royal_road,
)
from mnlearn_papers.optimize.satisfiability import Clause, MaxSat, max_sat, parse_dimacs
from mnlearn_papers.optimize.structures import Judged, MutualInformationStructure, StructureLearner

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
