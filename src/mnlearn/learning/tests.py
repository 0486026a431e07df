"""Conditional independence tests of pairs in one call: one pair given others, or all pairs ranked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from math import isfinite, isnan, nan
from typing import Any, ClassVar

import numpy as np

from mnlearn.data.readers import read
from mnlearn.errors import InputError, UnknownNameError, check_listed, is_one_of, whole_number
from mnlearn.independence.discrete import ChiSquare, GTest, MutualInformation
from mnlearn.learning.custom import TestLike
from mnlearn.learning.inputs import Transform, decide_transform, load_data, split_options, transformed
from mnlearn.learning.registry import make_test
from mnlearn.protocols import Evidence, ExplainedTest, FloatArray, VarSet
from mnlearn.results.explain import cochran_warning
from mnlearn.statistics.counts import Counts

__all__ = ["TestResult", "dependences", "independence_test"]


def independence_test(
    data: object,
    x: str,
    y: str,
    given: Collection[str] = (),
    *,
    test: TestLike | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> TestResult:
    """Test whether x is independent of y given other columns.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts. Only the columns of the test are read: types and missing values of the
        others do not matter.
    x, y
        Two columns.
    given
        The columns to condition on.
    test
        One of `TESTS`; by default chi2 for nominal columns, pcor for continuous ones and mixed for others. Or your own
        test: a class derived from `mnlearn.CustomTest`, or a function of the columns x, y and z that returns a
        p-value.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.
    **options
        How the data are read: the options of `mnlearn.read` except ``columns``, ``discretize`` and ``bins``, as for
        `mnlearn.learn`, and ``transform``, where ``"auto"`` sees only the columns
        of the test. Others are settings of the test, as for `make_test`.

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
    reading, settings = split_options(options)
    if "columns" in reading:
        raise InputError("columns are those of x, y and given; got columns as well. Drop columns.")
    reading["columns"] = _tested_columns(x, y, given, reading.get("repeats") or reading.get("weights"))
    with _columns_by_name():
        dataset = load_data(data, **reading)
    transform = decide_transform(dataset, settings.pop("transform", "auto"))
    judge = make_test(test, transformed(dataset, transform), n_jobs=n_jobs, **settings)
    u, v = sorted((dataset.index(x), dataset.index(y)))
    z = frozenset(dataset.index(name) for name in given)
    found = TestResult.of(_evidence(judge, u, (v,), z), 0, (x, y, tuple(given)), judge.name)
    low, incomplete = low_expected(judge, u, v, z), dataset.n_rows - (found.n_rows or 0) if dataset.gaps else 0
    return replace(found, low_expected=low, transform=transform, n_incomplete=incomplete)


def dependences(
    data: object,
    *,
    test: TestLike | None = None,
    top: int | None = None,
    n_jobs: int | None = None,
    **settings: Any,
) -> list[TestResult]:
    """Test every pair of variables without conditioning, and rank them by dependence.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts.
    test
        As for `independence_test`.
    top
        Number of pairs to return; all by default.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.
    **settings
        As for `make_test`, and ``transform``, as for `mnlearn.learn`.

    Returns
    -------
    list
        The strongest dependence first: by log p or, without one, log posterior of independence; then by statistic;
        then by position.

    Notes
    -----
    One scan for each variable; a screen first where few of many pairs are wanted by chi2 or g2 (docs/screening.md).

    Examples
    --------
    >>> survey = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> [(pair.x, pair.y) for pair in dependences(survey, top=1)]
    [('rain', 'wet')]
    """
    if top is not None:
        whole_number("top", top, least=1, hint="Leave it out for all pairs.")
    dataset = read(data)
    transform = decide_transform(dataset, settings.pop("transform", "auto"))
    judge = make_test(test, transformed(dataset, transform), n_jobs=n_jobs, **settings)
    n = dataset.n_variables
    if n < 2:
        raise InputError(f"data must have at least 2 variables; got {n}. Add the columns to compare with.")
    best, tested = _Strongest(top), dict(_pairs_to_test(judge, n, top))
    for u, ys in tested.items():
        best.add(u, _evidence(judge, u, ys, frozenset()))
    found = [
        TestResult.of(evidence, k, (dataset.names[u], dataset.names[tested[u][k]], ()), judge.name)
        for u, k, evidence in best.ranked()
    ]
    return [replace(result, transform=transform) for result in found] if transform else found


def low_expected(judge: object, x: int, y: int, z: VarSet) -> float | None:
    """Return the share of expected counts below 5 of chi2 or g2; None for other tests and for huge tables."""
    share = judge.low_expected(x, y, z) if isinstance(judge, ChiSquare) else nan
    return None if isnan(share) else share


