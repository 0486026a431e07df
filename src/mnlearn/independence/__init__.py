"""Conditional independence tests, posteriors, an oracle, and wrappers around any test."""

from mnlearn.independence.bayesian import BayesianTest, ScoreTest
from mnlearn.independence.discrete import ChiSquare, GTest, MutualInformation
from mnlearn.independence.gaussian import GaussianPosterior, PartialCorrelation
from mnlearn.independence.information import CountedInformation, GaussianInformation, RowInformation
from mnlearn.independence.wrappers import Audited, Budgeted, Remembered, SeparationOracle
from mnlearn.protocols import BaseTest

__all__ = [
    "Audited",
    "BaseTest",
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
