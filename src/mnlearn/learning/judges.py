"""Tests by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_name
from mnlearn.independence.bayesian import BayesianTest, ScoreTest
from mnlearn.independence.discrete import ChiSquare, GTest, MutualInformation
from mnlearn.independence.gaussian import GaussianPosterior, PartialCorrelation
from mnlearn.independence.information import CountedInformation, Estimate, GaussianInformation, RowInformation
from mnlearn.learning.counting import Counting, check_counting
from mnlearn.learning.inputs import check_dataset, is_continuous, variables_by_name
from mnlearn.protocols import ExplainedTest, InformationJudge, NeighborhoodJudge, PathJudge, Score
from mnlearn.scores.bjp import BJPScore
from mnlearn.scores.entropy import Entropy, ExtendedBIC
from mnlearn.scores.evidence import FullTableEvidence, HybridEvidence, PairwiseEvidence
from mnlearn.scores.gaussian_evidence import GaussianEvidence
from mnlearn.scores.glasso import CrossValidatedPrecision, EBICPrecision
from mnlearn.scores.ib import IBScore
from mnlearn.scores.lasso import EBICLasso, TheoryLasso
from mnlearn.scores.lasso_resampled import CrossValidatedLasso, StableLasso
from mnlearn.scores.mpl import MPL
from mnlearn.scores.pic import PIC
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.kernels import DofRule
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.row_data import Rows

DEFAULT_ALPHA: float = ChiSquare.alpha
"""The level of every test that has one, when none is given."""


class TestSettings(TypedDict, total=False):
    """The settings of all tests together; `TESTS` says which test takes which."""

    alpha: float
    dof: DofRule
    prior: float
    prior_cell: float
    threshold: float
    n_permutations: int
    seed: int


class _NamedTest(NamedTuple):
    """How a test is made: its title, where its numbers come from, its judge, and the settings it takes."""

    title: str
    statistics: type[Counts] | type[Moments]
    judge: Callable[..., ExplainedTest]
    settings: tuple[str, ...]


def _mutual_information(counts: Counts, *, threshold: float | None = None, **permutation: Any) -> MutualInformation:
    """Judged by the threshold if there is one, else by permutations."""
    if threshold is None:
        return MutualInformation(counts, **permutation)
    if permutation:
        raise InputError(
            f"threshold excludes {', '.join(permutation)}, which judge by permutations; got both. Drop one of the two."
        )
    return MutualInformation(counts, decide="threshold", threshold=threshold)


TESTS: Mapping[str, _NamedTest] = {
    "chi2": _NamedTest("Pearson's chi-square", Counts, ChiSquare, ("alpha", "dof")),
    "g2": _NamedTest("likelihood ratio G2", Counts, GTest, ("alpha", "dof")),
    "mi": _NamedTest(
        "mutual information", Counts, _mutual_information, ("threshold", "alpha", "n_permutations", "seed")
    ),
    "bayes": _NamedTest("Bayesian posterior", Counts, BayesianTest, ("prior",)),
    "score": _NamedTest("Bayesian score", Counts, ScoreTest, ("prior_cell",)),
    "pcor": _NamedTest("partial correlation, Fisher's z", Moments, PartialCorrelation, ("alpha",)),
    "bayes-pcor": _NamedTest("Bayesian posterior of a partial correlation", Moments, GaussianPosterior, ("prior",)),
}
"""Every test that reads data, by name."""


def make_test(
    name: str | None,
    dataset: Dataset,
    *,
    n_jobs: int | None = None,
    counting: Counting | None = None,
    **settings: Unpack[TestSettings],
) -> ExplainedTest:
    """Make a test by its name.

    Parameters
    ----------
    name
        One of `TESTS`; None takes chi2 for categorical variables and pcor for continuous ones.
    dataset
        The data; all variables must be of the type that the test is for.
    n_jobs
        How many threads may count: None or −1 for all cores, else that many. Any number gives the same result.
    counting
        How tables are counted, if not simply by threads.
    **settings
        ``alpha`` (chi2, g2, mi, pcor), ``dof`` (chi2, g2), ``prior`` (bayes, bayes-pcor), ``prior_cell`` (score),
        ``threshold`` (mi) or ``n_permutations`` and ``seed`` (mi); what is left out has the default of the test's
        class.

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
    check_counting(counting)
    chosen = ("pcor" if is_continuous(dataset, "a test") else "chi2") if name is None else name
    check_name("test", chosen, TESTS)
    named = TESTS[chosen]
    for setting in settings:
        if setting not in named.settings:
            raise InputError(
                f"{setting} is no setting of the test {chosen}, which takes {', '.join(named.settings)}. "
                f"Drop {setting}, or choose another test."
            )
    _check_types(chosen, dataset)
    how = Counting(n_jobs) if counting is None else counting
    statistics = how.counts(dataset) if named.statistics is Counts else how.moments(dataset)
    return named.judge(statistics, **settings)


