"""Output: results in the words of the data."""

from mnlearn.output._frames import LearnedEdge
from mnlearn.output.difference import NetworkDifference
from mnlearn.output.groups import GroupComparison
from mnlearn.output.learned import Learned
from mnlearn.output.plots import plot_experiment, plot_landscape
from mnlearn.output.resampling import Resampling
from mnlearn.output.why import Why

__all__ = [
    "GroupComparison",
    "Learned",
    "LearnedEdge",
    "NetworkDifference",
    "Resampling",
    "Why",
    "plot_experiment",
    "plot_landscape",
]
