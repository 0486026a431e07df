"""Registry of tests, scores and methods by name: one line each, with the class that implements it.

The settings of each entry are read from the signature of its class, so that a new test, score or method needs its own
module and one line in `TESTS`, `SCORES` or `METHODS`. Help texts, shell completion and error messages come from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from inspect import signature
from typing import Any, Literal, cast

from mnlearn._lazy import cached
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
from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.errors import InputError, check_name
from mnlearn.independence.bayesian import BayesianTest, ScoreTest
from mnlearn.independence.discrete import ChiSquare, GTest, MutualInformation
from mnlearn.independence.gaussian import GaussianPosterior, PartialCorrelation
from mnlearn.independence.information import (
    CountedInformation,
    Estimate,
    GaussianInformation,
    RowInformation,
    Significance,
)
from mnlearn.independence.mixed import MixedTest
from mnlearn.learning.custom import OwnJudge, ScoreLike, TestLike, own_name
from mnlearn.learning.inputs import (
    check_all_categorical,
    check_all_continuous,
    check_dataset,
    has_several_kinds,
    is_continuous,
    is_mixed,
    variables_by_name,
)
from mnlearn.protocols import ExplainedTest, InformationJudge, Learner, NeighborhoodJudge, Score
from mnlearn.scores.bjp import BJPScore
from mnlearn.scores.entropy import Entropy, ExtendedBIC
from mnlearn.scores.evidence import HybridEvidence, MixedEvidence
from mnlearn.scores.gaussian_evidence import GaussianEvidence
from mnlearn.scores.glasso import EBICPrecision
from mnlearn.scores.ib import IBScore
from mnlearn.scores.lasso import EBICLasso, TheoryLasso
from mnlearn.scores.logistic import L1Logistic
from mnlearn.scores.mpl import MPL, PIC
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.likelihoods import MixedLikelihoods
from mnlearn.statistics.moments import Moments, TestwiseMoments
from mnlearn.statistics.opening import Counting, check_counting
from mnlearn.statistics.row_data import Rows

DEFAULT_ALPHA: float = ChiSquare.alpha
"""Significance level of every test that has one, when none is given; methods by tests may have their own."""

FROM_DATA: Mapping[str, Callable[[Dataset], Any]] = {"rows": lambda data: data, "names": lambda data: data.names}
"""Parameters of factories that are taken from the data set and are not settings."""


def settings_of(factory: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the settings of a factory: its parameters after the first."""
    return factory.settings if isinstance(factory, _Penalized) else tuple(signature(factory).parameters)[1:]


