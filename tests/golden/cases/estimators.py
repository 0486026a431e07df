"""The estimators of scikit-learn."""

from __future__ import annotations

import numpy as np

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.tables import number_columns
from mnlearn import simulate

case = cases_of(__name__)


@case("estimators")
def estimators() -> object:
    """Fit the scikit-learn estimators."""
    codes = simulate.example(400, seed=9).codes
    learner = mn.MarkovNetworkLearner("mpl", categorical_features="all").fit(codes)
    selector = mn.MarkovBlanketSelector("mpl", categorical_features="all").fit(codes[:, 1:], codes[:, 0])
    return {
        "graph": learner.graph_,
        "score": learner.score(codes[:100]),
        "support": selector.get_support(),
        "columns": selector.transform(codes[:, 1:])[:5].tolist(),
    }


@case("estimators with weights")
def estimators_with_weights() -> object:
    """Fit the estimators to rows with weights, and to numbers."""
    codes = simulate.example(300, seed=10).codes
    weights = 1 + np.arange(300) % 3
    learner = mn.MarkovNetworkLearner("gsmn", categorical_features="all").fit(codes, sample_weight=weights)
    values = np.array(list(number_columns().values())).T
    numbers = mn.MarkovNetworkLearner("pc", settings={"alpha": 0.01}, n_jobs=jobs()).fit(values)
    selector = mn.MarkovBlanketSelector("sep", n_jobs=jobs()).fit(values[:, 1:], values[:, 0])
    return {
        "weighted": learner.graph_,
        "numbers": numbers.graph_,
        "score": numbers.score(values[:50]),
        "support": selector.get_support(),
    }
