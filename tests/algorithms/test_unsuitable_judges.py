"""Learners composed by hand reject a judge of the wrong kind with an error of this library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnlearn.algorithms import GSIMN, GSIMNFCH, GSMN, HHCMN, IBMAPHC, PC, GSMNStar, HillClimb, SeparatorEvidence
from mnlearn.data import Dataset
from mnlearn.errors import UnsuitableError
from mnlearn.independence import ChiSquare
from mnlearn.scores import MPL
from mnlearn.statistics import Counts

DATA = Dataset.from_codes([[0, 1] * 20, [0, 0, 1, 1] * 10, [0, 1, 1, 0] * 10])
BY_TESTS = [GSMN(), GSMNStar(), GSIMN(), GSIMNFCH(), HHCMN(), PC()]


@pytest.mark.parametrize("learner", BY_TESTS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("make", [lambda: 3, lambda: MPL(Counts(DATA))], ids=["number", "score"])
def test_learners_by_tests_reject_other_judges(learner: Any, make: Callable[[], Any]) -> None:
    with pytest.raises(UnsuitableError, match="judge must have the method scan; got a"):
        learner.learn(make())


@pytest.mark.parametrize("learner", [HillClimb(), IBMAPHC(), SeparatorEvidence()], ids=lambda it: type(it).__name__)
@pytest.mark.parametrize("make", [lambda: 3, lambda: ChiSquare(Counts(DATA))], ids=["number", "test"])
def test_learners_by_scores_reject_other_judges(learner: Any, make: Callable[[], Any]) -> None:
    with pytest.raises(UnsuitableError, match="judge must have the method "):
        learner.learn(make())
