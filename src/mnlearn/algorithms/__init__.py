"""Learners, one file for each paper. A learner holds its settings and sees a judge, never the data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.algorithms.aracne import ARACNE
    from mnlearn.algorithms.exhaustive import Exhaustive
    from mnlearn.algorithms.gsimn import GSIMN, GSIMNFCH
    from mnlearn.algorithms.gsmn import GSMN, GSMNStar
    from mnlearn.algorithms.hillclimb import HillClimb
    from mnlearn.algorithms.hiton import HHCMN
    from mnlearn.algorithms.ibmap import IBMAPHC
    from mnlearn.algorithms.mbs import MBS
    from mnlearn.algorithms.mpl import TwoPhase
    from mnlearn.algorithms.pc import PC
    from mnlearn.algorithms.regularized import L1LR, GraphicalLasso
    from mnlearn.algorithms.sep import SeparatorEvidence

__all__ = [
    "ARACNE",
    "GSIMN",
    "GSIMNFCH",
    "GSMN",
    "HHCMN",
    "IBMAPHC",
    "L1LR",
    "MBS",
    "PC",
    "Exhaustive",
    "GSMNStar",
    "GraphicalLasso",
    "HillClimb",
    "SeparatorEvidence",
    "TwoPhase",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = (
        "aracne",
        "exhaustive",
        "gsimn",
        "gsmn",
        "hillclimb",
        "hiton",
        "ibmap",
        "mbs",
        "mpl",
        "pc",
        "regularized",
        "sep",
    )
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
