"""Estimators for scikit-learn: structure learning and feature selection by Markov blankets."""

from typing import TYPE_CHECKING

from mnlearn.errors import require

require("sklearn", "sklearn")  # the base classes of the estimators

if TYPE_CHECKING:
    from mnlearn.estimators.network import MarkovNetworkLearner
    from mnlearn.estimators.selector import MarkovBlanketSelector

__all__ = ["MarkovBlanketSelector", "MarkovNetworkLearner"]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("network", "selector")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
