"""Tests and scores made by name from a data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnlearn.data.dataset import Dataset
from mnlearn.errors import check_name
from mnlearn.learning.counting import Counting, check_counting
from mnlearn.learning.inputs import check_categorical, check_continuous, check_dataset, is_continuous
from mnlearn.learning.registry import FROM_DATA, SCORES, TESTS, JudgeEntry, check_setting, settings_of
from mnlearn.protocols import ExplainedTest, Score


def make_test(
    name: str | None, dataset: Dataset, *, n_jobs: int | None = None, counting: Counting | None = None, **settings: Any
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
    chosen = ("pcor" if is_continuous(dataset, "a test") else "chi2") if name is None else name
    test: ExplainedTest = _make(TESTS, chosen, dataset, Counting(n_jobs) if counting is None else counting, settings)
    return test


def make_score(
    name: str, dataset: Dataset, *, n_jobs: int | None = None, counting: Counting | None = None, **settings: Any
) -> Score:
    """Make a score by its name.

    Parameters
    ----------
    name
        One of `SCORES`.
    dataset
        The data; all variables must be of one type, categorical for scores that only count.
    n_jobs
        How many threads may count: None or −1 for all cores, else that many. Any number gives the same result.
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
    table: Mapping[str, JudgeEntry], name: str, dataset: Dataset, counting: Counting, settings: Mapping[str, Any]
) -> Any:
    """Check the name, the settings and the types of the variables; then make the judge from its statistics."""
    check_counting(counting)
    kind = "test" if table is TESTS else "score"
    check_name(kind, name, table)
    entry = table[name]
    for setting in settings:
        check_setting(kind, name, setting, entry.settings)
    continuous = _is_continuous(kind, table, name, dataset)
    factory: Any = entry.from_moments if continuous else entry.from_counts
    from_data = {option: take(dataset) for option, take in FROM_DATA.items() if option in settings_of(factory)}
    return factory(counting.moments(dataset) if continuous else counting.counts(dataset), **from_data, **settings)


def _is_continuous(kind: str, table: Mapping[str, JudgeEntry], name: str, dataset: Dataset) -> bool:
    """Whether the judge is made for continuous variables; variables of a type that it is not for are refused."""
    entry = table[name]
    if entry.from_moments is None:
        others = ", ".join(other for other in table if table[other].from_moments is not None)
        check_categorical(name, dataset, f"a {kind} for continuous variables: {others}")
        return False
    if entry.from_counts is None:
        others = ", ".join(other for other in table if table[other].from_counts is not None)
        check_continuous(name, dataset, f"a {kind} for categorical variables: {others}")
        return True
    return is_continuous(dataset, name)
