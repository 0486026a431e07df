"""Judges of independence: tests, a posterior, an oracle, and wrappers around any of them."""

from mnlearn.independence.bayesian import BayesianTest
from mnlearn.independence.discrete import ChiSquare, GTest, MutualInformation
from mnlearn.independence.gaussian import PartialCorrelation
from mnlearn.independence.gaussian_posterior import GaussianPosterior
from mnlearn.independence.information import CountedInformation, GaussianInformation, RowInformation
from mnlearn.independence.oracle import SeparationOracle
from mnlearn.independence.score import ScoreTest
from mnlearn.independence.wrappers import Audited, Budgeted, Remembered

__all__ = [
    "Audited",
    "BayesianTest",
    "Budgeted",
    "ChiSquare",
    "CountedInformation",
    "GTest",
    "GaussianInformation",
    "GaussianPosterior",
    "MutualInformation",
    "PartialCorrelation",
    "Remembered",
    "RowInformation",
    "ScoreTest",
    "SeparationOracle",
]
