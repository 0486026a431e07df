"""Questions about pairs in one call: is x independent of y given z, and which pairs go together most."""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Literal, Unpack

import numpy as np

from mnlearn._answers import TestResult
from mnlearn.data import read
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.independence import MutualInformation
from mnlearn.pipeline import TestSettings, discretized, make_test
from mnlearn.protocols import Evidence, ExplainedTest, FloatArray, VarSet

__all__ = ["TestResult", "dependences", "independence_test"]

_log = logging.getLogger(__name__)


def independence_test(
    data: object,
    x: str,
    y: str,
    given: Collection[str] = (),
    *,
    test: str | None = None,
    types: Mapping[str, Literal["categorical", "continuous"]] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: Literal["error", "drop_rows", "category"] = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    **settings: Unpack[TestSettings],
) -> TestResult:
    """Ask whether x is independent of y given other columns.

    Parameters
    ----------
    data
        Whatever `mnlearn.data.read` accepts. Only the columns of the question are read: the types of the others, and
        what is missing there, do not matter.
    x, y
        Two columns.
    given
        The columns to condition on.
    test
        One of `TESTS`; by default chi2 for categorical columns and pcor for continuous ones.
    types, levels, missing, missing_values, repeats, delimiter
        As for `mnlearn.data.read`.
    discretize, bins
        Turn continuous columns of the question into categorical ones; as `method` and `bins` of
        `mnlearn.data.discretize`.
    **settings
        As for `make_test`.

    Returns
    -------
    TestResult
        The same for any order of `given` and for x and y exchanged.

    Examples
    --------
    >>> survey = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> independence_test(survey, "rain", "wet").independent
    False
    >>> independence_test(survey, "rain", "monday", ["wet"], test="g2").independent
    True
    """
    asked = _asked(x, y, given, repeats)
    with _columns_by_name():
        dataset = read(
            data,
            columns=asked,
            types=types,
            levels=levels,
            missing=missing,
            missing_values=missing_values,
            repeats=repeats,
            delimiter=delimiter,
        )
    if dataset.missing.counts:
        _log.info("%s", dataset.missing)
    judge = make_test(test, discretized(dataset, discretize, bins), **settings)
    u, v = sorted((dataset.index(x), dataset.index(y)))
    evidence = _evidence(judge, u, (v,), frozenset(dataset.index(name) for name in given))
    return TestResult.of(evidence, 0, (x, y, tuple(given)), judge.name)


def dependences(
    data: object, *, test: str | None = None, top: int | None = None, **settings: Unpack[TestSettings]
) -> list[TestResult]:
    """Judge every pair of variables without conditioning, the strongest dependence first.

    Parameters
    ----------
    data
        Whatever `mnlearn.data.read` accepts; all variables of one type.
    test
        As for `independence_test`.
    top
        How many pairs to return; all by default.
    **settings
        As for `make_test`.

    Returns
    -------
    list
        By log p or, where there is none, log posterior of independence; then by statistic; then by position.

    Notes
    -----
    One scan for each variable.

    Examples
    --------
    >>> survey = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> [(pair.x, pair.y) for pair in dependences(survey, top=1)]
    [('rain', 'wet')]
    """
    if top is not None and top < 1:
        raise InputError(f"top must be at least 1; got {top}. Leave it out for all pairs.")
    dataset = read(data)
    judge = make_test(test, dataset, **settings)
    n = dataset.n_variables
    scans = [_evidence(judge, u, range(u + 1, n), frozenset()) for u in range(n - 1)]
    order = np.lexsort((np.concatenate([-_strength(scan) for scan in scans]), np.concatenate([*map(_support, scans)])))
    first, second = (ends[order[:top]].tolist() for ends in np.triu_indices(n, k=1))
    return [
        TestResult.of(scans[u], v - u - 1, (dataset.names[u], dataset.names[v], ()), judge.name)
        for u, v in zip(first, second, strict=True)
    ]


def _asked(x: str, y: str, given: Collection[str], repeats: str | None) -> list[str]:
    """The columns of a question, each once, in order of name: how it is put must not change draws and rounding."""
    if isinstance(given, str):
        raise InputError(f"given must be a list of columns; got the text {given!r}. Use [{given!r}].")
    if x == y:
        raise InputError(f"x and y must be two different columns; got {x!r} twice. Ask about two columns.")
    for name in given:
        if name in (x, y):
            raise InputError(f"given must not contain x or y; got {name!r} in both. Leave it out of given.")
    asked = sorted([x, y, *given])
    for name, after in pairwise(asked):
        if name == after:
            raise InputError(f"given must name each column once; got {name!r} twice. Name it once.")
    if repeats in asked:
        raise InputError(
            f"repeats must name a column that is not in the question; got {repeats!r} in both. "
            "Ask about other columns, or drop repeats."
        )
    return asked


@contextmanager
def _columns_by_name() -> Iterator[None]:
    """Let the error about an unknown column speak of the column: the caller passed no `columns`."""
    try:
        yield
    except UnknownNameError as error:
        raise UnknownNameError(str(error).removeprefix("columns: ")) from error


def _evidence(judge: ExplainedTest, x: int, ys: Sequence[int], z: VarSet) -> Evidence:
    """What the judge knows, without the log p that is none: under a threshold it only orders pairs."""
    evidence = judge.evidence(x, ys, z)
    if isinstance(judge, MutualInformation) and judge.decide == "threshold":
        return replace(evidence, log_p=None)
    return evidence


def _support(evidence: Evidence) -> FloatArray:
    """How well each pair of a scan bears with independence: log p, or else the log posterior."""
    support = evidence.log_independent if evidence.log_p is None else evidence.log_p
    return np.zeros(evidence.independent.shape) if support is None else support


def _strength(evidence: Evidence) -> FloatArray:
    """What tells pairs of equal support apart."""
    return np.zeros(evidence.independent.shape) if evidence.statistic is None else np.abs(evidence.statistic)
