"""The record of an answer: the question by name, the decision, the numbers behind it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import ClassVar

from mnlearn.protocols import Evidence, FloatArray


@dataclass(frozen=True)
class TestResult:
    """The answer to one question, with the numbers behind it; what the test does not compute is None.

    Attributes
    ----------
    x, y, given
        The question: is x independent of y given these?
    test
        The name of the test.
    independent
        The decision.
    log_p
        The natural log of the p-value.
    statistic, dof
        Chi-square or G2 with its degrees of freedom; mutual information in nats; Fisher's z in standard errors.
    log_independent, log_dependent
        The natural logs of the posterior probabilities.
    """

    __test__: ClassVar[bool] = False  # it is no test case, whatever pytest makes of its name

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

    @classmethod
    def of(cls, evidence: Evidence, k: int, question: tuple[str, str, tuple[str, ...]], test: str) -> TestResult:
        """Take the k-th answer of a scan."""
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
        )

    def to_dict(self) -> dict[str, object]:
        """Return plain values, ready for JSON: a number that is not finite becomes None, a whole `dof` an integer."""
        plain = {key: _finite(value) for key, value in asdict(self).items()}
        plain["given"] = list(self.given)
        if self.dof is not None and self.dof.is_integer():
            plain["dof"] = int(self.dof)
        return plain

    def __str__(self) -> str:
        """One sentence."""
        decision = "independent" if self.independent else "dependent"
        condition = f" given {', '.join(self.given)}" if self.given else ""
        numbers = {
            "statistic": self.statistic,
            "dof": self.dof,
            "log p": self.log_p,
            "log P(independent)": self.log_independent,
            "log P(dependent)": self.log_dependent,
        }
        shown = ", ".join(f"{name} {value:.5g}" for name, value in numbers.items() if value is not None)
        return f"{self.x} and {self.y} are {decision}{condition} ({self.test}: {shown})"


def _at(numbers: FloatArray | None, k: int) -> float | None:
    """One number of a scan; zero has no sign."""
    return None if numbers is None else float(numbers[k]) + 0.0


def _finite(value: object) -> object:
    """The value, unless it is a number that JSON does not know."""
    return None if isinstance(value, float) and not isfinite(value) else value