SCREENED_FROM = 1000  # variables from which a screen pays
_MOST_ENTRIES = 1 << 26  # of its lists


def _pairs_to_test(judge: object, n: int, top: int | None) -> list[tuple[int, Sequence[int]]]:
    """Return x and the later variables to test with it: all, or those that a screen finds to be among the top.

    Evidence orders pairs as log p does, but for rounding: pairs within rounding of the last one are tested too.
    """
    everything: list[tuple[int, Sequence[int]]] = [(u, range(u + 1, n)) for u in range(n - 1)]
    if top is None or n < SCREENED_FROM or top * n > _MOST_ENTRIES or not _ranks_as_screens(judge):
        return everything
    statistics: Any = getattr(judge, "statistics", None)
    screen = partial(statistics.screen, statistic="g2" if isinstance(judge, GTest) else "x2")
    evidence = screen(top).pairs()[2]
    if len(evidence) < top:
        return everything
    last = float(np.partition(evidence, -top)[-top])
    listed = screen(None, threshold=last * (1.0 - 1e-6))
    u, v, _ = listed.pairs()
    xs, starts = np.unique(u, return_index=True)
    return list(zip(xs.tolist(), (ys.tolist() for ys in np.split(v, starts[1:])), strict=True))


def _ranks_as_screens(judge: object) -> bool:
    """Return whether a screen of the judge's statistics orders pairs as the judge does."""
    few = 100  # states: the tails of far more degrees of freedom are approximate
    return (
        isinstance(judge, ChiSquare)
        and judge.dof == "adjusted"
        and isinstance(judge.statistics, Counts)
        and max(judge.statistics.cards) <= few
    )


class _Strongest:
    """The strongest pairs so far: all of them, or somewhat more than `top`, so that few scans need a sort."""

    def __init__(self, top: int | None) -> None:
        self._top = top
        self._scans: dict[int, Evidence] = {}
        self._keys: list[FloatArray] = []  # rows: support, −strength, x, position of y in the scan of x
        self._held = 0

    def add(self, x: int, evidence: Evidence) -> None:
        """Add the scan of one x."""
        size = evidence.independent.size
        self._scans[x] = evidence
        place = np.arange(size, dtype=np.float64)
        self._keys.append(np.array([_support(evidence), -_strength(evidence), np.full(size, float(x)), place]))
        self._held += size
        if self._top is not None and self._held > 4 * self._top + 100_000:
            self._keep(self._top)

    def ranked(self) -> list[tuple[int, int, Evidence]]:
        """Return x, the position of y in the scan of x, and that scan, strongest first."""
        self._keep(self._top)
        (keys,) = self._keys
        pairs = zip(keys[2].astype(int).tolist(), keys[3].astype(int).tolist(), strict=True)
        return [(x, k, self._scans[x]) for x, k in pairs]

    def _keep(self, top: int | None) -> None:
        keys = np.concatenate(self._keys, axis=1)
        kept = keys[:, np.lexsort((keys[3], keys[2], keys[1], keys[0]))[:top]]
        self._keys, self._held = [kept], kept.shape[1]
        mentioned = set(kept[2].astype(int).tolist())
        self._scans = {x: scan for x, scan in self._scans.items() if x in mentioned}


def _tested_columns(x: str, y: str, given: Collection[str], repeats: str | None) -> list[str]:
    """Check the columns of a test and sort them by name, so that their order changes neither draws nor rounding."""
    check_listed("given", given, "columns")
    for what, name in (("x", x), ("y", y), *(("given", name) for name in given)):
        if not isinstance(name, str):
            raise InputError(f"{what} must be the name of a column; got {name!r}. Names are strings: {str(name)!r}.")
    if x == y:
        raise InputError(f"x and y must be two different columns; got {x!r} twice. Give two columns.")
    for name in given:
        if name in (x, y):
            raise InputError(f"given must not contain x or y; got {name!r} in both. Leave it out of given.")
    columns = sorted([x, y, *given])
    for name, after in pairwise(columns):
        if name == after:
            raise InputError(f"given must name each column once; got {name!r} twice. Name it once.")
    if is_one_of(repeats, columns):
        raise InputError(
            f"repeats must name a column that is not tested; got {repeats!r} in both. Drop repeats, or test others."
        )
    return columns


@contextmanager
def _columns_by_name() -> Iterator[None]:
    """Remove `columns` from the error about an unknown column, since the caller passed none."""
    try:
        yield
    except UnknownNameError as error:
        raise UnknownNameError(str(error).removeprefix("columns: ")) from error


def _evidence(judge: ExplainedTest, x: int, ys: Sequence[int], z: VarSet) -> Evidence:
    """Return the evidence of a test; under a threshold without log p, which then only ranks pairs."""
    evidence = judge.evidence(x, ys, z)
    if isinstance(judge, MutualInformation) and judge.decide == "threshold":
        return replace(evidence, log_p=None)
    return evidence


