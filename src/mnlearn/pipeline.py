"""From data to an answer in one call, and the only table of names -> factories."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, cast

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsimn_fch import GSIMNFCH
from mnlearn.algorithms.gsmn import GSMN, GSMNStar
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.pc import PC
from mnlearn.data import Dataset, read
from mnlearn.data.discretize import discretize as discretize_dataset
from mnlearn.errors import InputError, UnsuitableError, unknown_name
from mnlearn.independence import BayesianTest, ChiSquare, GTest, MutualInformation, PartialCorrelation
from mnlearn.output.learned import Learned
from mnlearn.protocols import SILENT, ExplainedTest, IndependenceTest, Learner, Monitor
from mnlearn.statistics import Counts, Moments
from mnlearn.statistics.kernels import DofRule

__all__ = [
    "DEFAULT_ALPHA",
    "DEFAULT_METHOD",
    "METHODS",
    "TESTS",
    "Reading",
    "TestSettings",
    "learn",
    "load",
    "make_test",
    "method_settings",
]

_log = logging.getLogger(__name__)

DEFAULT_ALPHA: float = ChiSquare.alpha
"""The level of every test that has one, when none is given."""


class TestSettings(TypedDict, total=False):
    """The settings of all tests together; `TESTS` says which test takes which."""

    alpha: float
    dof: DofRule
    prior: float
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
    "pcor": _NamedTest("partial correlation, Fisher's z", Moments, PartialCorrelation, ("alpha",)),
}
"""Every test that reads data, by name."""


def make_test(name: str | None, dataset: Dataset, **settings: Unpack[TestSettings]) -> ExplainedTest:
    """Make a test by its name.

    Parameters
    ----------
    name
        One of `TESTS`; None takes chi2 for categorical variables and pcor for continuous ones.
    dataset
        The data; all variables must be of the type that the test is for.
    **settings
        ``alpha`` (chi2, g2, mi, pcor), ``dof`` (chi2, g2), ``prior`` (bayes), ``threshold`` (mi) or
        ``n_permutations`` and ``seed`` (mi); what is left out has the default of the test's class.

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
    chosen = _default_name(dataset) if name is None else name
    if chosen not in TESTS:
        raise unknown_name("test", chosen, TESTS)
    named = TESTS[chosen]
    for setting in settings:
        if setting not in named.settings:
            raise InputError(
                f"{setting} is no setting of the test {chosen}, which takes {', '.join(named.settings)}. "
                f"Drop {setting}, or choose another test."
            )
    _check_types(chosen, dataset)
    return named.judge(named.statistics(dataset), **settings)


class _NamedMethod(NamedTuple):
    """A method by name: its title, and the class that holds its settings."""

    title: str
    learner: Callable[..., Learner[IndependenceTest]]


METHODS: Mapping[str, _NamedMethod] = {
    "gsmn": _NamedMethod("grow-shrink, restarting", GSMN),
    "gsmn*": _NamedMethod("grow-shrink with examined order and propagation", GSMNStar),
    "gsimn": _NamedMethod("grow-shrink that infers tests from tests", GSIMN),
    "gsimn-fch": _NamedMethod("grow-shrink with complete forward chaining; few variables", GSIMNFCH),
    "hhc-mn": _NamedMethod("HITON-PC blankets, joined", HHCMN),
    "pc": _NamedMethod("PC, order independent", PC),
}
"""Every method that learns a structure, by name."""

DEFAULT_METHOD = "gsimn"


