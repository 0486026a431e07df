"""Estimators for scikit-learn: structure learning and feature selection by Markov blankets."""

from mnlearn.estimators.network import MarkovNetworkLearner
from mnlearn.estimators.selector import MarkovBlanketSelector

__all__ = ["MarkovBlanketSelector", "MarkovNetworkLearner"]