@dataclass(frozen=True)
class JudgeEntry:
    """A test or a score: one line of help, and what makes it from counts or from moments.

    Attributes
    ----------
    help
        One line.
    from_counts, from_moments
        Class or function that takes the statistics of categorical or of continuous variables, then settings by
        keyword; None if the judge is not for that type.
    hidden
        Parameters of the factories that are not settings.
    gaps
        Whether it bears missing values: each of its terms is of one question, from the rows of that question alone.
    from_mixed
        Class or function that takes a data set with variables of several kinds, and with gaps, then ``n_jobs`` and
        settings by keyword; None if the judge is for variables of one type.
    relative
        Whether, with gaps, its values are relative to the rows of each question, which `sep` alone can use.
    """

    help: str
    from_counts: Callable[..., Any] | None = None
    from_moments: Callable[..., Any] | None = None
    hidden: tuple[str, ...] = ()
    gaps: bool = False
    from_mixed: Callable[..., Any] | None = None
    relative: bool = False

    @cached
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters after the statistics."""
        by_type = (self.from_counts, self.from_moments)
        factories = by_type if any(by_type) else (self.from_mixed,)
        return tuple(dict.fromkeys(name for factory in factories if factory for name in settings_of(factory)))

    @cached
    def settings(self) -> tuple[str, ...]:
        """Names of the settings."""
        return tuple(name for name in self.parameters if name not in {*self.hidden, *FROM_DATA})


@dataclass(frozen=True)
class MethodEntry:
    """A method: one line of help, the class of its learner, and the judge that the learner needs.

    Attributes
    ----------
    help
        One line.
    learner
        The class; its fields are the settings of the method.
    score
        Name of the score that it maximises, the default one if `any_score`; None for other methods.
    any_score
        Whether it accepts every score.
    own_judge
        Makes a judge that only this method has: takes the data set, then settings by keyword.
    test_defaults
        For methods by tests: the default test of categorical variables, and default settings of any test.
    own_gaps
        For methods with a judge of their own, and for `sep`: whether it bears missing values.
    """

    help: str
    learner: Callable[..., Learner[Any]]
    score: str | None = None
    any_score: bool = False
    own_judge: Callable[..., Any] | None = None
    test_defaults: Mapping[str, Any] = field(default_factory=dict)
    own_gaps: bool = False

    @property
    def judge(self) -> Literal["test", "score", "own"]:
        """Kind of judge that the learner needs."""
        if self.own_judge is not None:
            return "own"
        return "test" if self.score is None else "score"

    @cached
    def settings(self) -> dict[str, Any]:
        """Settings of the learner with their defaults."""
        return {field.name: field.default for field in fields(cast(Any, self.learner)) if field.init}

    def bears_gaps(self, score: str | None = None) -> bool:
        """Return whether it learns from data with missing values, with this score or its own."""
        if self.own_judge is not None or self.own_gaps:
            return self.own_gaps
        return self.score is None or SCORES[score or self.score].gaps

    def takes_several_kinds(self, judge: str | None = None) -> bool:
        """Return whether it learns from variables of several kinds, by this test or score or its own."""
        if self.judge == "test":
            return judge is None or TESTS[judge].from_mixed is not None
        return self.judge == "score" and SCORES[judge or str(self.score)].from_mixed is not None

    def judge_settings(self, score: str | None) -> tuple[str, ...]:
        """Return the names of the settings of the judge."""
        if self.own_judge is not None:
            return settings_of(self.own_judge)
        return TEST_SETTINGS if score is None else SCORES[score].settings


# Factories of tests and scores that need more than the call of a class.


def _mutual_information(
    counts: Any,
    *,
    threshold: float | None = None,
    alpha: float | None = None,
    n_permutations: int | None = None,
    seed: int | None = None,
) -> MutualInformation:
    """Decide by the threshold if there is one, else by permutations."""
    given = {"alpha": alpha, "n_permutations": n_permutations, "seed": seed}
    permutation: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if threshold is None:
        return MutualInformation(counts, **permutation)
    if permutation:
        raise InputError(
            f"threshold excludes {', '.join(permutation)}, which judge by permutations; got both. Drop one of the two."
        )
    return MutualInformation(counts, decide="threshold", threshold=threshold)


def _ib(posterior: Callable[..., Any], statistics: Any, *, prior: float = BayesianTest.prior) -> IBScore:
    return IBScore(posterior(statistics, prior=prior))


def _bjp(
    posterior: Callable[..., Any],
    statistics: Any,
    *,
    names: Sequence[str],
    prior: float = BayesianTest.prior,
    order: Sequence[str] | None = None,
) -> BJPScore:
    places = None if order is None else variables_by_name("order", order, names)
    if places is not None and sorted(places) != list(range(len(names))):
        raise InputError(
            f"order must hold each of the {len(names)} variables once; got {list(order or ())[:12]}. "
            "Leave it out to sort by the size of the blankets."
        )
    return BJPScore(posterior(statistics, prior=prior), order=places)


def _mixed_test(dataset: Dataset, *, n_jobs: int | None = None, alpha: float = MixedTest.alpha) -> MixedTest:
    return MixedTest(MixedLikelihoods(dataset, n_jobs=n_jobs), alpha=alpha)


def _mixed_ebic(dataset: Dataset, *, n_jobs: int | None = None, gamma: float = ExtendedBIC.gamma) -> ExtendedBIC:
    return ExtendedBIC(MixedLikelihoods(dataset, n_jobs=n_jobs), gamma=gamma)


TESTS: Mapping[str, JudgeEntry] = {
    "chi2": JudgeEntry("Pearson's chi-square", ChiSquare, gaps=True),
    "g2": JudgeEntry("likelihood ratio G2", GTest, gaps=True),
    "mi": JudgeEntry("mutual information", _mutual_information, gaps=True),
    "bayes": JudgeEntry("Bayesian posterior", BayesianTest, hidden=("alpha", "beta", "gamma"), gaps=True),
    "score": JudgeEntry("Bayesian score", ScoreTest, gaps=True),
    "pcor": JudgeEntry("partial correlation, Fisher's z", None, PartialCorrelation, gaps=True),
    "bayes-pcor": JudgeEntry("Bayesian posterior of a partial correlation", None, GaussianPosterior, gaps=True),
    "mixed": JudgeEntry(
        "likelihood ratio of regressions; several kinds", hidden=("n_jobs",), gaps=True, from_mixed=_mixed_test
    ),
}
"""Conditional independence tests by name."""

SCORES: Mapping[str, JudgeEntry] = {
    "ib": JudgeEntry(
        "independence-based score", partial(_ib, BayesianTest), partial(_ib, GaussianPosterior), gaps=True
    ),
    "bjp": JudgeEntry(
        "blankets joint posterior", partial(_bjp, BayesianTest), partial(_bjp, GaussianPosterior), gaps=True
    ),
    "mpl": JudgeEntry("marginal pseudo-likelihood", MPL),
    "pic": JudgeEntry("pseudo-Bayesian information criterion", PIC),
    "entropy": JudgeEntry("conditional entropy, without a penalty", Entropy, Entropy),
    "ebic": JudgeEntry(
        "conditional entropy with the extended Bayesian criterion", ExtendedBIC, ExtendedBIC, from_mixed=_mixed_ebic
    ),
    "evidence": JudgeEntry(
        "local evidence, the judge of sep",
        HybridEvidence,
        GaussianEvidence,
        hidden=("three_way", "width", "shares"),
        from_mixed=MixedEvidence,
        relative=True,
    ),
}
"""Scores of whole graphs by name."""


# Judges of the methods that have one of their own: ARACNE, the lasso methods and the graphical lasso.


@dataclass(frozen=True)
class _Penalized:
    """Factory of a judge with an l1 penalty, by the way the penalty is chosen."""

    method: str
    kinds: Mapping[str, type]

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings of all kinds, each once."""
        return ("penalty", *dict.fromkeys(name for judge in self.kinds.values() for name in settings_of(judge)))

    def __call__(self, dataset: Dataset, penalty: str = "ebic", **settings: Any) -> Any:
        """Make the judge for this penalty; raise InputError for settings and data that do not suit it."""
        check_name("penalty", penalty, self.kinds)
        judge: Any = self.kinds[penalty]
        accepted = settings_of(judge)
        for name in settings:
            if name not in accepted:
                able = ", ".join(repr(kind) for kind in self.kinds if name in settings_of(self.kinds[kind]))
                raise InputError(
                    f"{name} is for penalty={able}; got penalty={penalty!r}, which accepts {', '.join(accepted)}. "
                    f"Drop {name}, or choose that penalty."
                )
        return judge(_continuous_moments(self.method, dataset), **settings)


