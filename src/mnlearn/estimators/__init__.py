"""Estimators for scikit-learn: structure learning and feature selection by Markov blankets."""

from mnlearn.errors import require

require("sklearn", "sklearn")  # the base classes of the estimators

from mnlearn.estimators.network import MarkovNetworkLearner  # noqa: E402
from mnlearn.estimators.selector import MarkovBlanketSelector  # noqa: E402

__all__ = ["MarkovBlanketSelector", "MarkovNetworkLearner"]
