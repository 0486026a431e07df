"""Conditional independence tests, posteriors, an oracle, and wrappers around any test."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.independence.bayesian import BayesianTest, ScoreTest
    from mnlearn.independence.discrete import ChiSquare, GTest, MutualInformation
    from mnlearn.independence.gaussian import GaussianPosterior, PartialCorrelation
    from mnlearn.independence.information import CountedInformation, GaussianInformation, RowInformation
    from mnlearn.independence.mixed import MixedTest
    from mnlearn.independence.wrappers import Audited, Budgeted, Remembered, SeparationOracle
    from mnlearn.protocols import BaseTest, Verdict

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
    "MixedTest",
    "MutualInformation",
    "PartialCorrelation",
    "Remembered",
    "RowInformation",
    "ScoreTest",
    "SeparationOracle",
    "Verdict",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("base", "bayesian", "discrete", "gaussian", "information", "mixed", "wrappers")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
