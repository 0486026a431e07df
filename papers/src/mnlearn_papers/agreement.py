"""Agreement of a table with its published figures: how many are near, a chi-square over all, what could be seen."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan, nan
from statistics import median
from typing import NamedTuple

from mnlearn_papers.differences import LIMIT
from mnlearn_papers.reproduction import Comparison, without_details


class Agreement(NamedTuple):
    """Comparison of several figures with the published ones."""

    figures: int  # that are compared
    near: int  # of them, within `LIMIT` standard errors
    largest: float  # difference, in standard errors
    chi_square: float  # Σ of the squared differences, on as many degrees of freedom as figures
    p: float  # of a chi-square as large as this, if all figures agreed and were independent
    visible: float  # median of the smallest differences that would be `LIMIT` standard errors
    relative: float  # median of the same differences over the published figures


def agreement(lines: Iterable[Comparison]) -> Agreement | None:
    """Return the agreement of the figures that can be compared; None if there is none.

    A distance is the sum of its false and missing edges, so these are not counted beside it.

    Examples
    --------
    >>> lines = [Comparison("ring", n, "mpl", 10.0, 10.5, 1.0, 9, away, 0.1, 0.9) for n, away in [(100, 1), (200, -4)]]
    >>> found = agreement(lines)
    >>> found.near, found.chi_square, round(found.p, 5), found.relative
    (1, 17, 0.0002, 0.09)
    """
    from scipy.special import chdtrc

    compared = without_details((line for line in lines if line.standard_errors is not None), keep_published=False)
    if not compared:
        return None
    away = [abs(line.standard_errors or 0.0) for line in compared]
    chi_square = sum(a * a for a in away)
    seen = [line.visible for line in compared if line.visible is not None]
    relative = [line.visible / abs(line.published) for line in compared if line.visible and line.published]
    return Agreement(
        figures=len(away),
        near=sum(a <= LIMIT for a in away),
        largest=max(away),
        chi_square=chi_square,
        p=float(chdtrc(len(away), chi_square)),
        visible=median(seen) if seen else nan,
        relative=median(relative) if relative else nan,
    )


def agreement_text(found: Agreement | None) -> list[str]:
    """Return the agreement as sentences.

    Examples
    --------
    >>> for sentence in agreement_text(Agreement(36, 35, 3.1, 69.7, 0.00063, 0.42, 0.011)):
    ...     print(sentence)
    35 of 36 published figures are within 3 standard errors; the largest difference is 3.1.
    Chi-square is 69.7 on 36 degrees of freedom (p = 0.00063).
    The smallest difference that could be seen is 0.42 (1.1 %), median of the figures.
    """
    if found is None:
        return ["There is no published figure to compare with."]
    near = f"{found.near} of {found.figures} published figures are within {LIMIT:g} standard errors"
    chi_square = f"{found.chi_square:,.1f}" if found.chi_square < 1000 else f"{found.chi_square:,.0f}"
    said = [
        f"{near}; the largest difference is {found.largest:.1f}.",
        f"Chi-square is {chi_square} on {found.figures} degrees of freedom ({p_text(found.p)}).",
    ]
    if not isnan(found.visible):
        relative = "" if isnan(found.relative) else f" ({float(f'{100 * found.relative:.2g}'):g} %)"
        visible = f"{found.visible:.2g}" if found.visible < 100 else f"{found.visible:,.0f}"
        said.append(f"The smallest difference that could be seen is {visible}{relative}, median of the figures.")
    return said


def p_text(p: float) -> str:
    """Return a p-value with two significant digits, or a bound for a small one.

    Examples
    --------
    >>> p_text(0.1234), p_text(1e-9)
    ('p = 0.12', 'p < 0.0001')
    """
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"
