"""mnlearn: learn the structure of Markov networks (undirected graphical models) from data.

data → statistics → judges (tests, scores) → search → graph. `learn` does all of it in one call on a file or a data
frame; each step is also an object of its own:

>>> import mnlearn as mn
>>> answer = mn.independence_test({"a": [0, 1] * 20, "b": [0, 1] * 20}, "a", "b")
>>> answer.independent
False
>>> data = mn.read({"a": [0, 1] * 20, "b": [0, 1] * 20})
>>> mn.ChiSquare(mn.Counts(data), alpha=0.01)(0, 1, frozenset()).independent
False
>>> mn.TwoPhase().learn(mn.MPL(mn.Counts(data))).graph
Graph(2, [(0, 1)])
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.algorithms import (
        ARACNE,
        GSIMN,
        GSIMNFCH,
        GSMN,
        HHCMN,
        IBMAPHC,
        L1LR,
        MBS,
        PC,
        Exhaustive,
        GraphicalLasso,
        GSMNStar,
        HillClimb,
        SeparatorEvidence,
        TwoPhase,
    )
    from mnlearn.analysis import GroupComparison, Intervals, Resampling, Stability
    from mnlearn.data import Dataset, Missingness, discretize, missingness, overview, pack, read
    from mnlearn.errors import (
        DataError,
        DeviceError,
        FileError,
        InputError,
        MissingDependencyError,
        MnlearnError,
        MnlearnWarning,
        UnknownNameError,
        UnsuitableError,
    )
    from mnlearn.estimators import MarkovBlanketSelector, MarkovNetworkLearner
    from mnlearn.evaluation import Evaluation, evaluate
    from mnlearn.graphs import Graph, NamedGraph, read_graph, write_graph
    from mnlearn.independence import (
        BayesianTest,
        ChiSquare,
        GaussianPosterior,
        GTest,
        MixedTest,
        MutualInformation,
        PartialCorrelation,
        ScoreTest,
        SeparationOracle,
        Verdict,
    )
    from mnlearn.learning import (
        CustomScore,
        CustomTest,
        GraphScore,
        MethodResult,
        TestResult,
        Validation,
        blanket,
        compare,
        compare_groups,
        dependences,
        fit_parameters,
        independence_test,
        learn,
        load,
        load_screen,
        make_score,
        make_test,
        score,
        screen,
        validate,
    )
    from mnlearn.model import (
        DiscreteModel,
        GaussianModel,
        MarkovModel,
        MixedModel,
        canonical_factors,
        canonical_factors_of,
        load_model,
    )
    from mnlearn.results import Blanket, Learned, NetworkDifference, Screened, Why
    from mnlearn.scores import MPL, PIC, BJPScore, Entropy, ExtendedBIC, HybridEvidence, IBScore, L1Logistic
    from mnlearn.statistics import Counts, MixedLikelihoods, Moments, kernels
    from mnlearn.visual import plot_difference, plot_side_by_side

__all__ = ["__version__"]
__all__ += ["ARACNE", "GSIMN", "GSIMNFCH", "GSMN", "HHCMN", "IBMAPHC", "L1LR", "MBS", "PC", "Exhaustive", "GSMNStar"]
__all__ += ["GraphicalLasso", "HillClimb", "SeparatorEvidence", "TwoPhase"]
__all__ += ["Dataset", "Missingness", "discretize", "missingness", "overview", "pack", "read"]
__all__ += ["DataError", "DeviceError", "FileError", "InputError", "MissingDependencyError"]
__all__ += ["MnlearnError", "MnlearnWarning", "UnknownNameError", "UnsuitableError"]
__all__ += ["MarkovBlanketSelector", "MarkovNetworkLearner"]
__all__ += ["Evaluation", "evaluate"]
__all__ += ["Graph", "NamedGraph", "read_graph", "write_graph"]
__all__ += ["BayesianTest", "ChiSquare", "GTest", "GaussianPosterior", "MixedTest"]
__all__ += ["MutualInformation", "PartialCorrelation", "ScoreTest", "SeparationOracle", "Verdict"]
__all__ += ["CustomScore", "CustomTest"]
__all__ += ["GraphScore", "MethodResult", "TestResult", "compare", "compare_groups", "dependences", "fit_parameters"]
__all__ += [
    "Validation",
    "blanket",
    "independence_test",
    "learn",
    "load",
    "load_screen",
    "make_score",
    "make_test",
    "score",
    "screen",
    "validate",
]
__all__ += ["DiscreteModel", "GaussianModel", "MarkovModel", "MixedModel", "canonical_factors", "canonical_factors_of"]
__all__ += ["load_model"]
__all__ += ["Blanket", "GroupComparison", "Intervals", "Learned", "NetworkDifference", "Resampling", "Stability", "Why"]
__all__ += ["Screened"]
__all__ += ["MPL", "PIC", "BJPScore", "Entropy", "ExtendedBIC", "HybridEvidence", "IBScore", "L1Logistic"]
__all__ += ["Counts", "MixedLikelihoods", "Moments", "kernels"]
__all__ += ["plot_difference", "plot_side_by_side"]

__version__ = "0.1.0"

# The imports above are for type checkers; ruff compares them with __all__. At run time a name is loaded when it is
# first used, from the first of these packages that lists it. Those that import most come last; the last needs an extra.
_PACKAGES = (
    *("errors", "data", "graphs", "statistics", "independence", "scores", "algorithms", "learning", "results"),
    *("analysis", "model", "evaluation", "simulate", "visual", "estimators"),
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name or a package when it is first used."""
        from importlib import import_module

        if name in _PACKAGES:
            return import_module(f"{__name__}.{name}")
        for package in _PACKAGES if name in __all__ else ():
            module = import_module(f"{__name__}.{package}")
            if name in getattr(module, "__all__", vars(module)):
                globals()[name] = getattr(module, name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_PACKAGES})
