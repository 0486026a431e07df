"""The scikit-learn face: structure learning and blanket selection as estimators."""

from mnlearn.estimators.network import MarkovNetworkLearner
from mnlearn.estimators.selector import MarkovBlanketSelector

__all__ = ["MarkovBlanketSelector", "MarkovNetworkLearner"]