_lasso = _Penalized("lasso", {"ebic": EBICLasso, "theory": TheoryLasso})


def _l1mb(dataset: Dataset) -> NeighborhoodJudge:
    """Lasso path with the plain BIC  [SNM07]."""
    return EBICLasso(_continuous_moments("l1mb", dataset), gamma=0.0)


def _precision(
    dataset: Dataset,
    *,
    gamma: float = EBICPrecision.gamma,
    n_penalties: int = EBICPrecision.n_penalties,
    smallest: float = EBICPrecision.smallest,
) -> EBICPrecision:
    """Graphical lasso with the extended BIC."""
    moments = _continuous_moments("glasso", dataset)
    return EBICPrecision(moments, gamma=gamma, n_penalties=n_penalties, smallest=smallest)


def _continuous_moments(method: str, dataset: Dataset) -> Moments:
    """Return the moments of continuous variables; raise UnsuitableError for others."""
    check_all_continuous(method, dataset, "l1lr or sep, which are for categorical variables")
    return Moments(dataset)


def _information(
    dataset: Dataset,
    *,
    information: Estimate | None = None,
    significance: Significance | None = None,
    n_pairs: int | None = None,
    seed: int | None = None,
    width: float | None = None,
) -> InformationJudge:
    """Mutual information from tables of categorical variables; of continuous ones from values, ranks or kernels."""
    settings: dict[str, Any] = {"significance": significance, "n_pairs": n_pairs, "seed": seed, "width": width}
    settings = {name: value for name, value in settings.items() if value is not None}
    if not is_continuous(dataset, "aracne"):
        for name in (*(["information"] if information is not None else []), *settings):
            raise InputError(f"{name} is for continuous variables; all of these are categorical. Drop {name}.")
        return CountedInformation(Counts(dataset))
    if information in (None, "gaussian") and not settings:
        return GaussianInformation(TestwiseMoments(dataset) if dataset.gaps else Moments(dataset))
    if information == "kernel":
        settings.setdefault("significance", "permutation")
    return RowInformation(Rows(dataset), estimate=information or "gaussian", **settings)


