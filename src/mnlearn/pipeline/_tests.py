"""Tests by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypedDict, Unpack

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_name
from mnlearn.independence import (
    BayesianTest,
    ChiSquare,
    GaussianPosterior,
    GTest,
    MutualInformation,
    PartialCorrelation,
    ScoreTest,
)
from mnlearn.pipeline._counting import Counting, check_counting
from mnlearn.pipeline._reading import check_dataset, is_continuous
from mnlearn.protocols import ExplainedTest
from mnlearn.statistics import Counts, Moments
from mnlearn.statistics.kernels import DofRule

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
