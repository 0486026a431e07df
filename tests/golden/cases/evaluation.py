"""Measures of a learned graph."""

from __future__ import annotations

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.tables import binary, declared, tiny
from mnlearn import evaluation, graphs

case = cases_of(__name__)


@case("evaluate")
def evaluated() -> object:
    """Measure a learned graph against the truth in every way."""
    found, truth = mn.learn(binary(), "mpl", n_jobs=jobs()).graph, graphs.grid(3, 4)
    test = mn.ChiSquare(mn.Counts(binary(), n_jobs=jobs()))
    score = mn.make_score("mpl", binary(), n_jobs=jobs())
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
        "ev": evaluation.ev_scores(found, truth),
    }


@case("evaluate by declared kinds")
def evaluated_by_kinds() -> object:
    """Compare a graph with the independences of rows of every kind with gaps."""
    data = declared("clinic gaps")
    found = mn.learn(data, "sep", effort="fast", n_jobs=jobs())
    truth = mn.NamedGraph(graphs.cycle(8), data.names)
    test = mn.make_test("mixed", data, n_jobs=jobs())
    return {
        "summary": mn.evaluate(found, truth).to_dict(),
        "accuracy": evaluation.independence_accuracy(found.graph, test, n_triplets=60, seed=1),
    }
