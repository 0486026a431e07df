"""The score test against marginal likelihoods summed term by term."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.independence import ScoreTest
from mnlearn.statistics import Counts

from references import counts as reference


def log_factor(data: Dataset, x: int, y: int, z: frozenset[int], cell: float) -> float:
    """log p(x | y, z) − log p(x | z)."""
    with_y = reference.strata(data, x, None, sorted(z | {y}))
    without = reference.strata(data, x, None, sorted(z))
    return float(reference.dirichlet(with_y, data.cards[x], cell) - reference.dirichlet(without, data.cards[x], cell))


@given(st.integers(0, 1000), st.sampled_from([None, 1.0, 0.2]), st.sampled_from([(), (3,), (2, 3)]))
def test_the_better_direction_decides(seed: int, cell: float | None, z: tuple[int, ...]) -> None:
    data = reference.random_dataset(np.random.default_rng(seed), n_rows=60, cards=[3, 2, 2, 3], repeats=False)
    evidence = ScoreTest(Counts(data), cell).evidence(0, [1], frozenset(z))
    one = log_factor(data, 0, 1, frozenset(z), cell or 0.5)
    other = log_factor(data, 1, 0, frozenset(z), cell or 0.5)
    factor = max(one, other)
    assert evidence.log_independent is not None
    assert evidence.log_dependent is not None
    assert evidence.log_dependent[0] - evidence.log_independent[0] == pytest.approx(factor, abs=1e-8)
    assert exp(evidence.log_independent[0]) + exp(evidence.log_dependent[0]) == pytest.approx(1)
    assert evidence.independent[0] == (factor <= 0)


def test_two_rows_by_hand() -> None:
    test = ScoreTest(Counts(Dataset.from_codes([[0, 1], [0, 1]])))
    # p(x) = 1/2 · 1/4; given y each of the two rows is alone in its stratum: 1/2 · 1/2.
    evidence = test.evidence(0, [1], frozenset())
    assert evidence.log_dependent is not None
    assert evidence.log_independent is not None
    assert evidence.log_dependent[0] - evidence.log_independent[0] == pytest.approx(log(2))


def test_constants_and_copies() -> None:
    data = Dataset.from_codes([[0, 1] * 20, [0] * 40, [0, 1] * 20], cards=[2, 1, 2])
    test = ScoreTest(Counts(data))
    assert test.scan(0, [1, 2], frozenset()).independent.tolist() == [True, False]
    assert test(0, 1, frozenset({2})).independent


def test_bad_input_is_refused() -> None:
    data = Dataset.from_codes([[0, 1], [0, 1]])
    with pytest.raises(InputError, match="cell must be"):
        ScoreTest(Counts(data), -1.0)
    with pytest.raises(UnsuitableError, match=r"ScoreTest cannot use a int, which has no reduce_many"):
        ScoreTest(3)  # type: ignore[arg-type]
