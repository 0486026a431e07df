"""Differences between two means in standard errors, for few observations as for many.

An error of a few observations is itself uncertain, so their differences follow Student's t and not the normal
distribution. All differences here are converted: 3 standard errors have the same probability as 3 of a normal
distribution, 0.27 %, whatever the number of observations.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign, inf, log1p, sqrt
from typing import NamedTuple

LIMIT = 3.0
"""Standard errors beyond which two figures hardly agree."""


class ErrorTerm(NamedTuple):
    """One part of the error of a difference: its variance, and the degrees of freedom (inf if it is known)."""

    variance: float
    dof: float = inf


class StandardizedDifference(NamedTuple):
    """A difference in standard errors, and the smallest one that would be `LIMIT` standard errors."""

    standard_errors: float
    visible: float


def standardized_difference(value: float, errors: Iterable[ErrorTerm]) -> StandardizedDifference | None:
    """Return a difference in standard errors; None for one without any error that is not zero.

    The degrees of freedom are those of Welch and Satterthwaite: (Σ vᵢ)² / Σ (vᵢ² / νᵢ).

    Parameters
    ----------
    value
        The difference.
    errors
        The independent parts of its error.

    Examples
    --------
    >>> many = standardized_difference(1.2, [ErrorTerm(0.09, 99), ErrorTerm(0.07, 99)])
    >>> few = standardized_difference(1.2, [ErrorTerm(0.09, 2), ErrorTerm(0.07, 2)])
    >>> round(many.standard_errors, 2), round(few.standard_errors, 2)
    (2.96, 2.05)
    >>> round(many.visible, 2), round(few.visible, 2)
    (1.22, 2.69)
    """
    parts = list(errors)
    variance = sum(part.variance for part in parts)
    if variance <= 0:
        return StandardizedDifference(0.0, 0.0) if value == 0 else None
    spread = sum((part.variance / variance) ** 2 / part.dof for part in parts)
    dof = 1 / spread if spread > 0 else inf
    return StandardizedDifference(
        normal_equivalent(value / sqrt(variance), dof), sqrt(variance) * _student_equivalent(LIMIT, dof)
    )


def normal_equivalent(t: float, dof: float) -> float:
    """Return the number that is as improbable for a normal distribution as `t` is for Student's.

    Examples
    --------
    >>> round(normal_equivalent(12.71, 1), 2), round(normal_equivalent(-12.71, 1000), 2)
    (1.96, -12.23)
    """
    from scipy.special import ndtri, stdtr

    tail = float(stdtr(dof, -abs(t)))
    if tail > 1e-290:
        return copysign(float(-ndtri(tail)), t)
    # Below the smallest floating-point number: the approximation of Wallace (1959), within 0.1 % there.
    return copysign((8 * dof + 1) / (8 * dof + 3) * sqrt(dof * log1p(t * t / dof)), t) if dof < inf else t


def _student_equivalent(z: float, dof: float) -> float:
    """Return the number that is as improbable for Student's distribution as `z` is for a normal one."""
    from scipy.special import ndtr, stdtrit

    return -float(stdtrit(dof, float(ndtr(-z)))) if dof < inf else z