def _check_types(test: str, dataset: Dataset) -> None:
    """Every variable is of the type that the test is for."""
    wants_continuous = TESTS[test].statistics is Moments
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if wants_continuous and card:
            raise UnsuitableError(
                f"{test} needs continuous variables; {name!r} is categorical with {card} state{'s' * (card != 1)}. "
                f"Use chi2 or another test for categorical variables, or, if it holds numbers, read it as continuous "
                f"(types={{{name!r}: 'continuous'}})."
            )
        if not wants_continuous and not card:
            raise UnsuitableError(
                f"{test} needs categorical variables; {name!r} is continuous. Discretise it (discretize='frequency'), "
                "or use pcor, the test for continuous variables."
            )


# Scores by name.


class ScoreSettings(TypedDict, total=False):
    """The settings of all scores together; `SCORES` says which score takes which."""

    prior: float
    order: Sequence[str]
    prior_cell: float
    sample_size: float
    graph_prior: float | Callable[[int], float] | None
    penalty: Literal["configurations", "parameters"]
    cardinalities: Literal["declared", "observed"]
    gamma: float


class _NamedScore(NamedTuple):
    """How a score is made: its title, its maker, and the settings it takes."""

    title: str
    make: Callable[..., Score]
    settings: tuple[str, ...]


def _ib(dataset: Dataset, counting: Counting, **settings: Any) -> IBScore:
    return IBScore(_posterior("ib", dataset, counting, **settings))


def _bjp(dataset: Dataset, counting: Counting, order: Sequence[str] | None = None, **settings: Any) -> BJPScore:
    places = None if order is None else variables_by_name("order", order, dataset.names)
    if places is not None and sorted(places) != list(range(dataset.n_variables)):
        raise InputError(
            f"order must hold each of the {dataset.n_variables} variables once; got {list(order or ())[:12]}. "
            "Leave it out to sort by the size of the blankets."
        )
    return BJPScore(_posterior("bjp", dataset, counting, **settings), order=places)


def _posterior(score: str, dataset: Dataset, counting: Counting, **settings: Any) -> BayesianTest | GaussianPosterior:
    """What weighs independences: by counts for categorical variables, by correlations for continuous ones."""
    if is_continuous(dataset, score):
        return GaussianPosterior(counting.moments(dataset), **settings)
    return BayesianTest(counting.counts(dataset), **settings)


def _mpl(dataset: Dataset, counting: Counting, **settings: Any) -> MPL:
    return MPL(_counts("mpl", dataset, counting), **settings)


def _pic(dataset: Dataset, counting: Counting, **settings: Any) -> PIC:
    return PIC(_counts("pic", dataset, counting), **settings)


def _entropy(dataset: Dataset, counting: Counting) -> Entropy:
    return Entropy(_either("entropy", dataset, counting), rows=dataset)


def _ebic(dataset: Dataset, counting: Counting, **settings: Any) -> ExtendedBIC:
    return ExtendedBIC(_either("ebic", dataset, counting), **settings)


def _either(score: str, dataset: Dataset, counting: Counting) -> Any:
    """Where entropies come from: counts of categorical variables, the covariance of continuous ones."""
    return counting.moments(dataset) if is_continuous(dataset, score) else counting.counts(dataset)


def _evidence(dataset: Dataset, counting: Counting) -> HybridEvidence | GaussianEvidence:
    if is_continuous(dataset, "evidence"):
        return GaussianEvidence(counting.moments(dataset))
    return HybridEvidence(_counts("evidence", dataset, counting))


def _pairwise_evidence(dataset: Dataset, counting: Counting) -> PairwiseEvidence:
    return PairwiseEvidence(_counts("evidence-pairwise", dataset, counting))


def _table_evidence(dataset: Dataset, counting: Counting) -> FullTableEvidence:
    return FullTableEvidence(_counts("evidence-table", dataset, counting))


def _counts(score: str, dataset: Dataset, counting: Counting) -> Any:
    """Counts of categorical variables; a continuous one is refused in the score's name."""
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if not card:
            raise UnsuitableError(
                f"{score} needs categorical variables; {name!r} is continuous. Discretise it (discretize='frequency'), "
                "or use evidence, ib, bjp or ebic, which also weigh continuous variables."
            )
    return counting.counts(dataset)


SCORES: Mapping[str, _NamedScore] = {
    "ib": _NamedScore("independence-based score", _ib, ("prior",)),
    "bjp": _NamedScore("blankets joint posterior", _bjp, ("prior", "order")),
    "mpl": _NamedScore("marginal pseudo-likelihood", _mpl, ("prior_cell", "sample_size", "graph_prior")),
    "pic": _NamedScore("pseudo-Bayesian information criterion", _pic, ("penalty", "cardinalities", "graph_prior")),
    "entropy": _NamedScore("conditional entropy, without a penalty", _entropy, ()),
    "ebic": _NamedScore("conditional entropy with the extended Bayesian criterion", _ebic, ("gamma",)),
    "evidence": _NamedScore("local evidence, the judge of sep", _evidence, ()),
    "evidence-pairwise": _NamedScore("evidence of pairwise conditionals", _pairwise_evidence, ()),
    "evidence-table": _NamedScore("evidence of full tables", _table_evidence, ()),
}
"""Every score of whole graphs, by name."""


