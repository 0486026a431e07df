"""Results: learned networks with the names of the data."""

from mnlearn.results.difference import NetworkDifference
from mnlearn.results.edges import LearnedEdge
from mnlearn.results.explain import Why
from mnlearn.results.groups import GroupComparison
from mnlearn.results.learned import Learned
from mnlearn.results.resampling import Resampling

__all__ = [
    "GroupComparison",
    "Learned",
    "LearnedEdge",
    "NetworkDifference",
    "Resampling",
    "Why",
]
