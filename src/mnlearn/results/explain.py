"""Evidence for or against one edge, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mnlearn.numbers import exp, log
from mnlearn.protocols import SILENT, Monitor
from mnlearn.results.edges import SUPPORT_TITLES, printable

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.graphs.graph import Edge
    from mnlearn.results.learned import Learned

MOST_LOW = 0.2  # of the expected counts may be below 5, by Cochran's rule


def cochran_warning(low_expected: float | None) -> str | None:
    """Return a warning if more than 20 % of the expected counts of a test are below 5; else None.

    Examples
    --------
    >>> print(cochran_warning(0.35))
    35 % of the expected counts are below 5, so p is rough: Cochran's rule allows 20 %
    """
    if low_expected is None or not low_expected > MOST_LOW:
        return None
    share = min(max(round(100 * low_expected), 21), 99 if low_expected < 1 else 100)
    return f"{share} % of the expected counts are below 5, so p is rough: Cochran's rule allows {100 * MOST_LOW:g} %"


def words_of_test(settings: Mapping[str, object]) -> str | None:
    """Return the test of a method with its level and rule for degrees of freedom; None if it uses no test.

    Examples
    --------
    >>> words_of_test({"method": "gsmn", "test": "chi2", "alpha": 0.01, "dof": "observed"})
    'chi2 (alpha 0.01, dof observed)'
    """
    if "test" not in settings:
        return None
    known = [f"{name} {settings[name]}" for name in ("alpha", "dof") if name in settings]
    return str(settings["test"]) + (f" ({', '.join(known)})" if known else "")


def words_of_transform(settings: Mapping[str, object]) -> str:
    """Return that normal scores of the ranks were used, to follow the words for the data; an empty string if not."""
    return ", as normal scores of the ranks" if settings.get("transform") == "normal_scores" else ""


class PairTest(NamedTuple):
    """One conditional independence test of the pair; numbers that a test does not compute are None."""

    given: tuple[str, ...]
    test: str
    independent: bool
    log_support: float | None  # log p-value or log posterior of independence; None when the answer was inferred
    statistic: float | None = None
    dof: float | None = None
    asked: str = "now"  # "now", or the part of the search that asked
    source: str = "data"  # "data", "memo", or the rule that implied it
    low_expected: float | None = None  # share of the expected counts below 5; of chi2 and g2
    n_rows: int | None = None  # where values are missing: rows in which all variables of the test are observed

    @property
    def warning(self) -> str | None:
        """A warning if more than 20 % of the expected counts are below 5; else None."""
        return cochran_warning(self.low_expected)


class ScoreDifference(NamedTuple):
    """Score of the network with and without the edge, all other pairs unchanged."""

    name: str
    present: float
    absent: float

    @property
    def gain(self) -> float:
        """Score with the edge minus score without it."""
        return self.present - self.absent


class SeparatorFactor(NamedTuple):
    """Log Bayes factor of an edge given a separating set close to one end."""

    beside: str
    given: tuple[str, ...]
    log_factor: float


class SeparatorOdds(NamedTuple):
    """Separator evidence of both ends, what the prior and rival edges take off, and the resulting log odds."""

    sides: tuple[SeparatorFactor, ...]
    price: float

    @property
    def log_odds(self) -> float:
        """Mean log Bayes factor minus the price."""
        return sum(side.log_factor for side in self.sides) / len(self.sides) - self.price


@dataclass(frozen=True)
class Why:
    """The evidence for or against an edge between x and y.

    Attributes
    ----------
    x, y
        The two variables.
    method
        The method that learned the network.
    edge
        Whether the pair is an edge of the network.
    support, support_scale, probability, frequency
        As in `Learned.edges`, if known.
    tests
        Tests given the empty set and given the neighbours of either end; before them the tests of this pair that the
        search made, if it kept its trace (``keep_trace=True``).
    score
        The score with and without the edge, for methods that maximise one.
    separators
        For separator evidence: the Bayes factors behind its log odds.

    Examples
    --------
    >>> print(Why("rain", "wet", "gsmn", True, -9.0, tests=(PairTest((), "chi2", False, -9.0, 15.2, 1.0),)))
    rain - wet is an edge by gsmn (log p -9)
    given nothing: dependent, chi2 15.2 with 1 dof, p = 0.000123
    """

    x: str
    y: str
    method: str
    edge: bool
    support: float | None = None
    support_scale: str = "log_independence"
    probability: float | None = None
    frequency: float | None = None
    tests: tuple[PairTest, ...] = ()
    score: ScoreDifference | None = None
    separators: SeparatorOdds | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn why --json` prints."""
        known = ("x", "y", "method", "edge", "support", "support_scale", "probability", "frequency")
        document: dict[str, object] = {name: _finite(getattr(self, name)) for name in known}
        document["tests"] = [
            {**{name: _finite(value) for name, value in test._asdict().items()}, "given": list(test.given)}
            | {"warning": test.warning}
            for test in self.tests
        ]
        if self.score is not None:
            document["score"] = {**self.score._asdict(), "gain": self.score.gain}
        if self.separators is not None:
            sides = [{**side._asdict(), "given": list(side.given)} for side in self.separators.sides]
            odds = self.separators.log_odds
            document["separators"] = {"sides": sides, "price": self.separators.price, "log_odds": odds}
        return document

    def __str__(self) -> str:
        """Return one line for each piece of evidence."""
        return "\n".join(printable(line) for line in [self._verdict(), *self._evidence()])

    def _verdict(self) -> str:
        known = [
            f"{SUPPORT_TITLES[self.support_scale]} {self.support:.5g}" if self.support is not None else "",
            f"probability {self.probability:.3f}" if self.probability is not None else "",
            f"in {self.frequency:.0%} of the samples" if self.frequency is not None else "",
        ]
        numbers = ", ".join(filter(None, known))
        decision = "an edge" if self.edge else "not an edge"
        return f"{self.x} - {self.y} is {decision} by {self.method}" + (f" ({numbers})" if numbers else "")

    def _evidence(self) -> list[str]:
        lines = [_sentence(test) for test in self.tests]
        if self.score is not None:
            present, absent, gain = self.score.present, self.score.absent, self.score.gain
            side = "for" if gain > 0 else "against"
            lines.append(
                f"{self.score.name} score {present:.6f} with the edge, {absent:.6f} without: {abs(gain):.4g} {side} it"
            )
        if self.separators is not None:
            for name, given, factor in self.separators.sides:
                lines.append(f"given {_listed(given)}, the separator beside {name}: log Bayes factor {factor:.5g}")
            price, odds = self.separators.price, self.separators.log_odds
            lines.append(f"their mean less {price:.4g}, for the prior and rival edges: log odds {odds:.5g}")
        return lines


