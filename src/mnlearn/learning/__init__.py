"""From data to an answer in one call, and the only tables of names -> factories: tests, scores, methods."""

from mnlearn.learning.api import GraphScore, Part, fit_parameters, learn, load, score
from mnlearn.learning.comparison import MethodResult, compare
from mnlearn.learning.experiments import NamedMethod, NamedSource, experiment, structure_learner
from mnlearn.learning.groups import compare_groups
from mnlearn.learning.inputs import Reading, load_data
from mnlearn.learning.judges import DEFAULT_ALPHA, SCORES, TESTS, ScoreSettings, TestSettings, make_score, make_test
from mnlearn.learning.pairs import TestResult, dependences, independence_test
from mnlearn.learning.registry import DEFAULT_METHOD, METHODS, method_settings

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
    "TestResult",
    "TestSettings",
    "compare",
    "compare_groups",
    "dependences",
    "experiment",
    "fit_parameters",
    "independence_test",
    "learn",
    "load",
    "load_data",
    "make_score",
    "make_test",
    "method_settings",
    "score",
    "structure_learner",
]
