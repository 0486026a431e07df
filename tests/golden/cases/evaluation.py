"""Measures of a learned graph."""

from __future__ import annotations

import mnlearn as mn
from golden.engine import cases_of
from golden.tables import binary, tiny
from mnlearn import evaluation, graphs

case = cases_of(__name__)


@case("evaluate")
def evaluated() -> object:
    """Measure a learned graph against the truth in every way."""
    found, truth = mn.learn(binary(), "mpl", n_jobs=1).graph, graphs.grid(3, 4)
    test = mn.ChiSquare(mn.Counts(binary(), n_jobs=1))
    score = mn.make_score("mpl", binary(), n_jobs=1)
    terms = {"a": [0, 1, 2, 3], "b": [4, 5, 6], "c": [8, 9]}
    trace = mn.learn(tiny(), "gsmn", keep_trace=True).trace
    return {
        "summary": mn.evaluate(found, truth).to_dict(),
        "edges": evaluation.compare_edges(found, truth),
        "absent": evaluation.compare_edges(found, truth, positives="independences"),
        "f1": evaluation.f1(found, truth),
        "hamming": [evaluation.hamming(found, truth), evaluation.normalized_hamming(found, truth)],
        "accuracy": evaluation.independence_accuracy(found, test, n_triplets=200, seed=1),
        "triplets": evaluation.sample_triplets(8, 10, seed=2),
        "gap": evaluation.score_gap(score, truth, found),
        "success": evaluation.success_rate([found, truth], truth),
        "weighted": evaluation.weighted_tests(trace or ()),
        "enrichment": evaluation.enrichment(truth, terms),
        "ev": evaluation.ev_scores(found, truth),
    }
