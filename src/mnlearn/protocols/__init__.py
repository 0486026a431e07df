"""Records and protocols of the library: the methods that each kind of object must have.

data → statistics → judges (tests, posteriors, scores) → search → graph. A search sees a judge, never the data; a judge
sees statistics, never rows. To extend the library, write an object with the right methods and pass it. No registration
is needed; for a test, `BaseTest` supplies the batched forms.

`statistics` hold what is known of the data, `tests` decide, `scores` weigh, and `search` holds learners, their monitor
and their result.
"""

from __future__ import annotations

from mnlearn.protocols.scores import (
    BatchedPosterior,
    EvidenceScore,
    IndependencePosterior,
    LocalScore,
    LogOdds,
    PairEvidence,
    PairScore,
    PairwiseScored,
    Score,
    ScoredGraph,
    SearchableScore,
)
from mnlearn.protocols.search import (
    SILENT,
    BatchedNeighborhoods,
    InformationJudge,
    J,
    Learner,
    Monitor,
    Move,
    Neighborhood,
    NeighborhoodJudge,
    PathJudge,
    PathStep,
    PenaltyTrial,
    Result,
    SpreadNeighborhoods,
    Step,
)
from mnlearn.protocols.statistics import BoolArray, FloatArray, Indices, IntArray, Kernel, Statistics, Tables, VarSet
from mnlearn.protocols.tests import (
    NO_TURNS,
    Around,
    BaseTest,
    Evidence,
    ExplainedTest,
    IndependenceTest,
    Knowledge,
    Question,
    Separated,
    SeparatingSets,
    SetLevel,
    SubsetWalk,
    Turns,
    Verdict,
    Verdicts,
    with_defaults,
)

__all__ = [
    "NO_TURNS",
    "SILENT",
    "Around",
    "BaseTest",
    "BatchedNeighborhoods",
    "BatchedPosterior",
    "BoolArray",
    "Evidence",
    "EvidenceScore",
    "ExplainedTest",
    "FloatArray",
    "IndependencePosterior",
    "IndependenceTest",
    "Indices",
    "InformationJudge",
    "IntArray",
    "J",
    "Kernel",
    "Knowledge",
    "Learner",
    "LocalScore",
    "LogOdds",
    "Monitor",
    "Move",
    "Neighborhood",
    "NeighborhoodJudge",
    "PairEvidence",
    "PairScore",
    "PairwiseScored",
    "PathJudge",
    "PathStep",
    "PenaltyTrial",
    "Question",
    "Result",
    "Score",
    "ScoredGraph",
    "SearchableScore",
    "Separated",
    "SeparatingSets",
    "SetLevel",
    "SpreadNeighborhoods",
    "Statistics",
    "Step",
    "SubsetWalk",
    "Tables",
    "Turns",
    "VarSet",
    "Verdict",
    "Verdicts",
    "with_defaults",
]
