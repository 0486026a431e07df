"""Methods by name: how each is made, and what kind of judge it meets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal, NamedTuple, cast

from mnlearn.algorithms.aracne import ARACNE
from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsimn_fch import GSIMNFCH
from mnlearn.algorithms.gsmn import GSMN, GSMNStar
from mnlearn.algorithms.hillclimb import HillClimb
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.algorithms.mbs import MBS
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.pc import PC
from mnlearn.algorithms.regularized import L1LR, GraphicalLasso
from mnlearn.algorithms.separator import Effort, SeparatorEvidence
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_name
from mnlearn.learning.judges import (
    INFORMATION_SETTINGS,
    LASSO_SETTINGS,
    PRECISION_SETTINGS,
    SCORES,
    TestSettings,
    information_judge,
    l1mb_judge,
    lasso_judge,
    precision_judge,
)
from mnlearn.protocols import Learner
from mnlearn.scores.logistic import L1Logistic


class _NamedMethod(NamedTuple):
    """A method by name: its title, the class that holds its settings, and the kind of judge that it meets."""

    title: str
    learner: Callable[..., Learner[Any]]
    judge: Literal["test", "score", "own"] = "test"
    score: str | None = None  # the one it is about; or the one that is taken when none is named
    any_score: bool = False
    make_judge: Callable[..., Any] | None = None  # of the method's own judge, from data
    judge_settings: tuple[str, ...] = ()


METHODS: Mapping[str, _NamedMethod] = {
    "gsmn": _NamedMethod("grow-shrink, restarting", GSMN),
    "gsmn*": _NamedMethod("grow-shrink with examined order and propagation", GSMNStar),
    "gsimn": _NamedMethod("grow-shrink that infers tests from tests", GSIMN),
    "gsimn-fch": _NamedMethod("grow-shrink with complete forward chaining; few variables", GSIMNFCH),
    "hhc-mn": _NamedMethod("HITON-PC blankets, joined", HHCMN),
    "pc": _NamedMethod("PC, order independent", PC),
    "ib": _NamedMethod("IBMAP-HC by the independence-based score", IBMAPHC, "score", "ib"),
    "bjp": _NamedMethod("IBMAP-HC by the blankets joint posterior", IBMAPHC, "score", "bjp"),
    "mpl": _NamedMethod("two-phase search by marginal pseudo-likelihood", TwoPhase, "score", "mpl"),
    "pic": _NamedMethod("two-phase search by the pseudo-Bayesian criterion", TwoPhase, "score", "pic"),
    "mbs": _NamedMethod(
        "Markov blanket search: blankets that agree at every step", MBS, "score", "ebic", any_score=True
    ),
    "l1lr": _NamedMethod(
        "l1-regularised logistic regressions",
        L1LR,
        "own",
        make_judge=L1Logistic,
        judge_settings=("gamma", "n_penalties", "smallest", "patience"),
    ),
    "aracne": _NamedMethod(
        "mutual information, the weakest side of each triangle cut",
        ARACNE,
        "own",
        make_judge=information_judge,
        judge_settings=INFORMATION_SETTINGS,
    ),
    "lasso": _NamedMethod(
        "neighbourhoods by the lasso; continuous variables",
        L1LR,
        "own",
        make_judge=lasso_judge,
        judge_settings=LASSO_SETTINGS,
    ),
    "l1mb": _NamedMethod(
        "blankets along the lasso's path by the BIC; continuous variables", L1LR, "own", make_judge=l1mb_judge
    ),
    "glasso": _NamedMethod(
        "the graphical lasso; continuous variables",
        GraphicalLasso,
        "own",
        make_judge=precision_judge,
        judge_settings=PRECISION_SETTINGS,
    ),
    "hillclimb": _NamedMethod("steepest ascent by any score", HillClimb, "score", "bjp", any_score=True),
    "exhaustive": _NamedMethod("the best of all graphs; up to 7 variables", Exhaustive, "score", "bjp", any_score=True),
    "sep": _NamedMethod(
        "separator evidence, with a probability for every edge", SeparatorEvidence, "score", "evidence"
    ),
}
"""Every method that learns a structure, by name."""

DEFAULT_METHOD = "sep"
"""What `learn` takes when no method is named, for categorical and for continuous variables."""
DEFAULT_BY_TEST = "gsimn"
"""What it takes instead when a test or a setting of tests is named."""

MOST_FOR_THOROUGH, MOST_FOR_STANDARD = 200, 2000
"""Up to so many variables sep is thorough, and then standard, unless an effort is named: thorough is cubic in them."""


def default_method(test: str | None, settings: Mapping[str, Any]) -> str:
    """The method when none is named: the default, unless what was said is about tests."""
    about_tests = test is not None or any(name in TestSettings.__annotations__ for name in settings)
    return DEFAULT_BY_TEST if about_tests else DEFAULT_METHOD


def default_effort(n_variables: int) -> Effort:
    """The effort of sep when none is named."""
    if n_variables <= MOST_FOR_THOROUGH:
        return "thorough"
    return "standard" if n_variables <= MOST_FOR_STANDARD else "fast"


def method_settings(method: str) -> dict[str, Any]:
    """The settings of a method with their defaults, by name."""
    return {field.name: field.default for field in fields(cast(Any, METHODS[method].learner)) if field.init}


def score_of_mbs(settings: Mapping[str, Any], *, categorical: bool = False) -> str | None:
    """What mbs searches by when no score is named; None for its usual one."""
    if not settings.keys().isdisjoint(("regularization", "choose")):
        return "entropy"  # λ is about the paper's own score, which has no other penalty
    return "mpl" if categorical and "gamma" not in settings else None


class Plan(NamedTuple):
    """What was asked for, sorted out: the method, the judge's name, and the settings of each."""

    method: str
    judge: str | None  # the name of the test or score; None for the test that suits the data
    own: dict[str, Any]
    of_judge: dict[str, Any]

    @property
    def named(self) -> _NamedMethod:
        """The method's line in the table."""
        return METHODS[self.method]


