"""Both estimators pass scikit-learn's own checks."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mnlearn.estimators import MarkovBlanketSelector, MarkovNetworkLearner


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([MarkovNetworkLearner(), MarkovBlanketSelector()])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    if check.func.__name__.startswith("check_sample_weight_equivalence"):
        pytest.skip("weights are those of a survey design: a weight of 2 is not a repeated row")
    check(estimator)
