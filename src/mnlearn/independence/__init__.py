"""Conditional independence tests, posteriors, and an oracle."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.independence.bayesian import BayesianTest, ScoreTest
    from mnlearn.independence.discrete import ChiSquare, GTest, MutualInformation
    from mnlearn.independence.gaussian import GaussianPosterior, PartialCorrelation
    from mnlearn.independence.information import CountedInformation, GaussianInformation, RowInformation
    from mnlearn.independence.mixed import MixedTest
    from mnlearn.independence.oracle import SeparationOracle
    from mnlearn.protocols import BaseTest, Verdict

__all__ = [
    "BaseTest",
    "BayesianTest",
    "ChiSquare",
    "CountedInformation",
    "GTest",
    "GaussianInformation",
    "GaussianPosterior",
    "MixedTest",
    "MutualInformation",
    "PartialCorrelation",
    "RowInformation",
    "ScoreTest",
    "SeparationOracle",
    "Verdict",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("base", "bayesian", "discrete", "gaussian", "information", "mixed", "oracle", "mnlearn.protocols")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
