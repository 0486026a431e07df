"""Evaluation of learned graphs: metrics, calibration, triplets and subgraphs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.evaluation.metrics import (
        Confusion,
        Evaluation,
        compare_edges,
        evaluate,
        f1,
        hamming,
        normalized_hamming,
        precision,
        recall,
        score_gap,
        success_rate,
        weighted_tests,
    )
    from mnlearn.evaluation.subgraphs import (
        KINDS,
        Accuracy,
        SubgraphScore,
        Triplet,
        align,
        ev_scores,
        independence_accuracy,
        sample_triplets,
    )
    from mnlearn.graphs.generators import irregularity, total_irregularity

__all__ = [
    "KINDS",
    "Accuracy",
    "Confusion",
    "Evaluation",
    "SubgraphScore",
    "Triplet",
    "align",
    "compare_edges",
    "ev_scores",
    "evaluate",
    "f1",
    "hamming",
    "independence_accuracy",
    "irregularity",
    "normalized_hamming",
    "precision",
    "recall",
    "sample_triplets",
    "score_gap",
    "success_rate",
    "total_irregularity",
    "weighted_tests",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("metrics", "subgraphs", "mnlearn.graphs.generators")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
