"""From data to an answer in one call, and the only tables of names -> factories: tests, scores, methods."""

from mnlearn.pipeline._comparing import MethodResult, compare
from mnlearn.pipeline._experiments import NamedMethod, NamedSource, experiment
from mnlearn.pipeline._fitting import fit_parameters
from mnlearn.pipeline._groups import compare_groups
from mnlearn.pipeline._learning import learn
from mnlearn.pipeline._methods import DEFAULT_METHOD, METHODS, method_settings
from mnlearn.pipeline._reading import Reading, load_data
from mnlearn.pipeline._saved import load
from mnlearn.pipeline._scores import SCORES, ScoreSettings, make_score
from mnlearn.pipeline._scoring import GraphScore, Part, score
from mnlearn.pipeline._structures import structure_learner
from mnlearn.pipeline._tests import DEFAULT_ALPHA, TESTS, TestSettings, make_test

__all__ = [
    "DEFAULT_ALPHA",
    "DEFAULT_METHOD",
    "METHODS",
    "SCORES",
    "TESTS",
    "GraphScore",
    "MethodResult",
    "NamedMethod",
    "NamedSource",
    "Part",
    "Reading",
    "ScoreSettings",
    "TestSettings",
    "compare",
    "compare_groups",
    "experiment",
    "fit_parameters",
    "learn",
    "load",
    "load_data",
    "make_score",
    "make_test",
    "method_settings",
    "score",
    "structure_learner",
]
