"""The example tells the story it promises."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from mnlearn.errors import InputError
from mnlearn.simulate import example, example_network, state_probabilities


def pearson(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    """The chi-square statistic of two binary columns."""
    table = np.bincount(2 * a.astype(int) + b, minlength=4).reshape(2, 2)
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def test_marginal_dependence_disappears_given_the_separator() -> None:
    survey = example()
    shifts, sleep, tired = (survey.codes[:, survey.names.index(n)] for n in ("night_shifts", "poor_sleep", "fatigue"))
    assert chi2.sf(pearson(shifts, tired), 1) < 1e-15
    given = sum(pearson(shifts[sleep == value], tired[sleep == value]) for value in (0, 1))
    assert chi2.sf(given, 2) > 0.2


def test_every_edge_shows_in_the_default_sample() -> None:
    survey = example()
    assert max(chi2.sf(pearson(survey.codes[:, u], survey.codes[:, v]), 1) for u, v in survey.graph.edges) < 1e-10


def test_the_record_is_complete_and_reproducible() -> None:
    survey = example(n_rows=200, seed=9)
    assert survey.codes.shape == (200, len(survey.names)) == (200, survey.graph.n_variables)
    np.testing.assert_array_equal(survey.codes, example(200, np.random.default_rng(9)).codes)
    words = survey.columns()
    assert tuple(words) == survey.names
    assert words["stress"][:5] == [survey.labels[c] for c in survey.codes[:5, survey.names.index("stress")]]
    assert survey.graph.degree(survey.names.index("left_handed")) == 0
    with pytest.raises(InputError, match="n_rows must be a whole number, at least 1"):
        example(0)


def test_no_answer_is_rare() -> None:
    network, _ = example_network()
    for component in network.graph.components():
        p = state_probabilities(network, component)
        for place in range(len(component)):
            yes = p[(np.arange(len(p)) >> place & 1) == 1].sum()
            assert 0.09 < yes < 0.7