def _sentence(test: PairTest) -> str:
    """Return one test and its outcome, in words."""
    decision = "independent" if test.independent else "dependent"
    numbers = []
    if test.log_support is not None and isnan(test.log_support):
        numbers.append(f"which {test.test} cannot tell from numbers: one variable is explained but for rounding")
    elif test.statistic is not None:
        numbers.append(
            f"{test.test} {test.statistic:.5g}" + (f" with {test.dof:g} dof" if test.dof is not None else "")
        )
    elif test.source == "data":
        numbers.append(test.test)
    if test.log_support is not None and not isnan(test.log_support):
        numbers.append(f"p = {_probability(test.log_support)}")
    if test.source != "data":
        numbers.append(f"by {test.source}")
    if test.n_rows is not None:
        numbers.append(f"{test.n_rows:,} complete row{'s' * (test.n_rows != 1)}")
    when = "" if test.asked == "now" else f" (asked in {test.asked})"
    caution = "" if test.warning is None else f"; {test.warning}"
    return f"given {_listed(test.given)}: {', '.join([decision, *numbers])}{when}{caution}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _probability(log_p: float) -> str:
    """Format a probability given by its natural log, also below the smallest double."""
    if log_p > -600:
        return f"{exp(log_p):.3g}"
    power, digits = divmod(log_p / log(10), 1)
    return f"{10**digits:.2f}e{int(power)}" if isfinite(log_p) else "0"


def _finite(value: object) -> object:
    """Return the value, or None for a number that JSON lacks."""
    return None if isinstance(value, float) and not isfinite(value) else value


class Recipe(Protocol):
    """How a network is learned from data. `mnlearn.learn` attaches one to every result."""

    def read(self, data: object) -> Dataset:
        """Read data with the options of the first run."""
        ...

    def learn(self, dataset: Dataset, *, n_jobs: int | None = None, monitor: Monitor = SILENT) -> Learned:
        """Learn the network of other rows."""
        ...

    def explain(self, learned: Learned, edge: Edge, dataset: Dataset) -> Why:
        """Compute the evidence behind one pair."""
        ...

    def fingerprint(self) -> str:
        """Return a string that is the same for the same options."""
        ...

    def sparse_edges(self, learned: Learned, dataset: Dataset) -> Sequence[Edge]:
        """Find the edges with a test that breaks Cochran's rule."""
        ...