# Default tests, measured by `papers/benchmarks defaults-of-tests`. Grow-shrink conditions on whole blankets, whose
# strata hold few rows: with the degrees of freedom of the non-empty cells only, too many such tests find a dependence.
_BY_BLANKETS: Mapping[str, Any] = {"test": "chi2", "alpha": 0.01, "dof": "observed"}
_BY_SUBSETS: Mapping[str, Any] = {"test": "g2", "alpha": 0.05, "dof": "adjusted"}

METHODS: Mapping[str, MethodEntry] = {
    "gsmn": MethodEntry("grow-shrink, restarting", GSMN, test_defaults=_BY_BLANKETS),
    "gsmn*": MethodEntry("grow-shrink with examined order and propagation", GSMNStar, test_defaults=_BY_BLANKETS),
    "gsimn": MethodEntry("grow-shrink that infers tests from tests", GSIMN, test_defaults=_BY_BLANKETS),
    "gsimn-fch": MethodEntry(
        "grow-shrink with complete forward chaining; few variables", GSIMNFCH, test_defaults=_BY_BLANKETS
    ),
    "hhc-mn": MethodEntry("HITON-PC blankets, joined", HHCMN, test_defaults=_BY_SUBSETS),
    "pc": MethodEntry("PC, order independent", PC, test_defaults=_BY_SUBSETS),
    "ib": MethodEntry("IBMAP-HC by the independence-based score", IBMAPHC, "ib"),
    "bjp": MethodEntry("IBMAP-HC by the blankets joint posterior", IBMAPHC, "bjp"),
    "mpl": MethodEntry("two-phase search by marginal pseudo-likelihood", TwoPhase, "mpl"),
    "pic": MethodEntry("two-phase search by the pseudo-Bayesian criterion", TwoPhase, "pic"),
    "mbs": MethodEntry("Markov blanket search: blankets that agree at every step", MBS, "ebic", any_score=True),
    "l1lr": MethodEntry("l1-regularised logistic regressions", L1LR, own_judge=L1Logistic),
    "aracne": MethodEntry(
        "mutual information, the weakest side of each triangle cut", ARACNE, own_judge=_information, own_gaps=True
    ),
    "lasso": MethodEntry("neighbourhoods by the lasso; continuous variables", L1LR, own_judge=_lasso),
    "l1mb": MethodEntry("blankets along the lasso's path by the BIC; continuous variables", L1LR, own_judge=_l1mb),
    "glasso": MethodEntry("the graphical lasso; continuous variables", GraphicalLasso, own_judge=_precision),
    "hillclimb": MethodEntry("steepest ascent by any score", HillClimb, "bjp", any_score=True),
    "exhaustive": MethodEntry("the best of all graphs; up to 7 variables", Exhaustive, "bjp", any_score=True),
    "sep": MethodEntry(
        "separator evidence, with a probability for every edge", SeparatorEvidence, "evidence", own_gaps=True
    ),
}
"""Methods that learn a structure, by name."""

