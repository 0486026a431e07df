"""Differences in standard errors, and the agreement of several figures."""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from scipy import stats

from mnlearn_papers.agreement import agreement, agreement_text
from mnlearn_papers.differences import ErrorTerm, normal_equivalent, standardized_difference
from mnlearn_papers.reproduction import Comparison, Key, Published, figure


@pytest.mark.parametrize("dof", [1, 2.5, 30, 1e6])
@pytest.mark.parametrize("t", [-6.0, -1.0, 0.0, 0.3, 4.0])
def test_t_is_converted_at_equal_probability(t: float, dof: float) -> None:
    assert stats.norm.logcdf(normal_equivalent(t, dof)) == pytest.approx(stats.t.logcdf(t, dof), rel=1e-6)


def test_far_tails_stay_finite_and_in_order() -> None:
    found = [normal_equivalent(t, 500) for t in (30.0, 60.0, 61.0, 200.0, 1e6)]
    assert found == sorted(found)
    assert np.isfinite(found).all()
    assert normal_equivalent(-90.0, inf) == pytest.approx(-90)


def test_the_visible_difference_is_three_standard_errors() -> None:
    errors = [ErrorTerm(0.2, 3), ErrorTerm(0.1, 9), ErrorTerm(0.01)]
    found = standardized_difference(1.0, errors)
    assert found is not None
    again = standardized_difference(found.visible, errors)
    assert again is not None
    assert again.standard_errors == pytest.approx(3)


def test_differences_of_equal_means_are_standard_normal() -> None:
    rng = np.random.default_rng(3)
    key, away = Key("ring", 1, "mpl"), []
    for ours, theirs in zip(rng.normal(10, 2, (4000, 4)), rng.normal(10, 2, (4000, 6)), strict=True):
        published = Published(float(theirs.mean()), float(theirs.std(ddof=1)), 6, step=0.0)
        line = figure(key, list(ours), published, 0.1)
        assert line.standard_errors is not None
        away.append(line.standard_errors)
    # Normal quantiles would call 4.5 % of these larger than 2.58; the t distribution keeps the 1 %.
    assert np.mean(np.abs(away) > 2.576) < 0.015
    assert np.std(away) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("unit", [None, 1.0])
def test_equal_values_have_at_least_the_published_deviation(unit: float | None) -> None:
    published = Published(14.0, 0.5, 100, step=0.1)
    found = figure(Key("ring", 1, "ib"), [15.0] * 4, published, 0.1, unit=unit)
    errors = [ErrorTerm(0.5**2 / 4, 3), ErrorTerm(0.5**2 / 100, 99), ErrorTerm(0.1**2 / 12)]
    expected = standardized_difference(1.0, errors)
    assert expected is not None
    assert found.standard_errors == pytest.approx(expected.standard_errors)  # 2.3; 11.3 with the printed digit alone
    assert found.visible == pytest.approx(expected.visible)


def line(away: float | None, published: float | None = 10.0, visible: float | None = 2.0) -> Comparison:
    return Comparison("ring", 1, "mpl", published, 11.0, 1.0, 5, away, 0.1, visible)


def test_agreement_counts_sums_and_says_what_could_be_seen() -> None:
    found = agreement([line(1.0), line(-3.5), line(None), line(0.5, published=0.0, visible=1.0)])
    assert found is not None
    assert (found.figures, found.near, found.largest, found.chi_square) == (3, 2, 3.5, 13.5)
    assert found.p == pytest.approx(stats.chi2.sf(13.5, 3))
    assert (found.visible, found.relative) == (2.0, 0.2)
    assert len(agreement_text(found)) == 3
    bare = agreement([line(1.0, visible=None)])
    assert bare is not None
    assert isnan(bare.visible)
    assert len(agreement_text(bare)) == 2
    assert agreement([line(None)]) is None
    both = [line(1.0), line(2.0)._replace(learner="mpl false"), line(3.0)._replace(learner="pic false")]
    counted = agreement(both)
    assert counted is not None
    assert counted.chi_square == 10  # a distance is the sum of its details; without it, they count
    assert agreement_text(None) == ["There is no published figure to compare with."]