def learn(
    data: object,
    method: str | None = None,
    *,
    test: str | None = None,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Literal["categorical", "continuous"]] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: Literal["error", "drop_rows", "category"] = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    monitor: Monitor = SILENT,
    **settings: Any,
) -> Learned:
    """Learn the structure of a Markov network from data.

    Parameters
    ----------
    data
        Whatever `mnlearn.data.read` accepts.
    method
        One of `METHODS`; gsimn by default.
    test
        One of `TESTS`; by default chi2 for categorical variables and pcor for continuous ones.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `mnlearn.data.read`.
    discretize, bins
        Turn continuous columns into categorical ones; as `method` and `bins` of `mnlearn.data.discretize`.
    monitor
        Hears the progress, and may stop the search.
    **settings
        Settings of the test (see `make_test`) and of the method (the fields of its class).

    Returns
    -------
    Learned
        The network by name, with the cost of the search.

    Raises
    ------
    UnknownNameError
        If there is no such method or test.
    InputError
        If neither the method nor the test has such a setting, or its value breaks a rule.
    UnsuitableError
        If the test does not fit the types of the variables.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> learned = learn(example(2000, seed=1).columns(), alpha=0.01)
    >>> learned.blanket("fatigue")
    ('poor_sleep', 'exercise')
    """
    chosen = DEFAULT_METHOD if method is None else method
    if chosen not in METHODS:
        raise unknown_name("method", chosen, METHODS)
    own, of_test = _split_settings(chosen, settings)
    learner = METHODS[chosen].learner(**own)
    reading: Reading = {
        "types": types,
        "levels": levels,
        "missing": missing,
        "missing_values": tuple(missing_values),
        "repeats": repeats,
        "delimiter": delimiter,
    }
    dataset = load(data, columns, reading, discretize, bins)
    judge = make_test(test, dataset, **of_test)
    if method is None:
        _log.info("no method was named: using %s with the test %s", chosen, judge.name)
    found = learner.learn(judge, monitor)
    asked = {"columns": columns, **reading, "discretize": discretize, "bins": bins}
    said = {name: value for name, value in asked.items() if value and value != "error"}
    described = {"method": chosen, "test": judge.name, **of_test, **found.settings, **said}
    return Learned(chosen, dataset.names, replace(found, settings=described))


class Reading(TypedDict):
    """How data are read: the options of `mnlearn.data.read` but for the columns."""

    types: Mapping[str, Literal["categorical", "continuous"]] | None
    levels: Mapping[str, Sequence[Hashable]] | None
    missing: Literal["error", "drop_rows", "category"]
    missing_values: Iterable[Hashable]
    repeats: str | None
    delimiter: str | None


def load(
    data: object,
    columns: Sequence[str] | None,
    reading: Reading,
    method: Literal["width", "frequency"] | None,
    bins: int | None,
) -> Dataset:
    """Read data, say what was missing, and cut continuous variables into states if that is asked for."""
    dataset = read(data, columns=columns, **reading)
    if dataset.missing.counts:
        _log.info("%s", dataset.missing)
    if method is not None:
        return discretize_dataset(dataset, method=method, bins=bins)
    if bins is not None:
        raise InputError(
            f"bins is for discretize='width' or discretize='frequency'; got {bins}. Add one, or drop bins."
        )
    return dataset


def method_settings(method: str) -> dict[str, Any]:
    """The settings of a method with their defaults, by name."""
    return {field.name: field.default for field in fields(cast(Any, METHODS[method].learner))}


def _split_settings(method: str, settings: Mapping[str, Any]) -> tuple[dict[str, Any], TestSettings]:
    """Settings of the method, settings of the test; what is neither is refused."""
    own, of_test = set(method_settings(method)), set(TestSettings.__annotations__)
    for name in settings:
        if name not in own | of_test:
            raise InputError(
                f"{name} is no setting of the method {method}, which takes {', '.join(sorted(own))}, nor of a test: "
                f"{', '.join(sorted(of_test))}. Drop {name}, or choose another method."
            )
    mine = {name: value for name, value in settings.items() if name in own}
    return mine, cast(TestSettings, {name: value for name, value in settings.items() if name not in own})


def _default_name(dataset: Dataset) -> str:
    """The test for data of one type; a mixture has none."""
    continuous = [name for name, card in zip(dataset.names, dataset.cards, strict=True) if not card]
    if len(continuous) == dataset.n_variables:
        return "pcor"
    if continuous:
        other = next(name for name, card in zip(dataset.names, dataset.cards, strict=True) if card)
        raise UnsuitableError(
            f"a test needs variables of one type; {continuous[0]!r} is continuous and {other!r} is categorical. "
            "Discretise the continuous ones (discretize='frequency'), or choose columns of one type."
        )
    return "chi2"


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
