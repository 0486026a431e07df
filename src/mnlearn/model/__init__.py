"""From structure to model: parameters on a graph, and what can be done with them."""

from mnlearn.model.canonical import CanonicalFactors, canonical_factors, canonical_factors_of
from mnlearn.model.precision import fit_precision
from mnlearn.model.pseudolikelihood import fit_pseudolikelihood

__all__ = [
    "CanonicalFactors",
    "canonical_factors",
    "canonical_factors_of",
    "fit_precision",
    "fit_pseudolikelihood",
]
