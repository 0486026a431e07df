"""The nouns of the library: small records, and what each kind of object must be able to answer.

data → statistics → judges (tests, posteriors, scores) → search → graph. A search sees a judge, never
the data; a judge sees statistics, never rows. To extend the library, write an object with the right methods
and pass it: there is no base class and no registration.

`statistics` are what is known of the data; `tests` decide, `scores` weigh, `proposals` name whole neighbourhoods or
graphs; `walks` are tests that take over the inner loop of a search; `searches` are given a judge and return a result.
"""

from __future__ import annotations

from mnlearn.protocols.arrays import BoolArray, FloatArray, Indices, IntArray, VarSet
from mnlearn.protocols.proposals import (
    BatchedNeighborhoods,
    InformationJudge,
    Neighborhood,
    NeighborhoodJudge,
    PathJudge,
    PathStep,
    SpreadNeighborhoods,
)
from mnlearn.protocols.scores import (
    BatchedPosterior,
    EvidenceScore,
    IndependencePosterior,
    LocalScore,
    LogOdds,
    PairEvidence,
    PairScore,
    PairsPosterior,
    PairwiseScore,
    PairwiseScored,
    Score,
    ScoredGraph,
    SearchableScore,
)
from mnlearn.protocols.searches import SILENT, J, Learner, Monitor, Result
from mnlearn.protocols.statistics import Kernel, Statistics, Tables
from mnlearn.protocols.tests import (
    BatchedTest,
    Evidence,
    ExplainedTest,
    IndependenceTest,
    MonotoneTest,
    PairsTest,
    Question,
    Verdict,
    Verdicts,
)
from mnlearn.protocols.walks import (
    Around,
    BlanketTest,
    Knowledge,
    Separated,
    SeparatingSets,
    SetLevel,
    SubsetTest,
    SubsetWalk,
    Turns,
)

__all__ = [
    "SILENT",
    "Around",
    "BatchedNeighborhoods",
    "BatchedPosterior",
    "BatchedTest",
    "BlanketTest",
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
    "MonotoneTest",
    "Neighborhood",
    "NeighborhoodJudge",
    "PairEvidence",
    "PairScore",
    "PairsPosterior",
    "PairsTest",
    "PairwiseScore",
    "PairwiseScored",
    "PathJudge",
    "PathStep",
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
    "SubsetTest",
    "SubsetWalk",
    "Tables",
    "Turns",
    "VarSet",
    "Verdict",
    "Verdicts",
]
