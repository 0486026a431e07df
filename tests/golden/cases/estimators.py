"""The estimators of scikit-learn."""

from __future__ import annotations

import mnlearn as mn
from golden.engine import cases_of
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