def plan(method: str, test: str | None, score: str | None, settings: Mapping[str, Any]) -> Plan:
    """Sort the settings into those of the method and those of its judge; what is neither is refused."""
    check_name("method", method, METHODS)
    if method == "mbs" and score is None:
        score = score_of_mbs(settings)
    judge = _judge_name(method, test, score)
    own, others = method_settings(method), _judge_settings(method, judge)
    for name in settings:
        if name not in own and name not in others:
            kind = {"score": f"its score {judge}", "test": "a test", "own": "its judge"}[METHODS[method].judge]
            nor = f", nor of {kind}: {', '.join(sorted(others))}" if others else ""
            raise InputError(
                f"{name} is no setting of the method {method}, which takes {', '.join(sorted(own))}{nor}. "
                f"Drop {name}, or choose another method."
            )
    mine = {name: value for name, value in settings.items() if name in own}
    theirs = {name: value for name, value in settings.items() if name in others}  # gamma of mbs and ebic is both's
    return Plan(method, judge, mine, theirs)


def _judge_name(method: str, test: str | None, score: str | None) -> str | None:
    """The test or score to make; one that the method has no use for is refused."""
    named = METHODS[method]
    if score is not None and named.judge != "score":
        raise InputError(
            f"score is for methods that weigh whole graphs ({_those('score')}); {method} does not. Drop score, or "
            "choose another method."
        )
    if test is not None and named.judge != "test":
        raise InputError(
            f"test is for methods that ask independence tests ({_those('test')}); {method} does not. Drop test, or "
            "choose another method."
        )
    if named.judge != "score":
        return test
    if score is not None:
        check_name("score", score, SCORES)
    if score not in (None, named.score) and not named.any_score:
        raise InputError(
            f"score must be {named.score} for the method {method}; got {score!r}. Drop it, or take the method "
            f"{' or '.join(name for name, other in METHODS.items() if other.any_score)}, which take any score."
        )
    return score or named.score


def _judge_settings(method: str, judge: str | None) -> tuple[str, ...]:
    """The names of the settings that the judge may have."""
    named = METHODS[method]
    if named.judge == "score" and judge is not None:
        return SCORES[judge].settings
    return named.judge_settings if named.judge == "own" else tuple(TestSettings.__annotations__)


def _those(judge: str) -> str:
    """The methods that meet this kind of judge."""
    return ", ".join(name for name, named in METHODS.items() if named.judge == judge)


# What is taken where no method is named, and why: by the types of the variables, their number, and what was said.


class Choice(NamedTuple):
    """A method, and the reason for it where it was not named."""

    method: str
    reason: str = ""

    def sentence(self, named: Mapping[str, str], learner: Learner[Any], dataset: Dataset) -> str:
        """What was chosen and why, in one line."""
        effort = getattr(learner, "effort", None)
        how = f" with the test {named['test']}" if "test" in named else f" with {effort} effort"
        n, limit = dataset.n_variables, {"standard": MOST_FOR_THOROUGH, "fast": MOST_FOR_STANDARD}.get(str(effort), 0)
        many = f" and more than {limit:,}" if limit and effort == default_effort(n) else ""
        size = f"{n:,} variables, {dataset.n_rows:,} rows"
        return f"no method was named: using {self.method}{how}, because {self.reason}{many} ({size})"


def choose(method: str | None, test: str | None, settings: Mapping[str, Any], dataset: Dataset | None) -> Choice:
    """The method that was named, or the one that suits what was said and, once they are there, the data."""
    if method is not None:
        return Choice(method)
    if default_method(test, settings) == DEFAULT_BY_TEST:
        told = ["test"] * (test is not None) + [name for name in settings if name in TestSettings.__annotations__]
        return Choice(DEFAULT_BY_TEST, f"{told[0]} is for methods that ask tests")
    continuous = dataset is not None and not any(dataset.cards)
    return Choice(DEFAULT_METHOD, f"the variables are {'continuous' if continuous else 'categorical'}")


def effort_for(n_variables: int, own: Mapping[str, Any]) -> Effort:
    """The effort of sep that the number of variables allows, when none is named."""
    effort = default_effort(n_variables)
    needs_phase = own.get("start") is not None or own.get("keep_pairs")  # which fast does without
    return "standard" if effort == "fast" and needs_phase else effort