TEST_SETTINGS = tuple(sorted({name for entry in TESTS.values() for name in entry.settings}))
"""Settings of all tests together."""


def methods_by(judge: str) -> str:
    """Return the methods whose learner needs this kind of judge ("test", "score", "own"), separated by commas."""
    return ", ".join(name for name, entry in METHODS.items() if entry.judge == judge)


def with_gaps(table: Mapping[str, JudgeEntry]) -> str:
    """Return the tests or scores that bear missing values, separated by commas."""
    return ", ".join(name for name, entry in table.items() if entry.gaps)


def check_bears_gaps(method: str, score: str | None, dataset: Dataset) -> None:
    """Raise UnsuitableError if values are missing and the method compares fits to different rows."""
    if METHODS[method].bears_gaps(score):
        return
    one_type = all(dataset.cards) or not any(dataset.cards)
    able = ", ".join(
        name for name, entry in METHODS.items() if entry.bears_gaps() and (one_type or entry.takes_several_kinds())
    )
    check_no_gaps(dataset, method if score is None else f"{method} with the score {score}", able)


def method_settings(method: str) -> dict[str, Any]:
    """Return the settings of a method with their defaults."""
    check_name("method", method, METHODS, shown=30)
    return dict(METHODS[method].settings)


def check_setting(kind: str, name: str, setting: str, accepted: Sequence[str], also: str = "") -> None:
    """Raise InputError unless a method, test or score has this setting; `also` lists the settings of its judge."""
    if setting not in accepted:
        if setting in ("checkpoint", "resume"):
            raise InputError(
                f"{setting} is for work of many parts, samples or blocks of a screen; got it for {name}, which begins "
                "again. Use learned.bootstrap(checkpoint=...) or mn.screen(data, checkpoint=...)."
            )
        known = f"it accepts {', '.join(accepted)}" if accepted else "it has no settings"
        raise InputError(f"{name} has no setting {setting!r}; {known}{also}. Drop {setting}, or choose another {kind}.")


def named_or_own(kind: Literal["test", "score"], given: object) -> str | OwnJudge:
    """Return the name of a test or score of this library, or the one of the caller; raise an error for neither."""
    table = TESTS if kind == "test" else SCORES
    if isinstance(given, str):
        check_name(kind, given, table)
        return given
    return given if isinstance(given, OwnJudge) else OwnJudge.of(kind, given, table)


def default_test(dataset: Dataset, of_categorical: str) -> str:
    """Return the name of the test for these kinds of variables, when none is given."""
    if has_several_kinds(dataset):
        return "mixed"
    return of_categorical if any(dataset.cards) else "pcor"


def make_test(
    name: TestLike | None,
    dataset: Dataset,
    *,
    n_jobs: int | None = None,
    counting: Counting | None = None,
    **settings: Any,
) -> ExplainedTest:
    """Make a test by its name.

    Parameters
    ----------
    name
        One of `TESTS`; None takes chi2 for nominal variables, pcor for continuous ones and mixed for others. Or your
        own test: a class derived from `mnlearn.CustomTest`, or a function of the columns x, y and z.
    dataset
        The data; all variables must be of the type that the test is for; the test mixed is for any.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.
    counting
        How tables are counted, if not simply by threads.
    **settings
        Parameters of the class of the test, such as ``alpha``; `TESTS[name].settings` lists them.

    Raises
    ------
    UnknownNameError
        If there is no such test.
    InputError
        If the test has no such setting, or its value breaks a rule.
    UnsuitableError
        If a variable is of the wrong type.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])
    >>> make_test("g2", data, alpha=0.01)(0, 1, frozenset()).independent
    False
    """
    check_dataset("dataset", dataset)
    chosen = default_test(dataset, "chi2") if name is None else name
    test: ExplainedTest = _make(TESTS, chosen, dataset, Counting(n_jobs) if counting is None else counting, settings)
    return test