def _support(evidence: Evidence) -> FloatArray:
    """Return the support of independence for each pair of a scan: log p, or else the log posterior."""
    support = evidence.log_independent if evidence.log_p is None else evidence.log_p
    return np.zeros(evidence.independent.shape) if support is None else support


def _strength(evidence: Evidence) -> FloatArray:
    """Return what ranks pairs of equal support: the size of the statistic."""
    return np.zeros(evidence.independent.shape) if evidence.statistic is None else np.abs(evidence.statistic)


UNTOLD = "cannot tell, because rounding is all that the given columns leave of one variable"
"""Words for a test without a p-value."""


@dataclass(frozen=True)
class TestResult:
    """Decision of one test with the numbers behind it; a number that the test does not compute is None.

    Attributes
    ----------
    x, y, given
        The tested pair and the columns conditioned on.
    test
        Name of the test.
    independent
        The decision.
    log_p
        Natural log of the p-value; NaN where the test cannot tell, because rounding is all that the given columns leave
        of x or y. The decision is then independent.
    statistic, dof
        Chi-square or G2 with its degrees of freedom; mutual information in nats; Fisher's z in standard errors.
    log_independent, log_dependent
        Natural logs of the posterior probabilities.
    low_expected
        Share of the expected counts below 5, for chi2 and g2; `dependences` does not compute it.
    n_rows
        Number of rows behind the test; with missing values, those in which all of its columns are observed.
    n_incomplete
        Number of rows left out because one of these columns has no value there; `dependences` does not compute it.
    transform
        "normal_scores" if the test is of normal scores; None if it is of the values.
    """

    __test__: ClassVar[bool] = False  # pytest would collect it by its name

    x: str
    y: str
    given: tuple[str, ...]
    test: str
    independent: bool
    log_p: float | None = None
    statistic: float | None = None
    dof: float | None = None
    log_independent: float | None = None
    log_dependent: float | None = None
    low_expected: float | None = None
    transform: Transform = None
    n_rows: int | None = None
    n_incomplete: int = 0

    @property
    def warning(self) -> str | None:
        """A warning if more than 20 % of the expected counts are below 5 (Cochran's rule); else None."""
        return cochran_warning(self.low_expected)

    @classmethod
    def of(cls, evidence: Evidence, k: int, question: tuple[str, str, tuple[str, ...]], test: str) -> TestResult:
        """Return the k-th result of a scan."""
        x, y, given = question
        return cls(
            x=x,
            y=y,
            given=given,
            test=test,
            independent=bool(evidence.independent[k]),
            log_p=_at(evidence.log_p, k),
            statistic=_at(evidence.statistic, k),
            dof=_at(evidence.dof, k),
            log_independent=_at(evidence.log_independent, k),
            log_dependent=_at(evidence.log_dependent, k),
            n_rows=None if evidence.n_rows is None else int(evidence.n_rows[k]),
        )

    def to_dict(self) -> dict[str, object]:
        """Return plain values, ready for JSON: a number that is not finite becomes None, a whole `dof` an integer."""
        plain = {key: _finite(value) for key, value in asdict(self).items()}
        plain["given"] = list(self.given)
        if self.dof is not None and self.dof.is_integer():
            plain["dof"] = int(self.dof)
        return {**plain, "warning": self.warning}

    def __str__(self) -> str:
        """Return one sentence."""
        decision = "independent" if self.independent else "dependent"
        condition = f" given {', '.join(self.given)}" if self.given else ""
        if self.log_p is not None and isnan(self.log_p):
            return f"{self.x} and {self.y} are {decision}{condition} ({self.test}: {UNTOLD})"
        numbers = {
            "statistic": self.statistic,
            "dof": self.dof,
            "log p": self.log_p,
            "log P(independent)": self.log_independent,
            "log P(dependent)": self.log_dependent,
        }
        shown = ", ".join(f"{name} {value:.5g}" for name, value in numbers.items() if value is not None)
        caution = "" if self.warning is None else f"; {self.warning}"
        if self.n_incomplete:
            caution += f"; {self.n_rows or 0:,} rows are complete, {self.n_incomplete:,} lack a value"
        return f"{self.x} and {self.y} are {decision}{condition} ({self.test}: {shown}){caution}"


def _at(numbers: FloatArray | None, k: int) -> float | None:
    """Return one number of a scan; zero without a sign."""
    return None if numbers is None else float(numbers[k]) + 0.0


def _finite(value: object) -> object:
    """Return None for a number that is not finite, which JSON cannot hold; else the value."""
    return None if isinstance(value, float) and not isfinite(value) else value