def make_score(
    name: str,
    dataset: Dataset,
    *,
    n_jobs: int | None = None,
    counting: Counting | None = None,
    **settings: Unpack[ScoreSettings],
) -> Score:
    """Make a score by its name.

    Parameters
    ----------
    name
        One of `SCORES`.
    dataset
        The data: categorical for mpl and pic, all of one type for ib, bjp, entropy, ebic and evidence.
    n_jobs
        How many threads may count: None or −1 for all cores, else that many. Any number gives the same result.
    counting
        How tables are counted, if not simply by threads.
    **settings
        ``prior`` (ib, bjp), ``order`` (bjp: the names of all variables), ``prior_cell`` or ``sample_size`` (mpl),
        ``penalty`` and ``cardinalities`` (pic), ``graph_prior`` (mpl, pic), ``gamma`` (ebic); what is left out has the
        default of the score's class.

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
    check_name("score", name, SCORES)
    check_dataset("dataset", dataset)
    check_counting(counting)
    named = SCORES[name]
    for setting in settings:
        if setting not in named.settings:
            raise InputError(
                f"{setting} is no setting of the score {name}, which takes {', '.join(named.settings)}. "
                f"Drop {setting}, or choose another score."
            )
    return named.make(dataset, Counting(n_jobs) if counting is None else counting, **settings)


# The judges of ARACNE, the lasso methods and the graphical lasso, from data and settings by name.


_Kinds = Mapping[str, tuple[type, Callable[[Dataset], Any]]]  # name -> judge, and what it judges by

_LASSOS: _Kinds = {
    "ebic": (EBICLasso, Moments),
    "theory": (TheoryLasso, Moments),
    "cv": (CrossValidatedLasso, Rows),
    "stability": (StableLasso, Rows),
}
_PRECISIONS: _Kinds = {"ebic": (EBICPrecision, Moments), "cv": (CrossValidatedPrecision, Rows)}


def _settings(kinds: _Kinds) -> tuple[str, ...]:
    """What the judges take beside the data, each name once."""
    names = [field.name for judge, _ in kinds.values() for field in fields(judge)[1:] if field.init]
    return ("penalty", *dict.fromkeys(names))


INFORMATION_SETTINGS = ("information", "significance", "n_pairs", "seed", "width")
LASSO_SETTINGS = _settings(_LASSOS)
PRECISION_SETTINGS = _settings(_PRECISIONS)


def information_judge(dataset: Dataset, information: Estimate | None = None, **settings: Any) -> InformationJudge:
    """Of ARACNE: tables for categorical variables; for continuous ones values, ranks or kernel densities."""
    if not is_continuous(dataset, "aracne"):
        if information is not None or settings:
            told = "information" if information is not None else next(iter(settings))
            raise InputError(
                f"{told} is for continuous variables; all of these are categorical, and their tables tell everything. "
                f"Drop {told}."
            )
        return CountedInformation(Counts(dataset))
    if information in (None, "gaussian") and not settings:
        return GaussianInformation(Moments(dataset))
    if information == "kernel":
        settings.setdefault("significance", "permutation")
    return RowInformation(Rows(dataset), estimate=information or "gaussian", **settings)


def lasso_judge(dataset: Dataset, penalty: str = "ebic", **settings: Any) -> NeighborhoodJudge:
    """Of the neighbourhood lasso, by the way the penalty is chosen."""
    judge: NeighborhoodJudge = _made("lasso", _LASSOS, penalty, dataset, settings)
    return judge


def l1mb_judge(dataset: Dataset) -> NeighborhoodJudge:
    """Of L1MB: the same path, and the plain BIC  [SNM07]."""
    judge: NeighborhoodJudge = _made("l1mb", _LASSOS, "ebic", dataset, {"gamma": 0.0})
    return judge


def precision_judge(dataset: Dataset, penalty: str = "ebic", **settings: Any) -> PathJudge:
    """Of the graphical lasso, by the way the penalty is chosen."""
    judge: PathJudge = _made("glasso", _PRECISIONS, penalty, dataset, settings)
    return judge


def _made(method: str, kinds: _Kinds, penalty: str, dataset: Dataset, settings: Mapping[str, Any]) -> Any:
    """The judge for this penalty; what does not suit it or the data is refused."""
    check_name("penalty", penalty, kinds)
    judge, statistics = kinds[penalty]
    taken = [field.name for field in fields(judge)[1:] if field.init]
    for name in settings:
        if name not in taken:
            able = ", ".join(repr(kind) for kind in kinds if name in {f.name for f in fields(kinds[kind][0])})
            raise InputError(
                f"{name} is for penalty={able}; got penalty={penalty!r}, which takes {', '.join(taken)}. Drop {name}, "
                "or choose that penalty."
            )
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if card:
            raise UnsuitableError(
                f"{method} needs continuous variables; {name!r} is categorical with {card} state{'s' * (card != 1)}. "
                f"Use l1lr or sep, which are for categorical variables; or, if it holds numbers, read it as continuous "
                f"(types={{{name!r}: 'continuous'}})."
            )
    return judge(statistics(dataset), **settings)
