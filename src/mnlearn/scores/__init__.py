"""Scores of graphs and of blankets."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.scores.bjp import BJPScore
    from mnlearn.scores.entropy import Entropy, ExtendedBIC
    from mnlearn.scores.evidence import HybridEvidence, MixedEvidence
    from mnlearn.scores.gaussian_evidence import GaussianEvidence
    from mnlearn.scores.glasso import EBICPrecision
    from mnlearn.scores.ib import IBScore
    from mnlearn.scores.lasso import EBICLasso, TheoryLasso
    from mnlearn.scores.local import BlanketPrior, Decomposed, LocallyScored
    from mnlearn.scores.logistic import L1Logistic
    from mnlearn.scores.mpl import MPL, PIC

__all__ = [
    "MPL",
    "PIC",
    "BJPScore",
    "BlanketPrior",
    "Decomposed",
    "EBICLasso",
    "EBICPrecision",
    "Entropy",
    "ExtendedBIC",
    "GaussianEvidence",
    "HybridEvidence",
    "IBScore",
    "L1Logistic",
    "LocallyScored",
    "MixedEvidence",
    "TheoryLasso",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("local", "bjp", "entropy", "evidence", "gaussian_evidence", "glasso", "ib", "lasso", "logistic", "mpl")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