def make_score(
    name: ScoreLike, dataset: Dataset, *, n_jobs: int | None = None, counting: Counting | None = None, **settings: Any
) -> Score:
    """Make a score by its name.

    Parameters
    ----------
    name
        One of `SCORES`. Or your own score: a class derived from `mnlearn.CustomScore`.
    dataset
        The data; all variables must be of one type, categorical for scores that only count, unless the score is for
        several kinds (ebic, evidence).
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.
    counting
        How tables are counted, if not simply by threads.
    **settings
        Parameters of the class of the score, such as ``prior``; `SCORES[name].settings` lists them. Variables are
        given by name.

    Raises
    ------
    UnknownNameError
        If there is no such score.
    InputError
        If the score has no such setting, or its value breaks a rule.
    UnsuitableError
        If a variable is of the wrong type.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> data = Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])
    >>> score = make_score("mpl", data)
    >>> score(Graph(3, [(0, 1)])) > score(Graph.empty(3))
    True
    """
    check_dataset("dataset", dataset)
    score: Score = _make(SCORES, name, dataset, Counting(n_jobs) if counting is None else counting, settings)
    return score


def _make(
    table: Mapping[str, JudgeEntry], given: object, dataset: Dataset, counting: Counting, settings: Mapping[str, Any]
) -> Any:
    """Check the name, the settings and the types of the variables; then make the judge from its statistics."""
    check_counting(counting)
    kind: Literal["test", "score"] = "test" if table is TESTS else "score"
    name = named_or_own(kind, given)
    entry = name if isinstance(name, OwnJudge) else table[name]
    for setting in settings:
        check_setting(kind, own_name(name), setting, entry.settings)
    if isinstance(name, OwnJudge):
        if not name.bears_gaps:
            check_no_gaps(
                dataset, f"the {kind} {name.name}", f"set its attribute bears_gaps, or use {with_gaps(table)}"
            )
        return name.on(dataset, counting, settings)
    entry = table[name]
    if not entry.gaps and not entry.relative:
        check_no_gaps(
            dataset,
            f"the {kind} {name}",
            f"a {kind} that compares no rows of one question with another's: {with_gaps(table)}",
        )
    if entry.from_mixed is not None and (is_mixed(dataset) or not (entry.from_counts or entry.from_moments)):
        return entry.from_mixed(dataset, n_jobs=counting.own_threads(name), **settings)
    continuous = _is_continuous(kind, table, name, dataset)
    factory: Any = entry.from_moments if continuous else entry.from_counts
    from_data = {name: take(dataset) for name, take in FROM_DATA.items() if name in entry.parameters}
    return factory(counting.moments(dataset) if continuous else counting.counts(dataset), **from_data, **settings)


def _is_continuous(kind: str, table: Mapping[str, JudgeEntry], name: str, dataset: Dataset) -> bool:
    """Whether the judge is made for continuous variables; variables of a type that it is not for are refused."""
    entry = table[name]
    mixed = f"a {kind} for several kinds: {', '.join(other for other in table if table[other].from_mixed is not None)}"
    if entry.from_moments is None:
        others = ", ".join(other for other in table if table[other].from_moments is not None)
        check_all_categorical(name, dataset, f"a {kind} for continuous variables: {others}", mixed)
        return False
    if entry.from_counts is None:
        others = ", ".join(other for other in table if table[other].from_counts is not None)
        check_all_continuous(name, dataset, f"a {kind} for categorical variables: {others}", mixed)
        return True
    return is_continuous(dataset, name)
