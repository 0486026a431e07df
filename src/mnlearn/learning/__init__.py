"""Learning, scoring and testing by name, in one call from the data; and the registry of names."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.learning.api import GraphScore, ScoreTerm, fit_parameters, learn, load, score
    from mnlearn.learning.comparison import Estimate, MethodResult, SizeAccuracy, Validation, compare, validate
    from mnlearn.learning.custom import CustomScore, CustomTest
    from mnlearn.learning.groups import compare_groups
    from mnlearn.learning.inputs import load_data
    from mnlearn.learning.registry import DEFAULT_ALPHA, METHODS, SCORES, TESTS, make_score, make_test, method_settings
    from mnlearn.learning.spec import DEFAULT_METHOD
    from mnlearn.learning.targets import BLANKET_METHODS, blanket, load_screen, screen
    from mnlearn.learning.tests import TestResult, dependences, independence_test

__all__ = [
    "BLANKET_METHODS",
    "DEFAULT_ALPHA",
    "DEFAULT_METHOD",
    "METHODS",
    "SCORES",
    "TESTS",
    "CustomScore",
    "CustomTest",
    "Estimate",
    "GraphScore",
    "MethodResult",
    "ScoreTerm",
    "SizeAccuracy",
    "TestResult",
    "Validation",
    "blanket",
    "compare",
    "compare_groups",
    "dependences",
    "fit_parameters",
    "independence_test",
    "learn",
    "load",
    "load_data",
    "load_screen",
    "make_score",
    "make_test",
    "method_settings",
    "score",
    "screen",
    "validate",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("api", "spec", "registry", "inputs", "tests", "groups", "comparison", "custom", "targets")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
