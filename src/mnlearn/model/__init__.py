"""Models: parameters fitted on a graph, with prediction, inference, sampling and files."""

from mnlearn.model.base import EdgeStrength, FitReport, Imputed, MarkovModel, MostProbable
from mnlearn.model.bridges import to_pgmpy, to_pyagrum
from mnlearn.model.canonical import CanonicalFactors, canonical_factors, canonical_factors_of
from mnlearn.model.discrete import DiscreteModel
from mnlearn.model.files import load_model, save_model
from mnlearn.model.fitting import FIT_METHODS, FIT_SETTINGS, fit, fit_precision
from mnlearn.model.gaussian import GaussianModel, JointNormal, Normal
from mnlearn.model.mixed import MixedModel
from mnlearn.model.predictions import Predictions, predictions
from mnlearn.model.pseudolikelihood import fit_pseudolikelihood

__all__ = [
    "FIT_METHODS",
    "FIT_SETTINGS",
    "CanonicalFactors",
    "DiscreteModel",
    "EdgeStrength",
    "FitReport",
    "GaussianModel",
    "Imputed",
    "JointNormal",
    "MarkovModel",
    "MixedModel",
    "MostProbable",
    "Normal",
    "Predictions",
    "canonical_factors",
    "canonical_factors_of",
    "fit",
    "fit_precision",
    "fit_pseudolikelihood",
    "load_model",
    "predictions",
    "save_model",
    "to_pgmpy",
    "to_pyagrum",
]
